//! The question to the solver: a prefix of a run that leaves the run's paths once, at its end, and that no run so far begins with.

use crate::departures::{Departure, Leads, departures};
use crate::ends::{self, Ends, Stopped};
use crate::paths::{Decision, Difference, Made, Paths};
use crate::rounds::{self, Rounded};
use claim::Witness;
use ctp::{Ctp, EventIndex, Kind, ThreadIndex};
use encode::{Answer, Bool, Encoding, Result};
use ir::Program;
use rustc_hash::FxHashMap;
use trace::{Choice, EventId, EventKind, ThreadId};

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sought {
    /// Another combination of paths, whatever it consists in.
    Combination,
    /// What prediction from the run did not decide: where a thread goes another way. That something fails it has found.
    Unchecked,
}

/// One way to leave the paths of a run.
struct Way {
    departure: Departure,
    thread: ThreadId,
    place: Place,
}

/// Where a way leaves the path of its thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// At this decision.
    Decision(usize),
    /// Behind so many events: there the thread stops.
    Behind(u64),
    /// Where the thread stopped in the run.
    End,
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
    stopped: Stopped,
    rounds: Vec<Rounded>,
    /// The run may come to another end: how, and that it does.
    ends: Option<(Ends, Bool)>,
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
    /// A question about a run, behind prefixes with at most so many context switches.
    pub fn new(
        program: &Program,
        ctp: &'c Ctp,
        paths: &'c Paths,
        limits: encode::Limits,
        switches: Option<u32>,
        sought: Sought,
    ) -> Result<Question<'c>> {
        let contents_at_cut = rounds::locations(ctp);
        let options = encode::Options { switches, contents_at_cut, ..encode::Options::default() };
        let mut encoding = Encoding::new(ctp, options)?;
        encoding.set_limits(limits);
        let mut by_place = FxHashMap::default();
        for events in paths.events.values() {
            by_place.extend(events.iter().enumerate().map(|(at, &made)| (made, at)));
        }
        let (mut ways, mut others) = (vec![], vec![]);
        let mut goes_on: FxHashMap<ThreadIndex, Vec<Bool>> = FxHashMap::default();
        let mut departures = departures(program, &mut encoding)?;
        let rounds = rounds::rounds(&mut encoding, &mut departures)?;
        for departure in departures {
            let event = ctp.event(departure.event);
            let decides =
                matches!(departure.leads, Leads::To(_)) && !matches!(event.kind, Kind::Assert { .. });
            if sought == Sought::Unchecked && !decides {
                continue;
            }
            let place = match departure.leads {
                Leads::To(_) => by_place.get(&Made::by(ctp, departure.event)).copied().map(Place::Decision),
                Leads::Nowhere => Some(Place::Behind(event.id.n.saturating_sub(1))),
                Leads::On(_) => {
                    goes_on.entry(event.thread).or_default().push(departure.possible);
                    Some(Place::End)
                }
            };
            match place {
                Some(place) => ways.push(Way { departure, thread: event.id.thread, place }),
                None => others.push(departure.taken),
            }
        }
        let phantom = takes_phantom_edge(&mut encoding)?;
        let any = encoding.solver().bool_const(false);
        let stopped = ends::stopped(&mut encoding, paths, &goes_on, &rounds)?;
        let ends = match sought {
            Sought::Combination => Ends::new(program, &mut encoding, &stopped, &rounds)?,
            Sought::Unchecked => None,
        };
        let mut question =
            Question { encoding, paths, ways, others: vec![], any, phantom, stopped, rounds, ends: None };
        question.depart_once()?;
        for other in others {
            question.add(other)?;
        }
        if let Some(ends) = ends {
            question.or_end(ends)?;
        }
        if sought == Sought::Unchecked && !question.rounds.is_empty() {
            question.or_go_round(program)?;
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

    /// Asks also for prefixes without a departure behind which no thread goes on.
    fn or_end(&mut self, ends: Ends) -> Result<()> {
        let solver = self.encoding.solver();
        let departs: Vec<Bool> = self.ways.iter().map(|way| way.departure.taken).collect();
        let departs = solver.or(&departs)?;
        let stays = solver.not(departs)?;
        let ended = solver.bool_var();
        let meant = solver.and(&[stays, ends.all()])?;
        let meant = solver.implies(ended, meant)?;
        solver.assert(meant)?;
        self.any = solver.or(&[self.any, ended])?;
        self.ends = Some((ends, ended));
        Ok(())
    }

    /// Asks also for prefixes behind which no thread goes on, and some wait by going round: what prediction does not know.
    fn or_go_round(&mut self, program: &Program) -> Result<()> {
        let mut any = vec![];
        for round in &self.rounds {
            any.push(round.waits(&mut self.encoding)?);
        }
        let mut waits = self.encoding.solver().or(&any)?;
        // Of who stops otherwise it is not known what it stands before.
        if self.paths.stops.is_empty()
            && let Some(ends) = Ends::new(program, &mut self.encoding, &self.stopped, &self.rounds)?
        {
            waits = self.encoding.solver().and(&[waits, ends.all()])?;
        }
        self.add(waits)
    }

    /// A combination has been run: the prefix must not be the beginning of such a run, or, if no thread goes on, not the end of it.
    pub fn exclude(&mut self, seen: &Paths) -> Result<()> {
        let mut differs = self.others.clone();
        let mut first: FxHashMap<ThreadId, Difference> = FxHashMap::default();
        let paths = self.paths;
        let ctp = self.encoding.ctp();
        for (n, thread) in ctp.threads.iter().enumerate() {
            let index = ThreadIndex::new(n);
            match paths.first_difference(seen, thread.id) {
                Some(difference) => {
                    first.insert(thread.id, difference);
                    differs.extend(self.has_come_to(index, difference)?);
                }
                // What fails here goes on there.
                None => {
                    let stop = paths.stops.get(&thread.id);
                    if stop.is_some_and(|stop| stop.fails) && stop != seen.stops.get(&thread.id) {
                        differs.extend(self.stopped.get(&index));
                    }
                }
            }
        }
        let ways = std::mem::take(&mut self.ways);
        for way in &ways {
            match self.leads_as(way, seen, first.get(&way.thread))? {
                None => {}
                Some(other) => {
                    differs.push(self.encoding.solver().and(&[way.departure.taken, other])?);
                }
            }
        }
        self.ways = ways;
        if let Some((ends, ended)) = &self.ends {
            let other = ends.is_other(&mut self.encoding, &self.stopped, (paths, seen), &first)?;
            differs.push(self.encoding.solver().and(&[*ended, other])?);
        }
        let solver = self.encoding.solver();
        let differs = solver.or(&differs)?;
        solver.assert(differs)
    }

    /// When a way leads elsewhere than a run went, if its thread has kept to the path of that run so far; `None` if it leads where that run went.
    fn leads_as(&mut self, way: &Way, seen: &Paths, first: Option<&Difference>) -> Result<Option<Bool>> {
        let Way { departure, thread, place } = way;
        let elsewhere = Some(self.encoding.solver().bool_const(true));
        let decided = |at: usize| seen.decisions.get(thread).and_then(|path| path.get(at));
        if let Place::Decision(at) = *place
            && first.is_none()
            && seen.is_cut_before(*thread, at)
        {
            return Ok(None);
        }
        Ok(match (*place, departure.leads) {
            (Place::Decision(at), Leads::To(outcome)) if first == Some(&Difference::Decision(at)) => {
                let site = self.paths.decisions[thread][at].site;
                match (decided(at), outcome) {
                    // A failed assertion stands in the place of the branch that led to it.
                    (Some(seen), Some(outcome)) if seen.outcome == outcome || seen.site != site => None,
                    (Some(seen), None) => Some(self.other_than(departure, *seen)?),
                    _ => elsewhere,
                }
            }
            (Place::Behind(done), _) => {
                let fails = seen.stops.get(thread).is_some_and(|stop| stop.fails);
                if fails && first == Some(&Difference::Behind(done)) { None } else { elsewhere }
            }
            (Place::End, Leads::On(outcome)) => {
                let stop = self.paths.stops.get(thread).map_or(0, |stop| stop.done);
                let goes_on = first.is_none() && seen.goes_behind(*thread, stop);
                let same = || match (decided(self.paths.made(*thread)), outcome) {
                    (Some(seen), Some(outcome)) => seen.outcome == outcome,
                    _ => true,
                };
                if goes_on && same() { None } else { elsewhere }
            }
            _ => elsewhere,
        })
    }

    /// A thread has come to where its path leaves that of another run; `None` if that cannot be said.
    fn has_come_to(&mut self, thread: ThreadIndex, difference: Difference) -> Result<Option<Bool>> {
        let done = match difference {
            Difference::Behind(done) => done,
            Difference::Decision(at) => {
                let id = self.encoding.ctp().thread(thread).id;
                match self.paths.events[&id][at] {
                    Made::Silently(event, _) => return self.encoding.as_recorded(event).map(Some),
                    Made::Settled(events, _) => {
                        let come = ends::done(&mut self.encoding, thread, events)?;
                        return self.encoding.solver().and(&come).map(Some);
                    }
                    Made::Event(event) => match self.encoding.ctp().find(event) {
                        Some(event) => return self.encoding.as_recorded(event).map(Some),
                        None => event.n - 1,
                    },
                }
            }
        };
        let Some(event) = ends::behind(&self.encoding, thread, done) else { return Ok(None) };
        if self.encoding.ctp().event(event).id.n == done + 1 {
            return Ok(Some(self.encoding.inside(event)));
        }
        // What is no event of the concurrent trace program is done when the thread has come there; but who has gone round goes no further.
        let mut come = vec![self.encoding.reached(event)];
        for round in self.rounds.iter().filter(|round| round.thread == thread && round.done == done) {
            come.push(self.encoding.solver().not(round.gone)?);
        }
        self.encoding.solver().and(&come).map(Some)
    }

    /// A decision with many outcomes comes out otherwise than `seen`.
    fn other_than(&mut self, departure: &Departure, seen: Decision) -> Result<Bool> {
        let same = match (&departure.among, &self.encoding.ctp().event(departure.event).kind) {
            (Some(among), _) => among.is(&mut self.encoding, seen)?,
            (None, Kind::Other(EventKind::TokenCount { semaphore, .. })) => {
                self.encoding.tokens_at_cut(*semaphore, seen.outcome)?
            }
            _ => return Ok(self.encoding.solver().bool_const(true)),
        };
        self.encoding.solver().not(same)
    }

    /// Whether there is no prefix with all this: as [`Question::ask`], without working out what to run.
    pub fn says_nothing(&mut self, assumed: &[Bool]) -> Result<bool> {
        Ok(match self.answer(assumed)? {
            Answer::Unsat(core) => self.encoding.pinned(&core)?.is_empty(),
            Answer::Sat | Answer::Unknown(_) => false,
        })
    }

    fn answer(&mut self, assumed: &[Bool]) -> Result<Answer> {
        let mut all = assumed.to_vec();
        all.push(self.any);
        self.encoding.ask(&all)
    }

    /// Asks for a prefix with all this.
    pub fn ask(&mut self, assumed: &[Bool]) -> Result<Said> {
        Ok(match self.answer(assumed)? {
            Answer::Sat => {
                let (mut standing, last, choice) = self.shown()?;
                let mut stopped = self.stopped_behind()?;
                if let Some((ends, ended)) = &self.ends
                    && holds(&mut self.encoding, *ended)?
                {
                    stopped.extend(ends.waiting(&mut self.encoding)?);
                }
                let is_there = |thread| stopped.iter().any(|event: &EventId| event.thread == thread);
                let ctp = self.encoding.ctp();
                let next = self.next_events()?.into_iter().filter(|&at| !is_there(ctp.event(at).id.thread));
                standing.extend(next);
                match self.encoding.witness(&standing, last)? {
                    Some(mut witness) => {
                        stopped.into_iter().for_each(|event| witness.go_on_until(event));
                        witness.choices.extend(choice);
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

impl Question<'_> {
    /// What each thread stands before in the solution. Up to there it may have decided more, by what the concurrent trace program does not have: that is
    /// part of the prefix too.
    fn next_events(&mut self) -> Result<Vec<EventIndex>> {
        let ctp = self.encoding.ctp();
        let events = (0..ctp.events.len()).map(EventIndex::new).filter(|&at| !ctp.event(at).silent);
        let places: Vec<(EventIndex, Bool, Bool)> =
            events.map(|at| (at, self.encoding.reached(at), self.encoding.inside(at))).collect();
        let mut next = vec![];
        if let Some(model) = self.encoding.solver().model() {
            for (at, reached, inside) in places {
                if model.holds(reached)? && !model.holds(inside)? {
                    next.push(at);
                }
            }
        }
        Ok(next)
    }

    /// The last events of threads that stand in the solution where they stopped in the run, or behind a round. The concurrent trace program need not have
    /// what they stand before, nor all that comes before it.
    fn stopped_behind(&mut self) -> Result<Vec<EventId>> {
        let ctp = self.encoding.ctp();
        let mut all = vec![];
        if let Some(model) = self.encoding.solver().model() {
            for (&thread, &stands) in &self.stopped {
                let id = ctp.thread(thread).id;
                if let Some(stop) = self.paths.stops.get(&id)
                    && model.holds(stands)?
                {
                    all.push(EventId { thread: id, n: stop.done });
                }
            }
            for round in &self.rounds {
                if model.holds(round.gone)? && model.holds(round.here)? {
                    all.push(EventId { thread: ctp.thread(round.thread).id, n: round.done });
                }
            }
        }
        Ok(all)
    }

    /// How the prefix of the solution ends: what threads stand before, what is done last, and what settles that.
    fn shown(&mut self) -> Result<(Vec<EventIndex>, Option<EventIndex>, Option<Choice>)> {
        let mut chosen = None;
        if let Some(model) = self.encoding.solver().model() {
            for (n, way) in self.ways.iter().enumerate() {
                if model.holds(way.departure.taken)? {
                    chosen = Some(n);
                    break;
                }
            }
        }
        let Some(departure) = chosen.map(|n| &self.ways[n].departure) else {
            return Ok((vec![], None, None));
        };
        let event = self.encoding.ctp().event(departure.event);
        let choice = departure.choice(&event.kind);
        // What is no event of the trace happens at once, when its thread has come there; what fails is not done.
        let stands = event.silent || departure.leads == Leads::Nowhere;
        Ok(match departure.is_next {
            true if stands => (vec![departure.event], None, choice),
            true => (vec![], Some(departure.event), choice),
            false => (vec![], None, choice),
        })
    }
}

/// Something holds in the solution.
fn holds(encoding: &mut Encoding<'_>, what: Bool) -> Result<bool> {
    encoding.solver().model().map_or(Ok(false), |model| model.holds(what))
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
