//! Who asks the solver about known runs. A solver stays with the thread that made it, so each run has its worker, and abstractions have one for
//! themselves: they are asked about beside the runs.
//!
//! What is asked about a run, and after what, does not depend on how many workers there are: then neither does what the solver says, up to the
//! schedule that it gives.

use super::harmless::{Asked, beginning, question};
use super::points;
use crate::question::{Question, Said};
use claim::Witness;
use encode::{Limits, Result};
use ir::Program;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;
use trace::EventId;

/// All workers.
pub struct Workers<'a> {
    runs: Vec<Place<'a, Runs<'a>>>,
    abstractions: Place<'a, Abstractions<'a>>,
}

/// What leaves the paths of a run.
#[derive(Clone, Debug)]
pub enum Leaves {
    Nothing,
    /// Something may; how, if that was asked for and is known.
    Something(Option<Witness>),
}

impl<'a> Workers<'a> {
    /// So many, one of which is who calls; alone it does everything.
    pub fn new<'scope>(
        scope: &'scope Scope<'scope, '_>,
        program: &'a Program,
        limits: Limits,
        workers: usize,
    ) -> Workers<'a>
    where
        'a: 'scope,
    {
        let runs = move || Runs { program, limits, known: vec![], questions: FxHashMap::default() };
        let abstractions = move || Abstractions { program, limits, questions: FxHashMap::default() };
        let others = (1..workers).map(|_| Place::there(scope, runs));
        Workers {
            runs: [Place::Here(runs())].into_iter().chain(others).collect(),
            abstractions: match workers {
                0 | 1 => Place::Here(abstractions()),
                _ => Place::there(scope, abstractions),
            },
        }
    }

    /// One more run is known.
    pub fn take(&mut self, asked: &'a Asked) {
        for place in &mut self.runs {
            place.order(move |runs| runs.known.push(asked));
        }
    }

    /// What that is new leaves the paths of each of these runs, behind these steps.
    pub fn ask(&mut self, runs: &[usize], steps: &[EventId], lead: bool) -> Result<Vec<Leaves>> {
        let steps: Arc<[EventId]> = steps.into();
        let count = self.runs.len();
        let mut coming = vec![];
        // Others first, so that they are at work while we are.
        for (n, place) in self.runs.iter_mut().enumerate().rev() {
            let own: Vec<usize> = runs.iter().copied().filter(|at| at % count == n).collect();
            if own.is_empty() {
                continue;
            }
            let steps = Arc::clone(&steps);
            let ask = move |runs: &mut Runs<'a>| -> Vec<(usize, Result<Leaves>)> {
                own.into_iter().map(|at| (at, runs.ask(at, &steps, lead))).collect()
            };
            coming.push(place.order(ask));
        }
        let mut said: BTreeMap<usize, Result<Leaves>> = coming.into_iter().flat_map(Coming::wait).collect();
        runs.iter().filter_map(|at| said.remove(at)).collect()
    }

    /// About where the first point is from which on the abstraction of a run alone says that nothing new can follow, and how many questions that took.
    pub fn ask_abstraction(
        &mut self,
        run: (usize, &'a Asked),
        made: &[EventId],
        points: &[usize],
    ) -> Coming<Result<(Range<usize>, u64)>> {
        let (made, points) = (made.to_vec(), points.to_vec());
        self.abstractions.order(move |abstractions| {
            let mut count = 0;
            let range = points::from_the_end(&points, &mut |at| {
                count += 1;
                abstractions.is_harmless(run, &made[..at])
            })?;
            Ok((range, count))
        })
    }

    /// Whether the abstraction of a run alone says that nothing new can follow on these steps.
    pub fn is_harmless_in_the_abstract(
        &mut self,
        run: (usize, &'a Asked),
        steps: &[EventId],
    ) -> Result<bool> {
        let steps = steps.to_vec();
        self.abstractions.order(move |abstractions| abstractions.is_harmless(run, &steps)).wait()
    }
}

/// The runs that one worker asks about: their concurrent trace programs, and schedules that no known run begins with.
struct Runs<'a> {
    program: &'a Program,
    limits: Limits,
    /// All that are known.
    known: Vec<&'a Asked>,
    /// Those that were asked about, each with the number of known runs that it was told of.
    questions: FxHashMap<usize, (Question<'a>, usize)>,
}

impl Runs<'_> {
    fn ask(&mut self, at: usize, steps: &[EventId], lead: bool) -> Result<Leaves> {
        let Runs { program, limits, known, questions } = self;
        let (exact, told) = match questions.entry(at) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                new.insert((question(program, known[at], (&known[at].ctp, &known[at].paths), *limits)?, 0))
            }
        };
        for (other, asked) in known.iter().enumerate().skip(*told) {
            if other != at && asked.is_whole() {
                exact.exclude(&asked.paths)?;
            }
        }
        *told = known.len();
        let begins = beginning(exact.encoding(), steps)?;
        Ok(match lead {
            true => match exact.ask(&begins)? {
                Said::Nothing => Leaves::Nothing,
                Said::Another(witness) => Leaves::Something(Some(witness)),
                Said::Unknown(_) => Leaves::Something(None),
            },
            false if exact.says_nothing(&begins)? => Leaves::Nothing,
            false => Leaves::Something(None),
        })
    }
}

/// The abstractions of runs, and all schedules; those that were needed.
struct Abstractions<'a> {
    program: &'a Program,
    limits: Limits,
    questions: FxHashMap<usize, Question<'a>>,
}

impl<'a> Abstractions<'a> {
    fn is_harmless(&mut self, (at, asked): (usize, &'a Asked), steps: &[EventId]) -> Result<bool> {
        let Some((ctp, paths)) = &asked.abstraction else { return Ok(false) };
        let abstracted = match self.questions.entry(at) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(question(self.program, asked, (ctp, paths), self.limits)?),
        };
        let begins = beginning(abstracted.encoding(), steps)?;
        abstracted.says_nothing(&begins)
    }
}

/// Something that is done by who has what it takes.
type Order<'a, T> = Box<dyn FnOnce(&mut T) + Send + 'a>;

/// Where something is that cannot go from one thread to another.
enum Place<'a, T> {
    Here(T),
    There(Sender<Order<'a, T>>),
}

impl<'a, T: 'a> Place<'a, T> {
    /// On a thread of its own, which ends when nobody can order anything.
    fn there<'scope>(
        scope: &'scope Scope<'scope, '_>,
        make: impl FnOnce() -> T + Send + 'scope,
    ) -> Place<'a, T>
    where
        'a: 'scope,
    {
        let (place, orders) = channel::<Order<'a, T>>();
        scope.spawn(move || {
            let mut kept = make();
            orders.into_iter().for_each(|order| order(&mut kept));
        });
        Place::There(place)
    }

    fn order<A: Send + 'a>(&mut self, order: impl FnOnce(&mut T) -> A + Send + 'a) -> Coming<A> {
        match self {
            Place::Here(kept) => Coming::Done(order(kept)),
            Place::There(place) => {
                let (tell, told) = channel();
                // Who does not wait for it need not be told; and a worker that is gone tells nothing to who waits.
                _ = place.send(Box::new(move |kept| _ = tell.send(order(kept))));
                Coming::Later(told)
            }
        }
    }
}

/// What was ordered.
pub enum Coming<A> {
    Done(A),
    Later(Receiver<A>),
}

impl<A> Coming<A> {
    pub fn wait(self) -> A {
        match self {
            Coming::Done(done) => done,
            // A worker that panics takes all others along.
            Coming::Later(told) => told.recv().expect("workers work until the search ends"),
        }
    }
}
