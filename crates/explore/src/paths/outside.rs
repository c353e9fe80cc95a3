//! What compiled programs do outside their own code, as far as it says how much their runs stand for.
//!
//! A combination of paths stands for all its schedules only if what code outside the program gives back is the same in all of them. That holds for
//! what prints, allocates, synchronises or computes from memory that is followed. Of everything else it is not known, and a search that met
//! it does not call itself complete. What the clock says, and when a sleep or a time-out is over, is up to the clock, not to the schedule, so these are
//! among them; but that a wait for a condition variable is over can be chosen at any time.

use ir::{Program, SiteIndex};
use std::collections::BTreeSet;
use trace::{EventKind, Trace};

/// Beginnings of names of functions that synchronise, whose outcomes are decisions of the trace.
const SYNCHRONISE: [&str; 8] = ["pthread_", "sem_", "mtx_", "cnd_", "thrd_", "tss_", "call_once", "__tb_"];

/// Beginnings of the names of C++ functions that call no others than those: of `std::thread`, `std::condition_variable`, `std::call_once` and futures, and
/// what throws if they cannot do what they are asked.
const CXX: [&str; 7] = [
    "_ZNSt6thread",
    "_ZNSt18condition_variable",
    "_ZNSt22condition_variable_any",
    "_ZNSt13__future_base",
    "_ZSt11__once_proxy",
    "_ZSt20__throw_system_error",
    "_ZSt9terminate",
];

/// Parts of names of functions that look at the time, or wait until some has passed.
const TIMED: [&str; 4] = ["timed", "clock", "sleep", "alarm"];

/// Functions whose results depend on their arguments and on memory alone, or that nobody looks at.
const HARMLESS: [&str; 46] = [
    "abort",
    "abs",
    "atexit",
    "atoi",
    "atol",
    "calloc",
    "exit",
    "fflush",
    "fprintf",
    "fputc",
    "fputs",
    "free",
    "fwrite",
    "labs",
    "malloc",
    "memchr",
    "memcmp",
    "memcpy",
    "memmove",
    "memset",
    "perror",
    "posix_memalign",
    "aligned_alloc",
    "printf",
    "putc",
    "putchar",
    "puts",
    "qsort",
    "realloc",
    "reach_error",
    "sched_yield",
    "snprintf",
    "sprintf",
    "strcat",
    "strchr",
    "strcmp",
    "strcpy",
    "strdup",
    "strerror",
    "strlen",
    "strncmp",
    "strncpy",
    "strrchr",
    "strtol",
    "vfprintf",
    "vsnprintf",
];

/// Why there may be more to a run of a compiled program than its schedules, in words.
pub fn outside(program: &Program, trace: &Trace) -> BTreeSet<String> {
    let sites = SiteIndex::new(program);
    let mut why = BTreeSet::new();
    for event in &trace.events {
        if let EventKind::System { what } = &event.kind {
            why.insert(format!("the program asked the system: {what}"));
        }
        if !sites.is_timed_wait(program, event.site) {
            why.extend(sites.called(program, event.site).and_then(unknown));
        }
    }
    why
}

/// Why it is not known what a function does under other schedules, in words.
pub fn unknown(name: &str) -> Option<String> {
    let begins = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
    if TIMED.iter().any(|part| name.contains(part)) {
        return Some(format!("`{name}` depends on the time, and no schedule decides when that has come"));
    }
    // `operator new` and `delete`, exceptions, assertions, and what the compiler makes of memory functions.
    let known = begins(&SYNCHRONISE)
        || begins(&CXX)
        || HARMLESS.contains(&name)
        || begins(&["_Zn", "_Zd", "__cxa_", "__assert", "__VERIFIER_", "llvm."]);
    (!known).then(|| {
        format!("`{name}` is not part of the program, and may do something else under other schedules")
    })
}

#[cfg(test)]
mod tests {
    use super::unknown;

    #[test]
    fn time_and_the_world_are_named() {
        assert!(unknown("pthread_mutex_timedlock").is_some_and(|why| why.contains("time")));
        assert!(unknown("clock_gettime").is_some());
        assert!(unknown("usleep").is_some());
        assert!(unknown("recv").is_some_and(|why| why.contains("not part of the program")));
    }

    #[test]
    fn what_synchronises_prints_or_computes_is_known() {
        for name in
            ["pthread_mutex_lock", "printf", "_Znwm", "__assert_fail", "sem_wait", "_ZNSt6thread4joinEv"]
        {
            assert_eq!(unknown(name), None, "{name}");
        }
    }
}
