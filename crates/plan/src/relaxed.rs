//! The heuristic of FF (Hoffmann and Nebel 2001): how many steps a plan needs if nothing that holds once is ever undone.
//!
//! Under that relaxation a number of the state can be everything that it ever was. Threads are chains, so the relaxed plan is a position for each
//! of them: as far as it must go. It is made in two passes. Forwards, in the order of the recorded run, until nothing new can be done: each
//! thing that becomes possible remembers the step that made it so. Backwards from the goal: whoever needs something makes the thread of
//! the step that gives it go so far.
//!
//! If even the relaxed problem has no plan, the problem has none from this state on.

use crate::problem::{Condition, Effect, Problem, State, ThreadNumber, Variable};
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

/// Who gives something: a step of a thread, as the number of steps that the thread has done then.
type Giver = (ThreadNumber, u32);

/// Relaxed plans of one problem.
pub(crate) struct Heuristic<'p> {
    problem: &'p Problem,
    /// All steps in recorded order.
    recorded: Vec<(ThreadNumber, u32)>,
    /// Where in that order each step of each thread is.
    places: Vec<Vec<u32>>,
    /// Used again for each state.
    gains: Gains,
}

/// What becomes possible under the relaxation.
#[derive(Default)]
struct Gains {
    /// How far each thread can come; and how far it can go on from there.
    reached: Vec<u32>,
    goes_on: Vec<u32>,
    /// For each number the values that it can have and has not now, with who gives them.
    given: Vec<Vec<(u32, Giver)>>,
    /// For each number those who add to it, or take from it, in the order in which they become possible.
    increases: Vec<Vec<Giver>>,
    decreases: Vec<Vec<Giver>>,
}

impl Gains {
    /// Nothing yet, in a state.
    fn clear(&mut self, problem: &Problem, state: &State) {
        let threads = problem.numbers();
        self.reached.clear();
        self.reached.extend(threads.map(|thread| state.done(thread)));
        self.goes_on.clear();
        let goes_on = |thread| if state.is_stopped(thread) { 0 } else { state.done(thread) };
        self.goes_on.extend(problem.numbers().map(goes_on));
        self.given.resize_with(problem.initial.len(), Vec::new);
        self.given.iter_mut().for_each(Vec::clear);
        for counted in [&mut self.increases, &mut self.decreases] {
            counted.resize_with(problem.initial.len(), Vec::new);
            counted.iter_mut().for_each(Vec::clear);
        }
    }
}

/// What is possible from a state on under the relaxation.
struct Possible<'s> {
    problem: &'s Problem,
    state: &'s State,
    gains: &'s mut Gains,
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
        Heuristic { problem, recorded, places, gains: Gains::default() }
    }

    /// All that lies before it in recorded order is done in a state.
    fn first_open(&self, state: &State) -> usize {
        let next = |thread: ThreadNumber| self.places[thread.index()].get(state.done(thread) as usize);
        let open = self.problem.numbers().filter(|&thread| !state.is_stopped(thread)).filter_map(next).min();
        open.map_or(self.recorded.len(), |&place| place as usize)
    }

    /// A relaxed plan from a state; `None` if there is none.
    pub fn relaxed(&mut self, state: &State) -> Option<Relaxed> {
        let problem = self.problem;
        let done: Vec<u32> = problem.numbers().map(|thread| state.done(thread)).collect();
        let open = self.first_open(state)..;
        self.gains.clear(problem, state);
        let mut possible = Possible { problem, state, gains: &mut self.gains };
        let goal = |possible: &Possible<'_>| problem.goal.iter().all(|&need| possible.can(need));
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
        let go = |far: &mut Vec<u32>, work: &mut Vec<(ThreadNumber, u32)>, (thread, until): Giver| {
            let now = &mut far[thread.index()];
            work.extend((*now..until).map(|n| (thread, n)));
            *now = until.max(*now);
        };
        for &need in &problem.goal {
            possible.givers(need).into_iter().for_each(|giver| go(&mut far, &mut work, giver));
        }
        while let Some((thread, n)) = work.pop() {
            let ways = &problem.threads[thread.index()].steps[n as usize].ways;
            // The way that costs least now: the first that needs nothing new, or the first that is possible.
            let costs = |needs: &[Condition]| {
                let givers = needs.iter().flat_map(|&need| possible.givers(need));
                givers.map(|(thread, until)| until.saturating_sub(far[thread.index()])).sum::<u32>()
            };
            let possible_ways = ways.iter().filter(|way| way.needs.iter().all(|&need| possible.can(need)));
            let Some(way) = possible_ways.min_by_key(|way| costs(&way.needs)) else { continue };
            for &need in &way.needs {
                possible.givers(need).into_iter().for_each(|giver| go(&mut far, &mut work, giver));
            }
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
                    state = problem.after(&state, thread, way);
                    plan.push(Action { thread, way });
                }
            }
            if plan.len() == before {
                return (plan, state);
            }
        }
    }
}

impl Possible<'_> {
    fn now(&self, variable: Variable) -> u32 {
        self.problem.value(self.state, variable)
    }

    fn count(givers: &[Vec<Giver>], variable: Variable) -> u32 {
        givers[variable.0 as usize].len() as u32
    }

    /// The values that a number can have, but for adding and taking: with who gives them.
    fn all(&self, variable: Variable) -> impl Iterator<Item = (u32, Option<Giver>)> {
        let given = self.gains.given[variable.0 as usize].iter().map(|&(value, giver)| (value, Some(giver)));
        std::iter::once((self.now(variable), None)).chain(given)
    }

    /// Whether something can hold.
    fn can(&self, need: Condition) -> bool {
        match need {
            Condition::Done(thread, steps) => self.gains.reached[thread.index()] >= steps,
            Condition::Is(variable, value) => {
                let up = Self::count(&self.gains.increases, variable);
                let down = Self::count(&self.gains.decreases, variable);
                self.all(variable).any(|(known, _)| {
                    known == value
                        || (known < value && known.saturating_add(up) >= value)
                        || (known > value && known.saturating_sub(down) <= value)
                })
            }
            Condition::IsNot(variable, value) => {
                let moves = Self::count(&self.gains.increases, variable)
                    + Self::count(&self.gains.decreases, variable);
                moves > 0 || self.all(variable).any(|(known, _)| known != value)
            }
            Condition::AtLeast(variable, value) => {
                let up = Self::count(&self.gains.increases, variable);
                self.all(variable).any(|(known, _)| known.saturating_add(up) >= value)
            }
            Condition::Below(variable, value) => {
                let down = Self::count(&self.gains.decreases, variable);
                self.all(variable).any(|(known, _)| known.saturating_sub(down) < value)
            }
        }
    }

    /// Who makes something hold that does not yet.
    fn givers(&self, need: Condition) -> Vec<Giver> {
        if self.problem.holds(self.state, need) {
            return vec![];
        }
        let counted = |givers: &[Vec<Giver>], variable: Variable, missing: u32| {
            givers[variable.0 as usize].iter().take(missing as usize).copied().collect::<Vec<Giver>>()
        };
        // The value to begin with that leaves least to be added or taken.
        let nearest = |variable: Variable, distance: &dyn Fn(u32) -> Option<(u32, bool)>| {
            let best = (self.all(variable))
                .filter_map(|(value, giver)| distance(value).map(|(missing, up)| (missing, up, giver)))
                .min_by_key(|&(missing, _, giver)| (missing, giver.is_some()));
            let Some((missing, up, giver)) = best else { return vec![] };
            let map = if up { &self.gains.increases } else { &self.gains.decreases };
            giver.into_iter().chain(counted(map, variable, missing)).collect()
        };
        match need {
            Condition::Done(thread, steps) => vec![(thread, steps)],
            Condition::Is(variable, value) => {
                let (up, down) = (
                    Self::count(&self.gains.increases, variable),
                    Self::count(&self.gains.decreases, variable),
                );
                nearest(variable, &|known| match known <= value {
                    true => (known.saturating_add(up) >= value).then_some((value - known, true)),
                    false => (known.saturating_sub(down) <= value).then_some((known - value, false)),
                })
            }
            Condition::IsNot(variable, value) => {
                let given = self.all(variable).find(|&(known, giver)| known != value && giver.is_some());
                match given {
                    Some((_, giver)) => giver.into_iter().collect(),
                    None => {
                        let up = counted(&self.gains.increases, variable, 1);
                        if up.is_empty() { counted(&self.gains.decreases, variable, 1) } else { up }
                    }
                }
            }
            Condition::AtLeast(variable, value) => {
                let up = Self::count(&self.gains.increases, variable);
                nearest(variable, &|known| {
                    (known.saturating_add(up) >= value).then_some((value.saturating_sub(known), true))
                })
            }
            Condition::Below(variable, value) => {
                let down = Self::count(&self.gains.decreases, variable);
                nearest(variable, &|known| {
                    let missing = if known < value { 0 } else { (known - value).saturating_add(1) };
                    (known.saturating_sub(down) < value).then_some((missing, false))
                })
            }
        }
    }

    /// Looks at a step; says whether that makes anything possible that was not.
    fn step(&mut self, thread: ThreadNumber, n: u32) -> bool {
        if self.gains.goes_on[thread.index()] < n {
            return false;
        }
        let step = &self.problem.threads[thread.index()].steps[n as usize];
        let giver = (thread, n + 1);
        let mut new = false;
        for way in &step.ways {
            if !way.needs.iter().all(|&need| self.can(need)) {
                continue;
            }
            if self.gains.reached[thread.index()] <= n {
                self.gains.reached[thread.index()] = n + 1;
                new = true;
            }
            if !way.is_last && self.gains.goes_on[thread.index()] <= n {
                self.gains.goes_on[thread.index()] = n + 1;
                new = true;
            }
            for &effect in &way.does {
                new |= match effect {
                    Effect::Set(variable, value) => self.give(variable, value, giver),
                    Effect::Change(variable, from, to) => {
                        self.can(Condition::Is(variable, from)) && self.give(variable, to, giver)
                    }
                    Effect::Increase(variable) => add(&mut self.gains.increases, variable, giver),
                    Effect::Decrease(variable) => add(&mut self.gains.decreases, variable, giver),
                };
            }
        }
        new
    }

    fn give(&mut self, variable: Variable, value: u32, giver: Giver) -> bool {
        let now = self.now(variable);
        let given = &mut self.gains.given[variable.0 as usize];
        let is_new = now != value && given.iter().all(|&(known, _)| known != value);
        given.extend(is_new.then_some((value, giver)));
        is_new
    }
}

/// Takes note of one who adds or takes; each step does so once.
fn add(givers: &mut [Vec<Giver>], variable: Variable, giver: Giver) -> bool {
    let givers = &mut givers[variable.0 as usize];
    let is_new = !givers.contains(&giver);
    givers.extend(is_new.then_some(giver));
    is_new
}
