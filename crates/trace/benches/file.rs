//! How large a trace file is and how fast it is written and read: `cargo bench -p threadbare-trace`.
//!
//! The run is made up: four threads that take turns in loops of some twenty instructions over a shared array and
//! a few scalars, with locks and branches, a million events in all.

use ir::{GlobalId, Order, ShapeId, SiteId};
use std::time::Instant;
use trace::{
    Allocation, AllocationId, AllocationOrigin, Event, EventId, EventKind, Location, LockMode, Logging,
    Origin, Outcome, Switch, ThreadId, ThreadInfo, Trace, file,
};

const EVENTS: u64 = 1_000_000;

fn main() {
    let trace = synthetic(EVENTS);
    let bytes = file::write_bytes(&trace).expect("a consistent trace");
    let best = |mut run: Box<dyn FnMut()>| {
        let once = |run: &mut dyn FnMut()| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64()
        };
        (0..5).map(|_| once(&mut *run)).fold(f64::INFINITY, f64::min)
    };
    let write = best({
        let trace = trace.clone();
        Box::new(move || drop(file::write_bytes(&trace)))
    });
    let read = best({
        let bytes = bytes.clone();
        Box::new(move || drop(file::read_bytes(&bytes)))
    });
    let million = EVENTS as f64 / 1e6;
    println!("{EVENTS} events, {} bytes", bytes.len());
    println!("bytes per event   {:.2}", bytes.len() as f64 / EVENTS as f64);
    println!("write             {:.1} million events/s", million / write);
    println!("read              {:.1} million events/s", million / read);
    assert_eq!(file::read_bytes(&bytes).expect("what was just written").trace, trace);
}

/// A small generator of numbers (Marsaglia's xorshift): the same trace each time.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

fn synthetic(count: u64) -> Trace {
    let threads: Vec<ThreadId> = (0..4).filter_map(|n| ThreadId::MAIN.child(n)).collect();
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut next = [1u64; 4];
    let mut index = [0u64; 4];
    let (mut events, mut switches) = (vec![], vec![]);
    while (events.len() as u64) < count {
        let t = random.below(4) as usize;
        let burst = 1 + random.below(60);
        for _ in 0..burst {
            let n = next[t];
            next[t] += 1;
            let step = (n % 20) as u32;
            let scalar = Location { allocation: AllocationId(step % 5), offset: 0 };
            let element = Location { allocation: AllocationId(5), offset: 4 * (index[t] % 1000) };
            let lock = Location { allocation: AllocationId(6), offset: 0 };
            let kind = match step {
                0 => EventKind::Lock { object: lock, mode: LockMode::Mutex, depth: 1 },
                19 => EventKind::Unlock { object: lock, mode: LockMode::Mutex, depth: 0 },
                3 | 8 | 13 => EventKind::Branch { taken: u32::from(random.below(10) == 0) },
                4 | 9 => EventKind::Write {
                    location: element,
                    bytes: 4,
                    value: random.below(1 << 16),
                    order: None,
                },
                5 | 10 | 14 => {
                    index[t] += 1;
                    EventKind::Read { location: element, bytes: 4, value: random.below(1 << 16), order: None }
                }
                7 => {
                    EventKind::Update { location: scalar, bytes: 8, old: n, new: n + 1, order: Order::SeqCst }
                }
                _ => EventKind::Read { location: scalar, bytes: 4, value: random.below(50), order: None },
            };
            events.push(Event {
                id: EventId { thread: threads[t], n },
                site: SiteId(100 * t as u32 + step),
                kind,
            });
        }
        let last = &events[events.len() - 1];
        switches.push(Switch {
            thread: last.id.thread,
            until: last.id.n,
            site: Some(last.site),
            enabled: threads.clone(),
        });
    }
    let allocations = (0..7)
        .map(|n| Allocation {
            id: AllocationId(n),
            origin: AllocationOrigin::Global(GlobalId(n)),
            shape: Some(ShapeId(0)),
            bytes: 4000,
            address: 0,
        })
        .collect();
    Trace {
        origin: Origin {
            subject: "synthetic".into(),
            fingerprint: 1,
            strategy: "random".into(),
            logging: Logging::Everything,
        },
        threads: threads.iter().map(|&id| ThreadInfo { id, name: id.to_string(), forked_by: None }).collect(),
        allocations,
        events,
        switches,
        choices: vec![],
        outcome: Outcome::LimitReached { events: count },
    }
}
