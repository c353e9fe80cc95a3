//! Traces for tests: random ones that are consistent, of no program in particular, and one written by hand.

#![allow(dead_code, clippy::unwrap_used, reason = "each test takes what it needs, and may fail")]

pub mod bank;

use ir::{GlobalId, Order, ShapeId, SiteId};
use proptest::prelude::*;
use proptest::sample::select;
use trace::{
    Allocation, AllocationId, AllocationOrigin, BlockedThread, Choice, Event, EventId, EventKind, FaultKind,
    Location, LockMode, Logging, Origin, Outcome, Switch, ThreadId, ThreadInfo, Trace, WaitsFor, WakeReason,
};

/// What a trace's records may name.
#[derive(Clone, Debug)]
struct World {
    threads: Vec<ThreadId>,
    allocations: u32,
}

fn order() -> impl Strategy<Value = Order> {
    select(vec![Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst])
}

fn fault() -> impl Strategy<Value = FaultKind> {
    select(vec![FaultKind::NullAccess, FaultKind::DoubleFree, FaultKind::Unreachable])
}

fn content() -> impl Strategy<Value = Box<[u8]>> {
    prop::collection::vec(any::<u8>(), 0..20).prop_map(Vec::into_boxed_slice)
}

/// Some bytes and values that fit them.
fn values() -> impl Strategy<Value = (u8, u64, u64, u64)> {
    (1u8..=8, any::<u64>(), any::<u64>(), any::<u64>()).prop_map(|(bytes, a, b, c)| {
        let cut = |value: u64| value >> (64 - 8 * u32::from(bytes));
        (bytes, cut(a), cut(b), cut(c))
    })
}

impl World {
    fn thread(&self) -> impl Strategy<Value = ThreadId> + use<> {
        select(self.threads.clone())
    }

    fn allocation(&self) -> impl Strategy<Value = AllocationId> + use<> {
        (0..self.allocations).prop_map(AllocationId)
    }

    fn location(&self) -> impl Strategy<Value = Location> + use<> {
        (self.allocation(), prop_oneof![0u64..64, any::<u64>()])
            .prop_map(|(allocation, offset)| Location { allocation, offset })
    }

    fn event(&self) -> impl Strategy<Value = EventId> + use<> {
        (self.thread(), any::<u64>()).prop_map(|(thread, n)| EventId { thread, n })
    }

    fn kind(&self) -> BoxedStrategy<EventKind> {
        let mode = select(vec![LockMode::Mutex, LockMode::Read, LockMode::Write]);
        let reason = prop_oneof![
            self.event().prop_map(WakeReason::Signal),
            Just(WakeReason::Expired),
            Just(WakeReason::Spurious)
        ];
        let access = || (self.location(), values(), prop::option::of(order()), any::<bool>());
        prop_oneof![
            access().prop_map(|(location, (bytes, value, ..), order, write)| match write {
                true => EventKind::Write { location, bytes, value, order },
                false => EventKind::Read { location, bytes, value, order },
            }),
            access().prop_map(|(location, (bytes, old, expected, new), order, success)| match order {
                None => EventKind::Update { location, bytes, old, new, order: Order::SeqCst },
                Some(order) => {
                    EventKind::CompareExchange { location, bytes, old, expected, new, success, order }
                }
            }),
            (self.location(), content(), any::<bool>()).prop_map(|(location, content, write)| match write {
                true => EventKind::WriteBytes { location, content },
                false => EventKind::ReadBytes { location, content },
            }),
            order().prop_map(|order| EventKind::Fence { order }),
            any::<u32>().prop_map(|taken| EventKind::Branch { taken }),
            (self.thread(), any::<bool>()).prop_map(|(child, fork)| match fork {
                true => EventKind::Fork { child },
                false => EventKind::Join { child },
            }),
            (self.location(), mode, prop::option::of(any::<u32>()), 0..3).prop_map(
                |(object, mode, acquired, which)| match (which, acquired) {
                    (0, _) => EventKind::TryLock { object, mode, acquired },
                    (1, depth) => EventKind::Lock { object, mode, depth: depth.unwrap_or(1) },
                    (_, depth) => EventKind::Unlock { object, mode, depth: depth.unwrap_or(0) },
                }
            ),
            (self.location(), prop::option::of(self.location()), prop::option::of(reason)).prop_map(
                |(condition, mutex, reason)| match reason {
                    None => EventKind::WaitBegin { condition, mutex },
                    Some(reason) if mutex.is_none() => EventKind::StopWaiting { condition, reason },
                    Some(reason) => EventKind::WaitEnd { condition, mutex, reason },
                }
            ),
            (self.location(), prop::option::of(self.thread()))
                .prop_map(|(condition, woken)| EventKind::Signal { condition, woken }),
            (self.location(), any::<u32>())
                .prop_map(|(condition, woken)| EventKind::Broadcast { condition, woken }),
            (self.location(), any::<u64>(), 0..6).prop_map(|(object, number, which)| match which {
                0 => EventKind::Acquire { semaphore: object },
                1 => EventKind::TryAcquire { semaphore: object, acquired: number % 2 == 0 },
                2 => EventKind::Release { semaphore: object },
                3 => EventKind::TokenCount { semaphore: object, value: number },
                4 => EventKind::BarrierArrive { barrier: object, round: number },
                _ => EventKind::BarrierLeave { barrier: object, round: number },
            }),
            self.allocation().prop_map(|allocation| EventKind::Alloc { allocation }),
            prop::option::of(self.allocation()).prop_map(|allocation| EventKind::Free { allocation }),
            any::<bool>().prop_map(|held| EventKind::Assert { held }),
            any::<u64>().prop_map(|result| EventKind::External { result }),
            fault().prop_map(|kind| EventKind::Fault { kind }),
            any::<String>().prop_map(|what| EventKind::System { what: what.into() }),
            any::<Vec<u64>>().prop_map(|parameters| EventKind::Entry { parameters: parameters.into() }),
            select(vec![
                EventKind::End,
                EventKind::Landing,
                EventKind::Assume,
                EventKind::TransactionBegin,
                EventKind::TransactionEnd,
                EventKind::ExclusiveBegin,
                EventKind::ExclusiveEnd,
            ]),
        ]
        .boxed()
    }

    fn switch(&self) -> impl Strategy<Value = Switch> + use<> {
        (self.thread(), any::<u64>(), any::<Option<u32>>(), prop::collection::vec(self.thread(), 0..4))
            .prop_map(|(thread, until, site, enabled)| Switch {
                thread,
                until,
                site: site.map(SiteId),
                enabled,
            })
    }

    fn choice(&self) -> impl Strategy<Value = Choice> + use<> {
        prop_oneof![self.thread().prop_map(Choice::Wake), Just(Choice::Expire), Just(Choice::Spurious)]
    }

    fn outcome(&self) -> impl Strategy<Value = Outcome> + use<> {
        let waits_for = prop_oneof![
            (self.location(), prop::collection::vec(self.thread(), 0..3))
                .prop_map(|(object, held_by)| WaitsFor::Lock { object, held_by }),
            self.location().prop_map(|object| WaitsFor::Condition { object }),
            (self.location(), any::<u64>(), any::<u64>())
                .prop_map(|(object, arrived, parties)| WaitsFor::Barrier { object, arrived, parties }),
            self.thread().prop_map(|thread| WaitsFor::Join { thread }),
            self.location().prop_map(|object| WaitsFor::Word { object }),
            self.location().prop_map(|object| WaitsFor::Change { object }),
        ];
        let blocked = (self.thread(), any::<u32>(), waits_for)
            .prop_map(|(thread, site, waits_for)| BlockedThread { thread, site: SiteId(site), waits_for });
        let site = any::<u32>().prop_map(SiteId);
        prop_oneof![
            (prop::collection::vec(any::<(String, String)>(), 0..3), any::<Option<bool>>())
                .prop_map(|(state, condition)| Outcome::Completed { state, condition }),
            (self.event(), site.clone()).prop_map(|(event, site)| Outcome::AssertionFailed { event, site }),
            (self.event(), site.clone(), fault()).prop_map(|(event, site, kind)| Outcome::Fault {
                event,
                site,
                kind
            }),
            prop::collection::vec(blocked, 0..3).prop_map(|blocked| Outcome::Deadlock { blocked }),
            (self.thread(), site).prop_map(|(thread, site)| Outcome::Discarded { thread, site }),
            any::<u64>().prop_map(|events| Outcome::LimitReached { events }),
            any::<i32>().prop_map(|status| Outcome::Exited { status }),
        ]
    }
}

fn origin() -> impl Strategy<Value = Origin> {
    let logging = prop_oneof![
        Just(Logging::Everything),
        Just(Logging::Synchronisation),
        Just(Logging::Shared),
        prop::collection::vec(any::<u32>().prop_map(GlobalId), 0..3).prop_map(Logging::Globals),
        any::<(u64, u64)>().prop_map(|(from, to)| Logging::Window { from, to }),
    ];
    (any::<String>(), any::<u64>(), any::<String>(), logging).prop_map(
        |(subject, fingerprint, strategy, logging)| Origin { subject, fingerprint, strategy, logging },
    )
}

/// A consistent trace with fewer than `most` events.
pub fn traces(most: usize) -> impl Strategy<Value = Trace> {
    (1u64..4, 1u32..4, origin()).prop_flat_map(move |(threads, allocations, origin)| {
        let threads: Vec<ThreadId> = (0..threads).filter_map(|n| ThreadId::MAIN.child(n)).collect();
        let world = World { threads: threads.clone(), allocations };
        let events = prop::collection::vec((world.thread(), 1u64..3, any::<u32>(), world.kind()), 0..most);
        let heap =
            prop::collection::vec((any::<u8>(), world.event(), any::<(u32, u64)>()), allocations as usize);
        let rest = (
            prop::collection::vec(world.switch(), 0..5),
            prop::collection::vec(world.choice(), 0..5),
            world.outcome(),
        );
        (events, heap, rest).prop_map(move |(events, heap, (switches, choices, outcome))| Trace {
            origin: origin.clone(),
            threads: threads
                .iter()
                .map(|&id| ThreadInfo { id, name: format!("T{id}"), forked_by: None })
                .collect(),
            allocations: heap.into_iter().enumerate().map(|(n, parts)| allocation(n, parts)).collect(),
            events: numbered(events),
            switches,
            choices,
            outcome,
        })
    })
}

fn allocation(n: usize, (origin, by, (number, bytes)): (u8, EventId, (u32, u64))) -> Allocation {
    let site = SiteId(number);
    let origin = match origin % 6 {
        2 => AllocationOrigin::ThreadLocal { thread: by.thread, global: GlobalId(number) },
        3 => AllocationOrigin::StackOf(by.thread),
        4 => AllocationOrigin::Page(bytes),
        0 => AllocationOrigin::Global(GlobalId(number)),
        1 => AllocationOrigin::Heap { by, site },
        _ => AllocationOrigin::Stack { thread: by.thread, earlier: by.n, site },
    };
    let shape = number.checked_sub(1).map(ShapeId);
    Allocation { id: AllocationId(n as u32), origin, shape, bytes, address: by.n }
}

/// Events with numbers that go up in each thread.
fn numbered(steps: Vec<(ThreadId, u64, u32, EventKind)>) -> Vec<Event> {
    let mut last = std::collections::HashMap::new();
    steps
        .into_iter()
        .map(|(thread, step, site, kind)| {
            let n = last.entry(thread).or_insert(0);
            *n += step;
            Event { id: EventId { thread, n: *n }, site: SiteId(site), kind }
        })
        .collect()
}
