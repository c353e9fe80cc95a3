//! The planner: heuristic forward search, as FF does it (Hoffmann and Nebel 2001; PLAN §1, §5).
//!
//! First *enforced hill climbing*: from a state, as far along the relaxed plan as that goes (Vidal 2004), or else breadth first along helpful
//! steps, to the nearest state that is better; from there again. That is fast and may get stuck. Then *best first*, over all steps but such that need not be tried
//! (`alone`): the state with the shortest relaxed plan is looked at next. No state is looked at twice, and none from which even the relaxed problem has
//! no plan, so if that ends without a plan there is none.

use crate::alone::Alone;
use crate::problem::{Problem, State, ThreadNumber};
use crate::relaxed::Heuristic;
use crate::sync::is_waiting;
use claim::Witness;
use rustc_hash::FxHashSet;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Instant;
use trace::Choice;

/// When the planner gives up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// After so many states.
    pub states: usize,
    /// After so many steps of threads looked at: each state takes a look at all steps of the problem.
    pub looks: usize,
    /// At this time.
    pub until: Option<Instant>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { states: 100_000, looks: 1_500_000, until: None }
    }
}

/// A step of a plan: who, and in which way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Action {
    /// Whose next step.
    pub thread: ThreadNumber,
    /// Which of its ways.
    pub way: usize,
}

/// What came of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// A plan.
    Plan(Vec<Action>),
    /// There is none.
    None,
    /// After so many states nothing is known.
    Limit(usize),
}

impl Problem {
    /// Looks for a plan; also says how many states were looked at.
    #[must_use]
    pub fn solve(&self, limits: Limits) -> (Outcome, usize) {
        if self.is_hopeless {
            return (Outcome::None, 0);
        }
        if self.is_too_large {
            return (Outcome::Limit(0), 0);
        }
        let most_states = limits.states.min(limits.looks / self.steps().max(1)).max(1);
        let heuristic = Heuristic::new(self);
        let mut search = Search { problem: self, heuristic, most_states, until: limits.until, states: 0 };
        let outcome = match search.climb() {
            Some(plan) => Outcome::Plan(plan),
            None => search.best_first(),
        };
        (outcome, search.states)
    }

    /// The schedule that a plan is.
    #[must_use]
    pub fn witness(&self, plan: &[Action]) -> Witness {
        let mut witness = Witness::default();
        let mut state = self.start();
        for &Action { thread, way } in plan {
            let Some(step) = self.next(&state, thread) else { break };
            witness.order.push(step.event);
            witness.choices.extend(step.ends_wait);
            // A signal leaves a choice open only if several wait.
            let waiting = step.reaches.iter().filter(|&&wait| is_waiting(self.value(&state, wait))).count();
            let wakes = step.ways.get(way).and_then(|way| way.wakes);
            witness.choices.extend(wakes.filter(|_| waiting > 1).map(Choice::Wake));
            state = self.after(&state, thread, way);
        }
        witness
    }

    /// Whether a list of actions is a plan: each is possible when its turn comes, and the goal holds at the end.
    #[must_use]
    pub fn is_plan(&self, plan: &[Action]) -> bool {
        let mut state = self.start();
        for &Action { thread, way } in plan {
            if !self.ways(&state, thread).any(|possible| possible == way) {
                return false;
            }
            state = self.after(&state, thread, way);
        }
        !self.is_hopeless && self.is_goal(&state)
    }
}

struct Search<'p> {
    problem: &'p Problem,
    heuristic: Heuristic<'p>,
    most_states: usize,
    until: Option<Instant>,
    states: usize,
}

impl Search<'_> {
    fn is_over(&self, most_states: usize) -> bool {
        self.states >= most_states
            || (self.states.is_multiple_of(64) && self.until.is_some_and(|until| Instant::now() >= until))
    }

    /// The states that follow one, by steps of these threads; a thread that has just gone goes on first, for schedules with few switches.
    fn successors(
        &self,
        state: &State,
        threads: &[ThreadNumber],
        last: Option<ThreadNumber>,
    ) -> Vec<(Action, State)> {
        let mut threads = threads.to_vec();
        threads.sort_by_key(|&thread| Some(thread) != last);
        let ways = threads.into_iter().flat_map(|thread| {
            self.problem.ways(state, thread).map(move |way| Action { thread, way }).collect::<Vec<_>>()
        });
        ways.map(|action| (action, self.problem.after(state, action.thread, action.way))).collect()
    }

    /// Enforced hill climbing with helpful steps; `None` if it gets stuck.
    fn climb(&mut self) -> Option<Vec<Action>> {
        let mut state = self.problem.start();
        let mut best = self.heuristic.relaxed(&state)?;
        let mut plan: Vec<Action> = vec![];
        self.states += 1;
        while !self.problem.is_goal(&state) {
            // Plans are long, and much of a relaxed one can often be done as it is.
            let (far, reached) = self.heuristic.follow(&state, &best.far);
            if far.len() > 1
                && let Some(relaxed) = self.heuristic.relaxed(&reached)
                && relaxed.length < best.length
            {
                self.states += 1;
                plan.extend(far);
                (state, best) = (reached, relaxed);
                continue;
            }
            // Breadth first to a state that is better.
            let mut known: FxHashSet<State> = [state.clone()].into_iter().collect();
            let mut queue = VecDeque::from([(state.clone(), best.helpful.clone(), vec![])]);
            let better = 'better: loop {
                let (from, helpful, way): (State, Vec<ThreadNumber>, Vec<Action>) = queue.pop_front()?;
                let last = way.last().or(plan.last()).map(|action| action.thread);
                for (action, next) in self.successors(&from, &helpful, last) {
                    if !known.insert(next.clone()) {
                        continue;
                    }
                    // If that leads nowhere, all is to be looked at.
                    if self.is_over(self.most_states / 2) {
                        return None;
                    }
                    self.states += 1;
                    let Some(relaxed) = self.heuristic.relaxed(&next) else { continue };
                    let way: Vec<Action> = way.iter().copied().chain([action]).collect();
                    if relaxed.length < best.length {
                        break 'better (next, relaxed, way);
                    }
                    queue.push_back((next, relaxed.helpful, way));
                }
            };
            plan.extend(better.2);
            (state, best) = (better.0, better.1);
        }
        Some(plan)
    }

    /// Complete: looks at every state from which a relaxed plan exists, the best first.
    fn best_first(&mut self) -> Outcome {
        let problem = self.problem;
        let all: Vec<ThreadNumber> = problem.numbers().collect();
        let alone = Alone::new(problem);
        let mut open = Open::default();
        open.add(&mut self.heuristic, problem.start(), None);
        while let Some(at) = open.next() {
            let node = &open.nodes[at];
            if problem.is_goal(&node.state) {
                return Outcome::Plan(open.way_to(at));
            }
            let last = node.by.last().map(|action| action.thread);
            let threads = alone.thread(&node.state).map_or_else(|| all.clone(), |thread| vec![thread]);
            let mut next: Vec<(Vec<Action>, State)> = vec![];
            // As far along the relaxed plan as that goes, and each single step.
            let (far, reached) = self.heuristic.follow(&node.state, &node.far);
            next.extend((far.len() > 1).then_some((far, reached)));
            let steps = self.successors(&node.state, &threads, last);
            next.extend(steps.into_iter().map(|(action, state)| (vec![action], state)));
            for (by, state) in next {
                if open.known.contains(&state) {
                    continue;
                }
                if self.is_over(self.most_states) {
                    return Outcome::Limit(self.states);
                }
                self.states += 1;
                open.add(&mut self.heuristic, state, Some((at, by)));
            }
        }
        Outcome::None
    }
}

/// A state that a search has come to.
struct Node {
    state: State,
    /// From which, and by what.
    from: usize,
    by: Vec<Action>,
    /// The relaxed plan from here.
    far: Vec<u32>,
}

/// The states of a search, and those among them that are still to be looked at: by the length of the relaxed plan, the newer first.
#[derive(Default)]
struct Open {
    nodes: Vec<Node>,
    known: FxHashSet<State>,
    queue: BinaryHeap<(Reverse<u32>, usize)>,
}

impl Open {
    fn add(&mut self, heuristic: &mut Heuristic<'_>, state: State, from: Option<(usize, Vec<Action>)>) {
        self.known.insert(state.clone());
        if let Some(relaxed) = heuristic.relaxed(&state) {
            self.queue.push((Reverse(relaxed.length), self.nodes.len()));
            let (from, by) = from.unwrap_or_default();
            self.nodes.push(Node { state, from, by, far: relaxed.far });
        }
    }

    fn next(&mut self) -> Option<usize> {
        self.queue.pop().map(|(_, at)| at)
    }

    /// The actions that led to a state.
    fn way_to(&self, mut at: usize) -> Vec<Action> {
        let mut parts: Vec<&[Action]> = vec![];
        while !self.nodes[at].by.is_empty() {
            parts.push(&self.nodes[at].by);
            at = self.nodes[at].from;
        }
        parts.reverse();
        parts.concat()
    }
}
