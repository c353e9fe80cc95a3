//! A program with the constraints of a model, however these are asked: in time, as a matrix, or as a graph.

use crate::cat::Model;
use crate::checker::{Checker, Wanted};
use crate::execution::Execution;
use crate::graph::Graph;
use crate::matrix::Matrix;
use crate::outcome::{self, Outcome};
use crate::relation::{self, Modelled};
use crate::time::{self, Timed};
use crate::unfold::{Options, Unfolding, unfold};
use crate::{Error, Result};
use ir::Program;
use solver::{Answer, Bool, Solver};

/// The largest execution whose matrix is shown.
const MAX_MATRIX: usize = 24;

/// What is to hold at the end.
fn wanted_literals(unfolding: &mut Unfolding, wanted: Wanted) -> Result<Vec<Bool>> {
    let condition = unfolding.condition.unwrap_or(unfolding.solver.bool_const(true));
    Ok(match wanted {
        Wanted::Anything => vec![],
        Wanted::Condition => vec![condition],
        Wanted::Counterexample => vec![unfolding.solver.not(condition)?],
    })
}

/// A program under a model; with `races`, also which accesses race.
pub(crate) fn modelled(program: &Program, options: Options, model: &Model, races: bool) -> Result<Modelled> {
    let unfolding = unfold(program, options, Solver::new())?;
    let mut graph = Graph::new(unfolding, options.explained)?;
    time::require(&mut graph.unfolding, options.prefix)?;
    let definitions = if races { Model::races() } else { None };
    relation::apply(graph, model, definitions.as_ref())
}

/// A program with the constraints of a model.
pub(crate) enum Prepared {
    Time(Box<Timed>),
    Matrix(Box<Matrix>),
    Graph(Box<Modelled>),
}

impl Prepared {
    pub fn unfolding(&self) -> &Unfolding {
        match self {
            Prepared::Time(timed) => &timed.unfolding,
            Prepared::Matrix(matrix) => &matrix.unfolding,
            Prepared::Graph(modelled) => &modelled.graph.unfolding,
        }
    }

    pub fn unfolding_mut(&mut self) -> &mut Unfolding {
        match self {
            Prepared::Time(timed) => &mut timed.unfolding,
            Prepared::Matrix(matrix) => &mut matrix.unfolding,
            Prepared::Graph(modelled) => &mut modelled.graph.unfolding,
        }
    }

    /// The literals of events that count, if that can be chosen.
    pub fn counts(&self) -> &[Bool] {
        match self {
            Prepared::Time(timed) => &timed.counts,
            Prepared::Matrix(matrix) => &matrix.counts,
            Prepared::Graph(modelled) => &modelled.graph.counts,
        }
    }

    /// The rules that are on: name, meaning and literal.
    pub fn rules(&self, checker: &Checker<'_>) -> Vec<(String, String, Bool)> {
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
    pub fn assumptions(&self, checker: &Checker<'_>) -> Vec<Bool> {
        let rules = self.rules(checker).into_iter().map(|(_, _, literal)| literal);
        rules.chain(self.counts().iter().copied()).collect()
    }

    pub fn wanted(&mut self, wanted: Wanted) -> Result<Vec<Bool>> {
        wanted_literals(self.unfolding_mut(), wanted)
    }

    pub fn solve(&mut self, assumptions: &[Bool]) -> Result<bool> {
        match self.unfolding_mut().solver.solve(assumptions)? {
            Answer::Sat => Ok(true),
            Answer::Unsat(_) => Ok(false),
            Answer::Unknown(stop) => Err(Error::Stopped(stop)),
        }
    }

    pub fn outcome(&self, program: &Program) -> Result<Outcome> {
        let model = self.unfolding().solver.model().expect("asked only after an answer `Sat`");
        outcome::read(program, self.unfolding(), &model)
    }

    pub fn execution(&self) -> Result<Execution> {
        match self {
            Prepared::Time(timed) => timed.execution(),
            Prepared::Matrix(matrix) => matrix.execution(),
            Prepared::Graph(modelled) => modelled.graph.execution(),
        }
    }

    /// The matrix of MM Fig. 5, if there is an order to speak of and it is small.
    pub fn matrix(&mut self, execution: &Execution, assumptions: &[Bool]) -> Result<Option<Vec<String>>> {
        let defaults = execution.operations.iter().filter(|o| o.thread.is_none()).count();
        match self {
            Prepared::Time(timed) if execution.operations.len() <= MAX_MATRIX => {
                Ok(Some(timed.matrix(defaults, assumptions)?))
            }
            _ => Ok(None),
        }
    }
}
