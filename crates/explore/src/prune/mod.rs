//! Search with symbolic pruning (PRUNE §3 to §5).
//!
//! Runs are enumerated depth first, one step after the other. Of each run the concurrent trace program is made, and whoever calls has it
//! checked: that decides about all orders of the run's events at once. Then every point of the run is asked about, from the last one back:
//! can anything that begins like the run up to there show what has not been checked (`harmless`)? If not, whatever else could be run
//! from that point is left out (PRUNE Fig. 3, CTP-PRUNE-BACKTRACKSETS).
//!
//! Departures from the paper: at every point all threads that can go on are tried, and what leads only to the same runs in another order of
//! independent steps is left out by sleep sets; partial order reduction that adds points as it goes would miss those that
//! the subtrees left out would have added. The points of a run are not asked about one by one: what holds for a beginning holds for
//! every longer one, so the shortest harmless one is found by bisection. Where a point is not harmless the solver has a schedule that shows it: what
//! it knows behind the first point is run at once, until it knows no more; only then are the points asked about, and the search goes back step by step. The
//! search goes on behind a finding. Many workers ask (`workers`); the search itself is made by one.

mod ended;
mod harmless;
mod leads;
mod permitted;
mod points;
mod workers;

use crate::Error;
use crate::arena::Arena;
use crate::bounded::{Stretches, could_have_come_earlier};
use crate::paths::open_ends;
use crate::tree::Item;
use claim::Property;
use ended::{Class, Ended};
use harmless::{Alone, Known};
use ir::Program;
use ir::analysis::Branches;
use std::collections::BTreeSet;
use std::rc::Rc;
use subject::{Move, RunError, Steps};
use trace::{BlockedThread, EventId, Outcome, Trace};
use workers::Workers;

/// How to search.
#[derive(Clone, Debug)]
pub struct Options {
    /// Stop after so many runs.
    pub runs: u64,
    /// A run is cut after so many steps.
    pub steps: usize,
    /// Limits for each question to the solver; where it comes to one, nothing is left out.
    pub limits: encode::Limits,
    /// What runs are checked for.
    pub properties: Vec<Property>,
    /// How their concurrent trace programs are made.
    pub ctp: ctp::Options,
    /// Only what begins with at most so many context switches is looked for; what follows is run to the end, in one way.
    pub switches: Option<u32>,
    /// Whether ways that were not taken may be described by what they may write; otherwise each has to be run.
    pub phantoms: bool,
    /// The subject recognises loops that only wait: who goes round one for ever counts as waiting for ever.
    pub spins: bool,
    /// How many ask the solver at once; what is found does not depend on it.
    pub workers: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            runs: u64::MAX,
            steps: 1_000_000,
            limits: encode::Limits::default(),
            properties: vec![Property::Atomicity, Property::Race, Property::Assertion, Property::Deadlock],
            ctp: ctp::Options::default(),
            switches: None,
            phantoms: true,
            spins: false,
            workers: 1,
        }
    }
}

/// What a search did.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Explored {
    /// Runs that came to an end.
    pub runs: u64,
    /// Runs of different events: each was given to the caller.
    pub distinct: u64,
    /// Runs that were given up because all that they could still show was known.
    pub given_up: u64,
    /// Steps that were made.
    pub steps: u64,
    /// Ways on that were left out because nothing new can come of them.
    pub pruned: u64,
    /// Phantom edges of the runs that were asked about.
    pub phantoms: u64,
    /// How often the solver was asked.
    pub questions: u64,
    /// A loop reached its bound in some run: behind that nothing is known.
    pub bounded: bool,
    /// Why the search may have missed something.
    pub incomplete: BTreeSet<String>,
}

/// A point of the present run.
struct Frame {
    /// What has been run from here, and what is known to lead only to what is known.
    sleep: Vec<Item>,
    /// What is still to be run from here: the backtrack set, the next one last.
    left: Vec<Move>,
    /// Nothing has been run from here yet.
    fresh: bool,
    /// What is being run from here.
    current: Option<Item>,
    /// The context switches so far, if they are bounded.
    stretches: Option<Stretches>,
}

/// What a new point is.
enum Begun {
    /// The end of a run.
    End,
    /// All that could follow is known.
    GivenUp,
    /// More is to be run.
    GoesOn,
}

/// Runs a subject until nothing more can be shown, or a limit is reached. `record` gives the trace of the present run, with all its events;
/// `each` is told after each run, also if it was given up, with its trace if no earlier one had the same events; it checks it, and says
/// whether to go on.
///
/// # Errors
/// If the subject cannot be run, or a run cannot be understood.
pub fn explore<S: Steps>(
    subject: &mut S,
    program: &Program,
    options: &Options,
    record: &mut dyn FnMut(&S) -> Result<Trace, RunError>,
    each: &mut dyn FnMut(Option<&Trace>, &Explored) -> bool,
) -> Result<Explored, Error> {
    explore_beyond(subject, program, options, &[], record, each)
}

/// The same, where some runs have been checked already: what they stand for is left out.
///
/// # Errors
/// As for [`explore`].
pub fn explore_beyond<S: Steps>(
    subject: &mut S,
    program: &Program,
    options: &Options,
    known: &[Trace],
    record: &mut dyn FnMut(&S) -> Result<Trace, RunError>,
    each: &mut dyn FnMut(Option<&Trace>, &Explored) -> bool,
) -> Result<Explored, Error> {
    let arena = Arena::new();
    std::thread::scope(|scope| {
        let workers = Workers::new(scope, program, options.limits, options.workers);
        let mut search = Search {
            subject,
            program,
            options,
            branches: Branches::new(program),
            frames: vec![],
            made: vec![],
            seen: BTreeSet::new(),
            known: Known::new(&arena, workers),
            explored: Explored::default(),
        };
        for trace in known {
            search.know(&Ended::new(program, trace.clone())?)?;
        }
        search.all(record, each)?;
        let questions = search.known.questions;
        Ok(Explored { questions, ..search.explored })
    })
}

struct Search<'s, S> {
    subject: &'s mut S,
    program: &'s Program,
    options: &'s Options,
    branches: Branches<'s>,
    frames: Vec<Frame>,
    /// The last event of each step.
    made: Vec<EventId>,
    seen: BTreeSet<Class>,
    known: Known<'s>,
    explored: Explored,
}

impl<S: Steps> Search<'_, S> {
    /// FUSION-SEARCH.
    fn all(
        &mut self,
        record: &mut dyn FnMut(&S) -> Result<Trace, RunError>,
        each: &mut dyn FnMut(Option<&Trace>, &Explored) -> bool,
    ) -> Result<(), Error> {
        let stretches = self.options.switches.map(Stretches::new);
        self.frames.push(Frame { sleep: vec![], left: vec![], fresh: true, current: None, stretches });
        while let Some(frame) = self.frames.last_mut() {
            if std::mem::replace(&mut frame.fresh, false) {
                let go_on = match self.begin() {
                    Begun::End => {
                        let ended = Ended::new(self.program, record(self.subject)?)?;
                        let go_on = self.check(&ended, each) && self.follow_leads(&ended, record, each)?;
                        if go_on {
                            self.prune(&ended)?;
                        }
                        go_on
                    }
                    Begun::GivenUp => each(None, &self.explored),
                    Begun::GoesOn => true,
                };
                if !go_on {
                    break;
                }
                if self.explored.runs >= self.options.runs && self.frames.iter().any(|f| !f.left.is_empty()) {
                    let why = format!("the limit of {} runs was reached", self.options.runs);
                    self.explored.incomplete.insert(why);
                    break;
                }
            }
            let Some(frame) = self.frames.last_mut() else { break };
            match frame.left.pop() {
                Some(made) => self.make(made),
                None => self.back(),
            }
        }
        Ok(())
    }

    /// Says what is to be run from a new point.
    fn begin(&mut self) -> Begun {
        let moves = self.subject.moves();
        if moves.is_empty() {
            self.explored.runs += 1;
            self.subject.complete();
            return Begun::End;
        }
        if self.subject.steps() >= self.options.steps {
            let why = format!("a run was cut after {} steps", self.options.steps);
            self.explored.incomplete.insert(why);
            return Begun::GivenUp;
        }
        let last = self.made.last().map(|event| event.thread);
        let Some(frame) = self.frames.last_mut() else { return Begun::GivenUp };
        let asleep = |made: &Move| frame.sleep.iter().any(|item| item.made == *made);
        let mut awake: Vec<Move> = moves.into_iter().filter(|made| !asleep(made)).collect();
        // The next one is taken from the end. Few switches make schedules that are easy to read.
        awake.reverse();
        awake.sort_by_key(|made| Some(made.thread) == last);
        if let Some(stretches) = frame.stretches {
            let next = awake.last().copied();
            awake.retain(|made| stretches.allow(made.thread));
            // Behind the bound only the run's end is of interest, not which.
            if awake.is_empty() || stretches.is_beyond() {
                awake = next.into_iter().collect();
            }
        }
        frame.left = awake;
        match frame.left.is_empty() {
            true => {
                self.explored.given_up += 1;
                Begun::GivenUp
            }
            false => Begun::GoesOn,
        }
    }

    fn make(&mut self, made: Move) {
        let footprint = Rc::new(self.subject.make(made));
        self.explored.steps += 1;
        self.made.extend(self.subject.last());
        let item = Item { made, footprint };
        let before = self.frames.iter().filter_map(|frame| frame.current.as_ref());
        let could_have_come_earlier = could_have_come_earlier(&item, before);
        let Some(frame) = self.frames.last_mut() else { return };
        let stretches = frame.stretches.map(|stretches| stretches.after(made.thread));
        // What another run stands for may need more switches there: with a bound nothing sleeps.
        let (sleep, fresh) = match stretches {
            None => (frame.sleep.iter().filter(|asleep| !asleep.conflicts(&item)).cloned().collect(), true),
            Some(stretches) => (vec![], stretches.is_beyond() || !could_have_come_earlier),
        };
        frame.current = Some(item);
        self.frames.push(Frame { sleep, left: vec![], fresh, current: None, stretches });
    }

    /// Comes back to the point before: what was run from there has been seen.
    fn back(&mut self) {
        self.frames.pop();
        let Some(frame) = self.frames.last_mut() else { return };
        let current = frame.current.take();
        if frame.stretches.is_none() {
            frame.sleep.extend(current);
        }
        let steps = self.frames.len() - 1;
        self.made.truncate(steps);
        self.known.back_to(steps);
        self.subject.back_to(steps);
    }

    /// CTP-CHECK-PROPERTY, once for each concurrent trace program; says whether to go on.
    fn check(&mut self, ended: &Ended, each: &mut dyn FnMut(Option<&Trace>, &Explored) -> bool) -> bool {
        match ended.trace.outcome {
            Outcome::BoundExceeded { .. } => self.explored.bounded = true,
            Outcome::LimitReached { .. } | Outcome::Truncated => {
                self.explored.incomplete.insert("a run was cut at a limit".to_owned());
            }
            Outcome::Fault { kind: trace::FaultKind::MachineLimit, .. } => {
                self.explored
                    .incomplete
                    .insert("a run needs more than the machine goes along with".to_owned());
            }
            _ => {}
        }
        let is_new = self.seen.insert(ended.class.clone());
        self.explored.distinct += u64::from(is_new);
        each(is_new.then_some(&ended.trace), &self.explored)
    }

    /// The number of the present run among the known ones, if there is room and it says something about others.
    fn take_in(&mut self, present: &Ended) -> Result<Option<usize>, Error> {
        if let Some(own) = self.known.find(&present.class) {
            return Ok(Some(own));
        }
        let Some(stuck) = self.stuck(present).filter(|_| self.known.has_room()) else { return Ok(None) };
        let asked = self.asked(&present.trace, stuck)?;
        Ok(Some(self.known.add(present.class.clone(), asked)))
    }

    fn stuck(&self, present: &Ended) -> Option<Vec<BlockedThread>> {
        permitted::stuck(&self.options.properties, &present.trace, self.subject.blocked())
    }

    /// CTP-PRUNE-BACKTRACKSETS: empties the backtrack sets of all points from which nothing new can come.
    fn prune(&mut self, present: &Ended) -> Result<(), Error> {
        let points: Vec<usize> =
            (0..self.frames.len()).filter(|&at| !self.frames[at].left.is_empty()).collect();
        let Some(stuck) = self.stuck(present).filter(|_| !points.is_empty()) else { return Ok(()) };
        let first = match self.take_in(present)? {
            Some(own) => self.known.first_harmless(own, &self.made, &points)?,
            None => {
                let asked = self.asked(&present.trace, stuck)?;
                let mut alone = Alone::new(self.program, &asked, self.options.limits)?;
                points::first_harmless(&points, &mut |at| alone.is_harmless(&self.made[..at]))?
            }
        };
        for &at in &points[first..] {
            self.explored.pruned += self.frames[at].left.len() as u64;
            self.frames[at].left.clear();
        }
        Ok(())
    }
}

impl<S> Search<'_, S> {
    /// Takes in a run that was checked before; says whether it stands for others.
    fn know(&mut self, ended: &Ended) -> Result<bool, Error> {
        self.seen.insert(ended.class.clone());
        let whole = match ended.trace.outcome {
            Outcome::Completed { .. } | Outcome::Exited { .. } => true,
            Outcome::BoundExceeded { .. } => open_ends(&ended.trace) == 1,
            _ => false,
        };
        let is_kept = whole && self.known.has_room();
        if is_kept {
            let asked = self.asked(&ended.trace, vec![])?;
            self.known.add(ended.class.clone(), asked);
        }
        Ok(is_kept)
    }
}
