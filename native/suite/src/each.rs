//! The same for many programs, on all processors, and all failures told together.

use crate::Program;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Calls `test` for each program. `THREADBARE_PROGRAMS`, a part of a name, leaves out the others.
///
/// # Panics
/// If `test` has for some, after it was called for all; names them.
pub fn for_each(programs: &[Program], test: impl Fn(&Program) + Sync) {
    let wanted = std::env::var("THREADBARE_PROGRAMS").unwrap_or_default();
    let programs: Vec<&Program> =
        programs.iter().filter(|program| program.name().contains(&wanted)).collect();
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(vec![]);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if catch_unwind(AssertUnwindSafe(|| test(program))).is_err() {
                        eprintln!("failed: {}", program.name());
                        failed.lock().expect("no panic while it is held").push(program.name());
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("no panic while it was held");
    assert!(
        failed.is_empty(),
        "{} of {} failed, see above: {}",
        failed.len(),
        programs.len(),
        failed.join(", ")
    );
}
