//! Which branches may have phantom edges: a way that was not taken is described by what it may write only if that is all that matters to what
//! is looked for. Where it is not, the way has to be run (the bail-out of PRUNE §5.4).
//!
//! - Assertions and faults: what may be written is enough. Ways with assertions of their own, or accesses that may fault, have no phantom edges
//!   at all (`ir::analysis::Obstacle`).
//! - Races: the accesses that a way may make, and the locks that are surely held, must exclude one (footnote 3). And none of the pairs
//!   that the run has may become one behind a phantom edge.
//! - Deadlocks: only where the locks of the run are taken in an order; and on no way may a thread go round for ever.
//! - Atomicity, and what a user asks for: only where no block of the run is meant to be atomic.

use claim::Property;
use ctp::{Ctp, Phantom};
use ir::SiteId;
use ir::analysis::Branches;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use trace::{
    AllocationId, AllocationOrigin, BlockedThread, EventId, EventKind, Location, LockMode, Outcome, ThreadId,
    Trace, WaitsFor,
};

/// The locks that a thread holds, and how.
type Held = BTreeMap<Location, LockMode>;

/// What a thread knows of others by forks and joins: how many of their events are before.
type Clock = BTreeMap<ThreadId, u64>;

/// A moment in a run: who, when, and what it holds.
struct Moment {
    id: EventId,
    clock: Clock,
    held: Held,
}

/// An access that a thread makes or may make.
struct Access {
    moment: usize,
    place: Location,
    bytes: u64,
    writes: bool,
    atomic: bool,
}

/// The threads of a run that wait at its end, if enough is known of what more they may do elsewhere; `None` if the run says nothing about
/// other beginnings like its own.
///
/// Threads of a run that failed, or in which an assumption did not hold, may do more elsewhere than the trace has of them. A thread that
/// waits at the end may go on elsewhere, and may be part of another deadlock than that of the run.
pub fn stuck(
    properties: &[Property],
    trace: &Trace,
    blocked: Vec<BlockedThread>,
) -> Option<Vec<BlockedThread>> {
    let joins = |one: &BlockedThread| matches!(one.waits_for, WaitsFor::Join { .. });
    let is_known = |one: &BlockedThread| {
        joins(one) || matches!(one.waits_for, WaitsFor::Lock { .. } | WaitsFor::Semaphore { .. })
    };
    let deadlocks = properties.contains(&Property::Deadlock);
    let says_enough = match trace.outcome {
        Outcome::Completed { .. } | Outcome::Exited { .. } => true,
        Outcome::BoundExceeded { .. } if deadlocks => {
            blocked.is_empty() || (blocked.iter().all(joins) && is_ordered(trace))
        }
        Outcome::BoundExceeded { .. } | Outcome::Deadlock { .. } => {
            !deadlocks && blocked.iter().all(is_known)
        }
        _ => false,
    };
    says_enough.then_some(blocked)
}

/// Whether the abstraction of a run may have phantom edges at all.
pub fn some(properties: &[Property], trace: &Trace, ctp: &Ctp) -> bool {
    let wants = |property: Property| properties.contains(&property);
    !(wants(Property::Pattern)
        || (wants(Property::Atomicity) && !ctp.transactions.is_empty())
        || (wants(Property::Deadlock) && !is_ordered(trace))
        || (wants(Property::Wakeup) && has_waits(trace)))
}

/// The branches of an abstraction that must not have the phantom edges that they have; `None` if none must. `spins`: who goes round a loop without
/// effect, for ever, waits for ever.
pub fn refused(
    properties: &[Property],
    spins: bool,
    branches: &Branches<'_>,
    program: &ir::Program,
    trace: &Trace,
    abstraction: &Ctp,
) -> Option<FxHashSet<(EventId, SiteId)>> {
    let wants = |property: Property| properties.contains(&property);
    // What may be written is written at the merge point.
    let unmerged = abstraction.phantoms.iter().filter(|phantom| !phantom.merged);
    let mut refused: FxHashSet<_> = unmerged.map(branch).collect();
    if wants(Property::Deadlock) && spins {
        let sites = ir::SiteIndex::new(program);
        for phantom in &abstraction.phantoms {
            let ways = sites.place(phantom.site).and_then(|place| branches.ways(place.function, place.block));
            if ways.is_some_and(|ways| ways.sides.iter().any(|side| side.effects.rounds)) {
                refused.insert(branch(phantom));
            }
        }
    }
    if wants(Property::Race) {
        let symbolic = |event: &ctp::Event| event.kind.access().is_some_and(|access| access.hits.is_some());
        if abstraction.events.iter().any(symbolic) {
            return None;
        }
        races(trace, abstraction, &mut refused)?;
    }
    Some(refused)
}

fn branch(phantom: &Phantom) -> (EventId, SiteId) {
    (phantom.branch, phantom.site)
}

fn has_waits(trace: &Trace) -> bool {
    trace.events.iter().any(|event| matches!(event.kind, EventKind::WaitBegin { .. }))
}

/// Whether the locks of a run are taken in an order, and nothing else can block: then there is no deadlock in any order of its events.
fn is_ordered(trace: &Trace) -> bool {
    let mut held: FxHashMap<ThreadId, Vec<Location>> = FxHashMap::default();
    let mut behind: BTreeMap<Location, BTreeSet<Location>> = BTreeMap::new();
    for event in &trace.events {
        let held = held.entry(event.id.thread).or_default();
        match event.kind {
            EventKind::Lock { object, depth, .. } => {
                if depth > 1 {
                    held.push(object);
                    continue;
                }
                if held.contains(&object) {
                    return false;
                }
                for &other in held.iter() {
                    behind.entry(other).or_default().insert(object);
                }
                held.push(object);
            }
            EventKind::Unlock { object, .. } => match held.iter().rposition(|&known| known == object) {
                Some(at) => _ = held.remove(at),
                None => return false,
            },
            EventKind::Join { .. } | EventKind::End if !held.is_empty() => return false,
            EventKind::WaitBegin { .. }
            | EventKind::WaitEnd { .. }
            | EventKind::StopWaiting { .. }
            | EventKind::Acquire { .. }
            | EventKind::TryAcquire { .. }
            | EventKind::BarrierArrive { .. }
            | EventKind::TryLock { .. }
            | EventKind::ExclusiveBegin
            | EventKind::System { .. } => return false,
            _ => {}
        }
    }
    is_acyclic(behind)
}

/// Takes away what nothing leads to, until nothing is left.
fn is_acyclic(mut graph: BTreeMap<Location, BTreeSet<Location>>) -> bool {
    while !graph.is_empty() {
        let reached: BTreeSet<Location> = graph.values().flatten().copied().collect();
        let before = graph.len();
        graph.retain(|from, _| reached.contains(from));
        if graph.len() == before {
            return false;
        }
    }
    true
}

/// Refuses branches on whose other ways there may be a race; `None` if there may be one on the recorded ways.
fn races(trace: &Trace, abstraction: &Ctp, refused: &mut FxHashSet<(EventId, SiteId)>) -> Option<()> {
    let allocations: FxHashMap<ir::GlobalId, AllocationId> = (trace.allocations.iter())
        .filter_map(|known| match known.origin {
            AllocationOrigin::Global(global) => Some((global, known.id)),
            _ => None,
        })
        .collect();
    let mut moments = moments(trace);
    let (mut recorded, mut possible) = (vec![], vec![]);
    for (at, event) in trace.events.iter().enumerate() {
        if let Some((kind, place, bytes, order)) = event.kind.access() {
            // A compare-and-exchange that failed may succeed elsewhere.
            let writes = kind.writes() || matches!(event.kind, EventKind::CompareExchange { .. });
            recorded.push(Access { moment: at, place, bytes, writes, atomic: order.is_some() });
        }
    }
    for (n, phantom) in abstraction.phantoms.iter().enumerate() {
        let EventId { thread, n: number } = phantom.branch;
        let mut earlier = moments[..trace.events.len()].iter().rev();
        // A thread that begins with a branch knows what its parent knew; that is not looked for.
        let Some(before) = earlier.find(|moment| moment.id.thread == thread && moment.id.n < number) else {
            refused.insert(branch(phantom));
            continue;
        };
        moments.push(Moment { id: phantom.branch, clock: before.clock.clone(), held: before.held.clone() });
        for access in &phantom.accesses {
            let Some(&allocation) = allocations.get(&access.global) else {
                refused.insert(branch(phantom));
                continue;
            };
            let place = Location { allocation, offset: access.offset };
            let (bytes, writes, atomic) = (access.bytes, access.writes, access.atomic);
            let moment = moments.len() - 1;
            possible.push((n, Access { moment, place, bytes, writes, atomic }));
        }
    }
    let may_race = |a: &Access, b: &Access| {
        let (one, other) = (&moments[a.moment], &moments[b.moment]);
        let overlap = a.place.allocation == b.place.allocation
            && a.place.offset < b.place.offset + b.bytes
            && b.place.offset < a.place.offset + a.bytes;
        overlap
            && (a.writes || b.writes)
            && !(a.atomic && b.atomic)
            && one.id.thread != other.id.thread
            && !one.is_before(other)
            && !other.is_before(one)
            && !exclude(&one.held, &other.held)
    };
    let pairs = recorded.iter().enumerate();
    if pairs.clone().any(|(n, a)| recorded[n + 1..].iter().any(|b| may_race(a, b))) {
        return None;
    }
    let of = |n: usize| branch(&abstraction.phantoms[n]);
    for (at, (n, a)) in possible.iter().enumerate() {
        if recorded.iter().any(|b| may_race(a, b)) {
            refused.insert(of(*n));
        }
        for (m, _) in possible[at + 1..].iter().filter(|(_, b)| may_race(a, b)) {
            refused.extend([of(*n), of(*m)]);
        }
    }
    Some(())
}

/// Whether two threads that hold these locks cannot be where they are at the same time.
fn exclude(one: &Held, other: &Held) -> bool {
    let reads = |mode: &LockMode| *mode == LockMode::Read;
    one.iter().any(|(lock, mode)| other.get(lock).is_some_and(|own| !(reads(mode) && reads(own))))
}

impl Moment {
    /// By forks and joins.
    fn is_before(&self, other: &Moment) -> bool {
        other.clock.get(&self.id.thread).is_some_and(|&known| known >= self.id.n)
    }
}

/// For each event what its thread knew and held.
fn moments(trace: &Trace) -> Vec<Moment> {
    let mut clocks: FxHashMap<ThreadId, Clock> = FxHashMap::default();
    let mut held: FxHashMap<ThreadId, Held> = FxHashMap::default();
    let mut all = Vec::with_capacity(trace.events.len());
    for event in &trace.events {
        let thread = event.id.thread;
        if let EventKind::Join { child } = event.kind {
            let ended = clocks.get(&child).cloned().unwrap_or_default();
            let own = clocks.entry(thread).or_default();
            for (of, n) in ended {
                let known = own.entry(of).or_default();
                *known = n.max(*known);
            }
        }
        let own = clocks.entry(thread).or_default();
        own.insert(thread, event.id.n);
        let clock = own.clone();
        if let EventKind::Fork { child } = event.kind {
            clocks.insert(child, clock.clone());
        }
        let locks = held.entry(thread).or_default();
        match event.kind {
            EventKind::Lock { object, mode, .. } | EventKind::TryLock { object, mode, acquired: Some(_) } => {
                locks.insert(object, mode);
            }
            EventKind::Unlock { object, depth: 0, .. } => _ = locks.remove(&object),
            EventKind::WaitBegin { mutex: Some(mutex), .. } => _ = locks.remove(&mutex),
            EventKind::WaitEnd { mutex: Some(mutex), .. } => _ = locks.insert(mutex, LockMode::Mutex),
            _ => {}
        }
        all.push(Moment { id: event.id, clock, held: locks.clone() });
    }
    all
}
