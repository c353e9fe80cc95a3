//! The question to the solver: a prefix of this run that decides one thing otherwise, and that no run so far begins with.

use super::decisions::{Combination, Paths, SIGNALLED, STOPPED};
use claim::Witness;
use ctp::{Ctp, EventIndex, Kind};
use encode::{Answer, Bool, Encoding, Result};
use ir::{Op, Program, SiteIndex, SyncOp};
use rustc_hash::FxHashMap;
use trace::{Choice, EventId, EventKind, LockMode, ThreadId, WakeReason};

/// One way to leave the paths of a run.
struct Departure {
    /// It is taken.
    taken: Bool,
    event: EventIndex,
    thread: ThreadId,
    /// Which decision of its thread comes out otherwise.
    decision: usize,
    /// How; `None` if that is not one outcome.
    outcome: Option<u64>,
    /// The event is not in the prefix: it is what the thread does next.
    is_next: bool,
    /// What settles it.
    choice: Option<Choice>,
}

/// All that is asked about one run.
pub struct Question<'c> {
    encoding: Encoding<'c>,
    paths: &'c Paths,
    by_id: FxHashMap<EventId, (ThreadId, usize)>,
    departures: Vec<Departure>,
    any: Bool,
}

/// What the solver says.
pub enum Said {
    /// Run this.
    Another(Witness),
    /// There is no other combination of paths whose first departure is from this run.
    Nothing,
    /// That is not known, and why.
    Unknown(String),
}

impl<'c> Question<'c> {
    pub fn new(
        program: &Program,
        ctp: &'c Ctp,
        paths: &'c Paths,
        limits: encode::Limits,
    ) -> Result<Question<'c>> {
        let mut encoding = Encoding::new(ctp, encode::Options::default())?;
        encoding.set_limits(limits);
        let mut by_id = FxHashMap::default();
        for (&thread, events) in &paths.events {
            by_id.extend(events.iter().enumerate().map(|(at, &event)| (event, (thread, at))));
        }
        let any = encoding.solver().bool_const(false);
        let mut question = Question { encoding, paths, by_id, departures: vec![], any };
        question.find_departures(program, ctp)?;
        question.depart_once()?;
        Ok(question)
    }

    fn find_departures(&mut self, program: &Program, ctp: &Ctp) -> Result<()> {
        let sites = SiteIndex::new(program);
        for at in (0..ctp.events.len()).map(EventIndex::new) {
            let event = ctp.event(at);
            let Some(&(thread, decision)) = self.by_id.get(&event.id) else { continue };
            let mut add = |taken: Bool, outcome: Option<u64>, is_next: bool, choice: Option<Choice>| {
                self.departures.push(Departure {
                    taken,
                    event: at,
                    thread,
                    decision,
                    outcome,
                    is_next,
                    choice,
                });
            };
            let encoding = &mut self.encoding;
            let alone = encoding.not_excluded(event.thread)?;
            let next = encoding.next(at)?;
            match &event.kind {
                Kind::Branch { as_recorded, taken, condition } => {
                    let stays = encoding.condition(*as_recorded)?;
                    let goes = encoding.solver().not(stays)?;
                    let goes = encoding.solver().and(&[next, alone, goes])?;
                    let is_switch = ctp.expressions.width(*condition).bits() > 1;
                    let other = (!is_switch).then_some(u64::from(1 - (*taken).min(1)));
                    add(goes, other, true, None);
                }
                Kind::Assert { condition, held } => {
                    let holds = encoding.condition(*condition)?;
                    let other = if *held { encoding.solver().not(holds)? } else { holds };
                    add(encoding.solver().and(&[next, alone, other])?, Some(u64::from(!*held)), true, None);
                    if !*held {
                        // What ended the process is in no prefix; if it holds now, that is where the prefix ends.
                        let inside = encoding.inside(at);
                        let outside = encoding.solver().not(inside)?;
                        encoding.solver().assert(outside)?;
                    }
                }
                Kind::CompareExchange { success, .. } => {
                    add(encoding.departed(at)?, Some(u64::from(!*success)), false, None);
                }
                Kind::Other(kind) => match *kind {
                    EventKind::TryLock { acquired: None, .. }
                    | EventKind::TryAcquire { acquired: false, .. } => {
                        add(encoding.departed(at)?, Some(1), false, None);
                    }
                    EventKind::StopWaiting { .. } => {
                        add(encoding.departed(at)?, Some(SIGNALLED), false, None);
                    }
                    EventKind::TryLock { object, mode, acquired: Some(_) } => {
                        let held = held_at_cut(encoding, object, mode)?;
                        add(encoding.solver().and(&[next, alone, held])?, Some(0), true, None);
                    }
                    EventKind::TryAcquire { semaphore, acquired: true } => {
                        let none = encoding.tokens_at_cut(semaphore, 0)?;
                        add(encoding.solver().and(&[next, alone, none])?, Some(0), true, None);
                    }
                    EventKind::TokenCount { semaphore, value } => {
                        let same = encoding.tokens_at_cut(semaphore, value)?;
                        let other = encoding.solver().not(same)?;
                        add(encoding.solver().and(&[next, alone, other])?, None, true, None);
                    }
                    EventKind::WaitEnd { condition, reason: WakeReason::Signal(_), .. }
                        if matches!(
                            sites.op(program, event.site),
                            Some(Op::Sync { op: SyncOp::TimedWait, .. })
                        ) =>
                    {
                        let Some(begin) = encoding.previous(at) else { continue };
                        let woken = encoding.woken_at_cut(condition, begin)?;
                        let waits = encoding.solver().not(woken)?;
                        let stops = encoding.solver().and(&[next, alone, waits])?;
                        add(stops, Some(STOPPED), true, Some(Choice::Expire));
                    }
                    _ => {}
                },
                _ => {}
            }
        }
        Ok(())
    }

    /// At most one departure is taken. Several threads may stand before something that would now come out otherwise: one of them does it.
    fn depart_once(&mut self) -> Result<()> {
        let solver = self.encoding.solver();
        let mut all = vec![];
        for departure in &mut self.departures {
            let chosen = solver.bool_var();
            let possible = solver.implies(chosen, departure.taken)?;
            solver.assert(possible)?;
            if !departure.is_next {
                let noticed = solver.implies(departure.taken, chosen)?;
                solver.assert(noticed)?;
            }
            departure.taken = chosen;
            all.push(chosen);
        }
        let once = solver.at_most(1, &all)?;
        solver.assert(once)?;
        self.any = solver.or(&all)?;
        Ok(())
    }

    /// A combination has been run: the prefix must not be the beginning of such a run.
    pub fn exclude(&mut self, seen: &Combination) -> Result<()> {
        let mut differs = vec![];
        let mut first = FxHashMap::default();
        for &thread in self.paths.decisions.keys() {
            let Some(at) = self.paths.first_difference(seen, thread) else { continue };
            first.insert(thread, at);
            // What is no event of the concurrent trace program comes out by what came before.
            let event = self.paths.events[&thread][at];
            if let Some(event) = self.encoding.ctp().find(event) {
                differs.push(self.encoding.as_recorded(event)?);
            }
        }
        let departures = std::mem::take(&mut self.departures);
        for departure in &departures {
            let as_seen = first.get(&departure.thread) == Some(&departure.decision);
            let outcome = seen.get(&departure.thread).and_then(|path| path.get(departure.decision));
            let taken = departure.taken;
            match (as_seen, outcome, departure.outcome) {
                // The departure leads where that run went.
                (true, Some(seen), Some(outcome)) if seen.outcome == outcome => {}
                (true, Some(seen), None) => {
                    let other = self.other_than(departure, seen.outcome)?;
                    differs.push(self.encoding.solver().and(&[taken, other])?);
                }
                _ => differs.push(taken),
            }
        }
        self.departures = departures;
        let solver = self.encoding.solver();
        let differs = solver.or(&differs)?;
        solver.assert(differs)
    }

    /// A decision with many outcomes comes out otherwise than `seen`.
    fn other_than(&mut self, departure: &Departure, seen: u64) -> Result<Bool> {
        match self.encoding.ctp().event(departure.event).kind {
            Kind::Other(EventKind::TokenCount { semaphore, .. }) => {
                let same = self.encoding.tokens_at_cut(semaphore, seen)?;
                self.encoding.solver().not(same)
            }
            // A switch: its other cases are not told apart.
            _ => Ok(self.encoding.solver().bool_const(true)),
        }
    }

    /// Asks.
    pub fn ask(&mut self) -> Result<Said> {
        Ok(match self.encoding.ask(&[self.any])? {
            Answer::Sat => {
                let mut last = None;
                if let Some(model) = self.encoding.solver().model() {
                    for departure in &self.departures {
                        if model.holds(departure.taken)? {
                            last = Some(departure);
                            break;
                        }
                    }
                }
                let event = last.filter(|departure| departure.is_next).map(|departure| departure.event);
                match self.encoding.witness(&[], event)? {
                    Some(mut witness) => {
                        witness.choices.extend(last.and_then(|departure| departure.choice));
                        Said::Another(witness)
                    }
                    None => Said::Unknown("the search was interrupted".to_owned()),
                }
            }
            Answer::Unsat(core) => match self.encoding.pinned(&core)?.first() {
                None => Said::Nothing,
                Some(event) => Said::Unknown(format!("a value was taken as recorded (event {event})")),
            },
            Answer::Unknown(_) => Said::Unknown("the solver came to its limit".to_owned()),
        })
    }
}

fn held_at_cut(encoding: &mut Encoding<'_>, object: trace::Location, mode: LockMode) -> Result<Bool> {
    encoding.held_at_cut(object, mode, |_| true)
}
