//! A problem as PDDL, by the templates of PLAN §4.3.
//!
//! | here | facts of the paper |
//! |---|---|
//! | position of thread i | `Done_i_j` for each step that it has done, `Not_Executed_i_j` for each that it has not |
//! | content of location x | `x_m_n`: step n of thread m was the last to write it; `x_init` |
//! | mutex l | `Available_l` |
//! | an event of the goal | `Happened_e1`, `Happened_f` |
//!
//! and, beyond the paper, one fact for each value of a number: `Tokens_s_2`.

use crate::problem::{Condition, Effect, Meaning, Problem, ThreadNumber, Variable, Way};
use crate::search::Action;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// More actions than this are not written.
const MOST_ACTIONS: usize = 200_000;

/// Why a problem cannot be written.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WriteError {
    /// It would have too many actions.
    #[error("it would have more than {MOST_ACTIONS} actions")]
    TooLarge,
    /// There is nothing to write.
    #[error("the events of the candidate do not meet: they access different memory with the recorded values")]
    Hopeless,
}

/// A problem with names for everything in it.
#[derive(Clone, Debug)]
pub struct Domain<'p> {
    problem: &'p Problem,
    name: String,
    /// What locations, locks and so on are called; no two are called the same.
    names: Vec<String>,
    /// The values that each number can have.
    values: Vec<BTreeSet<u32>>,
    /// The actions by their names, in lower case.
    pub(super) actions: BTreeMap<String, Action>,
    text: String,
}

/// Words that begin facts of threads and of the goal.
const TAKEN: [&str; 6] = ["done", "not_executed", "went_on", "available", "happened", "tokens"];

impl<'p> Domain<'p> {
    /// Names everything; `called` says what a location is called in the source.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(
        problem: &'p Problem,
        name: &str,
        called: impl Fn(&Meaning) -> String,
    ) -> Result<Domain<'p>, WriteError> {
        if problem.is_hopeless {
            return Err(WriteError::Hopeless);
        }
        if problem.is_too_large {
            return Err(WriteError::TooLarge);
        }
        let mut used: FxHashSet<String> = TAKEN.iter().map(|&taken| taken.to_owned()).collect();
        let names = problem.meanings.iter().map(|meaning| {
            let plain = simple(&called(meaning));
            let mut name = plain.clone();
            let mut n = 2;
            while !used.insert(name.to_lowercase()) {
                name = format!("{plain}-{n}");
                n += 1;
            }
            name
        });
        let mut domain = Domain {
            problem,
            name: simple(name),
            names: names.collect(),
            values: values(problem),
            actions: BTreeMap::new(),
            text: String::new(),
        };
        domain.write_actions()?;
        Ok(domain)
    }

    /// The domain: facts and actions.
    #[must_use]
    pub fn domain(&self) -> String {
        // Writing to a string cannot fail.
        let mut text = format!("(define (domain {})\n  (:requirements :strips)\n  (:predicates", self.name);
        for fact in self.facts() {
            let _ = write!(text, "\n    ({fact})");
        }
        text.push_str(")\n");
        text.push_str(&self.text);
        text.push_str(")\n");
        text
    }

    /// The problem: what holds at first, and the goal.
    #[must_use]
    pub fn problem(&self) -> String {
        let mut text = format!("(define (problem {0}-problem)\n  (:domain {0})\n  (:init", self.name);
        for thread in self.problem.numbers() {
            for step in 1..=self.problem.threads[thread.index()].steps.len() {
                let _ = write!(text, "\n    (Not_Executed_{}_{step})", thread.0 + 1);
            }
        }
        for n in 0..self.names.len() as u32 {
            let variable = Variable(n);
            let initial = self.problem.initial[n as usize];
            if self.has_fact(variable, initial) {
                let _ = write!(text, "\n    ({})", self.fact(variable, initial));
            }
        }
        let goal = self.problem.goal.iter().filter_map(|&goal| match goal {
            Condition::Is(variable, value) => Some(self.fact(variable, value)),
            Condition::Done(thread, steps) => self.done(thread, steps),
            _ => None,
        });
        let goal: String = goal.map(|fact| format!(" ({fact})")).collect();
        let _ = write!(text, ")\n  (:goal (and{goal})))\n");
        text
    }

    fn facts(&self) -> Vec<String> {
        let mut facts = vec![];
        for thread in self.problem.numbers() {
            for step in 1..=self.problem.threads[thread.index()].steps.len() as u32 {
                facts.push(format!("Done_{}_{step}", thread.0 + 1));
                facts.push(format!("Not_Executed_{}_{step}", thread.0 + 1));
                if self.may_stop(thread, step) {
                    facts.push(format!("Went_on_{}_{step}", thread.0 + 1));
                }
            }
        }
        for (n, values) in self.values.iter().enumerate() {
            let variable = Variable(n as u32);
            let values = values.iter().filter(|&&value| self.has_fact(variable, value));
            facts.extend(values.map(|&value| self.fact(variable, value)));
        }
        facts
    }

    /// Whether a step may be its thread's last, by what it reads.
    fn may_stop(&self, thread: ThreadNumber, step: u32) -> bool {
        let steps = &self.problem.threads[thread.index()].steps;
        steps[step as usize - 1].ways.iter().any(|way| way.is_last) && (step as usize) < steps.len()
    }

    fn done(&self, thread: ThreadNumber, steps: u32) -> Option<String> {
        (steps > 0).then(|| format!("Done_{}_{steps}", thread.0 + 1))
    }

    /// A mutex is available or not, and an event has happened or not: that they are not is no fact.
    fn has_fact(&self, variable: Variable, value: u32) -> bool {
        match self.problem.meanings[variable.0 as usize] {
            Meaning::Mutex(_) => value == 0 || self.is_needed(variable, value),
            Meaning::Happened(..) => value == 1,
            _ => true,
        }
    }

    fn is_needed(&self, variable: Variable, value: u32) -> bool {
        let steps = self.problem.threads.iter().flat_map(|thread| &thread.steps);
        let mut needs = steps.flat_map(|step| &step.ways).flat_map(|way| &way.needs);
        needs.any(|&need| need == Condition::Is(variable, value))
    }

    /// The fact that a number has a value.
    fn fact(&self, variable: Variable, value: u32) -> String {
        let name = &self.names[variable.0 as usize];
        match &self.problem.meanings[variable.0 as usize] {
            Meaning::Mutex(_) if value == 0 => format!("Available_{name}"),
            Meaning::Happened(label, _) => format!("Happened_{label}"),
            Meaning::Tokens(_) => format!("Tokens_{name}_{value}"),
            Meaning::Location(location) => match self.writer(*location, value) {
                Some((thread, step)) => format!("{name}_{thread}_{step}"),
                None => format!("{name}_init"),
            },
            _ => format!("{name}_{value}"),
        }
    }

    /// The writer of a content of a location, as numbers of its thread and step.
    fn writer(&self, location: ctp::LocationId, content: u32) -> Option<(u32, usize)> {
        let contents = self.problem.contents.iter().find(|(of, _)| *of == location);
        let writer = contents.and_then(|(_, all)| all.get(content as usize)).and_then(|one| one.writer)?;
        self.problem.numbers().find_map(|thread| {
            let steps = &self.problem.threads[thread.index()].steps;
            let step = steps.iter().position(|step| step.event == writer)?;
            Some((thread.0 + 1, step + 1))
        })
    }

    fn write_actions(&mut self) -> Result<(), WriteError> {
        for thread in self.problem.numbers() {
            for n in 0..self.problem.threads[thread.index()].steps.len() {
                for way in 0..self.problem.threads[thread.index()].steps[n].ways.len() {
                    self.write_way(thread, n, way)?;
                }
            }
        }
        Ok(())
    }

    /// Writes one way of a step, once for each case that it does not tell apart.
    fn write_way(&mut self, thread: ThreadNumber, n: usize, number: usize) -> Result<(), WriteError> {
        let way = &self.problem.threads[thread.index()].steps[n].ways[number];
        let (i, j) = (thread.0 + 1, n + 1);
        for case in self.cases(way)? {
            let mut name = format!("Ac_{i}_{j}");
            for (variable, value) in &case.coupled {
                let Meaning::Location(location) = self.problem.meanings[variable.0 as usize] else {
                    continue;
                };
                match self.writer(location, *value) {
                    Some((m, n)) => name.push_str(&format!("_coupled_{m}_{n}")),
                    None => name.push_str("_coupled_init"),
                }
            }
            let plain = name.clone();
            let mut more = 2;
            while self.actions.contains_key(&name.to_lowercase()) {
                name = format!("{plain}-{more}");
                more += 1;
            }
            let mut needs = vec![];
            if n > 0 {
                let went_on = self.may_stop(thread, n as u32);
                needs.push(if went_on { format!("Went_on_{i}_{n}") } else { format!("Done_{i}_{n}") });
            }
            needs.push(format!("Not_Executed_{i}_{j}"));
            needs.extend(case.needs);
            let mut does = vec![format!("(Done_{i}_{j})"), format!("(not (Not_Executed_{i}_{j}))")];
            if self.may_stop(thread, j as u32) && !way.is_last {
                does.push(format!("(Went_on_{i}_{j})"));
            }
            does.extend(case.does);
            let needs: String = needs.iter().map(|fact| format!(" ({fact})")).collect();
            let _ = write!(
                self.text,
                "  (:action {name}\n    :parameters ()\n    :precondition (and{needs})\n    :effect (and {}))\n",
                does.join(" ")
            );
            self.actions.insert(name.to_lowercase(), Action { thread, way: number });
            if self.actions.len() > MOST_ACTIONS {
                return Err(WriteError::TooLarge);
            }
        }
        Ok(())
    }

    /// The cases of a way: each value of each number on which it depends otherwise than by one value.
    fn cases(&self, way: &Way) -> Result<Vec<Case>, WriteError> {
        let mut fixed: BTreeMap<Variable, u32> = BTreeMap::new();
        let mut open: BTreeSet<Variable> = BTreeSet::new();
        let mut needs = vec![];
        for &need in &way.needs {
            match need {
                Condition::Is(variable, value) => {
                    let other = fixed.insert(variable, value).is_some_and(|known| known != value);
                    // Nobody gives it that value, or it would need two at once.
                    if other || !self.values[variable.0 as usize].contains(&value) {
                        return Ok(vec![]);
                    }
                }
                Condition::Done(thread, steps) => {
                    // More steps than there are: it never happens.
                    if steps as usize > self.problem.threads[thread.index()].steps.len() {
                        return Ok(vec![]);
                    }
                    needs.extend(self.done(thread, steps));
                }
                Condition::IsNot(variable, _)
                | Condition::AtLeast(variable, _)
                | Condition::Below(variable, _) => _ = open.insert(variable),
            }
        }
        for effect in &way.does {
            if let Effect::Increase(variable) | Effect::Decrease(variable) | Effect::Change(variable, ..) =
                effect
            {
                open.insert(*variable);
            }
        }
        let mut cases = vec![fixed.clone()];
        for variable in open.into_iter().filter(|variable| !fixed.contains_key(variable)) {
            let values = &self.values[variable.0 as usize];
            let more = cases.iter().flat_map(|case| {
                values.iter().map(|&value| {
                    let mut case = case.clone();
                    case.insert(variable, value);
                    case
                })
            });
            cases = more.take(MOST_ACTIONS + 1).collect();
            if cases.len() > MOST_ACTIONS {
                return Err(WriteError::TooLarge);
            }
        }
        cases.retain(|case| way.needs.iter().all(|&need| holds(case, need)));
        Ok(cases.into_iter().filter_map(|case| self.case(way, &needs, &case)).collect())
    }

    fn case(&self, way: &Way, done: &[String], case: &BTreeMap<Variable, u32>) -> Option<Case> {
        let mut needs = done.to_vec();
        needs.extend(case.iter().map(|(&variable, &value)| self.fact(variable, value)));
        let mut now: FxHashMap<Variable, u32> = FxHashMap::default();
        for &effect in &way.does {
            let value = |variable: Variable| now.get(&variable).or(case.get(&variable)).copied();
            let (variable, to) = match effect {
                Effect::Set(variable, to) => (variable, to),
                Effect::Increase(variable) => (variable, value(variable)?.checked_add(1)?),
                Effect::Decrease(variable) => (variable, value(variable)?.checked_sub(1)?),
                Effect::Change(variable, from, to) if value(variable) == Some(from) => (variable, to),
                Effect::Change(..) => continue,
            };
            // A count that is never reached belongs to a case that never is.
            if !self.values[variable.0 as usize].contains(&to) {
                return None;
            }
            now.insert(variable, to);
        }
        let mut does = vec![];
        let changed: BTreeMap<Variable, u32> = now.into_iter().collect();
        for (variable, to) in changed {
            if case.get(&variable) == Some(&to) {
                continue;
            }
            if self.has_fact(variable, to) {
                does.push(format!("({})", self.fact(variable, to)));
            }
            // What it was is known, or may be anything.
            let all = &self.values[variable.0 as usize];
            let was = all.iter().filter(|&&was| case.get(&variable).is_none_or(|known| *known == was));
            let was = was.filter(|&&was| was != to && self.has_fact(variable, was));
            does.extend(was.map(|&was| format!("(not ({}))", self.fact(variable, was))));
        }
        let is_location =
            |variable: &Variable| matches!(self.problem.meanings[variable.0 as usize], Meaning::Location(_));
        let coupled = case.iter().filter(|(variable, _)| is_location(variable));
        Some(Case { needs, does, coupled: coupled.map(|(&variable, &value)| (variable, value)).collect() })
    }
}

/// One case of a way.
struct Case {
    needs: Vec<String>,
    does: Vec<String>,
    /// What the locations hold that it reads.
    coupled: Vec<(Variable, u32)>,
}

fn holds(case: &BTreeMap<Variable, u32>, need: Condition) -> bool {
    let is =
        |variable: Variable, test: &dyn Fn(u32) -> bool| case.get(&variable).is_none_or(|&value| test(value));
    match need {
        Condition::Is(variable, wanted) => is(variable, &|value| value == wanted),
        Condition::IsNot(variable, wanted) => is(variable, &|value| value != wanted),
        Condition::AtLeast(variable, wanted) => is(variable, &|value| value >= wanted),
        Condition::Below(variable, wanted) => is(variable, &|value| value < wanted),
        Condition::Done(..) => true,
    }
}

/// The values that each number can have: those that it is given, and for counters all between.
fn values(problem: &Problem) -> Vec<BTreeSet<u32>> {
    let mut values: Vec<BTreeSet<u32>> = problem.initial.iter().map(|&initial| [initial].into()).collect();
    let mut ups: Vec<u32> = vec![0; values.len()];
    let mut downs: Vec<bool> = vec![false; values.len()];
    let ways = problem.threads.iter().flat_map(|thread| &thread.steps).flat_map(|step| &step.ways);
    for effect in ways.flat_map(|way| &way.does) {
        match *effect {
            Effect::Set(variable, to) | Effect::Change(variable, _, to) => {
                values[variable.0 as usize].insert(to);
            }
            Effect::Increase(variable) => ups[variable.0 as usize] += 1,
            Effect::Decrease(variable) => downs[variable.0 as usize] = true,
        }
    }
    for (n, values) in values.iter_mut().enumerate().filter(|(n, _)| ups[*n] > 0 || downs[*n]) {
        let largest =
            values.iter().copied().filter(|&value| value != crate::problem::WRITER).max().unwrap_or(0);
        values.extend(0..=largest.saturating_add(ups[n]));
    }
    values
}

/// A name with nothing in it that PDDL does not take.
fn simple(name: &str) -> String {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
    match plain.chars().next() {
        Some(first) if first.is_ascii_alphabetic() => plain,
        _ => format!("x{plain}"),
    }
}
