//! A small program with a run of it, written by hand.

use ir::{GlobalId, Program, ShapeId, SiteId};
use trace::{
    Allocation, AllocationId, AllocationOrigin, Event, EventId, EventKind as K, Location, LockMode, Logging,
    Origin, Outcome, Switch, ThreadId, ThreadInfo, Trace, WakeReason,
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

pub fn program() -> Program {
    let program = ir::parse(PROGRAM).unwrap_or_else(|error| panic!("{error}"));
    ir::verify(&program).unwrap_or_else(|errors| panic!("{errors:?}"));
    program
}

/// A run of the program: T1 waits, T2 signals, the assertion of T1 fails.
pub fn sample() -> Trace {
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
        shape: Some(ShapeId(shape)),
        bytes,
        address: 0x1000 * (u64::from(n) + 1),
    };
    let by = EventId { thread: t2, n: 3 };
    let heap = Allocation {
        id: AllocationId(4),
        origin: AllocationOrigin::Heap { by, site: SiteId(12) },
        shape: Some(ShapeId(2)),
        bytes: 16,
        address: 0x7f00_1000,
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
        switches: vec![Switch { thread: t1, until: 2, site: Some(SiteId(1)), enabled: vec![t1, t2] }],
        choices: vec![trace::Choice::Wake(t1)],
        outcome: Outcome::AssertionFailed { event: EventId { thread: t1, n: 6 }, site: SiteId(5) },
    }
}
