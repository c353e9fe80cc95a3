//! Condition variables, exactly: a signal with a waiter that nobody has woken wakes one of them, never none
//! (docs/design/feasibility.md, "Condition variables").
//!
//! For reaching an event it would be enough that each end of a wait has a signal of its own, as long as no wait expires. A wait that
//! expires as recorded must not have been woken before: then every signal in the meantime had another waiter to wake. So which signal
//! wakes whom is a variable for each pair, and the rule is written out.

use crate::Encoding;
use claim::Because;
use ctp::{EventIndex, Kind};
use solver::{Bool, Result};
use trace::{EventKind, Location, WakeReason};

/// A wait.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// Where it begins.
    pub begin: EventIndex,
    /// The event after which it is no more among the waiters, if the trace has it.
    pub leave: Option<EventIndex>,
    /// Whether that is the end of a wait that was signalled; otherwise it expired, or ended without a reason.
    pub signalled: bool,
}

impl Encoding<'_> {
    pub(crate) fn encode_conditions(&mut self) -> Result<()> {
        for at in (0..self.ctp.events.len()).map(EventIndex::new) {
            let Kind::Other(kind) = self.kind(at) else { continue };
            match *kind {
                EventKind::WaitBegin { condition, .. } => {
                    let leave = self.following(at);
                    let signalled = leave.is_some_and(|leave| {
                        matches!(
                            self.kind(leave),
                            Kind::Other(EventKind::WaitEnd { reason: WakeReason::Signal(_), .. })
                        )
                    });
                    self.sync.waits.entry(condition).or_default().push(Wait { begin: at, leave, signalled });
                }
                EventKind::Signal { condition, .. } => {
                    self.sync.signals.entry(condition).or_default().push(at)
                }
                EventKind::Broadcast { condition, .. } => {
                    self.sync.broadcasts.entry(condition).or_default().push(at);
                }
                _ => {}
            }
        }
        let conditions: Vec<Location> = self.sync.waits.keys().copied().collect();
        for condition in conditions {
            let waits = self.sync.waits.get(&condition).cloned().unwrap_or_default();
            let signals = self.sync.signals.get(&condition).cloned().unwrap_or_default();
            let broadcasts = self.sync.broadcasts.get(&condition).cloned().unwrap_or_default();
            self.encode_who_wakes_whom(&waits, &signals, &broadcasts)?;
            for wait in &waits {
                self.encode_leaving(wait, &signals, &broadcasts)?;
            }
            self.encode_never_none(&waits, &signals, &broadcasts)?;
        }
        Ok(())
    }

    fn encode_who_wakes_whom(
        &mut self,
        waits: &[Wait],
        signals: &[EventIndex],
        broadcasts: &[EventIndex],
    ) -> Result<()> {
        for &signal in signals {
            let mut all = vec![];
            for wait in waits {
                if self.event(wait.begin).thread == self.event(signal).thread {
                    // A thread that waits signals nothing.
                    let never = self.solver.bool_const(false);
                    self.sync.wakes.insert((signal, wait.begin), never);
                    continue;
                }
                let wakes = self.solver.bool_var();
                self.sync.wakes.insert((signal, wait.begin), wakes);
                all.push(wakes);
                let no = self.solver.not(wakes)?;
                let inside = self.inside(signal);
                let clause = self.solver.or(&[no, inside])?;
                self.solver.assert(clause)?;
                let (begin, at) = (self.point(wait.begin)?, self.point(signal)?);
                self.solver.before_if(wakes, begin, at)?;
                if let Some(leave) = wait.leave {
                    let leave = self.point(leave)?;
                    self.solver.before_if(wakes, at, leave)?;
                }
                // A broadcast in the meantime would have woken it.
                for &broadcast in broadcasts {
                    let waiting = self.before(wait.begin, broadcast)?;
                    let both = self.solver.and(&[wakes, waiting])?;
                    let broadcast = self.point(broadcast)?;
                    self.solver.before_if(both, at, broadcast)?;
                }
            }
            let one = self.solver.at_most(1, &all)?;
            self.solver.assert(one)?;
        }
        for wait in waits {
            let all: Vec<Bool> =
                signals.iter().filter_map(|&s| self.sync.wakes.get(&(s, wait.begin)).copied()).collect();
            let one = self.solver.at_most(1, &all)?;
            self.solver.assert(one)?;
        }
        Ok(())
    }

    /// The end of a wait needs somebody who wakes it; one that ends unsignalled must not have been woken.
    fn encode_leaving(
        &mut self,
        wait: &Wait,
        signals: &[EventIndex],
        broadcasts: &[EventIndex],
    ) -> Result<()> {
        let Some(leave) = wait.leave else { return Ok(()) };
        let because = Because::Wait(self.event(leave).id);
        let mut woken = vec![];
        for &signal in signals {
            woken.extend(self.sync.wakes.get(&(signal, wait.begin)).copied());
        }
        for &broadcast in broadcasts {
            let (after, before) = (self.before(wait.begin, broadcast)?, self.before(broadcast, leave)?);
            woken.push(self.solver.and(&[after, before])?);
        }
        let by_signal = if wait.signalled { self.inside(leave) } else { self.departed(leave)? };
        let mut clause = vec![self.solver.not(by_signal)?];
        clause.extend(&woken);
        self.require(because.clone(), &clause)?;
        if !wait.signalled {
            let unsignalled = self.as_recorded(leave)?;
            let no = self.solver.not(unsignalled)?;
            for woken in woken {
                let not_woken = self.solver.not(woken)?;
                self.require(because.clone(), &[no, not_woken])?;
            }
        }
        Ok(())
    }

    /// A signal that wakes nobody has no waiter: each has not begun, has left, or has been woken before.
    fn encode_never_none(
        &mut self,
        waits: &[Wait],
        signals: &[EventIndex],
        broadcasts: &[EventIndex],
    ) -> Result<()> {
        for &signal in signals {
            let mut somebody = vec![];
            for wait in waits {
                somebody.extend(self.sync.wakes.get(&(signal, wait.begin)).copied());
            }
            let inside = self.inside(signal);
            somebody.push(self.solver.not(inside)?);
            for wait in waits {
                if self.event(wait.begin).thread == self.event(signal).thread {
                    continue;
                }
                let mut clause = somebody.clone();
                clause.push(self.before(signal, wait.begin)?);
                if let Some(leave) = wait.leave {
                    clause.push(self.before(leave, signal)?);
                }
                for &other in signals.iter().filter(|&&other| other != signal) {
                    let earlier = self.before(other, signal)?;
                    if let Some(&wakes) = self.sync.wakes.get(&(other, wait.begin)) {
                        clause.push(self.solver.and(&[wakes, earlier])?);
                    }
                }
                for &broadcast in broadcasts {
                    let (after, earlier) =
                        (self.before(wait.begin, broadcast)?, self.before(broadcast, signal)?);
                    clause.push(self.solver.and(&[after, earlier])?);
                }
                self.require(Because::Wait(self.event(signal).id), &clause)?;
            }
        }
        Ok(())
    }

    /// A broadcast is what wakes a wait.
    pub(crate) fn broadcast_wakes(&mut self, broadcast: EventIndex, wait: &Wait) -> Result<Bool> {
        let Kind::Other(EventKind::Broadcast { condition, .. }) = self.kind(broadcast) else {
            return Ok(self.solver.bool_const(false));
        };
        let signals = self.sync.signals.get(condition).cloned().unwrap_or_default();
        let others = self.sync.broadcasts.get(condition).cloned().unwrap_or_default();
        let mut all = vec![self.inside(broadcast), self.before(wait.begin, broadcast)?];
        if let Some(leave) = wait.leave {
            all.push(self.before(broadcast, leave)?);
        }
        for signal in signals {
            if let Some(&wakes) = self.sync.wakes.get(&(signal, wait.begin)) {
                all.push(self.solver.not(wakes)?);
            }
        }
        for other in others.into_iter().filter(|&other| other != broadcast) {
            let (after, earlier) = (self.before(wait.begin, other)?, self.before(other, broadcast)?);
            let first = self.solver.and(&[after, earlier])?;
            all.push(self.solver.not(first)?);
        }
        self.solver.and(&all)
    }
}
