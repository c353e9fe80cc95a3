//! From a model of the constraints to a schedule: the events of the prefix in an order with few switches, and the choices.

use crate::Encoding;
use claim::Witness;
use ctp::{EventIndex, Kind};
use rustc_hash::FxHashMap;
use solver::{Point, Result, Solution};
use trace::{Choice, EventKind, Location, ThreadId, WakeReason};

impl Encoding<'_> {
    /// The schedule that the last question's answer shows, if that was yes. The threads of `standing` end directly before these events;
    /// `last` is done at the end, behind the prefix.
    ///
    /// # Errors
    /// As for [`Encoding::ask`].
    pub fn witness(&self, standing: &[EventIndex], last: Option<EventIndex>) -> Result<Option<Witness>> {
        let Some(solution) = self.solver.model() else { return Ok(None) };
        let mut events: FxHashMap<Point, EventIndex> = FxHashMap::default();
        // Where switches are bounded, the borders keep the events in their stretches.
        let mut points: Vec<Point> = self.stretches.iter().flat_map(|s| s.borders.iter().copied()).collect();
        for at in (0..self.ctp.events.len()).map(EventIndex::new) {
            if let Some(point) = self.points[at.index()]
                && solution.holds(self.inside(at))?
            {
                events.insert(point, at);
                points.push(point);
            }
        }
        let order: Vec<EventIndex> = (solution.order_with_few_switches(&points)?.iter())
            .filter_map(|point| events.get(point).copied())
            .collect();
        let choices = self.choices(&solution, &order)?;
        let new = order.iter().filter(|at| at.index() >= self.ctp.past);
        let told = new.map(|&at| self.event(at)).filter(|event| !event.silent);
        let order = told.map(|event| event.id).collect();
        let mut witness = Witness { recorded: None, order, choices };
        for &before in standing.iter().chain(&last) {
            witness.go_on_until(self.ctp.before(self.event(before).id));
        }
        witness.order.extend(last.map(|last| self.event(last).id));
        Ok(Some(witness))
    }

    /// What settles the events that leave something open, in their order.
    fn choices(&self, solution: &Solution<'_>, order: &[EventIndex]) -> Result<Vec<Choice>> {
        let mut waiters: FxHashMap<Location, Vec<(EventIndex, ThreadId)>> = FxHashMap::default();
        let mut choices = vec![];
        for &at in order {
            let thread = self.event(at).id.thread;
            let Kind::Other(kind) = self.kind(at) else { continue };
            match *kind {
                EventKind::WaitBegin { condition, .. } => {
                    waiters.entry(condition).or_default().push((at, thread));
                }
                EventKind::StopWaiting { condition, reason } => {
                    let departs = self.departs.get(&at).map(|&departs| solution.holds(departs));
                    if !departs.transpose()?.unwrap_or(false) {
                        waiters.entry(condition).or_default().retain(|&(_, waiter)| waiter != thread);
                        choices.push(match reason {
                            WakeReason::Spurious => Choice::Spurious,
                            _ => Choice::Expire,
                        });
                    }
                }
                EventKind::Signal { condition, .. } => {
                    let waiting = waiters.entry(condition).or_default();
                    let mut woken = None;
                    for &(begin, waiter) in waiting.iter() {
                        if let Some(&wakes) = self.sync.wakes.get(&(at, begin))
                            && solution.holds(wakes)?
                        {
                            woken = Some(waiter);
                        }
                    }
                    let woken = woken.or(waiting.first().map(|&(_, waiter)| waiter));
                    if waiting.len() > 1 {
                        choices.extend(woken.map(Choice::Wake));
                    }
                    waiting.retain(|&(_, waiter)| Some(waiter) != woken);
                }
                EventKind::Broadcast { condition, .. } => {
                    waiters.remove(&condition);
                }
                _ => {}
            }
        }
        Ok(choices)
    }
}
