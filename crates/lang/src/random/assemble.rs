//! From pieces to a program: what is too much is left out, what is used is declared.

use super::build::{
    assign, binary, block, fork, name, number, observed, run, statement, sync, type_name, variable,
};
use super::environment::{self, BARRIER, LOCALS, SHARED};
use super::expression::constant;
use super::piece::{Piece, tell};
use super::{Config, events};
use crate::Span;
use crate::ast::{
    BinaryOp, Expr, ExprKind, File, Function, Item, ItemKind, Parameter, Statement, StatementKind, TypeWord,
};
use ir::Quantifier;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// How the main thread forks the others: after how many of its pieces, and whether it joins them.
#[derive(Clone, Debug)]
pub(super) struct Forking {
    after: prop::sample::Index,
    joins: bool,
}

pub(super) fn forking() -> impl Strategy<Value = Forking> {
    (any::<prop::sample::Index>(), prop::bool::weighted(0.8))
        .prop_map(|(after, joins)| Forking { after, joins })
}

/// A final condition before the threads are known.
#[derive(Clone, Debug)]
pub(super) struct Question {
    quantifier: Quantifier,
    parts: Vec<(bool, prop::sample::Index, prop::sample::Index, BinaryOp, Expr)>,
}

pub(super) fn question() -> impl Strategy<Value = Question> {
    let quantifier =
        prop::sample::select(vec![Quantifier::Exists, Quantifier::Forall, Quantifier::NotExists]);
    let op = prop::sample::select(vec![BinaryOp::Equal, BinaryOp::NotEqual, BinaryOp::Greater]);
    let index = any::<prop::sample::Index>;
    let part = (any::<bool>(), index(), index(), op, constant());
    (quantifier, prop::collection::vec(part, 1..=2))
        .prop_map(|(quantifier, parts)| Question { quantifier, parts })
}

/// The whole program.
pub(super) fn program(
    config: &Config,
    mut bodies: Vec<Vec<Piece>>,
    forking: Option<&Forking>,
    question: Option<&Question>,
) -> File {
    cut(config, &mut bodies, forking);
    if wakes_are_missing(&bodies) {
        // Somebody waits and nobody tells: a deadlock that teaches little.
        if let Some(last) = bodies.last_mut() {
            last.push(tell("broadcast"));
            cut(config, &mut bodies, forking);
        }
    }
    let parties = bodies.iter().filter(|body| mentions(body, BARRIER)).count();
    let mut names = BTreeSet::new();
    let mut items = vec![];
    let observable: Vec<&str> =
        if forking.is_some() { vec!["main"] } else { ["T1", "T2", "T3", "T4"].to_vec() };
    let observable = &observable[..observable.len().min(bodies.len())];
    let condition = question.map(|question| condition(question, observable));
    let mut main = vec![];
    for (n, pieces) in bodies.iter().enumerate() {
        let observed: Vec<&str> = match (&condition, observable.get(n)) {
            (Some((_, observed)), Some(thread)) => {
                observed.iter().filter(|(t, _)| t == thread).map(|(_, local)| *local).collect()
            }
            _ => vec![],
        };
        if forking.is_some() && n == 0 {
            main = pieces.clone();
            continue;
        }
        let statements = body(pieces.concat(), &observed, &mut names);
        items.push(match forking {
            None => thread(observable.get(n).copied().unwrap_or("T"), false, statements),
            Some(_) => worker(n, statements),
        });
    }
    if let Some(forking) = forking {
        let observed: Vec<&str> =
            condition.iter().flat_map(|(_, observed)| observed).map(|(_, local)| *local).collect();
        let statements = with_forks(config, main, bodies.len() - 1, forking);
        items.push(thread("main", true, body(statements, &observed, &mut names)));
    }
    if let Some((condition, _)) = condition {
        collect(&condition, &mut names);
        let quantifier = question.map_or(Quantifier::Exists, |question| question.quantifier);
        items.push(item(ItemKind::Final { quantifier, condition }));
    }
    for needed in names.clone() {
        names.extend(environment::needs(&needed).iter().map(|name| (*name).to_owned()));
    }
    let declared = environment::declarations(parties).into_iter().filter(|(name, _)| names.contains(*name));
    File { items: declared.map(|(_, item)| item).chain(items).collect() }
}

/// Leaves out pieces from the end of the longest threads until no run has too many events.
fn cut(config: &Config, bodies: &mut [Vec<Piece>], forking: Option<&Forking>) {
    // A fork and a join for each other thread, and a last assertion.
    let fixed = if forking.is_some() { 2 * bodies.len() } else { 0 };
    loop {
        let costs: Vec<usize> =
            bodies.iter().map(|body| body.iter().map(|piece| events(piece)).sum()).collect();
        if fixed + costs.iter().sum::<usize>() <= config.max_events {
            return;
        }
        let Some(longest) = (0..bodies.len()).max_by_key(|&n| costs[n]) else { return };
        if bodies[longest].pop().is_none() {
            return;
        }
    }
}

fn wakes_are_missing(bodies: &[Vec<Piece>]) -> bool {
    let calls = |word: &str| bodies.iter().any(|body| mentions(body, word));
    calls("wait") && !calls("signal") && !calls("broadcast")
}

/// Whether a name occurs in these pieces.
fn mentions(pieces: &[Piece], name: &str) -> bool {
    let mut names = BTreeSet::new();
    pieces.concat().iter().for_each(|s| collect_statement(s, &mut names));
    names.contains(name)
}

/// A body: the locals that it uses, and its statements with labels numbered.
fn body(mut statements: Vec<Statement>, observed: &[&str], names: &mut BTreeSet<String>) -> Vec<Statement> {
    let mut used: BTreeSet<String> = observed.iter().map(|local| (*local).to_owned()).collect();
    statements.iter().for_each(|s| collect_statement(s, &mut used));
    let locals: Vec<StatementKind> = used.iter().filter_map(|name| environment::local(name)).collect();
    names.extend(used);
    for (n, label) in statements.iter_mut().filter_map(|s| s.label.as_mut()).enumerate() {
        label.text = format!("e{n}");
    }
    locals.into_iter().map(statement).chain(statements).collect()
}

fn with_forks(config: &Config, pieces: Vec<Piece>, workers: usize, forking: &Forking) -> Vec<Statement> {
    let after = forking.after.index(pieces.len() + 1);
    let handle = |n: usize| format!("t{n}");
    let mut statements = pieces[..after].concat();
    for n in 1..=workers {
        let forked = fork(&format!("w{n}"), vec![number(n as i64)]);
        statements.push(if forking.joins {
            let kind = StatementKind::Local {
                word: TypeWord::Thread,
                declarators: vec![crate::ast::Declarator {
                    stars: 0,
                    name: name(&handle(n)),
                    array: None,
                    initial: Some(crate::ast::Initial::Value(forked)),
                }],
            };
            statement(kind)
        } else {
            statement(StatementKind::Call(forked))
        });
    }
    statements.extend(pieces[after..].concat());
    if forking.joins {
        statements.extend((1..=workers).map(|n| sync("join", &handle(n))));
    }
    if forking.joins && config.asserts {
        statements.push(run("assert", vec![binary(BinaryOp::NotEqual, variable("x"), number(77))]));
    }
    statements
}

fn item(kind: ItemKind) -> Item {
    Item { kind, span: Span::default() }
}

fn thread(text: &str, main: bool, statements: Vec<Statement>) -> Item {
    item(ItemKind::Thread { name: name(text), main, body: block(statements) })
}

/// A function that a forked thread runs; its first local begins as its argument.
fn worker(n: usize, statements: Vec<Statement>) -> Item {
    let parameters = vec![Parameter { ty: type_name(TypeWord::Int, 0), name: name("id") }];
    let uses_local = |s: &Statement| matches!(&s.kind, StatementKind::Local { declarators, .. } if declarators.iter().any(|d| d.name.text == LOCALS[0]));
    let at = statements.iter().take_while(|s| matches!(s.kind, StatementKind::Local { .. })).count();
    let mut statements = statements;
    if statements.iter().any(uses_local) {
        statements.insert(at, assign(variable(LOCALS[0]), variable("id")));
    }
    let function =
        Function { name: name(&format!("w{n}")), parameters, returns: None, body: block(statements) };
    item(ItemKind::Function(function))
}

/// The final condition, and the locals that it asks for.
fn condition<'t>(question: &Question, threads: &[&'t str]) -> (Expr, Vec<(&'t str, &'static str)>) {
    let mut asked = vec![];
    let parts = question.parts.iter().map(|(of_thread, which, local, op, value)| {
        let left = if *of_thread && !threads.is_empty() {
            let (thread, local) = (*which.get(threads), *local.get(&LOCALS));
            asked.push((thread, local));
            observed(thread, local)
        } else {
            variable(SHARED[which.index(SHARED.len())])
        };
        binary(*op, left, value.clone())
    });
    let joined = parts.reduce(|a, b| binary(BinaryOp::And, a, b));
    (joined.unwrap_or_else(|| number(1)), asked)
}

fn collect_statement(statement: &Statement, names: &mut BTreeSet<String>) {
    match &statement.kind {
        StatementKind::Assign { target, value, .. } => {
            collect(target, names);
            collect(value, names);
        }
        StatementKind::Step { target: e, .. } | StatementKind::Call(e) | StatementKind::Return(Some(e)) => {
            collect(e, names)
        }
        StatementKind::If { condition, then, otherwise } => {
            collect(condition, names);
            collect_statement(then, names);
            otherwise.iter().for_each(|s| collect_statement(s, names));
        }
        StatementKind::While { condition, body, .. } => {
            collect(condition, names);
            collect_statement(body, names);
        }
        StatementKind::Block(block) | StatementKind::Atomic(block) => {
            block.statements.iter().for_each(|s| collect_statement(s, names));
        }
        _ => {}
    }
}

/// Every name in an expression, those of functions too.
fn collect(expr: &Expr, names: &mut BTreeSet<String>) {
    match &expr.kind {
        ExprKind::Name(name) => {
            names.insert(name.clone());
        }
        ExprKind::Paren(e) | ExprKind::Unary { operand: e, .. } | ExprKind::Cast { operand: e, .. } => {
            collect(e, names)
        }
        ExprKind::Binary { lhs, rhs, .. } => {
            collect(lhs, names);
            collect(rhs, names);
        }
        ExprKind::Conditional { condition, then, otherwise } => {
            collect(condition, names);
            collect(then, names);
            collect(otherwise, names);
        }
        ExprKind::Index { base, index } => {
            collect(base, names);
            collect(index, names);
        }
        ExprKind::Call { function, arguments } | ExprKind::Fork { function, arguments } => {
            names.insert(function.text.clone());
            arguments.iter().for_each(|argument| collect(argument, names));
        }
        ExprKind::Literal(_) | ExprKind::Null | ExprKind::Observed { .. } | ExprKind::Alloc { .. } => {}
    }
}
