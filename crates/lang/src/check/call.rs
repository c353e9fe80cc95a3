//! Calls: of functions, and of built-in operations.

use super::What;
use super::body::{Body, Found, object_words};
use super::builtin::{self, Builtin, Signature};
use super::suggest;
use crate::ast::{self, Name};
use crate::typed::{Expr, ExprKind, LocalId, Place, StatementKind, SyncOperand};
use crate::types::Type;
use crate::{Diagnostic, Span};
use ir::{FunctionId, Order, SyncKind, SyncOp, UpdateOp};

/// What a call amounts to.
pub(super) enum Outcome {
    /// It has a value.
    Value(Expr),
    /// It has none.
    Effect(StatementKind),
}

impl Body<'_> {
    pub(super) fn call(&mut self, name: &Name, arguments: &[ast::Expr], span: Span) -> Option<Outcome> {
        self.only_in_code(span, "a call")?;
        if let Some(signature) = builtin::find(&name.text) {
            return self.builtin(signature, name, arguments, span);
        }
        let (id, arguments) = self.user_call(name, arguments, span)?;
        Some(match self.checker.function_heads[id.index()].returns {
            Some(ty) => Outcome::Value(Expr { kind: ExprKind::Call(id, arguments), ty, span }),
            None => Outcome::Effect(StatementKind::Call(id, arguments)),
        })
    }

    /// A call or fork of a function of the program.
    pub(super) fn user_call(
        &mut self,
        name: &Name,
        arguments: &[ast::Expr],
        span: Span,
    ) -> Option<(FunctionId, Vec<Expr>)> {
        let id = match self.checker.names.get(&name.text) {
            Some((super::Meaning::Function(id), _)) => *id,
            found if found.is_some() || self.is_local(&name.text) => {
                let error = self.wrong_kind(&name.text, name.span, "a function");
                self.error(error);
                return None;
            }
            _ => {
                let functions = self.checker.function_heads.iter().map(|head| head.name.as_str());
                let meant = suggest::similar(&name.text, functions.chain(builtin::names()));
                let mut error = Diagnostic::new(name.span, format!("there is no function `{}`", name.text));
                if builtin::find(&name.text).is_some() {
                    error = error.help(
                        "a thread runs a function of the program; a built-in operation cannot be forked",
                    );
                } else if let Some(meant) = meant {
                    error = error.help(format!("do you mean `{meant}`?"));
                }
                self.error(error);
                return None;
            }
        };
        if let Some(caller) = self.function {
            self.checker.function_heads[caller.index()].callees.push((id, span));
        }
        let values: Vec<Option<Expr>> = arguments.iter().map(|argument| self.value(argument)).collect();
        let head = &self.checker.function_heads[id.index()];
        let (parameters, declared) = (head.parameters.clone(), head.span);
        if parameters.len() != arguments.len() {
            let message = format!(
                "`{}` takes {}, but {} given",
                name.text,
                counted(parameters.len()),
                given(arguments.len())
            );
            self.error(Diagnostic::new(span, message).label(declared, "declared here"));
            return None;
        }
        let mut converted = vec![];
        for (value, ty) in values.into_iter().zip(parameters) {
            converted.push(value.and_then(|value| self.convert(value, ty, "this argument")));
        }
        Some((id, converted.into_iter().collect::<Option<Vec<Expr>>>()?))
    }

    fn builtin(
        &mut self,
        signature: &'static Signature,
        name: &Name,
        arguments: &[ast::Expr],
        span: Span,
    ) -> Option<Outcome> {
        let (least, most) = signature.arguments;
        if !(least..=most).contains(&arguments.len()) {
            let takes = match most - least {
                0 => counted(most),
                1 => format!("{least} or {}", counted(most)),
                _ => format!("{least} to {}", counted(most)),
            };
            let message = format!("`{}` takes {takes}, but {} given", name.text, given(arguments.len()));
            self.error(Diagnostic::new(span, message).help(format!("it is written `{}`", signature.usage)));
            return None;
        }
        let effect = |kind| Some(Outcome::Effect(kind));
        match signature.what {
            Builtin::Sync(op, kinds) => self.sync(signature, op, kinds, arguments, span),
            Builtin::Join => {
                let handle = self.value(&arguments[0])?;
                if handle.ty != Type::Thread {
                    let message = format!("`join` takes a thread's handle, not {}", handle.ty.with_article());
                    let help = "a handle is what `fork` gives: `thread t = fork f();`";
                    self.error(Diagnostic::new(arguments[0].span, message).help(help));
                    return None;
                }
                effect(StatementKind::Sync(SyncOp::Join, vec![SyncOperand::Handle(handle)]))
            }
            Builtin::Check(kind) => effect(StatementKind::Check(kind, self.truth(&arguments[0])?)),
            Builtin::Free => {
                let pointer = self.value(&arguments[0])?;
                if !matches!(pointer.ty, Type::Pointer { .. }) {
                    let message = format!("`free` takes a pointer, not {}", pointer.ty.with_article());
                    self.error(Diagnostic::new(arguments[0].span, message));
                    return None;
                }
                effect(StatementKind::Free(pointer))
            }
            Builtin::Fence => {
                let order = self.order(signature, arguments.first(), |order| order != Order::Relaxed)?;
                effect(StatementKind::Fence(order))
            }
            Builtin::Load => {
                let place = self.place(&arguments[0], "a shared variable")?;
                let order = self.order(signature, arguments.get(1), |order| {
                    !matches!(order, Order::Release | Order::AcqRel)
                })?;
                Some(Outcome::Value(Expr { ty: place.ty, kind: ExprKind::Load(place, Some(order)), span }))
            }
            Builtin::Store => {
                let (place, value) = self.place_and_value(arguments)?;
                let order = self.order(signature, arguments.get(2), |order| {
                    !matches!(order, Order::Acquire | Order::AcqRel)
                })?;
                effect(StatementKind::Store { place, value, order: Some(order) })
            }
            Builtin::Update(op) => {
                let place = self.place(&arguments[0], "a shared variable")?;
                if op != UpdateOp::Exchange && !matches!(place.ty, Type::Int(_)) {
                    let message =
                        format!("`{}` works on integers, not on {}", name.text, place.ty.with_article());
                    self.error(Diagnostic::new(arguments[0].span, message));
                    return None;
                }
                let value = self.value(&arguments[1])?;
                let value = self.convert(value, place.ty, "this value")?;
                let order = self.order(signature, arguments.get(2), |_| true)?;
                let (ty, value) = (place.ty, Box::new(value));
                Some(Outcome::Value(Expr { kind: ExprKind::Update { op, place, value, order }, ty, span }))
            }
            Builtin::CompareExchange { into } => {
                let (place, expected) = self.place_and_value(arguments)?;
                let found = match into {
                    None => None,
                    Some(_) => Some(self.local_of(signature, &arguments[1], &expected, place.ty)?),
                };
                let new = self.value(&arguments[2])?;
                let new = self.convert(new, place.ty, "the new value")?;
                let success = self.order(signature, arguments.get(3), |_| true)?;
                let failure = match (arguments.get(4), success) {
                    (Some(order), _) => self.order(signature, Some(order), |order| {
                        !matches!(order, Order::Release | Order::AcqRel)
                    })?,
                    (None, Order::Relaxed | Order::Release) => Order::Relaxed,
                    (None, Order::Acquire | Order::AcqRel) => Order::Acquire,
                    (None, Order::SeqCst) => Order::SeqCst,
                };
                let (expected, new, weak) = (Box::new(expected), Box::new(new), into == Some(true));
                let kind = ExprKind::CompareExchange { place, expected, new, success, failure, found, weak };
                Some(Outcome::Value(Expr { kind, ty: Type::INT, span }))
            }
        }
    }

    /// The local that a `compare_exchange` compares with and changes.
    fn local_of(
        &mut self,
        signature: &Signature,
        argument: &ast::Expr,
        expected: &Expr,
        ty: Type,
    ) -> Option<LocalId> {
        // A value of another type has been converted.
        match expected.kind {
            ExprKind::Local(local) if expected.ty == ty => Some(local),
            _ => {
                let message =
                    format!("`{}` compares with a local of the variable's type, `{ty}`", signature.name);
                let help = format!(
                    "it is written `{}`: if it fails, the local takes the value that is there",
                    signature.usage
                );
                self.error(Diagnostic::new(argument.span, message).help(help));
                None
            }
        }
    }

    /// The first two arguments of an atomic operation: a variable, and a value for it.
    fn place_and_value(&mut self, arguments: &[ast::Expr]) -> Option<(Place, Expr)> {
        let place = self.place(&arguments[0], "a shared variable");
        let value = self.value(&arguments[1]);
        let (place, value) = (place?, value?);
        let value = self.convert(value, place.ty, "this value")?;
        Some((place, value))
    }

    /// A memory order; none means seq_cst.
    fn order(
        &mut self,
        signature: &Signature,
        argument: Option<&ast::Expr>,
        allowed: fn(Order) -> bool,
    ) -> Option<Order> {
        const ORDERS: [(&str, Order); 5] = [
            ("relaxed", Order::Relaxed),
            ("acquire", Order::Acquire),
            ("release", Order::Release),
            ("acq_rel", Order::AcqRel),
            ("seq_cst", Order::SeqCst),
        ];
        let Some(argument) = argument else { return Some(Order::SeqCst) };
        let fitting = || {
            let words: Vec<&str> = ORDERS.iter().filter(|(_, o)| allowed(*o)).map(|(w, _)| *w).collect();
            format!("the orders of `{}` are {}", signature.name, words.join(", "))
        };
        let found = match &argument.kind {
            ast::ExprKind::Name(name) => ORDERS.iter().find(|(word, _)| word == name),
            _ => None,
        };
        let Some((word, order)) = found else {
            let error = Diagnostic::new(argument.span, "expected a memory order as the last argument")
                .help(fitting());
            self.error(error);
            return None;
        };
        if !allowed(*order) {
            let message = format!("`{}` cannot have the order `{word}`", signature.name);
            self.error(Diagnostic::new(argument.span, message).help(fitting()));
            return None;
        }
        Some(*order)
    }

    fn sync(
        &mut self,
        signature: &Signature,
        op: SyncOp,
        kinds: &[&[SyncKind]],
        arguments: &[ast::Expr],
        span: Span,
    ) -> Option<Outcome> {
        let mut op = op;
        let mut operands = vec![];
        for (argument, kinds) in arguments.iter().zip(kinds) {
            let (kind, operand) = self.sync_object(signature, argument, kinds)?;
            if op == SyncOp::MutexUnlock && kind == SyncKind::RwLock {
                op = SyncOp::RwUnlock;
            }
            operands.push(operand);
        }
        Some(if op.has_result() {
            Outcome::Value(Expr { kind: ExprKind::Sync(op, operands), ty: Type::INT, span })
        } else {
            Outcome::Effect(StatementKind::Sync(op, operands))
        })
    }

    /// An argument that is a synchronisation object of one of some kinds.
    fn sync_object(
        &mut self,
        signature: &Signature,
        argument: &ast::Expr,
        kinds: &[SyncKind],
    ) -> Option<(SyncKind, SyncOperand)> {
        let wanted = match kinds {
            [SyncKind::Mutex, _, SyncKind::RwLock] => "a mutex or an rwlock",
            [kind, ..] => object_words(*kind),
            [] => "nothing",
        };
        let (name, name_span, index) = match &argument.kind {
            ast::ExprKind::Paren(inner) => return self.sync_object(signature, inner, kinds),
            ast::ExprKind::Name(name) => (name, argument.span, None),
            ast::ExprKind::Index { base, index } => match &base.kind {
                ast::ExprKind::Name(name) => (name, base.span, Some(index)),
                _ => (&String::new(), argument.span, None),
            },
            _ => (&String::new(), argument.span, None),
        };
        if name.is_empty() {
            let error = Diagnostic::new(argument.span, format!("`{}` takes {wanted} here", signature.name))
                .help(format!("it is written `{}`", signature.usage));
            self.error(error);
            return None;
        }
        let found = self.find(name, name_span)?;
        let head = match found {
            Found::Sync(id) => Some((id, &self.checker.global_heads[id.index()])),
            _ => None,
        };
        let kind = match head {
            Some((_, head)) => match head.what {
                What::Object(kind) if kinds.contains(&kind) => Some(kind),
                _ => None,
            },
            None => None,
        };
        let (Some((id, head)), Some(kind)) = (head, kind) else {
            let (words, declared) = self.describe(name);
            let message = format!("`{}` takes {wanted}, but `{name}` is {words}", signature.name);
            let mut error = Diagnostic::new(name_span, message);
            if let Some(declared) = declared {
                error = error.label(declared, "declared here");
            }
            if words == object_words(SyncKind::RwLock) && signature.name.ends_with("lock") {
                error = error.help("an rwlock is locked by `rdlock` or `wrlock`");
            }
            self.error(error);
            return None;
        };
        if head.array != index.is_some() {
            let error = if head.array {
                let (words, _) = self.describe(name);
                Diagnostic::new(name_span, format!("`{name}` is {words}"))
                    .help(format!("say which: `{name}[0]`"))
            } else {
                self.wrong_kind(name, name_span, "an array").help("leave out the index")
            };
            self.error(error);
            return None;
        }
        let index = match index {
            Some(index) => Some(self.integer(index, "an index")?),
            None => None,
        };
        Some((kind, SyncOperand::Object { global: id, index, span: argument.span }))
    }
}

fn counted(arguments: usize) -> String {
    match arguments {
        0 => "no arguments".to_owned(),
        1 => "1 argument".to_owned(),
        n => format!("{n} arguments"),
    }
}

fn given(arguments: usize) -> String {
    match arguments {
        0 => "none is".to_owned(),
        1 => "1 is".to_owned(),
        n => format!("{n} are"),
    }
}
