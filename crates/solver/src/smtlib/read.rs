//! Reading a script: commands, and the solver that they are carried out on.
//!
//! The subset: Booleans, bit-vectors, and integer constants that are only compared with `<` (or `>`), and only
//! where the comparison is not negated: integers may be equal, points may not. `declare-const`,
//! `declare-fun` and `define-fun` without arguments, `assert`, `check-sat`, `check-sat-assuming`, `push`, `pop`.
//! Names belong to their scope: after its `pop` they can be given again.
//! `set-logic`, `set-info`, `set-option`, `get-model`, `get-value`, `exit` are accepted and ignored.

mod term;

use super::sexpr::{Kind, Sexpr, parse};
use crate::error::{Error, Result};
use crate::order::{Chain, Point};
use crate::solver::{Answer, Solver};
use crate::terms::{Bool, Bv};
use rustc_hash::FxHashMap;

/// A name's meaning.
#[derive(Clone)]
enum Meaning {
    Bool(Bool),
    Bv(Bv),
    Point(Point),
    /// A definition that mentions order is expanded where it is used, so that its sign is seen.
    Open(Sexpr),
}

/// The answer to one `check-sat` of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Line of the command.
    pub line: usize,
    /// What the solver said.
    pub answer: Answer,
}

/// A script and the solver that it is carried out on.
pub struct Script {
    solver: Solver,
    commands: std::vec::IntoIter<Sexpr>,
    names: FxHashMap<String, Meaning>,
    /// Names in the order in which they were given, and whether to a constant; how many there were when each open
    /// scope began.
    named: Vec<(String, bool)>,
    scopes: Vec<usize>,
    /// Points that were put in line before their declaration is reached.
    in_line: FxHashMap<String, Point>,
    /// How deep the term being read is, and how many definitions were expanded in it.
    depth: usize,
    expansions: usize,
}

impl Script {
    /// Parses a script. Integer constants that unconditional `<` before the first question put in line become chains.
    pub fn new(text: &str, solver: Solver) -> Result<Script> {
        let commands = parse(text)?;
        let mut script = Script {
            solver,
            commands: Vec::new().into_iter(),
            names: FxHashMap::default(),
            named: Vec::new(),
            scopes: Vec::new(),
            in_line: FxHashMap::default(),
            depth: 0,
            expansions: 0,
        };
        script.declare_points(&commands)?;
        script.commands = commands.into_iter();
        Ok(script)
    }

    /// The solver, for limits and statistics.
    pub fn solver(&mut self) -> &mut Solver {
        &mut self.solver
    }

    /// Carries out commands up to the next `check-sat` and answers it; `None` at the end of the script.
    pub fn next_answer(&mut self) -> Result<Option<Outcome>> {
        while let Some(command) = self.commands.next() {
            if let Some(answer) = self.command(&command)? {
                return Ok(Some(Outcome { line: command.line, answer }));
            }
        }
        Ok(None)
    }

    /// The model of the last answer, if it was "sat", in the form that `get-model` has: constants in the order of their
    /// declaration, points as their place in the order.
    pub fn model(&self) -> Result<Option<String>> {
        let Some(model) = self.solver.model() else { return Ok(None) };
        let points: Vec<Point> = self
            .names
            .values()
            .filter_map(|m| match m {
                Meaning::Point(p) => Some(*p),
                _ => None,
            })
            .collect();
        let place: FxHashMap<Point, usize> = model.order(&points)?.into_iter().zip(0..).collect();
        let mut text = String::from("(\n");
        for (name, _) in self.named.iter().filter(|(_, constant)| *constant) {
            let (sort, value) = match self.names.get(name) {
                Some(Meaning::Bool(b)) => ("Bool".to_string(), model.holds(*b)?.to_string()),
                Some(Meaning::Bv(v)) => {
                    let width = v.width();
                    (format!("(_ BitVec {width})"), format!("(_ bv{} {width})", model.value(*v)?))
                }
                Some(Meaning::Point(p)) => ("Int".to_string(), place[p].to_string()),
                _ => continue,
            };
            text += &format!("  (define-fun {name} () {sort} {value})\n");
        }
        text.push_str(")\n");
        Ok(Some(text))
    }

    fn command(&mut self, command: &Sexpr) -> Result<Option<Answer>> {
        (self.depth, self.expansions) = (0, 0);
        let items = command.list().unwrap_or(&[]);
        let head = items.first().and_then(Sexpr::atom);
        match (head, items) {
            (
                Some("set-logic" | "set-info" | "set-option" | "get-model" | "get-value" | "get-unsat-core"),
                _,
            ) => {}
            (Some("exit"), _) => self.commands = Vec::new().into_iter(),
            (Some("declare-const"), [_, name, sort]) => self.declare(name, sort)?,
            (Some("declare-fun"), [_, name, arguments, sort]) => {
                no_arguments(arguments)?;
                self.declare(name, sort)?;
            }
            (Some("define-fun"), [_, name, arguments, _, body]) => {
                no_arguments(arguments)?;
                let meaning = self.define(body)?;
                self.name(name, meaning, false)?;
            }
            (Some("assert"), [_, formula]) => {
                if self.edge(formula).is_none() {
                    let term = self.formula(formula, true)?;
                    self.solver.assert(term)?;
                } else if let Some((a, b)) = self.edge(formula) {
                    self.fix(a, b)?;
                }
            }
            (Some("check-sat"), [_]) => return self.solver.solve(&[]).map(Some),
            (Some("check-sat-assuming"), [_, list]) => {
                let Some(list) = list.list() else { return list.error("a list of literals is expected") };
                let mut assumptions = Vec::with_capacity(list.len());
                for literal in list {
                    assumptions.push(self.formula(literal, true)?);
                }
                return self.solver.solve(&assumptions).map(Some);
            }
            (Some("push"), [_, rest @ ..]) => {
                for _ in 0..count(rest)? {
                    self.solver.push();
                    self.scopes.push(self.named.len());
                }
            }
            (Some("pop"), [_, rest @ ..]) => {
                for _ in 0..count(rest)? {
                    let Some(outside) = self.scopes.pop() else {
                        return command.error("there is no open scope to close");
                    };
                    self.solver.pop()?;
                    for (name, _) in self.named.drain(outside..) {
                        self.names.remove(&name);
                    }
                }
            }
            _ => return command.error("this command is not in the subset that is read here"),
        }
        Ok(None)
    }

    fn declare(&mut self, name: &Sexpr, sort: &Sexpr) -> Result<()> {
        let meaning = match (&sort.kind, sort.list()) {
            (Kind::Atom(sort), _) if sort == "Bool" => Meaning::Bool(self.solver.bool_var()),
            (Kind::Atom(sort), _) if sort == "Int" => {
                match name.atom().and_then(|text| self.in_line.remove(text)) {
                    Some(point) => Meaning::Point(point),
                    None => Meaning::Point(self.solver.point()?),
                }
            }
            (_, Some([underscore, bitvec, width]))
                if underscore.atom() == Some("_") && bitvec.atom() == Some("BitVec") =>
            {
                let Some(width) = width.atom().and_then(|w| w.parse().ok()) else {
                    return width.error("a width is expected");
                };
                Meaning::Bv(self.solver.bv_var(width).or_else(|e| sort.error(e.to_string()))?)
            }
            _ => return sort.error("only Bool, Int and (_ BitVec n) are read here"),
        };
        self.name(name, meaning, true)
    }

    fn name(&mut self, name: &Sexpr, meaning: Meaning, constant: bool) -> Result<()> {
        let Some(text) = name.atom() else { return name.error("a name is expected") };
        if self.names.insert(text.to_string(), meaning).is_some() {
            return name.error(format!("{text} is declared twice"));
        }
        self.named.push((text.to_string(), constant));
        Ok(())
    }

    /// `(< a b)` of two integer constants.
    fn edge(&self, formula: &Sexpr) -> Option<(Point, Point)> {
        let [op, a, b] = formula.list()? else { return None };
        let point = |e: &Sexpr| match self.names.get(e.atom()?) {
            Some(Meaning::Point(p)) => Some(*p),
            _ => None,
        };
        match op.atom()? {
            "<" => Some((point(a)?, point(b)?)),
            ">" => Some((point(b)?, point(a)?)),
            _ => None,
        }
    }

    /// An unconditional edge. Inside a scope it must go away with the scope, and one that contradicts others makes the
    /// formula false, not the script wrong.
    fn fix(&mut self, a: Point, b: Point) -> Result<()> {
        if self.solver.open_scopes() == 0 {
            match self.solver.fix_before(a, b) {
                Err(Error::FixedCycle(..)) => {}
                other => return other,
            }
        }
        let edge = self.solver.before(a, b)?;
        self.solver.assert(edge)
    }

    /// Makes the points that are declared before the first scope or question: unconditional edges `a < b`, where `a`
    /// has no other successor and `b` no other predecessor in line, put `b` next to `a` on one chain. What is
    /// asserted later does not hold for the first question, and what is declared later may go away.
    fn declare_points(&mut self, commands: &[Sexpr]) -> Result<()> {
        let mut index: FxHashMap<&str, usize> = FxHashMap::default();
        let mut names: Vec<&str> = Vec::new();
        let mut next: Vec<Option<usize>> = Vec::new();
        let mut has_previous: Vec<bool> = Vec::new();
        for command in commands {
            let items = command.list().unwrap_or(&[]);
            let atoms: Vec<Option<&str>> = items.iter().map(Sexpr::atom).collect();
            match atoms[..] {
                [Some("declare-const"), Some(name), Some("Int")]
                | [Some("declare-fun"), Some(name), _, Some("Int")] => {
                    if index.insert(name, names.len()).is_some() {
                        return command.error(format!("{name} is declared twice"));
                    }
                    names.push(name);
                    next.push(None);
                    has_previous.push(false);
                }
                [Some("push" | "check-sat" | "check-sat-assuming"), ..] => break,
                [Some("assert"), None] => {
                    let inner: Vec<Option<&str>> =
                        items[1].list().unwrap_or(&[]).iter().map(Sexpr::atom).collect();
                    let (a, b) = match inner[..] {
                        [Some("<"), Some(a), Some(b)] => (a, b),
                        [Some(">"), Some(a), Some(b)] => (b, a),
                        _ => continue,
                    };
                    if let (Some(&a), Some(&b)) = (index.get(a), index.get(b))
                        && next[a].is_none()
                        && !has_previous[b]
                        && !leads_to(&next, b, a)
                    {
                        next[a] = Some(b);
                        has_previous[b] = true;
                    }
                }
                _ => {}
            }
        }
        for first in (0..names.len()).filter(|&i| !has_previous[i]) {
            let chain: Chain = self.solver.chain()?;
            let mut at = Some(first);
            while let Some(i) = at {
                let point = self.solver.point_on(chain)?;
                self.in_line.insert(names[i].to_string(), point);
                at = next[i];
            }
        }
        Ok(())
    }
}

fn leads_to(next: &[Option<usize>], mut from: usize, to: usize) -> bool {
    while from != to {
        match next[from] {
            Some(i) => from = i,
            None => return false,
        }
    }
    true
}

fn no_arguments(arguments: &Sexpr) -> Result<()> {
    match arguments.list() {
        Some([]) => Ok(()),
        _ => arguments.error("functions with arguments are not read here"),
    }
}

fn count(rest: &[Sexpr]) -> Result<u32> {
    match rest {
        [] => Ok(1),
        [n, ..] => match n.atom().and_then(|n| n.parse().ok()) {
            Some(n) if n <= 1_000_000 => Ok(n),
            _ => n.error("a small number of scopes is expected"),
        },
    }
}
