//! The question to the solver: a prefix of a run that leaves the run's paths once, at its end, and that no run so far begins with.

use crate::departures::{Departure, departures};
use crate::paths::{Combination, Made, Paths};
use claim::Witness;
use ctp::{Ctp, Kind};
use encode::{Answer, Bool, Encoding, Result};
use ir::Program;
use rustc_hash::FxHashMap;
use trace::{EventId, EventKind, ThreadId};

/// One way to leave the paths of a run.
struct Way {
    departure: Departure,
    thread: ThreadId,
    /// Which decision of its thread comes out otherwise.
    decision: usize,
}

/// All that is asked about one run.
pub struct Question<'c> {
    encoding: Encoding<'c>,
    paths: &'c Paths,
    ways: Vec<Way>,
    /// Other ways, behind which nothing is known.
    others: Vec<Bool>,
    any: Bool,
    /// Some phantom edge is taken: what its thread decides from there on is not known.
    phantom: Bool,
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
    /// A question about a run, of which departures at such events are of interest, behind prefixes with at most so many context switches.
    pub fn new(
        program: &Program,
        ctp: &'c Ctp,
        paths: &'c Paths,
        limits: encode::Limits,
        switches: Option<u32>,
        is_of_interest: impl Fn(&Kind) -> bool,
    ) -> Result<Question<'c>> {
        let options = encode::Options { switches, ..encode::Options::default() };
        let mut encoding = Encoding::new(ctp, options)?;
        encoding.set_limits(limits);
        let mut by_place = FxHashMap::default();
        for (&thread, events) in &paths.events {
            by_place.extend(events.iter().enumerate().map(|(at, &made)| (made, (thread, at))));
        }
        let (mut ways, mut others) = (vec![], vec![]);
        for departure in departures(program, &mut encoding)? {
            let event = ctp.event(departure.event);
            let made = if event.silent { Made::Silently(departure.event) } else { Made::Event(event.id) };
            match by_place.get(&made) {
                _ if !is_of_interest(&event.kind) => {}
                Some(&(thread, decision)) => ways.push(Way { departure, thread, decision }),
                None => others.push(departure.taken),
            }
        }
        let phantom = takes_phantom_edge(&mut encoding)?;
        let any = encoding.solver().bool_const(false);
        let mut question = Question { encoding, paths, ways, others: vec![], any, phantom };
        question.depart_once()?;
        for other in others {
            question.add(other)?;
        }
        Ok(question)
    }

    /// The encoding, for terms of one's own.
    pub fn encoding(&mut self) -> &mut Encoding<'c> {
        &mut self.encoding
    }

    /// Some phantom edge is taken.
    pub fn phantom(&self) -> Bool {
        self.phantom
    }

    /// Asks also for prefixes with this.
    pub fn add(&mut self, taken: Bool) -> Result<()> {
        self.others.push(taken);
        self.any = self.encoding.solver().or(&[self.any, taken])?;
        Ok(())
    }

    /// At most one departure is taken. Several threads may stand before something that would now come out otherwise: one of them does it.
    fn depart_once(&mut self) -> Result<()> {
        let solver = self.encoding.solver();
        let mut all = vec![];
        for Way { departure, .. } in &mut self.ways {
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
        let mut differs = vec![self.phantom];
        differs.extend(&self.others);
        let mut first = FxHashMap::default();
        for &thread in self.paths.decisions.keys() {
            let Some(at) = self.paths.first_difference(seen, thread) else { continue };
            first.insert(thread, at);
            // What is no event of the concurrent trace program comes out by what came before.
            let (made, phantom) = match self.paths.events[&thread][at] {
                Made::Silently(event) => (Some(event), None),
                Made::Event(event) => (self.encoding.ctp().find(event), Some(event)),
            };
            if let Some(event) = made {
                differs.push(self.encoding.as_recorded(event)?);
            } else if let Some(event) = phantom
                && let Some(made) = self.made_at_phantom(event)?
            {
                differs.push(made);
            }
        }
        let own = |thread: &ThreadId, decision: usize| self.paths.decisions[thread][decision].site;
        let ways = std::mem::take(&mut self.ways);
        for Way { departure, thread, decision } in &ways {
            let as_seen = first.get(thread) == Some(decision);
            let outcome = seen.get(thread).and_then(|path| path.get(*decision));
            let taken = departure.taken;
            match (as_seen, outcome, departure.outcome) {
                // The departure leads where that run went. A failed assertion stands in the place of the branch that led to it.
                (true, Some(seen), Some(outcome))
                    if seen.outcome == outcome || seen.site != own(thread, *decision) => {}
                (true, Some(seen), None) => {
                    let other = self.other_than(departure, seen.outcome)?;
                    differs.push(self.encoding.solver().and(&[taken, other])?);
                }
                _ => differs.push(taken),
            }
        }
        self.ways = ways;
        let solver = self.encoding.solver();
        let differs = solver.or(&differs)?;
        solver.assert(differs)
    }

    /// A branch that has a phantom edge comes out as recorded.
    fn made_at_phantom(&mut self, branch: EventId) -> Result<Option<Bool>> {
        let ctp = self.encoding.ctp();
        let Some(phantom) = ctp.phantoms.iter().find(|phantom| phantom.branch == branch) else {
            return Ok(None);
        };
        let come = come(&mut self.encoding, phantom);
        let kept = self.encoding.condition(phantom.kept)?;
        self.encoding.solver().and(&[come, kept]).map(Some)
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

    /// Asks for a prefix with all this.
    pub fn ask(&mut self, assumed: &[Bool]) -> Result<Said> {
        let mut all = assumed.to_vec();
        all.push(self.any);
        Ok(match self.encoding.ask(&all)? {
            Answer::Sat => {
                let mut last = None;
                if let Some(model) = self.encoding.solver().model() {
                    for Way { departure, .. } in &self.ways {
                        if model.holds(departure.taken)? {
                            last = Some(departure);
                            break;
                        }
                    }
                }
                let next = last.filter(|departure| departure.is_next).map(|departure| departure.event);
                // What is no event of the trace happens at once, when its thread has come there.
                let is_silent = next.is_some_and(|next| self.encoding.ctp().event(next).silent);
                let (standing, next) = if is_silent { (next, None) } else { (None, next) };
                match self.encoding.witness(standing.as_slice(), next)? {
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

/// The thread of a phantom edge has come to its branch.
fn come(encoding: &mut Encoding<'_>, phantom: &ctp::Phantom) -> Bool {
    let ctp = encoding.ctp();
    let fork = || ctp.thread(phantom.thread).forked_by.and_then(|fork| ctp.find(fork));
    match phantom.after.or_else(fork) {
        Some(after) => encoding.inside(after),
        None => encoding.solver().bool_const(true),
    }
}

/// Some phantom edge is taken.
fn takes_phantom_edge(encoding: &mut Encoding<'_>) -> Result<Bool> {
    let ctp = encoding.ctp();
    let mut any = vec![];
    for phantom in &ctp.phantoms {
        let come = come(encoding, phantom);
        let taken = encoding.condition(phantom.taken)?;
        any.push(encoding.solver().and(&[come, taken])?);
    }
    encoding.solver().or(&any)
}
