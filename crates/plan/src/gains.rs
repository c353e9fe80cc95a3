//! What becomes possible from a state on if nothing that holds once is ever undone, and who makes it so.
//!
//! Most conditions ask whether a number of the state is something, and most steps make a number something. Each such pair of a number and a value is
//! a *fact* with a number of its own, so that asking and giving is one look into a table. Numbers that are counted up and down
//! (tokens, readers, arrivals) are the exception: these keep a list of who adds and who takes.

use crate::problem::{Condition, Effect, Problem, State, ThreadNumber, Variable};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Who gives something: a step of a thread, as the number of steps that the thread has done then.
pub(crate) type Giver = (ThreadNumber, u32);

/// A number and a value of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fact(u32);

/// A condition, so that it can be looked up.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Need {
    /// A number that is never counted is this.
    Is(Variable, u32, Fact),
    /// A thread has done so many steps.
    Done(ThreadNumber, u32),
    /// Any other.
    Other(Condition),
}

/// An effect, so that it can be taken note of.
#[derive(Clone, Copy, Debug)]
enum Gives {
    Value(Variable, u32, Fact),
    /// If it is the first, it becomes the second.
    Change(Need, Variable, u32, Fact),
    Increase(Variable),
    Decrease(Variable),
}

/// A way of a step: its needs and effects in the lists of [`Facts`].
struct FlatWay {
    needs: Range<u32>,
    gives: Range<u32>,
    is_last: bool,
}

/// All conditions and effects of a problem.
#[derive(Default)]
pub(crate) struct Facts {
    facts: FxHashMap<(Variable, u32), Fact>,
    /// Whether somebody adds to a number or takes from it.
    counted: Vec<bool>,
    needs: Vec<Need>,
    gives: Vec<Gives>,
    ways: Vec<FlatWay>,
    /// For each thread the ways of each of its steps, and where its first step is among all.
    steps: Vec<Vec<Range<u32>>>,
    first: Vec<u32>,
    goal: Vec<Need>,
}

impl Facts {
    pub fn new(problem: &Problem) -> Facts {
        let mut facts = Facts { counted: vec![false; problem.initial.len()], ..Facts::default() };
        let ways = || problem.threads.iter().flat_map(|thread| &thread.steps).flat_map(|step| &step.ways);
        for &effect in ways().flat_map(|way| &way.does) {
            if let Effect::Increase(variable) | Effect::Decrease(variable) = effect {
                facts.counted[variable.0 as usize] = true;
            }
        }
        let mut first = 0;
        for thread in &problem.threads {
            let mut own = vec![];
            for step in &thread.steps {
                let start = facts.ways.len() as u32;
                for way in &step.ways {
                    let needs = facts.all_needs(&way.needs);
                    let from = facts.gives.len() as u32;
                    let gives: Vec<Gives> = way.does.iter().map(|&effect| facts.gives(effect)).collect();
                    facts.gives.extend(gives);
                    let gives = from..facts.gives.len() as u32;
                    facts.ways.push(FlatWay { needs, gives, is_last: way.is_last });
                }
                own.push(start..facts.ways.len() as u32);
            }
            facts.first.push(first);
            first += own.len() as u32;
            facts.steps.push(own);
        }
        facts.goal = problem.goal.iter().map(|&need| facts.need(need)).collect();
        facts
    }

    fn all_needs(&mut self, conditions: &[Condition]) -> Range<u32> {
        let from = self.needs.len() as u32;
        for &condition in conditions {
            let need = self.need(condition);
            self.needs.push(need);
        }
        from..self.needs.len() as u32
    }

    fn fact(&mut self, variable: Variable, value: u32) -> Fact {
        let next = Fact(self.facts.len() as u32);
        *self.facts.entry((variable, value)).or_insert(next)
    }

    fn need(&mut self, condition: Condition) -> Need {
        match condition {
            Condition::Is(variable, value) if !self.counted[variable.0 as usize] => {
                Need::Is(variable, value, self.fact(variable, value))
            }
            Condition::Done(thread, steps) => Need::Done(thread, steps),
            other => Need::Other(other),
        }
    }

    fn gives(&mut self, effect: Effect) -> Gives {
        match effect {
            Effect::Set(variable, value) => Gives::Value(variable, value, self.fact(variable, value)),
            Effect::Change(variable, from, to) => {
                let need = self.need(Condition::Is(variable, from));
                Gives::Change(need, variable, to, self.fact(variable, to))
            }
            Effect::Increase(variable) => Gives::Increase(variable),
            Effect::Decrease(variable) => Gives::Decrease(variable),
        }
    }

    pub fn goal(&self) -> &[Need] {
        &self.goal
    }

    /// What each way of a step needs.
    pub fn ways(&self, thread: ThreadNumber, n: u32) -> impl ExactSizeIterator<Item = &[Need]> {
        let ways = self.steps[thread.index()][n as usize].clone();
        ways.map(|way| self.needs(&self.ways[way as usize]))
    }

    fn needs(&self, way: &FlatWay) -> &[Need] {
        &self.needs[way.needs.start as usize..way.needs.end as usize]
    }
}

/// What has become possible. It is used again for each state, and what is of another state has another stamp.
#[derive(Default)]
pub(crate) struct Gains {
    stamp: u32,
    /// How far each thread can come; and how far it can go on from there.
    reached: Vec<u32>,
    goes_on: Vec<u32>,
    /// For each fact who gives it.
    givers: Vec<(u32, Giver)>,
    /// Steps that can give nothing more.
    spent: Vec<u32>,
    /// For each number the values that it can have and has not now, with who gives them; those who add to it; and those who take from it; each
    /// in the order in which they become possible.
    numbers: Vec<Number>,
    /// The numbers of which there is something.
    touched: Vec<Variable>,
}

#[derive(Default)]
struct Number {
    given: Vec<(u32, Giver)>,
    increases: Vec<Giver>,
    decreases: Vec<Giver>,
}

impl Number {
    fn is_empty(&self) -> bool {
        self.given.is_empty() && self.increases.is_empty() && self.decreases.is_empty()
    }
}

impl Gains {
    /// Nothing yet, in a state.
    pub fn begin<'s>(&'s mut self, problem: &'s Problem, facts: &'s Facts, state: &'s State) -> Possible<'s> {
        let threads = problem.numbers();
        self.reached.clear();
        self.reached.extend(threads.map(|thread| state.done(thread)));
        self.goes_on.clear();
        let goes_on = |thread| if state.is_stopped(thread) { 0 } else { state.done(thread) };
        self.goes_on.extend(problem.numbers().map(goes_on));
        for variable in self.touched.drain(..) {
            let Number { given, increases, decreases } = &mut self.numbers[variable.0 as usize];
            given.clear();
            increases.clear();
            decreases.clear();
        }
        self.numbers.resize_with(problem.initial.len(), Number::default);
        self.givers.resize(facts.facts.len(), (0, (ThreadNumber(0), 0)));
        self.spent.resize(problem.steps(), 0);
        // A problem is left long before so many states were looked at.
        self.stamp += 1;
        Possible { problem, facts, state, gains: self }
    }
}

/// What is possible from a state on under the relaxation.
pub(crate) struct Possible<'s> {
    problem: &'s Problem,
    facts: &'s Facts,
    state: &'s State,
    gains: &'s mut Gains,
}

impl Possible<'_> {
    fn now(&self, variable: Variable) -> u32 {
        self.problem.value(self.state, variable)
    }

    fn number(&self, variable: Variable) -> &Number {
        &self.gains.numbers[variable.0 as usize]
    }

    /// The values that a number can have, but for adding and taking: with who gives them.
    fn all(&self, variable: Variable) -> impl Iterator<Item = (u32, Option<Giver>)> {
        let given = self.number(variable).given.iter().map(|&(value, giver)| (value, Some(giver)));
        std::iter::once((self.now(variable), None)).chain(given)
    }

    /// Whether something can hold.
    pub fn can(&self, need: Need) -> bool {
        match need {
            Need::Is(variable, value, fact) => self.now(variable) == value || self.is_given(fact),
            Need::Done(thread, steps) => self.gains.reached[thread.index()] >= steps,
            Need::Other(condition) => self.can_otherwise(condition),
        }
    }

    fn is_given(&self, fact: Fact) -> bool {
        self.gains.givers[fact.0 as usize].0 == self.gains.stamp
    }

    fn can_otherwise(&self, condition: Condition) -> bool {
        let Some(variable) = condition.variable() else { return false };
        let Number { increases, decreases, .. } = self.number(variable);
        let (up, down) = (increases.len() as u32, decreases.len() as u32);
        match condition {
            Condition::Is(_, value) => self.all(variable).any(|(known, _)| {
                known == value
                    || (known < value && known.saturating_add(up) >= value)
                    || (known > value && known.saturating_sub(down) <= value)
            }),
            Condition::IsNot(_, value) => {
                up + down > 0 || self.all(variable).any(|(known, _)| known != value)
            }
            Condition::AtLeast(_, value) => {
                self.all(variable).any(|(known, _)| known.saturating_add(up) >= value)
            }
            Condition::Below(_, value) => {
                self.all(variable).any(|(known, _)| known.saturating_sub(down) < value)
            }
            Condition::Done(..) => false,
        }
    }

    /// Calls `each` with all who make something hold that does not yet.
    pub fn givers(&self, need: Need, each: &mut dyn FnMut(Giver)) {
        match need {
            Need::Is(variable, value, fact) => {
                if self.now(variable) != value && self.is_given(fact) {
                    each(self.gains.givers[fact.0 as usize].1);
                }
            }
            Need::Done(thread, steps) => {
                if self.state.done(thread) < steps {
                    each((thread, steps));
                }
            }
            Need::Other(condition) => {
                if !self.problem.holds(self.state, condition) {
                    self.givers_otherwise(condition).into_iter().for_each(each);
                }
            }
        }
    }

    fn givers_otherwise(&self, condition: Condition) -> Vec<Giver> {
        let Some(variable) = condition.variable() else { return vec![] };
        let Number { increases, decreases, .. } = self.number(variable);
        let (up, down) = (increases.len() as u32, decreases.len() as u32);
        let counted = |givers: &[Giver], missing: u32| {
            givers.iter().take(missing as usize).copied().collect::<Vec<Giver>>()
        };
        // The value to begin with that leaves least to be added or taken.
        let nearest = |distance: &dyn Fn(u32) -> Option<(u32, bool)>| {
            let best = (self.all(variable))
                .filter_map(|(value, giver)| distance(value).map(|(missing, up)| (missing, up, giver)))
                .min_by_key(|&(missing, _, giver)| (missing, giver.is_some()));
            let Some((missing, up, giver)) = best else { return vec![] };
            let givers = if up { increases } else { decreases };
            giver.into_iter().chain(counted(givers, missing)).collect()
        };
        match condition {
            Condition::Is(_, value) => nearest(&|known| match known <= value {
                true => (known.saturating_add(up) >= value).then_some((value - known, true)),
                false => (known.saturating_sub(down) <= value).then_some((known - value, false)),
            }),
            Condition::IsNot(_, value) => {
                let given = self.all(variable).find(|&(known, giver)| known != value && giver.is_some());
                match given {
                    Some((_, giver)) => giver.into_iter().collect(),
                    None => counted(if increases.is_empty() { decreases } else { increases }, 1),
                }
            }
            Condition::AtLeast(_, value) => nearest(&|known| {
                (known.saturating_add(up) >= value).then_some((value.saturating_sub(known), true))
            }),
            Condition::Below(_, value) => nearest(&|known| {
                let missing = if known < value { 0 } else { (known - value).saturating_add(1) };
                (known.saturating_sub(down) < value).then_some((missing, false))
            }),
            Condition::Done(..) => vec![],
        }
    }

    /// Looks at a step; says whether that makes anything possible that was not.
    pub fn step(&mut self, thread: ThreadNumber, n: u32) -> bool {
        if self.gains.goes_on[thread.index()] < n {
            return false;
        }
        let place = (self.facts.first[thread.index()] + n) as usize;
        if self.gains.spent[place] == self.gains.stamp {
            return false;
        }
        let (facts, giver) = (self.facts, (thread, n + 1));
        let (mut new, mut spent) = (false, true);
        for way in facts.steps[thread.index()][n as usize].clone() {
            let way = &facts.ways[way as usize];
            if !facts.needs(way).iter().all(|&need| self.can(need)) {
                spent = false;
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
            for &gives in &facts.gives[way.gives.start as usize..way.gives.end as usize] {
                match gives {
                    Gives::Value(variable, value, fact) => new |= self.give(variable, value, fact, giver),
                    Gives::Change(from, variable, to, fact) => match self.can(from) {
                        true => new |= self.give(variable, to, fact, giver),
                        false => spent = false,
                    },
                    Gives::Increase(variable) => {
                        new |= add(&mut self.touch(variable).increases, giver);
                    }
                    Gives::Decrease(variable) => {
                        new |= add(&mut self.touch(variable).decreases, giver);
                    }
                }
            }
        }
        if spent {
            self.gains.spent[place] = self.gains.stamp;
        }
        new
    }

    /// A number, to note something there.
    fn touch(&mut self, variable: Variable) -> &mut Number {
        let number = &mut self.gains.numbers[variable.0 as usize];
        if number.is_empty() {
            self.gains.touched.push(variable);
        }
        number
    }

    fn give(&mut self, variable: Variable, value: u32, fact: Fact, giver: Giver) -> bool {
        let is_new = self.now(variable) != value && !self.is_given(fact);
        if is_new {
            self.gains.givers[fact.0 as usize] = (self.gains.stamp, giver);
            self.touch(variable).given.push((value, giver));
        }
        is_new
    }
}

/// Takes note of one who adds or takes; each step does so once.
fn add(givers: &mut Vec<Giver>, giver: Giver) -> bool {
    let is_new = !givers.contains(&giver);
    givers.extend(is_new.then_some(giver));
    is_new
}
