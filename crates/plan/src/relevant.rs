//! Steps that no plan needs.
//!
//! A plan stays one when a thread does not do what comes last in it and nothing behind it needs. What is needed is found backwards from the goal: a
//! step that is needed needs whoever can make its conditions hold, with all that lies before that in its thread. A mutex is a case of its own. Whoever
//! gives it back makes it free only for having taken it: so a thread must go on to where it gives a mutex back if it must go to where it has it, and
//! not otherwise.

use crate::problem::{Condition, Effect, Problem, ThreadNumber, Variable};
use rustc_hash::{FxHashMap, FxHashSet};

impl Problem {
    /// Leaves out, at the end of each thread, what no plan needs.
    pub fn trim(&mut self) {
        let mut relevant = Relevant::new(self);
        relevant.goal();
        let far = relevant.far;
        // A join that is needed needs all of its thread, which is then all there.
        for (thread, far) in self.threads.iter_mut().zip(far) {
            thread.steps.truncate(far as usize);
        }
    }
}

/// Where a thread has a mutex: from behind the first step to the second one, which gives it back.
struct Section {
    mutex: Variable,
    takes: Option<u32>,
    gives: u32,
}

/// A step, as the number of steps that its thread has done then.
type Place = (ThreadNumber, u32);

struct Relevant<'p> {
    problem: &'p Problem,
    /// So far each thread must go.
    far: Vec<u32>,
    /// Steps of which it is not yet known what they need.
    work: Vec<Place>,
    /// What each step does to the numbers of the state.
    effects: FxHashMap<Variable, Vec<(Place, Effect)>>,
    sections: Vec<Vec<Section>>,
    /// What has been looked for.
    needed: FxHashSet<Condition>,
    /// Mutexes that somebody takes.
    taken: FxHashSet<Variable>,
}

impl<'p> Relevant<'p> {
    fn new(problem: &'p Problem) -> Relevant<'p> {
        let mut effects: FxHashMap<Variable, Vec<(Place, Effect)>> = FxHashMap::default();
        let mut sections = vec![];
        for thread in problem.numbers() {
            let mut own: Vec<Section> = vec![];
            let mut takes: FxHashMap<Variable, u32> = FxHashMap::default();
            for (n, step) in problem.threads[thread.index()].steps.iter().enumerate() {
                let place = (thread, n as u32 + 1);
                for &effect in step.ways.iter().flat_map(|way| &way.does) {
                    effects.entry(effect.variable()).or_default().push((place, effect));
                    match effect {
                        Effect::Set(mutex, 0) if problem.is_mutex(mutex) => {
                            own.push(Section { mutex, takes: takes.get(&mutex).copied(), gives: place.1 });
                        }
                        Effect::Set(mutex, _) if problem.is_mutex(mutex) => _ = takes.insert(mutex, place.1),
                        _ => {}
                    }
                }
            }
            sections.push(own);
        }
        Relevant {
            problem,
            far: vec![0; problem.threads.len()],
            work: vec![],
            effects,
            sections,
            needed: FxHashSet::default(),
            taken: FxHashSet::default(),
        }
    }

    fn goal(&mut self) {
        for &condition in &self.problem.goal {
            self.need(condition);
        }
        loop {
            while let Some((thread, n)) = self.work.pop() {
                let step = &self.problem.threads[thread.index()].steps[n as usize];
                for way in &step.ways {
                    way.needs.iter().for_each(|&need| self.need(need));
                    for effect in &way.does {
                        // What it does depends on what was done before.
                        if let Effect::Change(variable, from, _) = *effect {
                            self.need(Condition::Is(variable, from));
                            self.need(Condition::IsNot(variable, from));
                        }
                    }
                }
            }
            if !self.leave_sections() {
                return;
            }
        }
    }

    /// Whoever stops where it has a mutex that somebody takes goes on to where it gives it back.
    fn leave_sections(&mut self) -> bool {
        let mut ends: Vec<Place> = vec![];
        for thread in self.problem.numbers() {
            let far = self.far[thread.index()];
            let has = |section: &&Section| {
                section.takes.is_none_or(|takes| takes <= far)
                    && far < section.gives
                    && self.taken.contains(&section.mutex)
            };
            ends.extend(
                self.sections[thread.index()].iter().filter(has).map(|section| (thread, section.gives)),
            );
        }
        ends.iter().for_each(|&end| self.go(end));
        !ends.is_empty()
    }

    fn go(&mut self, (thread, until): Place) {
        let all = self.problem.threads[thread.index()].steps.len() as u32;
        let far = &mut self.far[thread.index()];
        let until = until.min(all);
        self.work.extend((*far..until).map(|n| (thread, n)));
        *far = until.max(*far);
    }

    /// Everybody who can make something hold is needed.
    fn need(&mut self, condition: Condition) {
        if !self.needed.insert(condition) {
            return;
        }
        let variable = match condition {
            Condition::Done(thread, steps) => return self.go((thread, steps)),
            Condition::Is(mutex, 0) if self.problem.is_mutex(mutex) => {
                self.taken.insert(mutex);
                return;
            }
            _ => condition.variable(),
        };
        let Some(variable) = variable else { return };
        let gives = |effect: Effect| match (effect, condition) {
            (Effect::Set(_, to) | Effect::Change(_, _, to), Condition::Is(_, value)) => to == value,
            (Effect::Set(_, to) | Effect::Change(_, _, to), Condition::IsNot(_, value)) => to != value,
            (Effect::Set(_, to) | Effect::Change(_, _, to), Condition::AtLeast(_, least)) => to >= least,
            (Effect::Set(_, to) | Effect::Change(_, _, to), Condition::Below(_, most)) => to < most,
            _ => true,
        };
        let effects = self.effects.get(&variable).into_iter().flatten();
        let givers: Vec<Place> =
            effects.filter(|(_, effect)| gives(*effect)).map(|(place, _)| *place).collect();
        givers.into_iter().for_each(|giver| self.go(giver));
    }
}
