//! Random programs in which much can be asked: threads that are one transaction, and primitives that meet.

use lang::ast::{File, ItemKind, Statement, StatementKind};
use lang::random::{self, Config};
use proptest::prelude::*;

/// Small programs of many kinds.
pub fn programs() -> impl Strategy<Value = File> {
    let base = Config { pieces: 2..=4, max_events: 22, asserts: true, ..Config::plain() };
    let kinds = [
        Config::tiny(),
        base.clone(),
        Config { locks: true, recursive_locks: true, ..base.clone() },
        Config { locks: true, rwlocks: true, ..base.clone() },
        Config { locks: true, conditions: true, ..base.clone() },
        Config { locks: true, conditions: true, timed_waits: true, ..base.clone() },
        Config { locks: true, semaphores: true, ..base.clone() },
        Config { barriers: true, semaphores: true, forks: true, ..base.clone() },
        Config { locks: true, forks: true, ..base.clone() },
        Config { atomics: true, orders: true, ..base.clone() },
        Config { atomics: true, orders: true, locks: true, ..base.clone() },
        Config { arrays: true, pointers: true, ..base.clone() },
        Config { heap: true, pointers: true, ..base.clone() },
        Config { widths: true, division: true, arrays: true, ..base.clone() },
        Config { loops: true, calls: true, assumes: true, ..base },
    ];
    let alternatives: Vec<_> = kinds.iter().map(|config| random::program(config).boxed()).collect();
    (proptest::strategy::Union::new(alternatives), any::<[bool; 4]>()).prop_map(|(file, which)| {
        let wrapped = wrap(&file, which);
        if lang::check(&wrapped).is_ok() { wrapped } else { file }
    })
}

/// Makes one transaction of all that a thread does, for some threads.
fn wrap(file: &File, which: [bool; 4]) -> File {
    let mut file = file.clone();
    let mut threads = 0;
    for item in &mut file.items {
        let ItemKind::Thread { body, .. } = &mut item.kind else { continue };
        threads += 1;
        if which[threads % which.len()] {
            let kind = StatementKind::Atomic(body.clone());
            body.statements = vec![Statement { label: None, kind, span: body.span }];
        }
    }
    file
}
