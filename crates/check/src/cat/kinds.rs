//! Whether expressions of a model are sets or relations, and whether their names are known.

use super::ast::{Binding, Expr, ExprKind, Statement};
use lang::Diagnostic;
use std::collections::BTreeMap;

/// What an expression is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Set,
    Relation,
    /// `0` is either.
    Either,
}

/// Sets of events that models may speak of.
pub const SETS: [&str; 19] = [
    "R", "W", "M", "F", "I", "IW", "RMW", "X", "A", "NA", "RLX", "ACQ", "REL", "ACQ_REL", "SC", "MFENCE",
    "SFENCE", "LFENCE", "Sync",
];

/// Relations that models may speak of.
pub const RELATIONS: [&str; 23] = [
    "po", "rf", "co", "fr", "loc", "po-loc", "int", "ext", "id", "rmw", "addr", "data", "ctrl", "fj", "so",
    "passes", "rfi", "rfe", "coi", "coe", "fri", "fre", "mo",
];

/// Functions that models may call; both take a set.
pub const FUNCTIONS: [&str; 2] = ["fencerel", "domain"];

struct Checker<'s> {
    known: BTreeMap<&'s str, &'s Binding>,
    kinds: BTreeMap<String, Kind>,
    errors: Vec<Diagnostic>,
    depth: u32,
}

/// What is wrong with the statements.
pub fn check(statements: &[Statement]) -> Vec<Diagnostic> {
    let sets = SETS.iter().map(|name| ((*name).to_owned(), Kind::Set));
    let relations = RELATIONS.iter().map(|name| ((*name).to_owned(), Kind::Relation));
    let kinds = sets.chain(relations).collect();
    let mut checker = Checker { known: BTreeMap::new(), kinds, errors: vec![], depth: 0 };
    for statement in statements {
        match statement {
            Statement::Let { recursive, bindings } => checker.define(*recursive, bindings),
            Statement::Check { expr, .. } => {
                checker.kind(expr);
            }
            Statement::Views { respecting, agreeing, .. } => {
                checker.want(respecting, Kind::Relation);
                agreeing.iter().for_each(|agreeing| checker.want(agreeing, Kind::Relation));
            }
            Statement::Include { .. } => {}
        }
    }
    checker.errors
}

impl<'s> Checker<'s> {
    fn define(&mut self, recursive: bool, bindings: &'s [Binding]) {
        if recursive {
            for binding in bindings {
                self.kinds.insert(binding.name.clone(), Kind::Relation);
            }
        }
        for binding in bindings {
            match binding.parameters.is_empty() {
                true => {
                    let kind = self.kind(&binding.expr);
                    self.kinds.insert(binding.name.clone(), kind);
                }
                false => {
                    self.known.insert(&binding.name, binding);
                }
            }
        }
    }

    fn want(&mut self, expr: &'s Expr, kind: Kind) {
        let found = self.kind(expr);
        if found != kind && found != Kind::Either {
            let word = |kind| if kind == Kind::Set { "a set" } else { "a relation" };
            let message = format!("this is {}, and {} is needed here", word(found), word(kind));
            let error = Diagnostic::new(expr.span, message);
            let error =
                if found == Kind::Set { error.help("`[S]` is the identity on a set S") } else { error };
            self.errors.push(error);
        }
    }

    fn both(&mut self, a: &'s Expr, b: &'s Expr) -> Kind {
        match (self.kind(a), self.kind(b)) {
            (Kind::Either, other) | (other, Kind::Either) => other,
            (left, right) if left == right => left,
            (left, _) => {
                self.want(b, left);
                left
            }
        }
    }

    fn kind(&mut self, expr: &'s Expr) -> Kind {
        match &expr.kind {
            ExprKind::All => Kind::Set,
            ExprKind::Nothing => Kind::Either,
            ExprKind::Name(name) => match self.kinds.get(name) {
                Some(kind) => *kind,
                None => {
                    self.errors.push(Diagnostic::new(expr.span, format!("`{name}` is not defined")));
                    Kind::Either
                }
            },
            ExprKind::Identity(inner) => {
                self.want(inner, Kind::Set);
                Kind::Relation
            }
            ExprKind::Product(a, b) => {
                self.want(a, Kind::Set);
                self.want(b, Kind::Set);
                Kind::Relation
            }
            ExprKind::Sequence(a, b) => {
                self.want(a, Kind::Relation);
                self.want(b, Kind::Relation);
                Kind::Relation
            }
            ExprKind::Union(a, b) | ExprKind::Intersection(a, b) | ExprKind::Difference(a, b) => {
                self.both(a, b)
            }
            ExprKind::Inverse(inner)
            | ExprKind::Plus(inner)
            | ExprKind::Star(inner)
            | ExprKind::Optional(inner) => {
                self.want(inner, Kind::Relation);
                Kind::Relation
            }
            ExprKind::Complement(inner) => self.kind(inner),
            ExprKind::Call(name, arguments) => self.call(expr, name, arguments),
        }
    }

    fn call(&mut self, expr: &'s Expr, name: &str, arguments: &'s [Expr]) -> Kind {
        if FUNCTIONS.contains(&name) {
            if arguments.len() != 1 {
                self.errors.push(Diagnostic::new(expr.span, format!("`{name}` takes one argument")));
            }
            let wanted = if name == "fencerel" { Kind::Set } else { Kind::Relation };
            arguments.iter().for_each(|argument| self.want(argument, wanted));
            return if name == "fencerel" { Kind::Relation } else { Kind::Set };
        }
        let Some(function) = self.known.get(name).copied() else {
            self.errors.push(Diagnostic::new(expr.span, format!("there is no function `{name}`")));
            return Kind::Either;
        };
        if function.parameters.len() != arguments.len() {
            let message = format!("`{name}` takes {} arguments", function.parameters.len());
            self.errors.push(Diagnostic::new(expr.span, message));
            return Kind::Either;
        }
        self.depth += 1;
        if self.depth > 50 {
            self.errors.push(Diagnostic::new(expr.span, format!("`{name}` calls itself")));
            return Kind::Either;
        }
        let kinds: Vec<Kind> = arguments.iter().map(|argument| self.kind(argument)).collect();
        let saved = self.kinds.clone();
        for (parameter, kind) in function.parameters.iter().zip(kinds) {
            self.kinds.insert(parameter.clone(), kind);
        }
        let kind = self.kind(&function.expr);
        self.kinds = saved;
        self.depth -= 1;
        kind
    }
}
