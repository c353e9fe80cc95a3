//! Whether a trace belongs to a program, and whether old trace files can be read.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use crate::common::bank::{program, sample};
use ir::{GlobalId, ShapeId, SiteId};
use trace::{
    AllocationId, AllocationOrigin, Event, EventId, EventKind as K, Location, LockMode, Logging, Misfit,
    Outcome, ThreadId, Trace, WakeReason, file,
};

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
    assert_eq!(misfit(&|t| t.switches[0].site = Some(SiteId(999))), Misfit::NoSite(SiteId(999)));
    assert_eq!(misfit(&|t| t.allocations[0].shape = Some(ShapeId(99))), Misfit::NoShape(ShapeId(99)));
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
        ("wait @x", "WaitBegin StopWaiting WaitEnd"),
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
        ("%4 = rmw add i32 @x, 1i32 seq_cst", "Update ReadBytes WriteBytes"),
        ("%5, %6 = cmpxchg (i32, i1) @x, 1i32, 1i32 seq_cst seq_cst", "CompareExchange ReadBytes WriteBytes"),
        ("fence seq_cst", "Fence"),
        ("%7 = heap_alloc ptr #0, 1i32", "Alloc"),
        ("free @x", "Free"),
        ("memcpy @x, @x, 1i32", "Read ReadBytes Write WriteBytes"),
        ("memset @x, 0i8, 1i32", "Write WriteBytes"),
        ("%8 = fork i64 $f()", "Fork"),
        ("call external \"e\"()", "External ReadBytes Write WriteBytes End"),
        ("call $f()", ""),
        ("opaque memory \"asm\"()", "External WriteBytes Update"),
        ("assert true", "Assert"),
        ("assume true", "Assume"),
        ("bound true", ""),
        ("%9 = udiv i32 1i32, 1i32", ""),
        ("return", "End"),
    ];
    let lines: Vec<&str> = sync.iter().map(|(line, _)| *line).collect();
    let text = format!(
        "program \"p\"\nshape #0 = int 4 signed\nglobal @x #0 = zero\nfunction $f() {{\nb0:\n{}\n}}\n\
         thread T = $f\n",
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
        K::StopWaiting { condition: object, reason: WakeReason::Expired },
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
            // In compiled code, synchronisation happens inside functions of libraries.
            let mut compiled = program.clone();
            compiled.threads.clear();
            let mut trace = trace.clone();
            trace.origin.fingerprint = compiled.fingerprint();
            let fits = trace.check_fits(&compiled).is_ok();
            let names = if *line == "call $f()" { "External ReadBytes Write WriteBytes End" } else { names };
            let expected = kind.is_synchronisation() || names.split(' ').any(|other| other == name);
            assert_eq!(fits, expected, "{line}: {name}");
        }
    }
}

/// The files that the fuzz target starts from; they also keep the format from changing unnoticed.
const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/__fuzz__/trace_file/corpus");

#[test]
fn a_file_of_this_version_that_was_written_earlier_is_read() {
    let bytes = std::fs::read(format!("{CORPUS}/complete.trace")).unwrap();
    let read = file::read_bytes(&bytes).unwrap();
    assert!(read.complete);
    let fingerprint = read.trace.origin.fingerprint;
    let mut expected = sample();
    // The fingerprint follows the text form of the IR, which may change more often.
    expected.origin.fingerprint = fingerprint;
    assert_eq!(read.trace, expected, "if the format has changed, so must its version");
}

#[test]
#[ignore = "writes the corpus of the fuzz target anew, after a change of the format"]
fn write_the_corpus() {
    let whole = file::write_bytes(&sample()).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 4;
    let empty = Trace {
        events: vec![],
        allocations: vec![],
        threads: vec![],
        switches: vec![],
        choices: vec![],
        outcome: Outcome::Truncated,
        ..sample()
    };
    for (name, bytes) in [
        ("complete", &whole[..]),
        ("cut", &whole[..whole.len() - 10]),
        ("cut_in_header", &whole[..15]),
        ("flipped", &flipped),
        ("empty", &file::write_bytes(&empty).unwrap()),
        ("other_version", b"TBTRACE\n\x03\0\0\0"),
    ] {
        std::fs::write(format!("{CORPUS}/{name}.trace"), bytes).unwrap();
    }
}
