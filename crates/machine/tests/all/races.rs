//! Races of both kinds, and interleavings of transactions.

use crate::common::explore;

const NONE: [&str; 0] = [];

#[test]
fn release_and_acquire_order_and_relaxed_does_not() {
    let passing = |store: &str, load: &str| {
        explore(&format!(
            "int data; int flag;
             thread W {{ w: data = 1; store(flag, 1, {store}); }}
             thread R {{ int f = load(flag, {load}); if (f) r: data = 2; }}"
        ))
        .unordered
    };
    assert_eq!(passing("release", "acquire"), NONE);
    assert_eq!(passing("seq_cst", "seq_cst"), NONE);
    assert_eq!(passing("relaxed", "acquire"), ["W w / R r"]);
    assert_eq!(passing("release", "relaxed"), ["W w / R r"]);
}

#[test]
fn fences_make_relaxed_accesses_order() {
    let passing = |before: &str, after: &str| {
        explore(&format!(
            "int data; int flag;
             thread W {{ w: data = 1; {before} store(flag, 1, relaxed); }}
             thread R {{ int f = load(flag, relaxed); {after} if (f) r: data = 2; }}"
        ))
        .unordered
    };
    assert_eq!(passing("fence(release);", "fence(acquire);"), NONE);
    assert_eq!(passing("fence(release);", ""), ["W w / R r"]);
    assert_eq!(passing("", "fence(acquire);"), ["W w / R r"]);
}

#[test]
fn a_read_modify_write_continues_a_release_sequence_and_a_write_ends_it() {
    let passing = |between: &str| {
        explore(&format!(
            "int data; int flag;
             thread W {{ w: data = 1; store(flag, 1, release); }}
             thread M {{ {between} }}
             thread R {{ int f = load(flag, acquire); if (f == 2) r: data = 2; }}"
        ))
        .unordered
    };
    assert_eq!(passing("int o = cas(flag, 1, 2, relaxed);"), NONE);
    assert_eq!(passing("int o = load(flag, relaxed); if (o) store(flag, 2, relaxed);"), ["W w / R r"]);
}

#[test]
fn a_race_that_values_hide_is_unordered_but_not_co_enabled() {
    let seen = explore(
        "int data; atomic int flag;
         thread W { w: data = 1; store(flag, 1, relaxed); }
         thread R { if (load(flag, relaxed)) r: data = 2; }",
    );
    assert_eq!(seen.co_enabled, NONE);
    assert_eq!(seen.unordered, ["W w / R r"]);
}

#[test]
fn the_five_kinds_of_triples_are_found_and_the_three_serializable_ones_are_not() {
    let triples = |first: &str, remote: &str, second: &str| {
        let access = |label: &str, kind: &str, value: u32| match kind {
            "R" => format!("{label}: r = x;"),
            _ => format!("{label}: x = {value};"),
        };
        explore(&format!(
            "int x;
             thread T {{ int r; atomic {{ {} {} }} }}
             thread U {{ int r; {} }}",
            access("e1", first, 1),
            access("e2", second, 2),
            access("f", remote, 3)
        ))
        .triples
    };
    for (first, remote, second, bad) in [
        ("R", "W", "R", true),
        ("W", "W", "R", true),
        ("R", "W", "W", true),
        ("W", "R", "W", true),
        ("W", "W", "W", true),
        ("R", "R", "R", false),
        ("R", "R", "W", false),
        ("W", "R", "R", false),
    ] {
        let expected: &[&str] = if bad { &["T e1 < U f < T e2"] } else { &[] };
        assert_eq!(triples(first, remote, second), expected, "{first}-{remote}-{second}");
    }
}

#[test]
fn all_pairs_of_accesses_of_a_transaction_count() {
    // W..R..W with a remote read: the inner pairs alone (W-R-R, R-R-W) are serializable.
    let seen = explore(
        "int x;
         thread T { int r; atomic { e1: x = 1; mid: r = x; e2: x = 2; } }
         thread U { int r; f: r = x; }",
    );
    assert_eq!(seen.triples, ["T e1 < U f < T e2"]);
}

#[test]
fn writes_that_change_nothing_are_independent() {
    // Rule 4a: f writes what e1 has read. Rule 4b: e1 and f write the same.
    let same_as_read = explore("int x; thread T { int r; atomic { r = x; r = x; } } thread U { x = 0; }");
    assert_eq!(same_as_read.triples, NONE);
    let same_write = explore("int x; thread T { atomic { e1: x = 3; e2: x = 4; } } thread U { f: x = 3; }");
    assert_eq!(same_write.triples, NONE);
}

#[test]
fn a_read_that_only_decides_is_independent_of_writes_that_decide_alike() {
    // Rule 4c: x = 7 and x = 5 both are positive.
    let alike = |written: i32| {
        explore(&format!(
            "int x = 5; int y;
             thread T {{ atomic {{ e1: if (x > 0) y = 1; e2: if (x > 0) y = 2; }} }}
             thread U {{ f: x = {written}; }}"
        ))
        .triples
    };
    assert_eq!(alike(7), NONE);
    assert_eq!(alike(-1), ["T e1 < U f < T e2"]);
    // The value goes further than the branch: rule 4c does not apply.
    let used = explore(
        "int x = 5; int y;
         thread T { int r; atomic { e1: r = x; if (r > 0) y = r; e2: r = x; if (r > 0) y = r; } }
         thread U { f: x = 7; }",
    );
    assert_eq!(used.triples, ["T e1 < U f < T e2"]);
}

#[test]
fn a_transaction_inside_another_belongs_to_it_and_two_in_a_row_are_two() {
    let nested = explore(
        "int x; thread T { atomic { atomic { e1: x = 1; } atomic { e2: x = 2; } } } thread U { f: x = 3; }",
    );
    assert_eq!(nested.triples, ["T e1 < U f < T e2"]);
    let two =
        explore("int x; thread T { atomic { e1: x = 1; } atomic { e2: x = 2; } } thread U { f: x = 3; }");
    assert_eq!(two.triples, NONE);
}

#[test]
fn which_signal_woke_a_thread_makes_a_difference_to_what_is_ordered() {
    // Both waiters are woken before either goes on: only the signals tell the pasts apart. The two methods must agree.
    let seen = explore(
        "int x, y, n, k, w; cond c; mutex m;
         thread W1 { lock(m); w = w + 1; wait(c, m); x = 1; y = 1; unlock(m); }
         thread W2 { lock(m); w = w + 1; wait(c, m); unlock(m); }
         thread A { assume(load(k, relaxed) == 1); x = 5; signal(c); fetch_add(n, 1, relaxed); }
         thread B { assume(load(k, relaxed) == 1); y = 5; signal(c); fetch_add(n, 1, relaxed); }
         thread K { lock(m); assume(w == 2); store(k, 1, relaxed); assume(load(n, relaxed) == 2); unlock(m); }",
    );
    assert_eq!(seen.unordered, ["W1 line 2 / A line 4", "W1 line 2 / B line 5"]);
}

#[test]
fn freeing_races_with_every_access_that_nothing_orders() {
    let seen = explore(
        "int *p; int f, r;
         fn g() { read: r = *p; store(f, 1, relaxed); }
         main { p = alloc(int); fork g(); if (load(f, relaxed)) gone: free(p); }",
    );
    assert_eq!(seen.unordered, ["main gone / g#1 read"]);
    let ordered = explore(
        "int *p; int f, r;
         fn g() { r = *p; store(f, 1, release); }
         main { p = alloc(int); fork g(); if (load(f, acquire)) free(p); }",
    );
    assert_eq!(ordered.unordered, NONE);
}
