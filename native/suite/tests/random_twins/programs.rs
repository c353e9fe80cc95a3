//! Which programs are drawn: of all groups of the language that have a form in C.

use lang::random::{self, Config};
use proptest::prelude::*;
use proptest::strategy::Union;

/// Small programs, each of few groups.
pub fn of_many_kinds() -> impl Strategy<Value = String> {
    let base = Config { pieces: 2..=4, max_events: 16, asserts: true, ..Config::plain() };
    let kinds = [
        base.clone(),
        Config { locks: true, recursive_locks: true, ..base.clone() },
        Config { loops: true, calls: true, locks: true, ..base },
    ];
    Union::new(kinds.iter().map(|config| random::source(config).boxed()))
}
