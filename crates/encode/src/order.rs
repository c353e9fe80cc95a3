//! Time: a chain for each thread, a point for each event, and what lets a thread go on (AV §4.2, Φ_PO and path conditions).

use crate::encoding::Pin;
use crate::{Encoding, Model};
use claim::Because;
use ctp::{EventIndex, Kind, PinReason};
use solver::{Bool, Point, Result};
use trace::EventKind;

impl Encoding<'_> {
    /// Chains and points, program order, fork and join. The cut is on a chain of its own.
    pub(crate) fn lay_out_time(&mut self) -> Result<()> {
        let ctp = self.ctp;
        for thread in &ctp.threads {
            let chain = self.solver.chain()?;
            let mut previous = None;
            for &at in &thread.events {
                self.previous[at.index()] = previous;
                // A write by code that the trace does not see has its time too: others read it.
                if ctp.event(at).silent && ctp.event(at).kind.access().is_none() {
                    continue;
                }
                self.points[at.index()] = Some(self.solver.point_on(chain)?);
                previous = Some(at);
            }
        }
        let ends: Vec<Option<EventIndex>> = ctp.threads.iter().map(|t| t.events.last().copied()).collect();
        for (thread, last) in ctp.threads.iter().zip(&ends) {
            let fork = thread.forked_by.and_then(|fork| ctp.find(fork));
            let first = thread.events.iter().copied().find(|&at| !ctp.event(at).silent);
            if let (Some(fork), Some(first)) = (fork, first) {
                self.fix(Because::Fork(ctp.event(fork).id), fork, first)?;
            }
            for join in ctp.events.iter().enumerate().filter_map(|(at, event)| match event.kind {
                Kind::Other(EventKind::Join { child }) if child == thread.id => Some(EventIndex::new(at)),
                _ => None,
            }) {
                if let Some(last) = *last
                    && !ctp.event(last).silent
                {
                    self.fix(Because::Join(ctp.event(join).id), last, join)?;
                }
            }
        }
        self.fix_past()?;
        for at in 0..ctp.events.len() {
            if let Some(point) = self.points[at] {
                let inside = self.solver.before(point, self.cut)?;
                // Short prefixes are found faster, and are better to read.
                let outside = self.solver.not(inside)?;
                self.solver.prefer(outside)?;
                self.inside[at] = inside;
            }
        }
        Ok(())
    }

    /// What has happened already is before the cut and before all else, in its order.
    fn fix_past(&mut self) -> Result<()> {
        let past: Vec<Point> = self.points[..self.ctp.past].iter().copied().flatten().collect();
        for pair in past.windows(2) {
            self.solver.fix_before(pair[0], pair[1])?;
        }
        let Some(&last) = past.last() else { return Ok(()) };
        self.solver.fix_before(last, self.cut)?;
        for thread in &self.ctp.threads {
            let first = thread
                .events
                .iter()
                .find(|at| at.index() >= self.ctp.past && self.points[at.index()].is_some());
            if let Some(&first) = first {
                let first = self.point(first)?;
                self.solver.fix_before(last, first)?;
            }
        }
        Ok(())
    }

    fn fix(&mut self, because: Because, first: EventIndex, second: EventIndex) -> Result<()> {
        let (a, b) = (self.point(first)?, self.point(second)?);
        if self.options.explain {
            let switch = self.switch(because);
            self.solver.before_if(switch, a, b)
        } else {
            self.solver.fix_before(a, b)
        }
    }

    /// Outcomes that may differ with an effect on others; the thread stops there.
    pub(crate) fn find_departures(&mut self) -> Result<()> {
        for at in 0..self.ctp.events.len() {
            let event = EventIndex::new(at);
            let departs = match self.kind(event) {
                Kind::CompareExchange { equal, success, .. } if self.has_values() => {
                    let equal = self.condition(*equal)?;
                    if *success { self.solver.not(equal)? } else { equal }
                }
                Kind::Other(
                    EventKind::TryLock { acquired: None, .. }
                    | EventKind::TryAcquire { acquired: false, .. }
                    | EventKind::StopWaiting { .. },
                ) => {
                    let departs = self.solver.bool_var();
                    let stays = self.solver.not(departs)?;
                    self.solver.prefer(stays)?;
                    departs
                }
                _ => continue,
            };
            self.departs.insert(event, departs);
        }
        Ok(())
    }

    /// What must hold for a thread to come to each of its events, and to do it.
    pub(crate) fn follow_paths(&mut self) -> Result<()> {
        let ctp = self.ctp;
        for thread in &ctp.threads {
            // What must hold behind the last event, with its reason.
            let mut behind: Vec<(Bool, Because)> = vec![];
            let fork = thread.forked_by.and_then(|fork| ctp.find(fork));
            let mut come = fork.map_or(self.solver.bool_const(true), |fork| self.inside(fork));
            for &at in &thread.events {
                let event = ctp.event(at);
                let id = event.id;
                if event.silent {
                    if self.points[at.index()].is_some() {
                        let outside = self.solver.not(self.inside(at))?;
                        for (condition, because) in &behind {
                            self.require(because.clone(), &[outside, *condition])?;
                        }
                    }
                    let mut reached = vec![come];
                    reached.extend(behind.iter().map(|&(condition, _)| condition));
                    self.reached[at.index()] = self.solver.and(&reached)?;
                    if let Some(condition) = self.silent_condition(at)? {
                        behind.push((condition, Because::Branch(id)));
                    }
                    continue;
                }
                let inside = self.inside(at);
                let outside = self.solver.not(inside)?;
                let mut reached = vec![come];
                for (condition, because) in behind.drain(..) {
                    self.require(because, &[outside, condition])?;
                    reached.push(condition);
                }
                self.reached[at.index()] = self.solver.and(&reached)?;
                for (condition, because) in self.demands(at)? {
                    self.require(because, &[outside, condition])?;
                }
                come = inside;
                if let Some(&departs) = self.departs.get(&at) {
                    behind.push((self.solver.not(departs)?, Because::Branch(id)));
                }
                if self.options.model == Model::Causal {
                    for same in self.same_values(at)? {
                        behind.push((same, Because::Value(id)));
                    }
                }
            }
        }
        Ok(())
    }

    fn silent_condition(&mut self, at: EventIndex) -> Result<Option<Bool>> {
        if !self.has_values() {
            return Ok(None);
        }
        Ok(Some(match self.kind(at) {
            Kind::Require { condition, .. } => self.condition(*condition)?,
            Kind::Branch { as_recorded, .. } => self.condition(*as_recorded)?,
            Kind::Pin { holds, why } => {
                let holds = self.condition(*holds)?;
                let switch = self.solver.bool_var();
                let broken = self.solver.not(holds)?;
                let broken = self.solver.and(&[self.reached[at.index()], broken])?;
                self.pins.push(Pin {
                    switch,
                    event: self.event(at).id,
                    broken,
                    reaches_far: reaches_far(why),
                });
                self.solver.implies(switch, holds)?
            }
            _ => return Ok(None),
        }))
    }

    /// A thread has come to a silent event without a time of its own, and it came out as recorded.
    pub(crate) fn passed_silently(&mut self, at: EventIndex) -> Result<Bool> {
        let reached = self.reached(at);
        let came_out = match self.kind(at) {
            _ if !self.has_values() => return Ok(reached),
            Kind::Require { condition, .. } | Kind::Assert { condition, held: true } => {
                self.condition(*condition)?
            }
            Kind::Assert { condition, held: false } => {
                let holds = self.condition(*condition)?;
                self.solver.not(holds)?
            }
            Kind::Branch { as_recorded, .. } => self.condition(*as_recorded)?,
            _ => return Ok(reached),
        };
        self.solver.and(&[reached, came_out])
    }

    /// What must hold for an event to happen, beside its thread's coming there.
    fn demands(&mut self, at: EventIndex) -> Result<Vec<(Bool, Because)>> {
        let id = self.event(at).id;
        if !self.has_values() {
            return Ok(vec![]);
        }
        let mut conditions = vec![];
        match self.kind(at) {
            Kind::Branch { as_recorded, .. } => {
                conditions.push((self.condition(*as_recorded)?, Because::Branch(id)));
            }
            Kind::Assert { condition, .. } | Kind::Assume { condition } => {
                conditions.push((self.condition(*condition)?, Because::Branch(id)));
            }
            Kind::Other(EventKind::Fault { .. }) => {
                conditions.push((self.solver.bool_const(false), Because::Branch(id)));
            }
            kind => {
                if let Some(hits) = kind.access().and_then(|access| access.hits) {
                    conditions.push((self.condition(hits)?, Because::Value(id)));
                }
            }
        }
        Ok(conditions)
    }

    /// The reads of an event have their recorded values (the maximal causal model).
    pub(crate) fn same_values(&mut self, at: EventIndex) -> Result<Vec<Bool>> {
        let Some(access) = self.kind(at).access() else { return Ok(vec![]) };
        let mut same = vec![];
        for &read in access.targets.iter().flat_map(|target| &target.reads) {
            let value = self.terms.reads[read.index()];
            let recorded = self.solver.bv_const(self.ctp.read(read).recorded, value.width())?;
            same.push(self.solver.bv_eq(value, recorded)?);
        }
        Ok(same)
    }

    /// Full linearizations: all events happen, as recorded.
    pub(crate) fn require_all(&mut self) -> Result<()> {
        for at in 0..self.ctp.events.len() {
            let event = EventIndex::new(at);
            // What ended the recorded run is not in any prefix.
            let last = matches!(
                self.kind(event),
                Kind::Other(EventKind::Fault { .. }) | Kind::Assert { held: false, .. }
            );
            if self.points[at].is_none() || last {
                continue;
            }
            let inside = self.inside(event);
            self.solver.assert(inside)?;
            if let Some(&departs) = self.departs.get(&event) {
                let stays = self.solver.not(departs)?;
                self.solver.assert(stays)?;
            }
            if self.options.model == Model::Causal {
                for same in self.same_values(event)? {
                    self.solver.assert(same)?;
                }
            }
        }
        Ok(())
    }
}

/// Whether other threads may see an effect that the events behind the pin do not have if the pin does not hold: on other memory,
/// another object, another thread.
fn reaches_far(why: &PinReason) -> bool {
    match why {
        PinReason::Address { .. }
        | PinReason::UnknownAddress
        | PinReason::Object
        | PinReason::Size
        | PinReason::Freed
        | PinReason::Joined => true,
        PinReason::Opaque(_) | PinReason::External(_) | PinReason::Mismatch => false,
    }
}
