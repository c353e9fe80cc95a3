//! The questions: which outcomes there are, whether one is allowed, and if not which rules forbid it (MM §4).

use crate::atomicity;
use crate::cat::Model;
use crate::core::{self, Core};
use crate::execution::Execution;
use crate::matrix::Matrix;
use crate::outcome::{self, Outcome};
use crate::prepared::{Prepared, modelled};
use crate::race::{self, Race};
use crate::rule::Rule;
use crate::time::Timed;
use crate::unfold::Options;
use crate::{Error, Result, describe};
use ir::{CheckKind, Position, Program, Quantifier};
use solver::Bool;
use std::collections::{BTreeMap, BTreeSet};

/// A program under a model, some of whose rules may be switched off.
#[derive(Clone, Debug)]
pub struct Checker<'p> {
    program: &'p Program,
    options: Options,
    /// Without one, sequential consistency as MM App. A has it.
    pub(crate) model: Option<&'p Model>,
    pub(crate) off: BTreeSet<Rule>,
    /// Rules of the model that are switched off.
    pub(crate) off_model: BTreeSet<String>,
}

/// Whether something is allowed.
#[derive(Clone, Debug, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// By this execution.
    Allowed(Box<Execution>),
    /// Because of these rules.
    Forbidden(Core),
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
    /// How often a loop may go round, if it is a loop's bound.
    pub bound: Option<u128>,
    /// How.
    pub execution: Execution,
}

/// The number that a loop's rounds are compared with.
fn bound(program: &Program, site: Option<ir::SiteId>) -> Option<u128> {
    let place = ir::SiteIndex::new(program).place(site?)?;
    let block = program.function(place.function).block(place.block);
    let ir::Op::Check { condition: ir::Operand::Value(asked), kind: CheckKind::Bound } =
        block.instructions.get(place.instruction as usize)?.op
    else {
        return None;
    };
    block.instructions.iter().find(|i| i.results.contains(&asked)).and_then(|i| match i.op {
        ir::Op::Compare { rhs: ir::Operand::Const { bits, .. }, .. } => Some(bits),
        _ => None,
    })
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

/// The rules of MM that say that time is one order.
const ORDER: [Rule; 3] = [Rule::WeakTotalOrder, Rule::TransitiveOrder, Rule::AsymmetricOrder];

/// Most events for which it is said which of the rules of order are needed: the matrix grows with the third power.
const MAX_EXPLAINED: usize = 40;

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

    /// Whether a rule of MM plays a part: a model has its own rules of order.
    pub(crate) fn has(&self, rule: Rule) -> bool {
        self.model.is_none() || !(ORDER.contains(&rule) || rule == Rule::ProgramOrder)
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
            Some(model) => Ok(Prepared::Graph(Box::new(modelled(self.program, options, model, false)?))),
            None if ORDER.iter().any(|rule| self.off.contains(rule)) => {
                Ok(Prepared::Matrix(Box::new(Matrix::new(self.program, options)?)))
            }
            None => Ok(Prepared::Time(Box::new(Timed::new(self.program, options)?))),
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
            execution.matrix = prepared.matrix(&execution, &assumptions)?;
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
    fn core(&self, wanted: Wanted) -> Result<Core> {
        let options = Options { prefix: false, explained: true, ..self.options };
        let mut prepared = match self.model {
            Some(model) => Prepared::Graph(Box::new(modelled(self.program, options, model, false)?)),
            // Beyond so many events that time is one order is taken for granted.
            None => match Matrix::at_most(MAX_EXPLAINED, self.program, options) {
                Err(Error::TooLarge { most: MAX_EXPLAINED }) => {
                    Prepared::Time(Box::new(Timed::new(self.program, options)?))
                }
                result => Prepared::Matrix(Box::new(result?)),
            },
        };
        let mut always = prepared.wanted(wanted)?;
        let given = matches!(prepared, Prepared::Time(_)).then_some(ORDER).into_iter().flatten();
        let given: Vec<Bool> = given.map(|rule| prepared.unfolding().rules[&rule]).collect();
        let mut rules = prepared.rules(self);
        rules.retain(|(_, _, literal)| !given.contains(literal));
        let literals: Vec<Bool> = rules.iter().map(|&(_, _, literal)| literal).collect();
        let events = prepared.counts().to_vec();
        let all: Vec<Bool> = always.iter().chain(&events).copied().collect();
        let solver = &mut prepared.unfolding_mut().solver;
        let Some(needed) = core::minimal(solver, &all, &literals)? else {
            let what =
                "why this is forbidden: asked in another way it is allowed, which is a mistake of ours; it"
                    .to_owned();
            return Err(Error::Unsupported { what, position: None });
        };
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
        Ok(Core { rules, events: shown, order_is_given: !given.is_empty() })
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
                let (kind, what, bound) = (check.kind, check.what, bound(self.program, site));
                let failure = Failure { kind, what, thread, site, position, bound, execution };
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

    /// The data races in sequentially consistent executions, one for each pair of instructions (MM §5).
    ///
    /// # Errors
    /// As [`Checker::ask`].
    pub fn races(&self) -> Result<Vec<Race>> {
        race::races(self.program, self.options)
    }

    /// The data races in executions that the model allows, one for each pair of instructions.
    ///
    /// # Errors
    /// As [`Checker::ask`].
    pub fn races_of_model(&self) -> Result<Vec<Race>> {
        let Some(model) = self.model else { return self.races() };
        let options = Options { prefix: true, explained: !self.off.is_empty(), ..self.options };
        let mut prepared = Prepared::Graph(Box::new(modelled(self.program, options, model, true)?));
        let assumptions = prepared.assumptions(self);
        let Prepared::Graph(modelled) = &mut prepared else { return Ok(vec![]) };
        race::modelled_races(modelled, &assumptions)
    }

    /// The atomic blocks that other threads can break into, in sequentially consistent executions (MM §6).
    ///
    /// # Errors
    /// As [`Checker::ask`].
    pub fn violations(&self, kind: atomicity::Kind) -> Result<Vec<atomicity::Violation>> {
        atomicity::violations(self.program, self.options, kind)
    }
}
