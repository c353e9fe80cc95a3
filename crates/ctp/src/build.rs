//! Building: walk the trace, see what symbolic addresses may hit, and walk again until nothing new is shared.
//!
//! A location is shared if two threads touch it or if a symbolic address may hit it
//! (docs/design/concurrent-trace-programs.md, "Shared memory"). The second part is known only after a walk,
//! and makes more values symbolic in the next one; each walk is linear in the trace, and there are few of
//! them. At the end everything that no event needs is left out: that is the slicing and the removal of dead
//! variables of AV §6.

use crate::layout::{Footprints, Layout};
use crate::updates::updates;
use crate::walk::{Aim, Phantoms, Request, Touch, Walk};
use crate::{
    Atomic, Ctp, CtpError, Event, EventIndex, ExprId, Failing, Kind, Location, Options, PinReason, Round,
    Standing, objects, rounds, values,
};
use ir::{GlobalId, Program, SiteId, SiteIndex, Terminator};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use trace::{AllocationId, EventKind, Trace};

/// After so many walks, addresses whose targets are still not settled are pinned; of a long trace after fewer, when they have gone along so
/// many events together.
const MOST_ROUNDS: u32 = 12;
const FEWEST_ROUNDS: u32 = 5;
const MOST_WALKED: usize = 2_000_000;
/// So many events may come from nowhere: handlers of signals, and threads that others end.
const MOST_INTERRUPTS: usize = 100;
/// All accesses together may have so many targets, and as many more as the trace has events.
const MOST_TARGETS: usize = 100_000;

/// Says which events of a trace somebody else could notice.
pub type IsNoticed<'n> = &'n dyn Fn(&trace::Event) -> bool;

/// What a concurrent trace program is to have beside the events.
#[derive(Clone, Copy, Default)]
struct Wanted<'w> {
    phantoms: Option<Phantoms<'w>>,
    rounds: Option<IsNoticed<'w>>,
}

impl Ctp {
    /// The concurrent trace program of a trace.
    ///
    /// # Errors
    /// If the trace is another program's, does not fit it, or has not all its events.
    pub fn build(program: &Program, trace: &Trace, options: &Options) -> Result<Ctp, CtpError> {
        Ctp::build_with(program, trace, 0, options, Wanted::default())
    }

    /// The same, where the last `standing` events of the trace have not happened, at most one of each thread: the threads stand before them, and
    /// [`Ctp::standing`] says when they could go on. With `rounds` it has [`Ctp::rounds`].
    ///
    /// # Errors
    /// As for [`Ctp::build`].
    pub fn build_standing(
        program: &Program,
        trace: &Trace,
        standing: usize,
        options: &Options,
        rounds: Option<IsNoticed<'_>>,
    ) -> Result<Ctp, CtpError> {
        Ctp::build_with(program, trace, standing, options, Wanted { phantoms: None, rounds })
    }

    /// The concurrent trace abstraction of a trace (PRUNE §5): with phantom edges for ways that were not taken.
    ///
    /// # Errors
    /// As for [`Ctp::build`].
    pub fn build_abstraction(
        program: &Program,
        trace: &Trace,
        options: &Options,
        phantoms: Phantoms<'_>,
    ) -> Result<Ctp, CtpError> {
        let wanted = Wanted { phantoms: Some(phantoms), rounds: None };
        Ctp::build_with(program, trace, 0, options, wanted)
    }

    fn build_with(
        program: &Program,
        trace: &Trace,
        standing: usize,
        options: &Options,
        wanted: Wanted<'_>,
    ) -> Result<Ctp, CtpError> {
        let happened = trace.events.len().saturating_sub(standing);
        trace.check_fits(program)?;
        if !trace.origin.logging.is_complete() {
            return Err(CtpError::Incomplete);
        }
        let sites = SiteIndex::new(program);
        let mut footprints = recorded(trace, happened);
        let mut aims: FxHashMap<usize, Aim> = FxHashMap::default();
        let mut learned: FxHashMap<GlobalId, u64> = FxHashMap::default();
        let mut interrupts: FxHashSet<usize> = FxHashSet::default();
        let mut touched: FxHashSet<Touch> = FxHashSet::default();
        let most_rounds =
            ((MOST_WALKED / trace.events.len().max(1)) as u32).clamp(FEWEST_ROUNDS, MOST_ROUNDS);
        let mut round = 1;
        let mut walked = 0;
        loop {
            let layout = Layout::new(&footprints);
            let mut walk = Walk::new(program, trace, &sites, &layout, &aims, &learned, &interrupts);
            walk.phantoms = wanted.phantoms;
            walk.settled = (options.settled && walk.space.compiled).then(Vec::new);
            if wanted.rounds.is_some() {
                walk.note_states();
            }
            walk.happened = happened;
            if let Err(error) = walk.run(options.until) {
                if let CtpError::Time { walked: at_last } = error {
                    return Err(CtpError::Time { walked: walked + at_last });
                }
                let more = walk.interrupts();
                drop(walk);
                let before = interrupts.len();
                interrupts.extend(more);
                if interrupts.len() == before || before >= MOST_INTERRUPTS {
                    return Err(error);
                }
                continue;
            }
            walked += trace.events.len() as u64;
            let mut changed = vec![];
            for (request, aim) in values::aims(&walk, options.max_targets) {
                match aims.get(&request.at) {
                    Some(Aim::Pinned(_)) => {}
                    Some(known) if *known == aim => {}
                    None => changed.push((request, aim)),
                    // Still not settled.
                    Some(_) if round > most_rounds => {
                        changed.push((request, Aim::Pinned(PinReason::UnknownAddress)));
                    }
                    Some(Aim::At(known)) => changed.push((request, widened(known, aim))),
                }
            }
            changed.retain(|(request, aim)| aims.get(&request.at) != Some(aim));
            limit(&mut changed, trace.events.len(), trace);
            let more = std::mem::take(&mut walk.learned);
            let before = learned.len();
            more.into_iter().for_each(|(global, address)| _ = learned.entry(global).or_insert(address));
            let known = touched.len();
            touched.extend(walk.touches.iter().copied());
            if changed.is_empty() && learned.len() == before && touched.len() == known {
                let rounds = wanted.rounds.map(|is_noticed| rounds::find(&mut walk, trace, is_noticed));
                let rounds = rounds.unwrap_or_default();
                return Ok(finish(program, trace, options, &layout, walk, (round, rounds)));
            }
            for (request, aim) in &changed {
                let Aim::At(addresses) = aim else { continue };
                let places = addresses.iter().filter_map(|&address| walk.space.place(address, request.bytes));
                let own = trace.events[request.at].kind.access().map(|(_, place, ..)| place);
                places.chain(own).for_each(|place| footprints.may_hit(place, request.bytes));
            }
            for &(thread, place, bytes) in &walk.touches {
                match walk.space.compiled {
                    // What a thread finds in memory that nobody else touches is what the trace says; elsewhere it may be something else.
                    true => footprints.may_hit(place, bytes),
                    false => footprints.access(thread, place, bytes),
                }
            }
            drop(walk);
            aims.extend(changed.into_iter().map(|(request, aim)| (request.at, aim)));
            round += 1;
        }
    }
}

/// Keeps the targets of all accesses together near-linear in the trace: the instructions with most of them are pinned.
fn limit(aims: &mut [(Request, Aim)], events: usize, trace: &Trace) {
    let mut by_site: FxHashMap<SiteId, usize> = FxHashMap::default();
    for (request, aim) in &*aims {
        if let Aim::At(targets) = aim {
            *by_site.entry(trace.events[request.at].site).or_default() += targets.len();
        }
    }
    let mut total: usize = by_site.values().sum();
    let mut sites: Vec<(usize, SiteId)> =
        by_site.into_iter().map(|(site, targets)| (targets, site)).collect();
    sites.sort_unstable();
    while total > MOST_TARGETS + events
        && let Some((targets, site)) = sites.pop()
    {
        total -= targets;
        for (request, aim) in aims.iter_mut() {
            if let Aim::At(targets) = aim
                && trace.events[request.at].site == site
            {
                *aim = Aim::Pinned(PinReason::Address { targets: targets.len() as u64 });
            }
        }
    }
}

/// The targets of two walks together, in order; the recorded one stays first.
fn widened(known: &[u64], aim: Aim) -> Aim {
    match aim {
        Aim::Pinned(why) => Aim::Pinned(why),
        Aim::At(mut addresses) => {
            addresses.extend(known);
            addresses[1..].sort_unstable();
            addresses.dedup();
            let first = addresses[0];
            let rest = addresses.into_iter().skip(1).filter(|&address| address != first);
            Aim::At([first].into_iter().chain(rest).collect())
        }
    }
}

/// Who touches what in the recorded run.
pub(crate) fn recorded(trace: &Trace, happened: usize) -> Footprints {
    let mut footprints = Footprints::default();
    let freed: Vec<AllocationId> = (trace.events[..happened].iter())
        .filter_map(|event| match event.kind {
            EventKind::Free { allocation } => allocation,
            _ => None,
        })
        .collect();
    for (at, event) in trace.events.iter().enumerate() {
        // Who stands before a fault might access anything if it went elsewhere.
        if at >= happened && matches!(event.kind, EventKind::Fault { .. }) {
            freed.iter().for_each(|&allocation| footprints.free(event.id.thread, allocation));
        }
        if let Some((_, place, bytes, _)) = event.kind.access() {
            footprints.access(event.id.thread, place, bytes);
        }
        if let EventKind::Free { allocation: Some(allocation) } = event.kind {
            footprints.free(event.id.thread, allocation);
        }
    }
    footprints
}

/// Puts the parts together, and leaves out the expressions that nothing needs.
fn finish(
    program: &Program,
    trace: &Trace,
    options: &Options,
    layout: &Layout,
    walk: Walk<'_>,
    (round, mut rounds): (u32, Vec<Round>),
) -> Ctp {
    let Walk { mut expressions, mut events, mut reads, threads, marks, mut rebuild, initial, space, .. } =
        walk;
    let (mut phantoms, mut guards, mut standing) = (walk.edges, walk.guards, walk.standing);
    let settled = walk.settled.unwrap_or_default();
    let mut locations = vec![];
    for (&piece, initial) in layout.shared.iter().zip(initial) {
        let piece = layout.pieces[piece as usize];
        let width = crate::bytes_width(piece.bytes);
        locations.push(Location {
            place: piece.place,
            address: space.address(piece.place).unwrap_or(0),
            bytes: piece.bytes,
            initial: initial.map(|initial| expressions.int(width, initial)),
        });
    }
    let mut roots: Vec<ExprId> = vec![];
    {
        let mut gather = |id: &mut ExprId| roots.push(*id);
        events.iter_mut().for_each(|event| event.kind.for_each_expr(&mut gather));
        reads.iter_mut().filter_map(|read| read.when.as_mut()).for_each(&mut gather);
        locations.iter_mut().filter_map(|location| location.initial.as_mut()).for_each(&mut gather);
        phantoms
            .iter_mut()
            .map(|phantom| &mut phantom.taken)
            .chain(guards.values_mut())
            .chain(standing.iter_mut().flat_map(Standing::conditions))
            .chain(rounds.iter_mut().map(|round| &mut round.same))
            .for_each(&mut gather);
    }
    let (expressions, new) = expressions.keep(roots);
    {
        let mut rename = |id: &mut ExprId| *id = new[id.index()];
        events.iter_mut().for_each(|event| event.kind.for_each_expr(&mut rename));
        reads.iter_mut().filter_map(|read| read.when.as_mut()).for_each(&mut rename);
        locations.iter_mut().filter_map(|location| location.initial.as_mut()).for_each(&mut rename);
        phantoms
            .iter_mut()
            .map(|phantom| &mut phantom.taken)
            .chain(guards.values_mut())
            .chain(standing.iter_mut().flat_map(Standing::conditions))
            .chain(rounds.iter_mut().map(|round| &mut round.same))
            .for_each(&mut rename);
    }
    let mut freed: BTreeMap<_, Vec<EventIndex>> = BTreeMap::new();
    let mut by_id = FxHashMap::default();
    for (n, event) in events.iter().enumerate() {
        if let Kind::Other(EventKind::Free { allocation: Some(allocation) }) = event.kind {
            freed.entry(allocation).or_default().push(EventIndex::new(n));
        }
        if !event.silent {
            by_id.insert(event.id, EventIndex::new(n));
        }
    }
    rebuild.rounds = round;
    let failing = failing(program, &events);
    let mut transactions = marks.transactions(options.atomic);
    if options.atomic == Atomic::Locks && transactions.iter().all(|known| known.origin.is_inferred()) {
        let more = updates(&expressions, &events, |read| reads[read.index()].location, &transactions);
        transactions.extend(more);
        transactions.sort_by_key(|transaction| (transaction.thread, transaction.from, transaction.to));
    }
    Ctp {
        failing,
        expressions,
        threads,
        events,
        reads,
        locations,
        objects: objects::objects(program, trace),
        freed,
        transactions,
        original_events: trace.events.len(),
        rebuild,
        compiled: program.threads.is_empty(),
        past: 0,
        phantoms,
        guards,
        standing,
        rounds,
        settled,
        by_id,
    }
}

/// The branches whose other way is that an assertion fails.
fn failing(program: &Program, events: &[Event]) -> Vec<Failing> {
    let sites = SiteIndex::new(program);
    let mut known: FxHashMap<(SiteId, u32), Option<SiteId>> = FxHashMap::default();
    let mut failing = vec![];
    for (n, event) in events.iter().enumerate() {
        let Kind::Branch { taken, .. } = event.kind else { continue };
        let call = *known.entry((event.site, taken)).or_insert_with(|| {
            let place = sites.place(event.site)?;
            let block = program.function(place.function).block(place.block);
            let Terminator::Branch { then, otherwise, .. } = block.terminator else { return None };
            let other = if taken == 0 { otherwise } else { then };
            ir::failing_call(program, &sites, place.function, other)
        });
        failing.extend(call.map(|site| Failing { branch: EventIndex::new(n), site }));
    }
    failing
}
