//! Happens-before as constraints (MM §5): program order, and what synchronisation passes on.
//!
//! The paper orders all lock operations with each other; that decides the same programs as race-free as ordering only those that pass
//! something on, because of the first race nothing lies between the two accesses. With atomics it does not, so here the edges are C11's, as
//! the oracle has them: from releases to acquires, along release sequences, through fences.
//!
//! For "`i` does not happen before `j`" no least relation is needed: any set of events that holds `i`, is closed
//! under the edges and leaves out `j` will do. So each `i` gets one variable for each event, and implications.

use crate::Result;
use crate::event::{Access, Action, Carrier, CellId, Event, EventId};
use crate::time::Timed;
use crate::unfold::Unfolding;
use ir::Order;
use solver::{Bool, Solver};

/// An edge between threads, if the condition holds.
pub(crate) struct Edge {
    pub from: EventId,
    pub to: EventId,
    pub when: Bool,
}

/// All edges between threads.
pub(crate) fn edges(timed: &mut Timed) -> Result<Vec<Edge>> {
    let mut edges = vec![];
    let events = timed.unfolding.events.clone();
    for thread in &timed.unfolding.threads {
        if let (Some(from), Some(&to)) = (thread.forked_by, thread.events.first()) {
            edges.push(Edge { from, to, when: events[to.index()].happens });
        }
    }
    for (at, event) in events.iter().enumerate() {
        let Action::Join(joined) = &event.action else { continue };
        for &(thread, when) in joined {
            if let Some(&from) = timed.unfolding.threads[thread.index()].events.last() {
                edges.push(Edge { from, to: EventId(at as u32), when });
            }
        }
    }
    let points = &timed.points;
    let carried = carried(&mut timed.unfolding, &|solver, a, b, _| {
        Ok(solver.before(points[a.index()], points[b.index()])?)
    })?;
    edges.extend(carried.into_iter().map(|(_, edge)| edge));
    atomics(timed, &events, &mut edges)?;
    Ok(edges)
}

/// Whether one event of a synchronisation object, by its word, is before another.
type Before<'b> = &'b dyn Fn(&mut Solver, EventId, EventId, CellId) -> Result<Bool>;

/// What locks, waits, semaphores and barriers pass on, each with the word of the object.
pub(crate) fn carried(unfolding: &mut Unfolding, before: Before<'_>) -> Result<Vec<(CellId, Edge)>> {
    let events = unfolding.events.clone();
    let mut edges = vec![];
    for (a, from) in events.iter().enumerate() {
        for (left, left_when) in &from.leaves {
            for (b, to) in events.iter().enumerate().filter(|(_, to)| to.thread != from.thread) {
                for (taken, taken_when) in &to.takes {
                    let (from, to) = (EventId(a as u32), EventId(b as u32));
                    let Some((cell, passes)) = passes(unfolding, before, (left, from), (taken, to))? else {
                        continue;
                    };
                    let solver = &mut unfolding.solver;
                    let earlier = before(solver, from, to, cell)?;
                    let when = solver.and(&[*left_when, *taken_when, passes, earlier])?;
                    edges.push((cell, Edge { from, to, when }));
                }
            }
        }
    }
    Ok(edges)
}

/// When what one event leaves is what another takes.
fn passes(
    unfolding: &mut Unfolding,
    before: Before<'_>,
    (left, signal): (&Carrier, EventId),
    (taken, end): (&Carrier, EventId),
) -> Result<Option<(CellId, Bool)>> {
    let (events, s) = (&unfolding.events, &mut unfolding.solver);
    Ok(match (left, taken) {
        (Carrier::Object(a), Carrier::Object(b)) | (Carrier::Readers(a), Carrier::Readers(b)) if a == b => {
            Some((*a, s.bool_const(true)))
        }
        (Carrier::Round(a, round), Carrier::Round(b, mine)) if a == b => Some((*a, s.bv_eq(*round, *mine)?)),
        (Carrier::Signal(a, woken), Carrier::Signal(b, _)) if a == b => {
            // The signal comes after the begin of this wait, and wakes this thread.
            let thread = events[end.index()].thread;
            let own = &unfolding.threads[thread.index()].events;
            let begins = |id: &&EventId| {
                **id < end
                    && matches!(events[id.index()].action, Action::Sync("wait begins"))
                    && events[id.index()].site == events[end.index()].site
            };
            let Some(&begin) = own.iter().rfind(begins) else { return Ok(None) };
            let bit = s.bv_extract(*woken, thread.0, thread.0)?;
            let one = s.bv_const(1, 1)?;
            let wakes = s.bv_eq(bit, one)?;
            let after = before(s, begin, signal, *a)?;
            Some((*a, s.and(&[wakes, after])?))
        }
        _ => None,
    })
}

/// From atomic writes to atomic reads of the same cell, as long as no other plain atomic write lies between.
fn atomics(timed: &mut Timed, events: &[Event], edges: &mut Vec<Edge>) -> Result<()> {
    let atomic = |event: &Event| event.is_access() && event.order.is_some();
    for (w, write) in events.iter().enumerate().filter(|(_, e)| atomic(e)) {
        for (r, read) in events.iter().enumerate().filter(|(_, e)| atomic(e) && e.thread != write.thread) {
            for from in &write.accesses {
                let Some((_, wrote)) = from.write else { continue };
                for to in read.accesses.iter().filter(|to| to.cell == from.cell && to.read.is_some()) {
                    let seen = seen(timed, events, (w, wrote), (r, to))?;
                    let (EventIds(sources), EventIds(targets)) =
                        (sources(timed, events, w), targets(timed, events, r));
                    for &source in &sources {
                        for &target in &targets {
                            let takes = match target.index() == r {
                                true => acquires(&mut timed.unfolding.solver, read, to)?,
                                false => events[target.index()].happens,
                            };
                            let gives = events[source.index()].happens;
                            let when = timed.unfolding.solver.and(&[seen, takes, gives])?;
                            edges.push(Edge { from: source, to: target, when });
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

struct EventIds(Vec<EventId>);

/// Who passes on: the write itself if it releases, else the release fences before it.
fn sources(timed: &Timed, events: &[Event], write: usize) -> EventIds {
    let event = &events[write];
    if event.order.is_some_and(Order::releases) {
        return EventIds(vec![EventId(write as u32)]);
    }
    let own = &timed.unfolding.threads[event.thread.index()].events;
    let fences = own.iter().filter(|id| id.index() < write && is_fence(&events[id.index()], Order::releases));
    EventIds(fences.copied().collect())
}

/// Who takes up: the read itself if it acquires, and the acquire fences after it.
fn targets(timed: &Timed, events: &[Event], read: usize) -> EventIds {
    let own = &timed.unfolding.threads[events[read].thread.index()].events;
    let fences = own.iter().filter(|id| id.index() > read && is_fence(&events[id.index()], Order::acquires));
    EventIds([EventId(read as u32)].into_iter().chain(fences.copied()).collect())
}

fn is_fence(event: &Event, kind: impl Fn(Order) -> bool) -> bool {
    matches!(event.action, Action::Fence) && event.order.is_some_and(kind)
}

/// Whether a read acquires; for a compare-and-exchange it depends on its outcome.
fn acquires(solver: &mut Solver, read: &Event, access: &Access) -> Result<Bool> {
    let success = solver.bool_const(read.order.is_some_and(Order::acquires));
    Ok(match (read.failure_order, access.write) {
        (Some(failure), Some((_, wrote))) => {
            let failure = solver.bool_const(failure.acquires());
            solver.ite(wrote, success, failure)?
        }
        _ => success,
    })
}

/// Whether a read sees what a write has left.
fn seen(
    timed: &mut Timed,
    events: &[Event],
    (w, wrote): (usize, Bool),
    (r, read): (usize, &Access),
) -> Result<Bool> {
    let before = timed.unfolding.solver.before(timed.points[w], timed.points[r])?;
    let mut literals = vec![wrote, read.when, before];
    for (other, event) in events.iter().enumerate() {
        if other == w || other == r || !matches!(event.action, Action::Write) || event.order.is_none() {
            continue;
        }
        for access in event.accesses.iter().filter(|access| access.cell == read.cell) {
            let Some((_, writes)) = access.write else { continue };
            let s = &mut timed.unfolding.solver;
            let (later, earlier) = (
                s.before(timed.points[w], timed.points[other])?,
                s.before(timed.points[other], timed.points[r])?,
            );
            let between = s.and(&[writes, later, earlier])?;
            literals.push(s.not(between)?);
        }
    }
    Ok(timed.unfolding.solver.and(&literals)?)
}

/// A set of events, as literals, that holds `start` and is closed under program order and the edges.
pub(crate) fn closed_from(timed: &mut Timed, edges: &[Edge], start: EventId) -> Result<Vec<Bool>> {
    let (yes, no) = (timed.unfolding.solver.bool_const(true), timed.unfolding.solver.bool_const(false));
    let own = timed.unfolding.events[start.index()].thread;
    let mut after: Vec<Bool> = vec![];
    for (at, event) in timed.unfolding.events.iter().enumerate() {
        after.push(match event.thread == own {
            true if at >= start.index() => yes,
            true => no,
            false => timed.unfolding.solver.bool_var(),
        });
    }
    for thread in &timed.unfolding.threads {
        for pair in thread.events.windows(2) {
            let (a, b) = (after[pair[0].index()], after[pair[1].index()]);
            let closed = timed.unfolding.solver.implies(a, b)?;
            timed.unfolding.solver.assert(closed)?;
        }
    }
    for edge in edges {
        let (from, to) = (after[edge.from.index()], after[edge.to.index()]);
        // What comes back to the thread of the start is after it anyway, if it is true to time.
        if from == no || timed.unfolding.events[edge.to.index()].thread == own {
            continue;
        }
        let s = &mut timed.unfolding.solver;
        let reached = s.and(&[from, edge.when])?;
        let closed = s.implies(reached, to)?;
        s.assert(closed)?;
    }
    Ok(after)
}
