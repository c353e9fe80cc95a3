//! The heuristic of FF (Hoffmann and Nebel 2001): how many steps a plan needs if nothing that holds once is ever undone.
//!
//! Under that relaxation a number of the state can be everything that it ever was. Threads are chains, so the relaxed plan is a position for each
//! of them: as far as it must go. It is made in two passes. Forwards, in the order of the recorded run, until nothing new can be done: each
//! thing that becomes possible remembers the step that made it so. Backwards from the goal: whoever needs something makes the thread of
//! the step that gives it go so far.
//!
//! If even the relaxed problem has no plan, the problem has none from this state on.

use crate::gains::{Facts, Gains, Giver, Need, Possible};
use crate::problem::{Problem, State, ThreadNumber};
use crate::search::Action;

/// A relaxed plan: so far each thread goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Relaxed {
    /// How many steps it has.
    pub length: u32,
    /// The threads that make one, which are those worth trying first (FF's helpful actions).
    pub helpful: Vec<ThreadNumber>,
    /// So many steps each thread has done at its end.
    pub far: Vec<u32>,
}

/// Relaxed plans of one problem.
pub(crate) struct Heuristic<'p> {
    problem: &'p Problem,
    /// All steps in recorded order.
    recorded: Vec<(ThreadNumber, u32)>,
    /// Where in that order each step of each thread is.
    places: Vec<Vec<u32>>,
    facts: Facts,
    /// Used again for each state.
    gains: Gains,
}

impl<'p> Heuristic<'p> {
    pub fn new(problem: &'p Problem) -> Heuristic<'p> {
        let mut recorded: Vec<(usize, ThreadNumber, u32)> = vec![];
        for thread in problem.numbers() {
            let steps = problem.threads[thread.index()].steps.iter().enumerate();
            recorded.extend(steps.map(|(n, step)| (step.recorded, thread, n as u32)));
        }
        recorded.sort_unstable();
        let mut places: Vec<Vec<u32>> = vec![vec![]; problem.threads.len()];
        for (place, (_, thread, _)) in recorded.iter().enumerate() {
            places[thread.index()].push(place as u32);
        }
        let recorded = recorded.into_iter().map(|(_, thread, n)| (thread, n)).collect();
        Heuristic { problem, recorded, places, facts: Facts::new(problem), gains: Gains::default() }
    }

    /// All that lies before it in recorded order is done in a state.
    fn first_open(&self, state: &State) -> usize {
        let next = |thread: ThreadNumber| self.places[thread.index()].get(state.done(thread) as usize);
        let open = self.problem.numbers().filter(|&thread| !state.is_stopped(thread)).filter_map(next).min();
        open.map_or(self.recorded.len(), |&place| place as usize)
    }

    /// A relaxed plan from a state; `None` if there is none.
    pub fn relaxed(&mut self, state: &State) -> Option<Relaxed> {
        let (problem, facts) = (self.problem, &self.facts);
        let done: Vec<u32> = problem.numbers().map(|thread| state.done(thread)).collect();
        let open = self.first_open(state)..;
        let mut possible = self.gains.begin(problem, facts, state);
        let goal = |possible: &Possible<'_>| facts.goal().iter().all(|&need| possible.can(need));
        'reached: while !goal(&possible) {
            let mut new = false;
            for &(thread, n) in &self.recorded[open.clone()] {
                if n >= done[thread.index()] && !state.is_stopped(thread) && possible.step(thread, n) {
                    new = true;
                    if goal(&possible) {
                        break 'reached;
                    }
                }
            }
            if !new {
                return None;
            }
        }
        let mut far = done.clone();
        let mut work: Vec<(ThreadNumber, u32)> = vec![];
        let go = |far: &mut Vec<u32>, work: &mut Vec<(ThreadNumber, u32)>, need: Need| {
            possible.givers(need, &mut |(thread, until): Giver| {
                let now = &mut far[thread.index()];
                work.extend((*now..until).map(|n| (thread, n)));
                *now = until.max(*now);
            });
        };
        facts.goal().iter().for_each(|&need| go(&mut far, &mut work, need));
        while let Some((thread, n)) = work.pop() {
            // The way that costs least now: the first that needs nothing new, or the first that is possible.
            let costs = |needs: &[Need]| {
                let mut sum = 0;
                for &need in needs {
                    possible.givers(need, &mut |(thread, until)| {
                        sum += until.saturating_sub(far[thread.index()]);
                    });
                }
                sum
            };
            let mut ways = facts.ways(thread, n);
            let way = match ways.len() {
                1 => ways.next(),
                _ => ways
                    .filter(|needs| needs.iter().all(|&need| possible.can(need)))
                    .min_by_key(|needs| costs(needs)),
            };
            way.into_iter().flatten().for_each(|&need| go(&mut far, &mut work, need));
        }
        let more = |thread: &ThreadNumber| far[thread.index()] > done[thread.index()];
        Some(Relaxed {
            length: far.iter().zip(&done).map(|(far, done)| far - done).sum(),
            helpful: problem.numbers().filter(more).collect(),
            far,
        })
    }
}

impl Heuristic<'_> {
    /// As much of a relaxed plan as can be done indeed, in recorded order: what it leaves out had to wait for something.
    pub fn follow(&self, state: &State, far: &[u32]) -> (Vec<Action>, State) {
        let problem = self.problem;
        let (mut plan, mut state) = (vec![], state.clone());
        loop {
            let before = plan.len();
            for &(thread, n) in &self.recorded[self.first_open(&state)..] {
                if n >= far[thread.index()] || n != state.done(thread) {
                    continue;
                }
                let way = problem.ways(&state, thread).next();
                if let Some(way) = way {
                    problem.apply(&mut state, thread, way);
                    plan.push(Action { thread, way });
                }
            }
            if plan.len() == before {
                return (plan, state);
            }
        }
    }
}
