//! What the tests have in common.

#![allow(dead_code, reason = "not each test uses all of it")]

pub mod branching;
pub mod findings;

use lang::ast::{File, ItemKind, Statement, StatementKind};
use lang::random::{self, Config};
use machine::{Machine, Options};
use proptest::prelude::*;

pub fn machine(file: &File, spurious: bool) -> Machine {
    machine_with(file, Options { spurious, ..Options::default() })
}

pub fn machine_with(file: &File, options: Options) -> Machine {
    Machine::new(random::lowered(file), options).expect("random programs run")
}

/// Threads that wait for flags, and set them; the bounds of their loops are larger than they need.
pub fn waiting() -> impl Strategy<Value = String> {
    let statements = vec![
        "while (f == 0) bound 12 {}",
        "while (g == 0) bound 12 {}",
        "while (f == 0 && g == 0) bound 12 {}",
        "while (f != 1) bound 12 { r = g; }",
        "while (exchange(l, 1) == 1) bound 12 {} x = x + 1; l = 0;",
        "e = 0; while (!compare_exchange(l, e, 1)) bound 12 { e = 0; } y = x; l = 0;",
        "f = 1;",
        "g = 1;",
        "f = 0;",
        "x = r;",
        "r = f;",
        "assert(x != 2);",
        "lock(m); while (f == 0) bound 12 {} unlock(m);",
        "lock(m); g = 1; unlock(m);",
    ];
    let thread = prop::collection::vec(prop::sample::select(statements), 1..=3);
    prop::collection::vec(thread, 2..=3).prop_map(|threads| {
        let mut source = "atomic int f, g, l; int x, y; mutex m;\n".to_owned();
        let few = if threads.concat().len() > 5 { 2 } else { 3 };
        for (n, statements) in threads.iter().take(few).enumerate() {
            let body = statements.join(" ");
            source.push_str(&format!("thread T{n} {{ int r = 0; int e = 0; {body} }}\n"));
        }
        source
    })
}

/// Small programs of many kinds; in some, all that a thread does is one transaction.
pub fn programs() -> impl Strategy<Value = File> {
    let base = Config { pieces: 2..=4, max_events: 18, asserts: true, ..Config::plain() };
    let kinds = [
        base.clone(),
        Config { locks: true, recursive_locks: true, ..base.clone() },
        Config { locks: true, rwlocks: true, ..base.clone() },
        Config { locks: true, conditions: true, timed_waits: true, ..base.clone() },
        Config { locks: true, semaphores: true, ..base.clone() },
        Config { barriers: true, semaphores: true, forks: true, ..base.clone() },
        Config { locks: true, forks: true, ..base.clone() },
        Config { atomics: true, locks: true, ..base.clone() },
        Config { arrays: true, pointers: true, ..base.clone() },
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
