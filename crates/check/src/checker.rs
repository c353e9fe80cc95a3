//! The questions: which outcomes there are, whether one is allowed, and if not which rules forbid it (004 §4).

use crate::atomicity;
use crate::cat::Model;
use crate::core::{self, Core};
use crate::execution::Execution;
use crate::graph::Graph;
use crate::matrix::{self, Matrix};
use crate::outcome::{self, Outcome};
use crate::race::{self, Race};
use crate::relation::Modelled;
use crate::rule::Rule;
use crate::time::Timed;
use crate::unfold::{Options, Unfolding, unfold};
use crate::{Error, Result, describe, relation, time};
use ir::{CheckKind, Position, Program, Quantifier};
use solver::{Answer, Bool, Solver};
use std::collections::{BTreeMap, BTreeSet};

/// A program under a model, some of whose rules may be switched off.
#[derive(Clone, Debug)]
pub struct Checker<'p> {
    program: &'p Program,
    options: Options,
    /// Without one, sequential consistency as 004 App. A has it.
    model: Option<&'p Model>,
    off: BTreeSet<Rule>,
    /// Rules of the model that are switched off.
    off_model: BTreeSet<String>,
}

/// Whether something is allowed.
#[derive(Clone, Debug, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// By this execution.
    Allowed(Box<Execution>),
    /// Because of these rules; without them if there are too many events to say.
    Forbidden(Option<Core>),
}

impl Verdict {
    /// Whether it is allowed.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        matches!(self, Verdict::Allowed(_))
    }
}

/// All final states.
#[derive(Clone, Debug)]
pub struct Outcomes {
    /// Each final state.
    pub states: BTreeSet<Outcome>,
    /// Whether there are no others.
    pub all: bool,
}

/// A condition of the program that can fail.
#[derive(Clone, Debug)]
pub struct Failure {
    /// An assertion, a loop's bound, or a fault.
    pub kind: Option<CheckKind>,
    /// What goes wrong, in words.
    pub what: &'static str,
    /// In this thread.
    pub thread: String,
    /// Its instruction.
    pub site: Option<ir::SiteId>,
    /// Where.
    pub position: Option<Position>,
    /// How.
    pub execution: Execution,
}

/// What is asked for a verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// A final state in which the condition holds.
    Condition,
    /// One in which it does not.
    Counterexample,
    /// Any final state.
    Anything,
}

impl Wanted {
    /// What settles a question with this quantifier.
    fn of(quantifier: Quantifier) -> Wanted {
        match quantifier {
            Quantifier::Exists | Quantifier::NotExists => Wanted::Condition,
            Quantifier::Forall => Wanted::Counterexample,
        }
    }
}

/// The rules of 004 that are built into time.
const STRUCTURAL: [Rule; 5] = [
    Rule::ProgramOrder,
    Rule::GlobalReadValue,
    Rule::WeakTotalOrder,
    Rule::TransitiveOrder,
    Rule::AsymmetricOrder,
];

/// The largest execution whose matrix is shown.
const MAX_MATRIX: usize = 24;

impl<'p> Checker<'p> {
    /// A program under sequential consistency.
    #[must_use]
    pub fn new(program: &'p Program, options: Options) -> Checker<'p> {
        Checker { program, options, model: None, off: BTreeSet::new(), off_model: BTreeSet::new() }
    }

    /// The same program under a model.
    #[must_use]
    pub fn under(self, model: &'p Model) -> Checker<'p> {
        Checker { model: Some(model), ..self }
    }

    /// Switches a rule off.
    ///
    /// # Errors
    /// If there is no such rule.
    pub fn without(mut self, name: &str) -> Result<Checker<'p>> {
        if self.model.is_some_and(|model| model.rules().contains(&name)) {
            self.off_model.insert(name.to_owned());
            return Ok(self);
        }
        let rules: Vec<Rule> = Rule::named(name).into_iter().filter(|rule| self.has(*rule)).collect();
        if rules.is_empty() {
            let known = Checker::new(self.program, self.options);
            let known = Checker { model: self.model, ..known }.rules().join(", ");
            return Err(Error::NoSuchRule { name: name.to_owned(), known });
        }
        self.off.extend(rules);
        Ok(self)
    }

    /// Whether a rule of 004 plays a part: a model has its own rules of order.
    fn has(&self, rule: Rule) -> bool {
        self.model.is_none() || !STRUCTURAL.contains(&rule) || rule == Rule::GlobalReadValue
    }

    /// The rules that are on, by name.
    #[must_use]
    pub fn rules(&self) -> Vec<String> {
        let own = Rule::ALL.into_iter().filter(|rule| self.has(*rule) && !self.off.contains(rule));
        let model =
            self.model.into_iter().flat_map(Model::rules).filter(|rule| !self.off_model.contains(*rule));
        own.map(|rule| rule.name().to_owned()).chain(model.map(str::to_owned)).collect()
    }

    fn prepare(&self, prefix: bool) -> Result<Prepared> {
        let explained = !self.off.is_empty();
        let options = Options { prefix, explained, ..self.options };
        match self.model {
            Some(model) => Ok(Prepared::Graph(modelled(self.program, options, model)?)),
            None if STRUCTURAL.iter().any(|rule| self.off.contains(rule)) => {
                Ok(Prepared::Matrix(Matrix::new(self.program, options)?))
            }
            None => Ok(Prepared::Time(Timed::new(self.program, options)?)),
        }
    }

    /// All final states, at most so many.
    ///
    /// # Errors
    /// As [`crate::unfold`], and if the solver gives up.
    pub fn outcomes(&self, most: usize) -> Result<Outcomes> {
        let mut prepared = self.prepare(false)?;
        let assumptions = prepared.assumptions(self);
        let terms = outcome::terms(prepared.unfolding());
        let mut states = BTreeSet::new();
        loop {
            if !prepared.solve(&assumptions)? {
                return Ok(Outcomes { states, all: true });
            }
            states.insert(prepared.outcome(self.program)?);
            if states.len() >= most {
                return Ok(Outcomes { states, all: false });
            }
            let other = outcome::differs(prepared.unfolding_mut(), &terms)?;
            prepared.unfolding_mut().solver.assert(other)?;
        }
    }

    /// Whether there is such a final state.
    ///
    /// # Errors
    /// As [`crate::unfold`], and if the solver gives up.
    pub fn ask(&self, wanted: Wanted) -> Result<Verdict> {
        let mut prepared = self.prepare(false)?;
        let mut assumptions = prepared.assumptions(self);
        assumptions.extend(prepared.wanted(wanted)?);
        if prepared.solve(&assumptions)? {
            let outcome = prepared.outcome(self.program)?;
            let mut execution = prepared.execution()?;
            execution.outcome = Some(outcome);
            execution.matrix = prepared.matrix(&execution)?;
            return Ok(Verdict::Allowed(Box::new(execution)));
        }
        Ok(Verdict::Forbidden(self.core(wanted)?))
    }

    /// Whether what the final condition asks about is allowed, without an execution or a reason.
    ///
    /// # Errors
    /// As [`Checker::ask`].
    pub fn condition_verdict(&self) -> Result<Option<bool>> {
        let Some(condition) = &self.program.final_condition else { return Ok(None) };
        let mut prepared = self.prepare(false)?;
        let mut assumptions = prepared.assumptions(self);
        assumptions.extend(prepared.wanted(Wanted::of(condition.quantifier))?);
        prepared.solve(&assumptions).map(Some)
    }

    /// Whether the final condition holds of the program, as its quantifier means it, and the verdict that says so.
    ///
    /// # Errors
    /// As [`Checker::ask`].
    pub fn condition(&self) -> Result<Option<(bool, Verdict)>> {
        let Some(condition) = &self.program.final_condition else { return Ok(None) };
        let verdict = self.ask(Wanted::of(condition.quantifier))?;
        let holds = verdict.is_allowed() == (condition.quantifier == Quantifier::Exists);
        Ok(Some((holds, verdict)))
    }

    /// Why no execution has such a final state.
    fn core(&self, wanted: Wanted) -> Result<Option<Core>> {
        let options = Options { prefix: false, explained: true, ..self.options };
        let mut prepared = match self.model {
            Some(model) => Prepared::Graph(modelled(self.program, options, model)?),
            None => match Matrix::new(self.program, options) {
                Err(Error::TooLarge { most }) if most == matrix::MAX_EVENTS => return Ok(None),
                result => Prepared::Matrix(result?),
            },
        };
        let mut always = prepared.wanted(wanted)?;
        let rules = prepared.rules(self);
        let literals: Vec<Bool> = rules.iter().map(|&(_, _, literal)| literal).collect();
        let events = prepared.counts().to_vec();
        let all: Vec<Bool> = always.iter().chain(&events).copied().collect();
        let solver = &mut prepared.unfolding_mut().solver;
        let Some(needed) = core::minimal(solver, &all, &literals)? else { return Ok(None) };
        let rules = rules.into_iter().filter(|(_, _, literal)| needed.contains(literal));
        let rules = rules.map(|(name, meaning, _)| (name, meaning)).collect();
        always.extend(&needed);
        let needed = core::minimal(solver, &always, &events)?.unwrap_or_default();
        let mut shown = vec![];
        let unfolding = prepared.unfolding();
        for (event, _) in unfolding.events.iter().zip(&events).filter(|(_, count)| needed.contains(count)) {
            let thread = unfolding.threads[event.thread.index()].name.clone();
            let what = describe::event(unfolding, event, None)?;
            shown.push((thread, what, event.position.map(|p| p.line)));
        }
        Ok(Some(Core { rules, events: shown }))
    }

    /// The assertions, faults and loop bounds that some execution reaches and fails.
    ///
    /// # Errors
    /// As [`Checker::ask`].
    pub fn failures(&self) -> Result<Vec<Failure>> {
        let mut prepared = self.prepare(true)?;
        let assumptions = prepared.assumptions(self);
        let mut failures: BTreeMap<(Option<Position>, &'static str), Failure> = BTreeMap::new();
        for at in 0..prepared.unfolding().events.len() {
            let event = &prepared.unfolding().events[at];
            let crate::event::Action::Check(check) = event.action.clone() else { continue };
            if check.kind == Some(CheckKind::Assume) || failures.contains_key(&(event.position, check.what)) {
                continue;
            }
            let (happens, position, thread, site) = (event.happens, event.position, event.thread, event.site);
            let fails = prepared.unfolding().solver.not(check.holds)?;
            let mut asked = assumptions.clone();
            asked.extend([happens, fails]);
            if prepared.solve(&asked)? {
                let execution = prepared.execution()?;
                let thread = prepared.unfolding().threads[thread.index()].name.clone();
                let failure =
                    Failure { kind: check.kind, what: check.what, thread, site, position, execution };
                failures.insert((position, check.what), failure);
            }
        }
        Ok(failures.into_values().collect())
    }

    /// The flags of the model that some execution raises, each with one (a data race under RC11).
    ///
    /// # Errors
    /// As [`Checker::ask`].
    pub fn flags(&self) -> Result<Vec<(String, Execution)>> {
        let mut prepared = self.prepare(false)?;
        let assumptions = prepared.assumptions(self);
        let flags = match &prepared {
            Prepared::Graph(modelled) => modelled.flags.clone(),
            _ => vec![],
        };
        let mut raised = vec![];
        for (name, literal) in flags {
            let asked: Vec<Bool> = assumptions.iter().copied().chain([literal]).collect();
            if prepared.solve(&asked)? {
                raised.push((name, prepared.execution()?));
            }
        }
        Ok(raised)
    }

    /// The data races in sequentially consistent executions, one for each pair of instructions (004 §5).
    ///
    /// # Errors
    /// As [`Checker::ask`].
    pub fn races(&self) -> Result<Vec<Race>> {
        race::races(self.program, self.options)
    }

    /// The atomic blocks that other threads can break into, in sequentially consistent executions (004 §6).
    ///
    /// # Errors
    /// As [`Checker::ask`].
    pub fn violations(&self, kind: atomicity::Kind) -> Result<Vec<atomicity::Violation>> {
        atomicity::violations(self.program, self.options, kind)
    }
}

/// What is to hold at the end.
fn wanted_literals(unfolding: &mut Unfolding, wanted: Wanted) -> Result<Vec<Bool>> {
    let condition = unfolding.condition.unwrap_or(unfolding.solver.bool_const(true));
    Ok(match wanted {
        Wanted::Anything => vec![],
        Wanted::Condition => vec![condition],
        Wanted::Counterexample => vec![unfolding.solver.not(condition)?],
    })
}

fn modelled(program: &Program, options: Options, model: &Model) -> Result<Modelled> {
    let unfolding = unfold(program, options, Solver::new())?;
    let mut graph = Graph::new(unfolding, options.explained)?;
    time::require(&mut graph.unfolding, options.prefix)?;
    relation::apply(graph, model)
}

/// A program with the constraints of a model.
enum Prepared {
    Time(Timed),
    Matrix(Matrix),
    Graph(Modelled),
}

impl Prepared {
    fn unfolding(&self) -> &Unfolding {
        match self {
            Prepared::Time(timed) => &timed.unfolding,
            Prepared::Matrix(matrix) => &matrix.unfolding,
            Prepared::Graph(modelled) => &modelled.graph.unfolding,
        }
    }

    fn unfolding_mut(&mut self) -> &mut Unfolding {
        match self {
            Prepared::Time(timed) => &mut timed.unfolding,
            Prepared::Matrix(matrix) => &mut matrix.unfolding,
            Prepared::Graph(modelled) => &mut modelled.graph.unfolding,
        }
    }

    /// The literals of events that count, if that can be chosen.
    fn counts(&self) -> &[Bool] {
        match self {
            Prepared::Time(_) => &[],
            Prepared::Matrix(matrix) => &matrix.counts,
            Prepared::Graph(modelled) => &modelled.graph.counts,
        }
    }

    /// The rules that are on: name, meaning and literal.
    fn rules(&self, checker: &Checker<'_>) -> Vec<(String, String, Bool)> {
        let own = self.unfolding().rules.iter();
        let own = own.filter(|(rule, _)| checker.has(**rule) && !checker.off.contains(rule));
        let mut rules: Vec<(String, String, Bool)> = own
            .map(|(rule, &literal)| (rule.name().to_owned(), rule.meaning().to_owned(), literal))
            .collect();
        if let (Prepared::Graph(modelled), Some(model)) = (self, checker.model) {
            for (name, literal) in modelled.rules.iter().filter(|(name, _)| !checker.off_model.contains(name))
            {
                rules.push((name.clone(), format!("a rule of the model {}", model.name), *literal));
            }
        }
        rules
    }

    /// What is assumed in every query: the rules that are on, and that all events count.
    fn assumptions(&self, checker: &Checker<'_>) -> Vec<Bool> {
        let rules = self.rules(checker).into_iter().map(|(_, _, literal)| literal);
        rules.chain(self.counts().iter().copied()).collect()
    }

    fn wanted(&mut self, wanted: Wanted) -> Result<Vec<Bool>> {
        wanted_literals(self.unfolding_mut(), wanted)
    }

    fn solve(&mut self, assumptions: &[Bool]) -> Result<bool> {
        match self.unfolding_mut().solver.solve(assumptions)? {
            Answer::Sat => Ok(true),
            Answer::Unsat(_) => Ok(false),
            Answer::Unknown(stop) => Err(Error::Stopped(stop)),
        }
    }

    fn outcome(&self, program: &Program) -> Result<Outcome> {
        let model = self.unfolding().solver.model().expect("asked only after an answer `Sat`");
        outcome::read(program, self.unfolding(), &model)
    }

    fn execution(&self) -> Result<Execution> {
        match self {
            Prepared::Time(timed) => timed.execution(),
            Prepared::Matrix(matrix) => matrix.execution(),
            Prepared::Graph(modelled) => modelled.graph.execution(),
        }
    }

    /// The matrix of 004 Fig. 5, if there is an order to speak of and it is small.
    fn matrix(&mut self, execution: &Execution) -> Result<Option<Vec<String>>> {
        let defaults = execution.operations.iter().filter(|o| o.thread.is_none()).count();
        match self {
            Prepared::Time(timed) if execution.operations.len() <= MAX_MATRIX => {
                Ok(Some(timed.matrix(defaults)?))
            }
            _ => Ok(None),
        }
    }
}
