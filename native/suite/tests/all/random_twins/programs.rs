//! Which programs are drawn: of all groups of the language that have a form in C (`suite::to_c` says which have none).

use lang::random::{self, Config};
use proptest::prelude::*;
use proptest::strategy::Union;

fn base() -> Config {
    Config { pieces: 2..=4, max_events: 16, asserts: true, ..Config::plain() }
}

fn one_of(kinds: &[Config]) -> impl Strategy<Value = String> + use<> {
    Union::new(kinds.iter().map(|config| random::source(config).boxed()))
}

/// Small programs, each of few groups.
pub fn of_many_kinds() -> impl Strategy<Value = String> {
    one_of(&[
        base(),
        Config { locks: true, recursive_locks: true, ..base() },
        Config { locks: true, rwlocks: true, ..base() },
        Config { locks: true, conditions: true, ..base() },
        Config { locks: true, semaphores: true, ..base() },
        Config { barriers: true, semaphores: true, forks: true, ..base() },
        Config { locks: true, forks: true, ..base() },
        Config { atomics: true, orders: true, locks: true, ..base() },
        Config { arrays: true, heap: true, ..base() },
        Config { widths: true, division: true, arrays: true, ..base() },
        Config { transactions: true, locks: true, ..base() },
        Config { loops: true, calls: true, locks: true, ..base() },
    ])
}

/// Programs in which threads change where others point.
pub fn pointing() -> impl Strategy<Value = String> {
    one_of(&[
        Config { arrays: true, pointers: true, ..base() },
        Config { heap: true, pointers: true, calls: true, ..base() },
    ])
}

/// Programs in which threads branch on what others write, one of which asserts at its end something about what all have written, or what it has seen.
pub fn branching() -> impl Strategy<Value = String> {
    let conditions =
        vec!["x != 1", "x < 2", "y != 2", "y == 0", "z != 1", "z < 2", "r == s", "r < 2", "a == 0"];
    (super::common::branching::branching(), prop::sample::select(conditions)).prop_map(
        |(source, condition)| {
            let end = source.trim_end().len() - 1;
            format!("{}assert({condition}); }}\n", &source[..end])
        },
    )
}

const SYNCHRONISING: &str = "int x, y; atomic int a; mutex m, n; recursive mutex k; rwlock w; cond c; semaphore s = 1, e; barrier b = 2;
";

/// Programs in which threads do little but synchronise: many of them can get stuck.
pub fn synchronising() -> impl Strategy<Value = String> {
    let statements = vec![
        "x = r;",
        "y = 1;",
        "r = x;",
        "if (r == 1) { y = 2; }",
        "assert(r != 1);",
        "assert(x != 2);",
        "lock(m); x = x + 1; unlock(m);",
        "lock(m); lock(n); y = x; unlock(n); unlock(m);",
        "lock(n); lock(m); x = 1; unlock(m); unlock(n);",
        "if (trylock(m)) { x = 2; unlock(m); } else { y = 1; }",
        "lock(k); lock(k); y = y + 1; unlock(k); unlock(k);",
        "rdlock(w); r = x; unlock(w);",
        "wrlock(w); x = 3; unlock(w);",
        "if (tryrdlock(w)) { r = y; unlock(w); }",
        "if (trywrlock(w)) { y = 2; unlock(w); }",
        "lock(m); if (y == 0) { wait(c, m); } unlock(m);",
        "lock(m); while (x == 0) bound 4 { wait(c, m); } unlock(m);",
        "lock(m); y = 1; signal(c); unlock(m);",
        "lock(m); x = 1; broadcast(c); unlock(m);",
        "signal(c);",
        "acquire(s); x = x + 1; release(s);",
        "acquire(e); r = x;",
        "release(e);",
        "if (tryacquire(s)) { y = 3; release(s); }",
        "r = value(s);",
        "arrive(b);",
        "r = fetch_add(a, 1);",
        "if (cas(a, 0, 2)) { x = 1; } else { y = r; }",
        "a = 0;",
        "atomic { r = x; x = r + 1; }",
        "atomic { lock(m); y = 1; unlock(m); lock(m); r = y; unlock(m); }",
    ];
    let thread = prop::collection::vec(prop::sample::select(statements), 1..=3);
    prop::collection::vec(thread, 2..=3).prop_map(|threads| {
        let mut source = SYNCHRONISING.to_owned();
        let few = if threads.concat().len() > 5 { 2 } else { 3 };
        for (n, statements) in threads.iter().take(few).enumerate() {
            source += &format!("thread T{n} {{ int r = 0; {} }}\n", statements.join(" "));
        }
        source
    })
}
