//! Phantom edges (PRUNE §5.1 to §5.3): what a thread may do on the way that it did not take at a branch.
//!
//! With phantom edges the result is a concurrent trace *abstraction*: at such a branch the thread may also go the other way, of which only
//! is known what it may write, and goes on behind the merge point along the recorded path. In detail:
//!
//! - What the recorded way does up to the merge point, it does only if the branch comes out as recorded: it is *guarded*.
//! - What the other way may write are writes of any value, as many of each location as there are reads that
//!   could tell them apart (the bounded semantics, PRUNE §5.2). The paper leaves their order open; but some
//!   of them, in one order, are enough for any number of real ones.
//! - At the merge point a value that depends on the way is a φ: the recorded one, or what the other way leaves, or anything.

use super::{Frame, NOTHING, Walk};
use crate::{Access, EventIndex, ExprId, Kind, Phantom, Target};
use ir::analysis::{Branches, Side, Ways};
use ir::{BlockId, Op, Operand, SiteId, ValueId, Width};
use rustc_hash::FxHashSet;
use std::rc::Rc;
use trace::{AllocationOrigin, EventId, Location, ThreadId};

/// Which branches get phantom edges: those that the program's structure allows, but for some.
#[derive(Clone, Copy)]
pub struct Phantoms<'p> {
    /// The branches of the program.
    pub branches: &'p Branches<'p>,
    /// Branches that get none: instruction, and event as in [`Phantom::branch`].
    pub refused: &'p FxHashSet<(EventId, SiteId)>,
}

/// A branch whose merge point the thread has not come to.
#[derive(Clone)]
pub(super) struct Region {
    /// How many frames the thread had.
    depth: usize,
    ways: Rc<Ways>,
    /// Which way was taken.
    side: usize,
    /// One bit: this branch came out as recorded, and so did those around it.
    pub guard: ExprId,
    /// Its place in the list of phantom edges.
    phantom: usize,
}

impl Walk<'_> {
    /// Makes a branch one with a phantom edge, if that can be; says whether it is one now.
    pub(super) fn open_phantom(
        &mut self,
        t: usize,
        (branch, site): (EventId, SiteId),
        as_recorded: ExprId,
        taken: u32,
    ) -> bool {
        let (Some(phantoms), Some(frame)) = (self.phantoms, self.top(t)) else { return false };
        // What comes from nowhere would seem to belong to the way on which it comes.
        if phantoms.refused.contains(&(branch, site)) || !self.interrupts.is_empty() {
            return false;
        }
        let Some(ways) = self.ways_of(phantoms.branches, frame) else { return false };
        let side = taken as usize;
        let is_plain = |side: &Side| side.effects.obstacles.is_empty();
        // A compare-and-exchange on the recorded way decides something by itself.
        if !ways.sides.iter().all(is_plain) || ways.sides.get(side).is_none_or(|side| side.effects.exchanges)
        {
            return false;
        }
        let other = self.expressions.not(as_recorded);
        let (guard, taken) = match self.guard {
            Some(outer) => (self.expressions.and(outer, as_recorded), self.expressions.and(outer, other)),
            None => (as_recorded, other),
        };
        let thread = self.runners[t].thread;
        let after = self.threads[t].events.iter().rev().copied().find(|&at| !self.events[at.index()].silent);
        let others = ways.sides.iter().enumerate().filter(|&(n, _)| n != side);
        let accesses = others.flat_map(|(_, side)| side.effects.accesses.iter().copied()).collect();
        let phantom = self.edges.len();
        self.edges.push(Phantom { branch, site, thread, after, taken, accesses, merged: false });
        let depth = self.runners[t].frames.len();
        self.runners[t].regions.push(Region { depth, ways, side, guard, phantom });
        self.guard = Some(guard);
        true
    }

    fn ways_of(&mut self, branches: &Branches<'_>, frame: Frame) -> Option<Rc<Ways>> {
        let known = self.ways.entry((frame.function, frame.block));
        known.or_insert_with(|| branches.ways(frame.function, frame.block).map(Rc::new)).clone()
    }

    /// The regions that end where a thread goes to, the innermost first.
    pub(super) fn close_phantoms(&mut self, t: usize, to: BlockId) -> Vec<Region> {
        let depth = self.runners[t].frames.len();
        let regions = &mut self.runners[t].regions;
        let mut closed = vec![];
        while let Some(region) = regions.pop_if(|region| region.depth == depth && region.ways.merge == to) {
            closed.push(region);
        }
        self.guard = self.runners[t].regions.last().map(|region| region.guard);
        closed
    }

    /// φ: what a value is at the merge point of a region, `value` on the recorded way.
    pub(super) fn phi(
        &mut self,
        t: usize,
        frame: Frame,
        region: &Region,
        incoming: &[(BlockId, Operand)],
        value: ExprId,
    ) -> ExprId {
        let others = region.ways.sides.iter().enumerate().filter(|&(n, _)| n != region.side);
        let from: Vec<BlockId> = others.flat_map(|(_, side)| side.last.iter().copied()).collect();
        let mut known: Option<Operand> = None;
        for (_, operand) in incoming.iter().filter(|(block, _)| from.contains(block)) {
            match known {
                Some(known) if known != *operand => return self.anything_unless(region.guard, value),
                _ => known = Some(*operand),
            }
        }
        let defined = self.defined(frame, region);
        let other = match known {
            Some(Operand::Value(id)) if defined.contains(&id) => None,
            Some(operand) => self.operand(t, frame, operand).ok(),
            None => None,
        };
        match other {
            Some(other) if self.expressions.width(other) == self.expressions.width(value) => {
                self.expressions.select(region.guard, value, other)
            }
            _ => self.anything_unless(region.guard, value),
        }
    }

    /// The values that are defined between a branch and its merge point.
    fn defined(&self, frame: Frame, region: &Region) -> FxHashSet<ValueId> {
        let code = self.program.function(frame.function);
        let blocks = region.ways.sides.iter().flat_map(|side| &side.blocks);
        let instructions = blocks.flat_map(|&block| &code.block(block).instructions);
        instructions.flat_map(|instruction| instruction.results.iter().copied()).collect()
    }

    fn anything_unless(&mut self, guard: ExprId, value: ExprId) -> ExprId {
        let width = self.expressions.width(value);
        let any = self.expressions.any(width);
        self.expressions.select(guard, value, any)
    }

    /// What the ways that were not taken have left when the thread is at the merge point: values of a loop that went round another number
    /// of times, and memory.
    pub(super) fn leave_regions(&mut self, t: usize, frame: Frame, closed: &[Region]) {
        for region in closed {
            let phis: FxHashSet<ValueId> =
                (self.program.function(frame.function).block(region.ways.merge).instructions.iter())
                    .take_while(|instruction| matches!(instruction.op, Op::Phi { .. }))
                    .flat_map(|instruction| instruction.results.iter().copied())
                    .collect();
            for value in self.defined(frame, region) {
                let known = self.runners[t].values[frame.base + value.index()];
                if known != NOTHING && !phis.contains(&value) {
                    let either = self.anything_unless(region.guard, known);
                    self.set(t, frame, value, either);
                }
            }
            self.write_anything(t, region);
            self.edges[region.phantom].merged = true;
        }
    }

    fn write_anything(&mut self, t: usize, region: &Region) {
        let edge = self.edges[region.phantom].clone();
        let id = self.trace.events.get(self.at).map_or(edge.branch, |event| event.id);
        let mut done: FxHashSet<u32> = FxHashSet::default();
        for access in edge.accesses.iter().filter(|access| access.writes) {
            let Some(allocation) = self.allocation_of(access.global) else { continue };
            let place = Location { allocation, offset: access.offset };
            self.touches.push((self.runners[t].id, place, access.bytes));
            for at in self.layout.pieces(place, access.bytes) {
                if !done.insert(at) {
                    continue;
                }
                let piece = self.layout.pieces[at as usize];
                let width = crate::bytes_width(piece.bytes);
                if piece.shared.is_none() {
                    let initial = self.space.initial(piece.place, u64::from(piece.bytes));
                    let held = match (self.memory[at as usize], initial) {
                        (Some(held), _) => held,
                        (None, Some(initial)) => self.expressions.int(width, initial),
                        (None, None) => self.expressions.unknown(width),
                    };
                    self.memory[at as usize] = Some(self.anything_unless(region.guard, held));
                    continue;
                }
                for _ in 0..self.readers(piece.place, u64::from(piece.bytes)) {
                    let value = self.expressions.any(width);
                    self.write_unseen(t, id, access.site, at as usize, value, edge.taken);
                }
            }
        }
    }

    fn write_unseen(
        &mut self,
        t: usize,
        before: EventId,
        site: SiteId,
        piece: usize,
        value: ExprId,
        when: ExprId,
    ) {
        let piece = self.layout.pieces[piece];
        let Some(location) = piece.shared else { return };
        let address = self.space.address(piece.place).unwrap_or(0);
        let writes = vec![crate::Write { location, value, when: Some(when) }];
        let target = Target { address, place: piece.place, when: Some(when), reads: vec![], writes };
        let access = Access {
            address: self.expressions.int(Width::W64, u128::from(address)),
            recorded: piece.place,
            bytes: u64::from(piece.bytes),
            order: None,
            targets: vec![target],
            hits: None,
            faults: vec![],
            old: None,
            new: Some(value),
            decision: None,
        };
        self.emit_silent(t, before, site, Kind::Write(access));
    }

    /// How many reads of a place there are, or more.
    fn readers(&self, place: Location, bytes: u64) -> usize {
        let overlaps = |at: Location, length: u64| {
            at.allocation == place.allocation
                && at.offset < place.offset + bytes
                && place.offset < at.offset + length
        };
        let reads = self.trace.events.iter().filter(|event| {
            let access = event.kind.access();
            access.is_some_and(|(kind, at, length, _)| kind.reads() && overlaps(at, length))
        });
        reads.count() + self.aims.len()
    }

    fn allocation_of(&self, global: ir::GlobalId) -> Option<trace::AllocationId> {
        let known =
            self.trace.allocations.iter().find(|known| known.origin == AllocationOrigin::Global(global));
        known.map(|known| known.id)
    }

    /// A condition that needs to hold only on the recorded way.
    pub(super) fn unless_skipped(&mut self, condition: ExprId) -> ExprId {
        match self.guard {
            Some(guard) => {
                let skipped = self.expressions.not(guard);
                self.expressions.or(skipped, condition)
            }
            None => condition,
        }
    }

    /// When something happens that the recorded way does.
    pub(super) fn guarded(&mut self, when: Option<ExprId>) -> Option<ExprId> {
        match (self.guard, when) {
            (Some(guard), Some(when)) => Some(self.expressions.and(guard, when)),
            (guard, when) => guard.or(when),
        }
    }

    /// Takes note of the guard of an event.
    pub(super) fn note_guard(&mut self, event: EventIndex) {
        if let Some(guard) = self.guard {
            self.guards.insert(event, guard);
        }
    }
}

/// A range of memory that the way that a thread did not take may write.
pub type Touch = (ThreadId, Location, u64);
