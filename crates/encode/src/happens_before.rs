//! C11's happens-before in the schedule that is being looked for, by the rules of the machine's oracle (`oracle/happens_before.rs`).
//!
//! For one event `a` there is a variable for each other event: it *knows* `a`, that is, happens-before orders `a` before it. Each rule
//! of happens-before is an implication between them. A solution may set more of them than need be, so they are asked only one way: that
//! an event does *not* know `a` can be assumed exactly if happens-before does not order the two.

use crate::Encoding;
use ctp::{EventIndex, Kind};
use ir::Order;
use rustc_hash::FxHashMap;
use solver::{Bool, Result};
use trace::{EventKind, Location, LockMode};

/// The order that a compare-and-exchange has if it comes out otherwise than recorded.
pub type OtherOrders = FxHashMap<EventIndex, Order>;

/// Which events know one event. The rules hold until the scope in which it was made is closed.
#[derive(Debug)]
pub struct Knowledge {
    knows: Vec<Option<Bool>>,
}

impl Knowledge {
    /// The event knows; `None` for silent ones.
    #[must_use]
    pub fn of(&self, event: EventIndex) -> Option<Bool> {
        self.knows[event.index()]
    }
}

/// An atomic access.
struct Atomic {
    event: EventIndex,
    reads: bool,
    /// Whether it can write at all.
    writes: bool,
    acquires: Bool,
    releases: Bool,
    /// What it leaves at its location knows.
    leaves: Bool,
}

impl Encoding<'_> {
    /// Opens a scope, for what is only needed for some questions.
    pub fn open_scope(&mut self) {
        self.solver.push();
    }

    /// Closes it.
    ///
    /// # Errors
    /// If none is open.
    pub fn close_scope(&mut self) -> Result<()> {
        self.solver.pop()
    }

    /// Says which events know `event`.
    ///
    /// # Errors
    /// As for [`Encoding::ask`].
    pub fn knowledge(&mut self, event: EventIndex, others: &OtherOrders) -> Result<Knowledge> {
        let ctp = self.ctp;
        let mut knowledge = Knowledge { knows: vec![None; ctp.events.len()] };
        let own = self.event(event).thread;
        for at in (0..ctp.events.len()).map(EventIndex::new) {
            if self.points[at.index()].is_none() {
                continue;
            }
            knowledge.knows[at.index()] = Some(match self.event(at).thread == own {
                true => self.solver.bool_const(at >= event),
                false => self.solver.bool_var(),
            });
        }
        for at in (0..ctp.events.len()).map(EventIndex::new) {
            if let Some(previous) = self.previous(at) {
                self.pass_on(&knowledge, previous, at, &[])?;
            }
        }
        self.threads_pass_on(&knowledge)?;
        self.locks_pass_on(&knowledge)?;
        self.conditions_pass_on(&knowledge)?;
        self.semaphores_pass_on(&knowledge)?;
        self.barriers_pass_on(&knowledge)?;
        self.atomics_pass_on(&knowledge, others)?;
        Ok(knowledge)
    }

    /// If `from` knows, and all this holds, `to` knows.
    fn pass_on(
        &mut self,
        knowledge: &Knowledge,
        from: EventIndex,
        to: EventIndex,
        when: &[Bool],
    ) -> Result<()> {
        if let (Some(from), Some(to)) = (knowledge.of(from), knowledge.of(to)) {
            self.imply(from, to, when)?;
        }
        Ok(())
    }

    fn imply(&mut self, from: Bool, to: Bool, when: &[Bool]) -> Result<()> {
        let mut clause = vec![self.solver.not(from)?, to];
        for &condition in when {
            clause.push(self.solver.not(condition)?);
        }
        let clause = self.solver.or(&clause)?;
        self.solver.assert(clause)
    }

    fn threads_pass_on(&mut self, knowledge: &Knowledge) -> Result<()> {
        let ctp = self.ctp;
        for thread in &ctp.threads {
            let mut events = thread.events.iter().copied().filter(|&at| !ctp.event(at).silent);
            let fork = thread.forked_by.and_then(|fork| ctp.find(fork));
            let (first, last) = (events.next(), events.next_back());
            if let (Some(fork), Some(first)) = (fork, first) {
                self.pass_on(knowledge, fork, first, &[])?;
            }
            let Some(last) = last.or(first) else { continue };
            for at in (0..ctp.events.len()).map(EventIndex::new) {
                if matches!(self.kind(at), Kind::Other(EventKind::Join { child }) if *child == thread.id) {
                    self.pass_on(knowledge, last, at, &[])?;
                }
            }
        }
        Ok(())
    }

    fn locks_pass_on(&mut self, knowledge: &Knowledge) -> Result<()> {
        let mut takes: FxHashMap<Location, Vec<(EventIndex, LockMode)>> = FxHashMap::default();
        let mut gives: FxHashMap<Location, Vec<(EventIndex, LockMode)>> = FxHashMap::default();
        for at in (0..self.ctp.events.len()).map(EventIndex::new) {
            let Kind::Other(kind) = self.kind(at) else { continue };
            match *kind {
                EventKind::Lock { object, mode, .. }
                | EventKind::TryLock { object, mode, acquired: Some(_) } => {
                    takes.entry(object).or_default().push((at, mode));
                }
                EventKind::WaitEnd { mutex: Some(mutex), .. } => {
                    takes.entry(mutex).or_default().push((at, LockMode::Mutex));
                }
                EventKind::Unlock { object, mode, .. } => gives.entry(object).or_default().push((at, mode)),
                EventKind::WaitBegin { mutex: Some(mutex), .. } => {
                    gives.entry(mutex).or_default().push((at, LockMode::Mutex));
                }
                _ => {}
            }
        }
        for (object, takes) in takes {
            for &(give, left) in gives.get(&object).into_iter().flatten() {
                for &(take, mode) in &takes {
                    // Readers learn nothing of other readers.
                    if left == LockMode::Read && mode != LockMode::Write {
                        continue;
                    }
                    self.pass_on_in_time(knowledge, give, take)?;
                }
            }
        }
        Ok(())
    }

    fn pass_on_in_time(&mut self, knowledge: &Knowledge, from: EventIndex, to: EventIndex) -> Result<()> {
        if self.event(from).thread == self.event(to).thread {
            return Ok(());
        }
        let before = self.before(from, to)?;
        self.pass_on(knowledge, from, to, &[before])
    }

    fn conditions_pass_on(&mut self, knowledge: &Knowledge) -> Result<()> {
        let conditions: Vec<Location> = self.sync.waits.keys().copied().collect();
        for condition in conditions {
            let signals = self.sync.signals.get(&condition).cloned().unwrap_or_default();
            let broadcasts = self.sync.broadcasts.get(&condition).cloned().unwrap_or_default();
            for wait in self.sync.waits.get(&condition).cloned().unwrap_or_default() {
                let Some(leave) = wait.leave.filter(|_| wait.signalled) else { continue };
                for &signal in &signals {
                    if let Some(&wakes) = self.sync.wakes.get(&(signal, wait.begin)) {
                        self.pass_on(knowledge, signal, leave, &[wakes])?;
                    }
                }
                for &broadcast in &broadcasts {
                    let wakes = self.broadcast_wakes(broadcast, &wait)?;
                    self.pass_on(knowledge, broadcast, leave, &[wakes])?;
                }
            }
        }
        Ok(())
    }

    fn semaphores_pass_on(&mut self, knowledge: &Knowledge) -> Result<()> {
        for (semaphore, takes) in self.sync.takes.clone() {
            for release in self.sync.releases.get(&semaphore).cloned().unwrap_or_default() {
                for &(take, takes) in &takes {
                    if self.event(release).thread != self.event(take).thread {
                        let before = self.before(release, take)?;
                        self.pass_on(knowledge, release, take, &[before, takes])?;
                    }
                }
            }
        }
        Ok(())
    }

    fn barriers_pass_on(&mut self, knowledge: &Knowledge) -> Result<()> {
        for (barrier, arrivals) in self.sync.arrivals.clone() {
            for &arrival in &arrivals {
                let Some(leave) = self.following(arrival) else { continue };
                for &other in arrivals.iter().filter(|&&other| other != arrival) {
                    if self.event(other).thread != self.event(arrival).thread {
                        let together = self.in_one_round(barrier, arrival, other)?;
                        self.pass_on(knowledge, other, leave, &[together])?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Atomics and fences: a read takes up what the last atomic write before it left, at once or at the next acquire fence; a write
    /// leaves what its thread knows, or what it knew at its last release fence; a read-modify-write adds what was there.
    fn atomics_pass_on(&mut self, knowledge: &Knowledge, others: &OtherOrders) -> Result<()> {
        let ctp = self.ctp;
        let mut atomics: Vec<Atomic> = vec![];
        for at in (0..ctp.events.len()).map(EventIndex::new) {
            let kind = self.kind(at);
            let Some((access, order)) = kind.access().and_then(|access| Some((access, access.order?))) else {
                continue;
            };
            debug_assert!(access.bytes > 0);
            let other = others.get(&at).copied().unwrap_or(order);
            let departs = self.departs.get(&at).copied().unwrap_or(self.solver.bool_const(false));
            let pick = |solver: &mut solver::Solver, now: bool, otherwise: bool| {
                let (now, otherwise) = (solver.bool_const(now), solver.bool_const(otherwise));
                solver.ite(departs, otherwise, now)
            };
            let acquires = pick(&mut self.solver, order.acquires(), other.acquires())?;
            let releases = pick(&mut self.solver, order.releases(), other.releases())?;
            let (reads, writes) = (!matches!(kind, Kind::Write(_)), !matches!(kind, Kind::Read(_)));
            let leaves = self.solver.bool_var();
            atomics.push(Atomic { event: at, reads, writes, acquires, releases, leaves });
        }
        for atomic in &atomics {
            let Some(knows) = knowledge.of(atomic.event) else { continue };
            if atomic.writes {
                self.imply(knows, atomic.leaves, &[atomic.releases])?;
                if let Some(fence) = self.fence(atomic.event, false).and_then(|fence| knowledge.of(fence)) {
                    let plain = self.solver.not(atomic.releases)?;
                    self.imply(fence, atomic.leaves, &[plain])?;
                }
            }
            if !atomic.reads {
                continue;
            }
            let fence = self.fence(atomic.event, true).and_then(|fence| knowledge.of(fence));
            for source in atomics.iter().filter(|source| source.writes && source.event != atomic.event) {
                let left = self.is_left_before(&atomics, source.event, atomic.event)?;
                self.imply(source.leaves, knows, &[left, atomic.acquires])?;
                if let Some(fence) = fence {
                    self.imply(source.leaves, fence, &[left])?;
                }
                if atomic.writes {
                    self.imply(source.leaves, atomic.leaves, &[left])?;
                }
            }
        }
        Ok(())
    }

    /// The first acquire fence behind an event, or the last release fence before it, in its thread.
    fn fence(&self, event: EventIndex, behind: bool) -> Option<EventIndex> {
        let events = &self.ctp.thread(self.event(event).thread).events;
        let at = events.partition_point(|&other| other < event);
        let is = |&&at: &&EventIndex| match self.kind(at) {
            Kind::Fence(order) => {
                if behind {
                    order.acquires()
                } else {
                    order.releases()
                }
            }
            _ => false,
        };
        match behind {
            true => events[at..].iter().find(is).copied(),
            false => events[..at].iter().rev().find(is).copied(),
        }
    }

    /// What an atomic write left at the address of an access is still there: no plain write came between. (A read-modify-write adds to
    /// what is there, so that the last of them has left what all of them have.)
    fn is_left_before(&mut self, atomics: &[Atomic], write: EventIndex, access: EventIndex) -> Result<Bool> {
        let mut all =
            vec![self.same_address(write, access)?, self.writes(write)?, self.before(write, access)?];
        for other in
            atomics.iter().filter(|other| !other.reads && other.event != write && other.event != access)
        {
            let other = other.event;
            let between =
                [self.same_address(other, access)?, self.before(write, other)?, self.before(other, access)?];
            let between = self.solver.and(&between)?;
            all.push(self.solver.not(between)?);
        }
        self.solver.and(&all)
    }
}
