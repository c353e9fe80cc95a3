//! What people and programs see of a trace, and whether it belongs to its program.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::traces;
use ir::{GlobalId, Program, ShapeId, SiteId};
use proptest::prelude::*;
use trace::{
    Allocation, AllocationId, AllocationOrigin, BlockedThread, Event, EventId, EventKind as K, Location,
    LockMode, Logging, Misfit, Origin, Outcome, ShowOptions, Switch, ThreadId, ThreadInfo, Trace, WaitsFor,
    WakeReason, show, to_json, write_json,
};

const PROGRAM: &str = r#"program "bank"
file !0 = "bank.tb"
shape #0 = int 4 signed
shape #1 = int 1 unsigned
shape #2 = record "account" 8 {0: #0 "balance", 4: #1 "open"}
shape #3 = array 3 #2
shape #4 = mutex
shape #5 = cond
shape #6 = pointer #2
global @acct #3 = zero  !0:1:1
global @m #4 = mutex 0
global @c #5 = cond 0
global @p #6 = zero

function $T1() {
b0:
  mutex_lock @m  !t1 !0:3:3
  wait @c, @m  !0:4:3
  %0 = load i32 @acct  !t2 !0:5:3
  %1 = cmp slt i1 %0, 0i32
  branch %1, b1, b2  !0:6:3
b1:
  assert false  !0:7:5
  jump b2
b2:
  %2 = fork i64 $worker(null)  !0:8:3
  mutex_unlock @m  !0:9:3
  return  !0:10:1
}

function $T2() {
b0:
  mutex_lock @m  !0:13:3
  store -5i32, @acct  !t4 !0:14:3
  %0 = heap_alloc ptr #2, 2i64  !0:15:3
  store %0, @p  !0:15:3
  %1 = rmw add i8 %0, 1i8 seq_cst  !0:16:3
  signal @c  !0:17:3
  mutex_unlock @m  !0:18:3
  %2 = call i32 external "puts"(null)  !0:19:3
  return  !0:20:1
}

function $worker(%0 ptr) {
b0:
  mutex_lock @m  !0:23:3
  return
}

thread T1 = $T1
thread T2 = $T2
"#;

fn program() -> Program {
    let program = ir::parse(PROGRAM).unwrap_or_else(|error| panic!("{error}"));
    ir::verify(&program).unwrap_or_else(|errors| panic!("{errors:?}"));
    program
}

/// A run of the program: T1 waits, T2 signals, the assertion of T1 fails.
fn sample() -> Trace {
    let t1 = ThreadId::MAIN.child(0).unwrap();
    let t2 = ThreadId::MAIN.child(1).unwrap();
    let worker = t1.child(0).unwrap();
    let place = |allocation, offset| Location { allocation: AllocationId(allocation), offset };
    let (acct, m, c, p, heap) = (place(0, 8), place(1, 0), place(2, 0), place(3, 0), place(4, 12));
    let mutex = LockMode::Mutex;
    let (mut events, mut count) = (vec![], std::collections::HashMap::new());
    let mut event = |thread: ThreadId, site: u32, kind: K| {
        let n = count.entry(thread).or_insert(0);
        *n += 1;
        events.push(Event { id: EventId { thread, n: *n }, site: SiteId(site), kind });
    };
    // Sites count through the program: T1 has 0 to 9, T2 10 to 18.
    event(t1, 0, K::Lock { object: m, mode: mutex, depth: 1 });
    event(t1, 1, K::WaitBegin { condition: c, mutex: Some(m) });
    event(t2, 10, K::Lock { object: m, mode: mutex, depth: 1 });
    event(t2, 11, K::Write { location: acct, bytes: 4, value: 0xffff_fffb, order: None });
    event(t2, 12, K::Alloc { allocation: AllocationId(4) });
    event(t2, 13, K::Write { location: p, bytes: 8, value: 0x7f00_1000, order: None });
    event(t2, 14, K::Update { location: heap, bytes: 1, old: 0, new: 1, order: ir::Order::SeqCst });
    event(t2, 15, K::Signal { condition: c, woken: Some(t1) });
    event(t2, 16, K::Unlock { object: m, mode: mutex, depth: 0 });
    let signal = EventId { thread: t2, n: 6 };
    event(t1, 1, K::WaitEnd { condition: c, mutex: Some(m), reason: WakeReason::Signal(signal) });
    event(t1, 2, K::Read { location: acct, bytes: 4, value: 0xffff_fffb, order: None });
    event(t1, 4, K::Branch { taken: 0 });
    event(t2, 17, K::External { result: 7 });
    event(t1, 5, K::Assert { held: false });
    let program = program();
    let global = |n: u32, shape, bytes| Allocation {
        id: AllocationId(n),
        origin: AllocationOrigin::Global(GlobalId(n)),
        shape: ShapeId(shape),
        bytes,
    };
    let by = EventId { thread: t2, n: 3 };
    let heap = Allocation {
        id: AllocationId(4),
        origin: AllocationOrigin::Heap { by, site: SiteId(12) },
        shape: ShapeId(2),
        bytes: 16,
    };
    let name = |id, name: &str, forked_by| ThreadInfo { id, name: name.into(), forked_by };
    Trace {
        origin: Origin {
            subject: "bank.tb".into(),
            fingerprint: program.fingerprint(),
            strategy: "random seed 7".into(),
            logging: Logging::Everything,
        },
        threads: vec![
            name(t1, "T1", None),
            name(t2, "T2", None),
            name(worker, "worker", Some(EventId { thread: t1, n: 9 })),
        ],
        allocations: vec![global(0, 3, 24), global(1, 4, 8), global(2, 5, 8), global(3, 6, 8), heap],
        events,
        switches: vec![Switch { thread: t1, until: 2, site: SiteId(1), enabled: vec![t1, t2] }],
        choices: vec![trace::Choice::Wake(t1)],
        outcome: Outcome::AssertionFailed { event: EventId { thread: t1, n: 6 }, site: SiteId(5) },
    }
}

#[test]
fn a_trace_is_shown_in_columns() {
    insta::assert_snapshot!(show(&sample(), Some(&program()), &ShowOptions::default()));
}

#[test]
fn a_trace_without_its_program_is_shown_by_numbers() {
    insta::assert_snapshot!(show(&sample(), None, &ShowOptions::default()));
}

#[test]
fn columns_shrink_and_rows_are_limited() {
    let options = ShowOptions { width: 40, from: 3, to: Some(12), limit: Some(7) };
    insta::assert_snapshot!(show(&sample(), Some(&program()), &options));
}

#[test]
fn many_threads_share_a_column() {
    let options = ShowOptions { width: 30, ..ShowOptions::default() };
    insta::assert_snapshot!(show(&sample(), Some(&program()), &options));
}

#[test]
fn outcomes_are_told_in_words() {
    let (program, mut trace) = (program(), sample());
    trace.events.clear();
    let thread = trace.threads[0].id;
    let (event, site) = (EventId { thread, n: 3 }, SiteId(10));
    let object = Location { allocation: AllocationId(1), offset: 0 };
    let waits = |thread, waits_for| BlockedThread { thread, site, waits_for };
    let (t1, t2, worker) = (trace.threads[0].id, trace.threads[1].id, trace.threads[2].id);
    let outcomes = [
        Outcome::Completed { state: vec![("x".into(), "-1".into())], condition: None },
        Outcome::Completed { state: vec![], condition: Some(true) },
        Outcome::Completed { state: vec![], condition: Some(false) },
        Outcome::Fault { event, site, kind: trace::FaultKind::UseAfterFree },
        Outcome::Deadlock {
            blocked: vec![
                waits(t1, WaitsFor::Lock { object, held_by: vec![t2, worker] }),
                waits(t2, WaitsFor::Condition { object }),
                waits(worker, WaitsFor::Semaphore { object }),
                waits(worker, WaitsFor::Barrier { object, arrived: 1, parties: 2 }),
                waits(worker, WaitsFor::Join { thread: t1 }),
                waits(worker, WaitsFor::Exclusive { thread: t1 }),
            ],
        },
        Outcome::Discarded { thread, site },
        Outcome::BoundExceeded { thread, site },
        Outcome::LimitReached { events: 5 },
        Outcome::Truncated,
    ];
    let mut text = String::new();
    for outcome in outcomes {
        trace.outcome = outcome;
        let shown = show(&trace, Some(&program), &ShowOptions::default());
        text.push_str(&shown[shown.find("outcome").unwrap()..]);
    }
    insta::assert_snapshot!(text);
}

#[test]
fn a_trace_as_json() {
    let json = to_json(&sample(), Some(&program()));
    let mut written = vec![];
    write_json(&mut written, &sample(), Some(&program())).unwrap();
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&written).unwrap(), json);
    insta::assert_snapshot!(String::from_utf8(written).unwrap());
}

#[test]
fn names_that_would_command_the_terminal_are_escaped() {
    let mut trace = sample();
    trace.threads[0].name = "\u{1b}[2J evil\n".into();
    trace.origin.subject = "\u{7}".into();
    let shown = show(&trace, None, &ShowOptions::default());
    assert!(!shown.contains(['\u{1b}', '\u{7}']) && shown.contains("\\u{1b}[2J evil\\n"));
}

#[test]
fn the_sample_fits_its_program_and_no_other() {
    let (program, trace) = (program(), sample());
    trace.check_fits(&program).unwrap();
    let misfit = |change: &dyn Fn(&mut Trace)| {
        let mut trace = trace.clone();
        change(&mut trace);
        trace.check_fits(&program).unwrap_err()
    };
    assert!(matches!(misfit(&|t| t.origin.fingerprint ^= 1), Misfit::OtherProgram { .. }));
    assert_eq!(misfit(&|t| t.events[0].site = SiteId(999)), Misfit::NoSite(SiteId(999)));
    assert_eq!(misfit(&|t| t.switches[0].site = SiteId(999)), Misfit::NoSite(SiteId(999)));
    assert_eq!(misfit(&|t| t.allocations[0].shape = ShapeId(99)), Misfit::NoShape(ShapeId(99)));
    let global = GlobalId(99);
    assert_eq!(
        misfit(&|t| t.allocations[0].origin = AllocationOrigin::Global(global)),
        Misfit::NoGlobal(global)
    );
    assert_eq!(misfit(&|t| t.origin.logging = Logging::Globals(vec![global])), Misfit::NoGlobal(global));
    let outcome = |site| Outcome::Discarded { thread: ThreadId::MAIN, site };
    assert_eq!(misfit(&|t| t.outcome = outcome(SiteId(999))), Misfit::NoSite(SiteId(999)));
    let wrong =
        |event: usize| Misfit::WrongKind { event: trace.events[event].id, site: trace.events[event].site };
    assert_eq!(misfit(&|t| t.events[0].kind = K::End), wrong(0));
    assert_eq!(misfit(&|t| t.events[11].kind = K::Branch { taken: 2 }), wrong(11));
    assert_eq!(misfit(&|t| t.events[3].kind = K::Assume), wrong(3));
}

#[test]
fn every_operation_makes_its_own_events_and_no_others() {
    // Each line of this function with the kinds of events that it can make.
    let sync = [
        ("mutex_lock @x", "Lock"),
        ("%0 = mutex_trylock i32 @x", "TryLock"),
        ("mutex_unlock @x", "Unlock"),
        ("wait @x", "WaitBegin WaitEnd"),
        ("signal @x", "Signal"),
        ("broadcast @x", "Broadcast"),
        ("acquire @x", "Acquire"),
        ("%1 = try_acquire i32 @x", "TryAcquire"),
        ("release @x", "Release"),
        ("%2 = token_count i32 @x", "TokenCount"),
        ("barrier_wait @x", "BarrierArrive BarrierLeave"),
        ("join 1i64", "Join"),
        ("transaction_begin", "TransactionBegin"),
        ("transaction_end", "TransactionEnd"),
        ("exclusive_begin", "ExclusiveBegin"),
        ("exclusive_end", "ExclusiveEnd"),
        ("%3 = load i32 @x", "Read ReadBytes"),
        ("store 1i32, @x", "Write WriteBytes"),
        ("%4 = rmw add i32 @x, 1i32 seq_cst", "Update"),
        ("%5, %6 = cmpxchg (i32, i1) @x, 1i32, 1i32 seq_cst seq_cst", "CompareExchange"),
        ("fence seq_cst", "Fence"),
        ("%7 = heap_alloc ptr #0, 1i32", "Alloc"),
        ("free @x", "Free"),
        ("memcpy @x, @x, 1i32", "Read ReadBytes Write WriteBytes"),
        ("memset @x, 0i8, 1i32", "Write WriteBytes"),
        ("%8 = fork i64 $f()", "Fork"),
        ("call external \"e\"()", "External End"),
        ("call $f()", ""),
        ("opaque memory \"asm\"()", "External"),
        ("assert true", "Assert"),
        ("assume true", "Assume"),
        ("bound true", ""),
        ("%9 = udiv i32 1i32, 1i32", ""),
        ("return", "End"),
    ];
    let lines: Vec<&str> = sync.iter().map(|(line, _)| *line).collect();
    let text = format!(
        "program \"p\"\nshape #0 = int 4 signed\nglobal @x #0 = zero\nfunction $f() {{\nb0:\n{}\n}}\n",
        lines.join("\n")
    );
    let program = ir::parse(&text).unwrap();
    ir::verify(&program).unwrap();
    let object = Location { allocation: AllocationId(0), offset: 0 };
    let (mode, order, thread) = (LockMode::Mutex, ir::Order::SeqCst, ThreadId::MAIN);
    let content: Box<[u8]> = Box::new([]);
    let kinds = [
        K::Read { location: object, bytes: 4, value: 0, order: None },
        K::Write { location: object, bytes: 4, value: 0, order: None },
        K::Update { location: object, bytes: 4, old: 0, new: 0, order },
        K::CompareExchange { location: object, bytes: 4, old: 0, expected: 0, new: 0, success: true, order },
        K::ReadBytes { location: object, content: content.clone() },
        K::WriteBytes { location: object, content },
        K::Fence { order },
        K::Branch { taken: 0 },
        K::Fork { child: thread },
        K::Join { child: thread },
        K::End,
        K::Lock { object, mode, depth: 1 },
        K::TryLock { object, mode, acquired: None },
        K::Unlock { object, mode, depth: 0 },
        K::WaitBegin { condition: object, mutex: None },
        K::WaitEnd { condition: object, mutex: None, reason: WakeReason::Spurious },
        K::Signal { condition: object, woken: None },
        K::Broadcast { condition: object, woken: 0 },
        K::Acquire { semaphore: object },
        K::TryAcquire { semaphore: object, acquired: true },
        K::Release { semaphore: object },
        K::TokenCount { semaphore: object, value: 0 },
        K::BarrierArrive { barrier: object, round: 0 },
        K::BarrierLeave { barrier: object, round: 0 },
        K::Alloc { allocation: AllocationId(0) },
        K::Free { allocation: None },
        K::Assert { held: true },
        K::Assume,
        K::TransactionBegin,
        K::TransactionEnd,
        K::ExclusiveBegin,
        K::ExclusiveEnd,
        K::External { result: 0 },
    ];
    let mut trace = sample();
    trace.origin.fingerprint = program.fingerprint();
    trace.allocations.clear();
    trace.switches.clear();
    trace.outcome = Outcome::Truncated;
    for (site, (line, names)) in sync.iter().enumerate() {
        for kind in &kinds {
            let name = format!("{kind:?}").split([' ', '{']).next().unwrap().to_owned();
            trace.events =
                vec![Event { id: EventId { thread, n: 1 }, site: SiteId(site as u32), kind: kind.clone() }];
            let fits = trace.check_fits(&program).is_ok();
            assert_eq!(fits, names.split(' ').any(|other| other == name), "{line}: {name}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Also with a program that the trace does not belong to.
    #[test]
    fn any_trace_can_be_shown(trace in traces(40), width in 0usize..120, from in 0u64..50, limit in any::<Option<u64>>()) {
        let program = program();
        let options = ShowOptions { width, from, to: None, limit };
        for program in [None, Some(&program)] {
            let shown = show(&trace, program, &options);
            let json = to_json(&trace, program);
            let mut written = vec![];
            write_json(&mut written, &trace, program).unwrap();
            prop_assert_eq!(serde_json::from_slice::<serde_json::Value>(&written).unwrap(), json);
            if width >= 40 {
                let table = shown.lines().skip_while(|line| !line.is_empty()).take_while(|line| !line.contains("outcome"));
                for line in table {
                    prop_assert!(line.chars().count() <= width, "{}", line);
                }
            }
        }
    }
}
