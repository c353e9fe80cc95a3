//! What a model says about a graph: its expressions as matrices of literals, its checks as constraints.
//!
//! A check forbids, so it is the harder to pass the larger its relation is. For transitive closures and `let rec` that means that any relation
//! that is closed under the definition will do in place of the least: each pair gets a variable, and implications. Where a relation counts
//! the other way round, to the right of `\`, below `~`, and in flags, closures are computed exactly, by squaring.

mod algebra;
mod base;
mod checks;
mod views;

use crate::cat::{Expr, ExprKind, Model, Statement};
use crate::graph::{Graph, Relation};
use crate::{Error, Result};
use solver::Bool;
use std::collections::BTreeMap;

/// A set of nodes, each with the literal that says when it is in it.
type Set = BTreeMap<usize, Bool>;

/// A value of an expression.
#[derive(Clone, Debug)]
enum Value {
    Set(Set),
    Relation(Relation),
}

/// Names that are defined so far.
#[derive(Clone, Debug)]
enum Definition {
    /// Evaluated when it is used, in the scope where it stands.
    Expr(Expr),
    Function(Vec<String>, Expr),
    /// One of a recursive group: its variables.
    Recursive(Relation),
}

/// A graph under a model.
pub(crate) struct Modelled {
    pub graph: Graph,
    /// The model's rules: name, and the literal that holds if it is on.
    pub rules: Vec<(String, Bool)>,
    /// Flags: name, and when it is raised.
    pub flags: Vec<(String, Bool)>,
    /// Which nodes race, if that was asked.
    pub races: Relation,
}

/// Puts a graph under a model; with `races`, also says which pairs of nodes race.
pub(crate) fn apply(graph: Graph, model: &Model, races: Option<&Model>) -> Result<Modelled> {
    let mut evaluator = Evaluator::new(graph)?;
    let (mut rules, mut flags) = (vec![], vec![]);
    for statement in &model.statements {
        match statement {
            Statement::Include { .. } => {}
            Statement::Let { recursive, bindings } => evaluator.define(*recursive, bindings)?,
            Statement::Check { kind, negated, flag: true, expr, name } => {
                let raised = evaluator.raised(*kind, *negated, expr)?;
                flags.push((name.clone(), raised));
            }
            Statement::Check { kind, expr, name, .. } => {
                let rule = evaluator.graph.unfolding.solver.bool_var();
                evaluator.check(*kind, expr, rule)?;
                rules.push((name.clone(), rule));
            }
            Statement::Views { respecting, agreeing, name } => {
                let rule = evaluator.graph.unfolding.solver.bool_var();
                evaluator.views(respecting, agreeing.as_ref(), rule)?;
                rules.push((name.clone(), rule));
            }
        }
    }
    let races = races.map_or(Ok(Relation::new()), |races| evaluator.races(races))?;
    Ok(Modelled { graph: evaluator.graph, rules, flags, races })
}

struct Evaluator {
    graph: Graph,
    names: Vec<(String, Definition)>,
    base: BTreeMap<&'static str, Value>,
    known: BTreeMap<(usize, bool), Value>,
}

impl Evaluator {
    fn new(graph: Graph) -> Result<Evaluator> {
        let mut evaluator = Evaluator { graph, names: vec![], base: BTreeMap::new(), known: BTreeMap::new() };
        evaluator.sets()?;
        evaluator.relations()?;
        Ok(evaluator)
    }

    fn define(&mut self, recursive: bool, bindings: &[crate::cat::Binding]) -> Result<()> {
        if recursive {
            return self.recursion(bindings);
        }
        for binding in bindings {
            let definition = match binding.parameters.is_empty() {
                true => Definition::Expr(binding.expr.clone()),
                false => Definition::Function(binding.parameters.clone(), binding.expr.clone()),
            };
            self.names.push((binding.name.clone(), definition));
        }
        Ok(())
    }

    /// The relation `race` of definitions that stand for themselves.
    fn races(&mut self, definitions: &Model) -> Result<Relation> {
        self.names.clear();
        self.known.clear();
        for statement in &definitions.statements {
            if let Statement::Let { recursive, bindings } = statement {
                self.define(*recursive, bindings)?;
            }
        }
        match self.name("race", self.names.len(), true)? {
            Value::Relation(relation) => Ok(relation),
            Value::Set(_) => Ok(Relation::new()),
        }
    }

    fn and(&mut self, literals: &[Bool]) -> Result<Bool> {
        Ok(self.graph.unfolding.solver.and(literals)?)
    }

    fn not(&mut self, literal: Bool) -> Result<Bool> {
        Ok(self.graph.unfolding.solver.not(literal)?)
    }

    fn all(&self) -> Set {
        self.graph.nodes.iter().enumerate().map(|(n, node)| (n, node.happens)).collect()
    }

    /// Variables for a recursive group that are closed under their definitions.
    fn recursion(&mut self, bindings: &[crate::cat::Binding]) -> Result<()> {
        let count = self.graph.nodes.len();
        for binding in bindings {
            let mut relation = Relation::new();
            for i in 0..count {
                for j in 0..count {
                    relation.insert((i, j), self.graph.unfolding.solver.bool_var());
                }
            }
            self.names.push((binding.name.clone(), Definition::Recursive(relation)));
        }
        let scope = self.names.len();
        for (at, binding) in bindings.iter().enumerate() {
            let value = self.relation(&binding.expr, scope, false)?;
            let Definition::Recursive(variables) = self.names[scope - bindings.len() + at].1.clone() else {
                continue;
            };
            self.include(&value, &variables)?;
        }
        Ok(())
    }

    /// Everything in one relation is in the other.
    fn include(&mut self, smaller: &Relation, larger: &Relation) -> Result<()> {
        for (pair, &literal) in smaller {
            let within = larger.get(pair).copied().unwrap_or(self.graph.unfolding.solver.bool_const(false));
            let s = &mut self.graph.unfolding.solver;
            let holds = s.implies(literal, within)?;
            s.assert(holds)?;
        }
        Ok(())
    }

    fn relation(&mut self, expr: &Expr, scope: usize, exact: bool) -> Result<Relation> {
        match self.value(expr, scope, exact)? {
            Value::Relation(relation) => Ok(relation),
            Value::Set(_) => Ok(Relation::new()),
        }
    }

    fn set(&mut self, expr: &Expr, scope: usize, exact: bool) -> Result<Set> {
        match self.value(expr, scope, exact)? {
            Value::Set(set) => Ok(set),
            Value::Relation(_) => Ok(Set::new()),
        }
    }

    fn name(&mut self, name: &str, scope: usize, exact: bool) -> Result<Value> {
        let Some(at) = self.names[..scope].iter().rposition(|(known, _)| known == name) else {
            // It is large, and few models speak of it.
            if name == "passes" && !self.base.contains_key(name) {
                let passes = self.graph.passes()?;
                self.base.insert("passes", Value::Relation(passes));
            }
            return Ok(self.base.get(name).cloned().unwrap_or(Value::Relation(Relation::new())));
        };
        if let Some(value) = self.known.get(&(at, exact)) {
            return Ok(value.clone());
        }
        let value = match self.names[at].1.clone() {
            Definition::Expr(expr) => self.value(&expr, at, exact)?,
            Definition::Recursive(_) if exact => {
                let what =
                    format!("the recursive relation `{name}` to the right of `\\`, below `~` or in a flag");
                return Err(Error::Unsupported { what, position: None });
            }
            Definition::Recursive(relation) => Value::Relation(relation),
            Definition::Function(..) => Value::Relation(Relation::new()),
        };
        self.known.insert((at, exact), value.clone());
        Ok(value)
    }

    fn value(&mut self, expr: &Expr, scope: usize, exact: bool) -> Result<Value> {
        Ok(match &expr.kind {
            ExprKind::Name(name) => self.name(name, scope, exact)?,
            ExprKind::All => Value::Set(self.all()),
            ExprKind::Nothing => Value::Relation(Relation::new()),
            ExprKind::Identity(inner) => {
                let set = self.set(inner, scope, exact)?;
                Value::Relation(set.into_iter().map(|(n, literal)| ((n, n), literal)).collect())
            }
            ExprKind::Product(a, b) => {
                let (a, b) = (self.set(a, scope, exact)?, self.set(b, scope, exact)?);
                let mut product = Relation::new();
                for (&i, &x) in &a {
                    for (&j, &y) in &b {
                        product.insert((i, j), self.and(&[x, y])?);
                    }
                }
                Value::Relation(product)
            }
            ExprKind::Union(a, b) => match (self.value(a, scope, exact)?, self.value(b, scope, exact)?) {
                (Value::Set(a), Value::Set(b)) => Value::Set(self.union(a, b)?),
                (Value::Relation(a), Value::Relation(b)) => Value::Relation(self.union(a, b)?),
                // `0` counts as a relation.
                (Value::Set(set), _) | (_, Value::Set(set)) => Value::Set(set),
            },
            ExprKind::Intersection(a, b) => {
                match (self.value(a, scope, exact)?, self.value(b, scope, exact)?) {
                    (Value::Set(a), Value::Set(b)) => Value::Set(self.intersection(a, &b)?),
                    (Value::Relation(a), Value::Relation(b)) => Value::Relation(self.intersection(a, &b)?),
                    _ => Value::Relation(Relation::new()),
                }
            }
            ExprKind::Difference(a, b) => match (self.value(a, scope, exact)?, self.value(b, scope, true)?) {
                (Value::Set(a), Value::Set(b)) => Value::Set(self.difference(a, &b)?),
                (Value::Relation(a), Value::Relation(b)) => Value::Relation(self.difference(a, &b)?),
                (a, _) => a,
            },
            ExprKind::Complement(inner) => match self.value(inner, scope, true)? {
                Value::Set(set) => {
                    let all = self.all();
                    Value::Set(self.difference(all, &set)?)
                }
                Value::Relation(relation) => {
                    let all = self.pairs()?;
                    Value::Relation(self.difference(all, &relation)?)
                }
            },
            ExprKind::Sequence(a, b) => {
                let (a, b) = (self.relation(a, scope, exact)?, self.relation(b, scope, exact)?);
                Value::Relation(self.sequence(&a, &b)?)
            }
            ExprKind::Inverse(inner) => {
                let relation = self.relation(inner, scope, exact)?;
                Value::Relation(relation.into_iter().map(|((i, j), literal)| ((j, i), literal)).collect())
            }
            ExprKind::Optional(inner) => {
                let relation = self.relation(inner, scope, exact)?;
                Value::Relation(self.or_identity(relation)?)
            }
            ExprKind::Plus(inner) => {
                let relation = self.relation(inner, scope, exact)?;
                Value::Relation(self.closure(relation, exact)?)
            }
            ExprKind::Star(inner) => {
                let relation = self.relation(inner, scope, exact)?;
                let closure = self.closure(relation, exact)?;
                Value::Relation(self.or_identity(closure)?)
            }
            ExprKind::Call(name, arguments) => self.call(name, arguments, scope, exact)?,
        })
    }

    fn call(&mut self, name: &str, arguments: &[Expr], scope: usize, exact: bool) -> Result<Value> {
        if let (Some(argument), true) = (arguments.first(), crate::cat::FUNCTIONS.contains(&name)) {
            if name == "domain" {
                let relation = self.relation(argument, scope, exact)?;
                let mut domain: BTreeMap<usize, Vec<Bool>> = BTreeMap::new();
                relation.into_iter().for_each(|((i, _), literal)| domain.entry(i).or_default().push(literal));
                let mut set = Set::new();
                for (i, literals) in domain {
                    set.insert(i, self.graph.unfolding.solver.or(&literals)?);
                }
                return Ok(Value::Set(set));
            }
            // fencerel(S) = (po & (_ * S)) ; po
            let set = self.set(argument, scope, exact)?;
            let po = self.graph.po.clone();
            let before: Relation =
                po.iter().filter(|((_, j), _)| set.contains_key(j)).map(|(&pair, &l)| (pair, l)).collect();
            return Ok(Value::Relation(self.sequence(&before, &po)?));
        }
        let function =
            self.names[..scope].iter().rev().find(|(known, _)| known == name).map(|(_, d)| d.clone());
        let Some(Definition::Function(parameters, body)) = function else {
            return Ok(Value::Relation(Relation::new()));
        };
        let replaced: BTreeMap<&str, &Expr> = parameters.iter().map(|p| &**p).zip(arguments).collect();
        self.value(&substitute(&body, &replaced), scope, exact)
    }
}

/// A function's body with its arguments in place.
fn substitute(expr: &Expr, arguments: &BTreeMap<&str, &Expr>) -> Expr {
    let go = |inner: &Expr| Box::new(substitute(inner, arguments));
    let kind = match &expr.kind {
        ExprKind::Name(name) => match arguments.get(&**name) {
            Some(argument) => return (*argument).clone(),
            None => ExprKind::Name(name.clone()),
        },
        ExprKind::Call(name, list) => {
            ExprKind::Call(name.clone(), list.iter().map(|e| substitute(e, arguments)).collect())
        }
        ExprKind::All => ExprKind::All,
        ExprKind::Nothing => ExprKind::Nothing,
        ExprKind::Identity(e) => ExprKind::Identity(go(e)),
        ExprKind::Union(a, b) => ExprKind::Union(go(a), go(b)),
        ExprKind::Intersection(a, b) => ExprKind::Intersection(go(a), go(b)),
        ExprKind::Difference(a, b) => ExprKind::Difference(go(a), go(b)),
        ExprKind::Sequence(a, b) => ExprKind::Sequence(go(a), go(b)),
        ExprKind::Product(a, b) => ExprKind::Product(go(a), go(b)),
        ExprKind::Inverse(e) => ExprKind::Inverse(go(e)),
        ExprKind::Plus(e) => ExprKind::Plus(go(e)),
        ExprKind::Star(e) => ExprKind::Star(go(e)),
        ExprKind::Optional(e) => ExprKind::Optional(go(e)),
        ExprKind::Complement(e) => ExprKind::Complement(go(e)),
    };
    Expr { kind, span: expr.span }
}
