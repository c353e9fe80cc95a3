//! Whole programs: what is shared, functions, and the main thread.

use super::statement::Body;
use super::{LeftOut, Result, words};
use ir::{SyncKind, SyncOp};
use lang::typed::{Constant, Content, Expr, ExprKind, Function, Global, Program, Statement, StatementKind};
use std::fmt::Write as _;

const HEAD: &str = "#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <threadbare.h>

#define READ(place) (*(volatile __typeof__(place) *)&(place))

";

/// The twin of a program whose only thread at the start is the main thread.
///
/// # Errors
/// If the program has something that has no form in C.
pub fn to_c(program: &Program) -> Result<String> {
    let [main] = &program.threads[..] else { return Err(LeftOut("threads that exist from the start")) };
    if program.final_condition.is_some() || !main.main {
        return Err(LeftOut("a final condition"));
    }
    let mut text = HEAD.to_owned();
    for global in &program.globals {
        text += &declared(program, global)?;
    }
    let declarations = program.functions.iter().map(|function| format!("{};\n", head(function)));
    text.extend(declarations);
    for function in &program.functions {
        text += &defined(program, function)?;
    }
    let body = &program.functions[main.function.index()];
    text += "\nint main(void) {\n";
    text.extend(program.globals.iter().filter_map(set_up).map(|line| format!("    {line}\n")));
    let _ = writeln!(text, "    {}();", name(body));
    // The other threads go on when the main thread of the model has ended.
    let end = if joins_all(&body.body) { "return 0" } else { "pthread_exit(0)" };
    let _ = write!(text, "    {end};\n}}\n");
    Ok(text)
}

/// The function's name; the one that the main thread runs is not C's.
fn name(function: &Function) -> &str {
    if function.name == "main" { "main_thread" } else { &function.name }
}

fn head(function: &Function) -> String {
    let parameters: Vec<String> = (function.locals[..function.parameters].iter().enumerate())
        .map(|(n, local)| format!("{} {}_{n}", words::ty(local.ty), local.name))
        .collect();
    let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
    let returns = function.returns.map_or_else(|| "void".to_owned(), words::ty);
    format!("static {returns} {}({parameters})", name(function))
}

fn defined(program: &Program, function: &Function) -> Result<String> {
    let mut text = format!("\n{} {{\n", head(function));
    for (n, local) in function.locals.iter().enumerate().skip(function.parameters) {
        let _ = writeln!(text, "    {} {}_{n} = 0;", words::ty(local.ty), local.name);
    }
    let mut body = Body::new(program, function);
    body.statements(&function.body)?;
    text += &body.lines.text();
    if function.returns.is_some() {
        text += "    return 0;\n";
    }
    text += "}\n";
    if is_forked(program, function) {
        let argument = match &function.locals[..function.parameters] {
            [] => String::new(),
            [one] => format!("({})(intptr_t)argument", words::ty(one.ty)),
            _ => return Err(LeftOut("a thread with several arguments")),
        };
        let name = name(function);
        let _ = write!(
            text,
            "\nstatic void *start_{name}(void *argument) {{\n    (void)argument;\n    {name}({argument});\n    return 0;\n}}\n"
        );
    }
    Ok(text)
}

fn declared(program: &Program, global: &Global) -> Result<String> {
    let name = &global.name;
    match &global.content {
        Content::Shared { ty, initial, .. } => {
            let values: Vec<String> = initial.iter().map(|value| constant(program, value, *ty)).collect();
            let count = global.count.map_or_else(String::new, |count| format!("[{count}]"));
            let initial = match (&values[..], global.count) {
                ([], _) => String::new(),
                ([one], None) => format!(" = {one}"),
                _ => format!(" = {{{}}}", values.join(", ")),
            };
            Ok(format!("{} {name}{count}{initial};\n", words::ty(*ty)))
        }
        Content::Sync { .. } if global.count.is_some() => Err(LeftOut("an array of objects")),
        Content::Sync { kind, .. } => Ok(match kind {
            SyncKind::Mutex => format!("pthread_mutex_t {name} = PTHREAD_MUTEX_INITIALIZER;\n"),
            SyncKind::RecursiveMutex => {
                format!("pthread_mutex_t {name} = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;\n")
            }
            SyncKind::RwLock => format!("pthread_rwlock_t {name} = PTHREAD_RWLOCK_INITIALIZER;\n"),
            SyncKind::Condition => format!("pthread_cond_t {name} = PTHREAD_COND_INITIALIZER;\n"),
            SyncKind::Semaphore => format!("sem_t {name};\n"),
            SyncKind::Barrier => format!("pthread_barrier_t {name};\n"),
        }),
    }
}

fn constant(program: &Program, value: &Constant, ty: lang::types::Type) -> String {
    match value {
        Constant::Int(value) => words::number(*value, ty),
        Constant::Null => "0".to_owned(),
        Constant::Address { global, offset } => {
            let element = offset / ty.pointee().map_or(1, |to| to.bytes() as i64);
            let global = &program.globals[global.index()];
            match global.count {
                Some(_) => format!("&{}[{element}]", global.name),
                None => format!("&{} + {element}", global.name),
            }
        }
    }
}

/// What the main thread does first for objects without a static form.
fn set_up(global: &Global) -> Option<String> {
    let name = &global.name;
    match &global.content {
        Content::Sync { kind: SyncKind::Semaphore, initial } => {
            Some(format!("sem_init(&{name}, 0, {initial});"))
        }
        Content::Sync { kind: SyncKind::Barrier, initial } => {
            Some(format!("pthread_barrier_init(&{name}, 0, {initial});"))
        }
        _ => None,
    }
}

/// Whether some thread begins with this function. Random programs fork by assigning the handle, or drop it.
fn is_forked(program: &Program, function: &Function) -> bool {
    forks(program).any(|forked| forked == function.name)
}

fn forks(program: &Program) -> impl Iterator<Item = &str> {
    let statements = program.functions.iter().flat_map(|function| &function.body);
    statements.filter_map(forked).map(|function| program.functions[function.index()].name.as_str())
}

fn forked(statement: &Statement) -> Option<ir::FunctionId> {
    match &statement.kind {
        StatementKind::Assign(_, Expr { kind: ExprKind::Fork(function, _), .. })
        | StatementKind::Evaluate(Expr { kind: ExprKind::Fork(function, _), .. }) => Some(*function),
        _ => None,
    }
}

/// Whether the main thread waits for all others on all its ways.
fn joins_all(body: &[Statement]) -> bool {
    let joins = |s: &&Statement| matches!(s.kind, StatementKind::Sync(SyncOp::Join, _));
    let forks = body.iter().filter(|s| forked(s).is_some()).count();
    forks == body.iter().filter(joins).count() && !body.iter().any(returns)
}

fn returns(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Return(_) => true,
        StatementKind::If { then, otherwise, .. } => then.iter().chain(otherwise).any(returns),
        StatementKind::While { body, .. } | StatementKind::Block(body) | StatementKind::Atomic(body, _) => {
            body.iter().any(returns)
        }
        _ => false,
    }
}
