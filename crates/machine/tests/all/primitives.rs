//! What each primitive means, over all schedules.

use crate::common::{Seen, explore, machine_with};
use machine::Options;

const NONE: [&str; 0] = [];

#[test]
fn a_mutex_excludes() {
    let seen = explore(
        "int x; mutex m;
         thread T { lock(m); x = x + 1; unlock(m); }
         thread U { lock(m); x = x + 1; unlock(m); }",
    );
    assert_eq!(seen.finals, ["x=2"]);
    assert_eq!((seen.co_enabled.len(), seen.unordered.len()), (0, 0));
    assert_eq!(seen.schedules.completed, 2);
}

#[test]
fn without_it_an_update_is_lost() {
    let seen = explore("int x; thread T { x = x + 1; } thread U { x = x + 1; }");
    assert_eq!(seen.finals, ["x=1", "x=2"]);
    // Of the 6 interleavings of two reads and two writes, 2 are serial.
    assert_eq!(seen.schedules.completed, 6);
}

#[test]
fn a_recursive_mutex_may_be_locked_again_and_a_plain_one_not() {
    let body = "thread T { lock(m); lock(m); unlock(m); x = 1; unlock(m); }
                thread U { lock(m); x = 2; unlock(m); }";
    let recursive = explore(&format!("int x; recursive mutex m; {body}"));
    assert_eq!(recursive.finals, ["x=1", "x=2"]);
    assert_eq!(recursive.deadlocks, NONE);
    assert_eq!(recursive.co_enabled, NONE, "the inner unlock does not release");
    let plain = explore(&format!("int x; mutex m; {body}"));
    assert_eq!(plain.finals, NONE);
    assert_eq!(plain.deadlocks, ["T"], "T waits for itself; that U waits for T is no part of it");
}

#[test]
fn trylock_fails_exactly_while_the_lock_is_held() {
    let seen = explore(
        "mutex m; int r;
         thread T { lock(m); unlock(m); }
         thread U { int ok = trylock(m); r = ok; if (ok) unlock(m); }",
    );
    assert_eq!(seen.finals, ["r=0", "r=1"]);
    // A lock that a thread holds itself: no for a plain mutex, yes for a recursive one.
    let own = "thread T { lock(m); r = trylock(m); }";
    assert_eq!(explore(&format!("int r = 7; mutex m; {own}")).finals, ["r=0"]);
    assert_eq!(explore(&format!("int r = 7; recursive mutex m; {own}")).finals, ["r=1"]);
}

#[test]
fn readers_share_and_a_writer_does_not() {
    let seen = explore(
        "rwlock rw; atomic int readers; int together;
         thread A { rdlock(rw); fetch_add(readers, 1); if (load(readers) == 2) together = 1; fetch_sub(readers, 1); unlock(rw); }
         thread B { rdlock(rw); fetch_add(readers, 1); fetch_sub(readers, 1); unlock(rw); }
         thread W { wrlock(rw); assert(load(readers) == 0); unlock(rw); }",
    );
    assert_eq!(seen.finals, ["readers=0 together=0", "readers=0 together=1"]);
    assert_eq!(seen.failures, NONE);
    assert_eq!(explore("rwlock rw; thread T { rdlock(rw); wrlock(rw); }").deadlocks, ["T"]);
    assert_eq!(explore("rwlock rw; thread T { wrlock(rw); rdlock(rw); }").deadlocks, ["T"]);
    let tried = explore(
        "rwlock rw; int r, w;
         thread T { rdlock(rw); r = tryrdlock(rw); w = trywrlock(rw); unlock(rw); unlock(rw); w = w * 10 + trywrlock(rw); }",
    );
    assert_eq!(tried.finals, ["r=1 w=1"]);
}

#[test]
fn a_signal_wakes_exactly_one_of_those_who_wait_and_which_is_a_choice() {
    let seen = explore(
        "mutex m; cond c; int ready, a, b;
         thread A { lock(m); ready++; wait(c, m); a = 1; unlock(m); }
         thread B { lock(m); ready++; wait(c, m); b = 1; unlock(m); }
         thread S { lock(m); assume(ready == 2); signal(c); unlock(m); }",
    );
    assert_eq!(seen.finals, NONE, "one of the two waits for ever");
    assert_eq!(seen.deadlocks, ["A", "B"]);
}

#[test]
fn a_broadcast_wakes_all_and_a_signal_before_the_wait_is_lost() {
    let all = explore(
        "mutex m; cond c; int ready, a, b;
         thread A { lock(m); ready++; wait(c, m); a = 1; unlock(m); }
         thread B { lock(m); ready++; wait(c, m); b = 1; unlock(m); }
         thread S { lock(m); assume(ready == 2); broadcast(c); unlock(m); }",
    );
    assert_eq!(all.finals, ["ready=2 a=1 b=1"]);
    assert_eq!(all.deadlocks, NONE);
    let lost = explore("cond c; thread W { wait(c); } thread S { signal(c); }");
    assert_eq!(lost.finals, [""]);
    assert_eq!(lost.deadlocks, ["W"]);
}

#[test]
fn a_wait_ends_without_a_signal_only_if_asked_or_timed() {
    let source = "mutex m; cond c; int woken; thread W { lock(m); wait(c, m); woken = 1; unlock(m); }";
    assert_eq!(explore(source).deadlocks, ["W"]);
    let spurious = machine_with(source, Options { spurious: true, ..Options::default() });
    let seen = Seen::of(&spurious);
    assert_eq!(seen.finals, ["woken=1"]);
    assert_eq!(seen.deadlocks, NONE);
    let timed = explore(
        "mutex m; cond c; int signalled = 7;
         thread W { lock(m); signalled = timedwait(c, m); unlock(m); }
         thread S { lock(m); signal(c); unlock(m); }",
    );
    assert_eq!(timed.finals, ["signalled=0", "signalled=1"]);
    assert_eq!(timed.deadlocks, NONE);
}

#[test]
fn a_timed_wait_can_expire_while_another_thread_holds_the_mutex() {
    // W stops waiting, S signals nobody, W gets the mutex and has 0: the signal is lost though `ready` is set.
    let seen = explore(
        "mutex m; cond c; int ready;
         thread W { lock(m); if (!ready) { int r = timedwait(c, m); if (r == 0) assert(!ready); } unlock(m); }
         thread S { lock(m); ready = 1; signal(c); unlock(m); }",
    );
    assert_eq!(seen.failures, ["W line 2: assert"]);
    // It then waits for the mutex: in a circle with the one who holds it and waits for its end, beside a thread that lives.
    let circle = explore(
        "mutex m; cond c; int x, in;
         fn t() { lock(m); store(in, 1); timedwait(c, m); unlock(m); }
         main { thread h = fork t(); assume(load(in) == 1); lock(m); join(h); unlock(m); }
         thread C { while (1) bound 1 { x++; } }",
    );
    assert_eq!(circle.deadlocks, ["main+t#1"]);
}

#[test]
fn a_semaphore_counts() {
    let seen = explore(
        "semaphore s = 1; int inside;
         thread A { acquire(s); inside++; assert(inside == 1); inside--; release(s); }
         thread B { acquire(s); inside++; assert(inside == 1); inside--; release(s); }",
    );
    assert_eq!((seen.failures, seen.finals), (vec![], vec!["inside=0".to_owned()]));
    assert_eq!(explore("semaphore s = 1; thread A { acquire(s); acquire(s); }").deadlocks, ["A"]);
    let tried = explore(
        "semaphore s = 1; int a, b, n; thread A { n = value(s); a = tryacquire(s); b = tryacquire(s); n = n * 10 + value(s); }",
    );
    assert_eq!(tried.finals, ["a=1 b=0 n=10"]);
}

#[test]
fn a_barrier_separates_rounds() {
    let seen = explore(
        "barrier b = 2; int x, y;
         thread A { x = 1; arrive(b); assert(y == 1); arrive(b); x = 2; }
         thread B { y = 1; arrive(b); assert(x == 1); arrive(b); y = 2; }",
    );
    assert_eq!(seen.finals, ["x=2 y=2"]);
    assert_eq!(seen.failures, NONE);
    assert_eq!(seen.unordered, NONE);
    assert_eq!(explore("barrier b = 2; thread A { arrive(b); }").deadlocks, ["A"]);
    assert_eq!(explore("barrier b = 1; thread A { arrive(b); arrive(b); }").deadlocks, NONE);
}

#[test]
fn threads_are_forked_and_joined() {
    let seen = explore(
        "int x;
         fn child(int by) { x = x + by; }
         main { thread a = fork child(1); join(a); thread b = fork child(2); join(b); assert(x == 3); }",
    );
    assert_eq!(seen.finals, ["x=3"]);
    assert_eq!((seen.failures.len(), seen.unordered.len()), (0, 0));
    let unjoined = explore("int x; fn child() { x = 1; } main { fork child(); x = 2; }");
    assert_eq!(unjoined.finals, ["x=1", "x=2"]);
    assert_eq!(unjoined.co_enabled, ["main line 1 / child#1 line 1"]);
}

#[test]
fn atomics_read_and_write_at_once() {
    let seen = explore("int x; thread A { fetch_add(x, 1); } thread B { fetch_add(x, 2); }");
    assert_eq!(seen.finals, ["x=3"]);
    assert_eq!((seen.co_enabled.len(), seen.unordered.len()), (0, 0));
    let won = explore("int x; int a, b; thread A { a = cas(x, 0, 1); } thread B { b = cas(x, 0, 2); }");
    assert_eq!(won.finals, ["x=1 a=1 b=0", "x=2 a=0 b=1"]);
    let swapped = explore("int x = 5; int a; thread A { a = exchange(x, 6); }");
    assert_eq!(swapped.finals, ["x=6 a=5"]);
}

#[test]
fn an_assumption_discards_and_others_go_on_before_it() {
    let seen = explore(
        "int x;
         thread A { assume(x == 1); x = 5; }
         thread B { x = 1; assert(x == 1); }",
    );
    assert_eq!(seen.finals, ["x=5"]);
    assert_eq!(seen.failures, ["B line 3: assert"]);
    assert!(seen.schedules.discarded > 0);
}

#[test]
fn a_failing_assertion_can_be_overtaken() {
    // A's update makes x 2; before A fails, B can see that and fail too.
    let seen = explore(
        "int x = 1;
         thread A { int r = fetch_add(x, 1); assert(r == 0); }
         thread B { assert(load(x) != 2); }",
    );
    assert_eq!(seen.failures, ["A line 2: assert", "B line 3: assert"]);
}

#[test]
fn circles_are_deadlocks_even_beside_threads_that_live_or_fail() {
    let circle = "mutex m, n;
         thread A { lock(m); lock(n); unlock(n); unlock(m); }
         thread B { lock(n); lock(m); unlock(m); unlock(n); }";
    assert_eq!(explore(circle).deadlocks, ["A+B"]);
    let failing = explore(&format!("{circle} thread C {{ assert(0); }}"));
    assert_eq!(failing.deadlocks, ["A+B"]);
    assert_eq!(failing.failures, ["C line 3: assert"]);
}
