//! In the steady state the search does not allocate: what the theory needs was allocated when it was declared, or
//! grew during earlier queries. A query itself allocates a little (its assumptions, its model), however long it takes.

// Failing by `unwrap` is what a test does; counting allocations needs an allocator.
#![allow(clippy::unwrap_used, unsafe_code)]

#[path = "../examples/bench_solver/ours.rs"]
#[allow(dead_code)]
mod ours;
#[path = "../examples/bench_solver/trace.rs"]
#[allow(dead_code)]
mod trace;

use solver::{Answer, Bool, Options};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use trace::{Shape, Trace};

/// The system's allocator, counting how often each thread asks it for memory.
struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // A thread that is ending allocates uncounted.
    let _ = COUNT.try_with(|c| c.set(c.get() + 1));
}

// SAFETY: every call goes to the system's allocator as it is; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`, and the block came from `System`.
        unsafe { System.dealloc(block, layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `realloc`, and the block came from `System`.
        unsafe { System.realloc(block, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn queries_about_a_trace_allocate_only_for_question_and_answer() {
    let trace = Trace::generate(&Shape::parse("h300x8").unwrap());
    let mut encoded = ours::encode(&trace, Options { check: false, proof: false }).unwrap();
    let queries: Vec<Vec<Bool>> = trace.candidates.iter().map(|&c| encoded.candidate(c).unwrap()).collect();
    let solver = &mut encoded.solver;
    // The most that a query allocated that was answered with "no", and with "yes".
    let mut rounds = |count: usize| {
        let (mut no, mut yes) = (0, 0);
        for query in std::iter::repeat_n(&queries, count).flatten() {
            let before = COUNT.get();
            let answer = solver.solve(query).unwrap();
            let allocations = COUNT.get() - before;
            match answer {
                Answer::Sat => yes = allocations.max(yes),
                Answer::Unsat(_) => no = allocations.max(no),
                Answer::Unknown(_) => unreachable!("there is no limit"),
            }
        }
        (no, yes, solver.statistics().theory)
    };
    let (_, _, before) = rounds(3);
    let (no, yes, after) = rounds(3);
    let (edges, reasons) = (after.edges - before.edges, after.explanations - before.explanations);
    println!("{edges} edges, {reasons} reasons; at most {no} allocations for no, {yes} for yes");
    assert!(edges > 100_000 && reasons > 1000, "there was too little to do: {edges} {reasons}");
    assert!(no <= 20, "{no} allocations for a query without a model");
    assert!(yes <= 120, "{yes} allocations for a query with a model");
}
