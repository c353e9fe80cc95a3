//! Steps that need not be tried against those of others (persistent sets, Godefroid 1996).
//!
//! A step that nobody else can get in the way of, and that gets in nobody's way, can be done at once: whatever plan there is, there is one that begins
//! with it. So a state in which some thread stands before such a step has only its ways on. What others can do before it is all that they do up
//! to where they need a mutex that its thread holds: a critical section of which nothing is seen from outside is gone through in one go.
//!
//! Threads only go on, so no step is put off for ever.

use crate::problem::{Condition, Effect, Problem, State, Step, ThreadNumber, Variable};
use rustc_hash::{FxHashMap, FxHashSet};

/// What of a problem is needed to know such steps.
pub(crate) struct Alone<'p> {
    problem: &'p Problem,
    /// What the goal speaks of: who changes that is seen.
    goal: FxHashSet<Variable>,
    /// For each thread and number of the state, the steps that look at it or change it.
    uses: Vec<FxHashMap<Variable, Vec<u32>>>,
    /// For each thread and mutex, the steps that need it to be free.
    takes: Vec<FxHashMap<Variable, Vec<u32>>>,
}

impl<'p> Alone<'p> {
    pub fn new(problem: &'p Problem) -> Alone<'p> {
        let goal = problem.goal.iter().filter_map(|need| need.variable()).collect();
        let (mut uses, mut takes) = (vec![], vec![]);
        for thread in &problem.threads {
            let (mut used, mut taken) = (FxHashMap::default(), FxHashMap::default());
            for (n, step) in thread.steps.iter().enumerate() {
                add(&mut used, touched(step), n);
                add(&mut taken, taken_by(problem, step), n);
            }
            uses.push(used);
            takes.push(taken);
        }
        Alone { problem, goal, uses, takes }
    }

    /// A thread whose next step can be done at once.
    pub fn thread(&self, state: &State) -> Option<ThreadNumber> {
        self.problem.numbers().find(|&thread| self.is_alone(state, thread))
    }

    fn is_alone(&self, state: &State, thread: ThreadNumber) -> bool {
        let Some(step) = self.problem.next(state, thread) else { return false };
        if self.problem.ways(state, thread).next().is_none() {
            return false;
        }
        let touched = touched(step);
        if touched.iter().any(|variable| self.goal.contains(variable)) {
            return false;
        }
        let held = self.held(state, thread);
        let mut others = self.problem.numbers().filter(|&other| other != thread && !state.is_stopped(other));
        others.all(|other| {
            let at = state.done(other);
            let stands = held.iter().filter_map(|lock| next(&self.takes[other.index()], *lock, at)).min();
            let meets = touched.iter().filter_map(|of| next(&self.uses[other.index()], *of, at)).min();
            meets.is_none_or(|meets| stands.is_some_and(|stands| stands <= meets))
        })
    }

    /// The mutexes that a thread has taken and not given back.
    fn held(&self, state: &State, thread: ThreadNumber) -> Vec<Variable> {
        let at = state.done(thread);
        let steps = &self.problem.threads[thread.index()].steps;
        let is_held = |(lock, taken): (&Variable, &Vec<u32>)| {
            let last = taken[..taken.partition_point(|&n| n < at)].last()?;
            let gives = |step: &Step| step.ways.iter().any(|way| way.does.contains(&Effect::Set(*lock, 0)));
            let since = &steps[*last as usize + 1..at as usize];
            (!since.iter().any(gives)).then_some(*lock)
        };
        self.takes[thread.index()].iter().filter_map(is_held).collect()
    }
}

fn add(map: &mut FxHashMap<Variable, Vec<u32>>, variables: Vec<Variable>, n: usize) {
    for variable in variables {
        map.entry(variable).or_default().push(n as u32);
    }
}

/// The first of a thread's steps from one on that has to do with a number of the state.
fn next(steps: &FxHashMap<Variable, Vec<u32>>, variable: Variable, from: u32) -> Option<u32> {
    let steps = steps.get(&variable)?;
    steps.get(steps.partition_point(|&n| n < from)).copied()
}

/// What a step looks at or changes.
fn touched(step: &Step) -> Vec<Variable> {
    let needs = step.ways.iter().flat_map(|way| &way.needs).filter_map(|need| need.variable());
    let does = step.ways.iter().flat_map(|way| &way.does).map(|effect| effect.variable());
    let mut touched: Vec<Variable> = needs.chain(does).collect();
    touched.sort_unstable();
    touched.dedup();
    touched
}

/// The mutexes without which a step cannot come about, and which it takes.
fn taken_by(problem: &Problem, step: &Step) -> Vec<Variable> {
    let Some((first, others)) = step.ways.split_first() else { return vec![] };
    let all_take = |of: &Variable| {
        let takes = |way: &crate::problem::Way| {
            way.needs.contains(&Condition::Is(*of, 0)) && way.does.contains(&Effect::Set(*of, 1))
        };
        takes(first) && others.iter().all(takes)
    };
    first
        .needs
        .iter()
        .filter_map(|need| need.variable())
        .filter(|of| problem.is_mutex(*of) && all_take(of))
        .collect()
}
