//! Shared variables and synchronisation objects: sizes, initial values, limits.

use super::body::{Context, object_words};
use super::{Checker, MAX_MEMORY, What, constant};
use crate::ast::{ArraySize, Declarator, Expr, File, Initial, ItemKind};
use crate::typed::{Constant, Content, Global};
use crate::types::{IntType, Type};
use crate::{Diagnostic, Span};
use ir::SyncKind;

impl Checker {
    /// Checks every declaration of a global, in the order of their ids.
    pub(super) fn globals(&mut self, file: &File) {
        let mut bytes = 0_u64;
        for item in &file.items {
            let (ItemKind::Shared { declarators, .. } | ItemKind::Sync { declarators, .. }) = &item.kind
            else {
                continue;
            };
            for declarator in declarators {
                let global = self.global(declarator);
                let element = match global.content {
                    Content::Shared { ty, .. } => ty.bytes(),
                    Content::Sync { .. } => SyncKind::BYTES,
                };
                let size = element.saturating_mul(global.count.unwrap_or(1));
                let fits = bytes <= MAX_MEMORY;
                bytes = bytes.saturating_add(size);
                if fits && bytes > MAX_MEMORY {
                    let message = format!(
                        "the shared variables up to `{}` take {bytes} bytes, more than the limit of {MAX_MEMORY}",
                        declarator.name.text
                    );
                    self.error(Diagnostic::new(declarator.name.span, message));
                }
                self.globals.push(global);
            }
        }
        self.addresses_in_bounds();
    }

    fn global(&mut self, declarator: &Declarator) -> Global {
        let (what, atomic) = {
            let head = &self.global_heads[self.globals.len()];
            (head.what, head.atomic)
        };
        let count = declarator.array.as_ref().map(|array| self.array_count(array, declarator));
        let content = match what {
            What::Value(ty) => {
                let initial = self.initial_values(ty, count, declarator);
                Content::Shared { ty, atomic, initial }
            }
            What::Object(kind) => Content::Sync { kind, initial: self.initial_count(kind, declarator) },
        };
        Global { name: declarator.name.text.clone(), span: declarator.name.span, count, content }
    }

    fn array_count(&mut self, array: &ArraySize, declarator: &Declarator) -> u64 {
        let Some(count) = &array.count else {
            if let Some(Initial::List { values, .. }) = &declarator.initial {
                return values.len() as u64;
            }
            let error = Diagnostic::new(array.span, "how many elements the array has is not said")
                .help("put a number between the brackets, or initial values in braces behind them");
            self.error(error);
            return 1;
        };
        let Some(value) = self.constant_int(count, "the number of elements") else { return 1 };
        match u64::try_from(value) {
            Ok(n) if (1..=MAX_MEMORY).contains(&n) => n,
            _ => {
                let message = format!("an array cannot have {value} elements");
                let help = format!(
                    "it has at least 1 element, and all shared variables fit into {MAX_MEMORY} bytes"
                );
                self.error(Diagnostic::new(count.span, message).help(help));
                1
            }
        }
    }

    fn initial_values(&mut self, ty: Type, count: Option<u64>, declarator: &Declarator) -> Vec<Constant> {
        let values: &[Expr] = match (&declarator.initial, count) {
            (None, _) => return vec![],
            (Some(Initial::Value(value)), None) => std::slice::from_ref(value),
            (Some(Initial::List { values, .. }), Some(_)) => values,
            (Some(Initial::Value(value)), Some(_)) => {
                let error = Diagnostic::new(value.span, "the initial values of an array stand in braces")
                    .help("write `{1, 2}`; elements that are not listed are 0");
                self.error(error);
                return vec![];
            }
            (Some(Initial::List { span, .. }), None) => {
                let error = Diagnostic::new(*span, format!("`{}` is no array", declarator.name.text))
                    .help("write one initial value, without braces");
                self.error(error);
                return vec![];
            }
        };
        if let Some((count, extra)) = count.and_then(|n| Some((n, values.get(usize::try_from(n).ok()?)?))) {
            let message = format!("{} initial values for an array of {count}", values.len());
            self.error(Diagnostic::new(extra.span, message).here("the first that is too many"));
        }
        values.iter().map(|value| self.constant(value, ty).unwrap_or(Constant::Int(0))).collect()
    }

    /// The tokens of a semaphore or the parties of a barrier.
    fn initial_count(&mut self, kind: SyncKind, declarator: &Declarator) -> u64 {
        if declarator.stars > 0 {
            let error = Diagnostic::new(
                declarator.name.span,
                format!("there are no pointers to {}", object_words(kind)),
            );
            self.error(error);
        }
        let value = match (&declarator.initial, kind) {
            (None, SyncKind::Barrier) => {
                let error =
                    Diagnostic::new(declarator.name.span, "for how many threads the barrier is, is not said")
                        .help(format!("write `barrier {} = 2;`", declarator.name.text));
                self.error(error);
                return 1;
            }
            (None, _) => return 0,
            (Some(Initial::Value(value)), SyncKind::Barrier | SyncKind::Semaphore) => value,
            (Some(Initial::Value(Expr { span, .. }) | Initial::List { span, .. }), _) => {
                let message = match kind {
                    SyncKind::Barrier | SyncKind::Semaphore => "all objects of an array start alike",
                    _ => "this has no initial value",
                };
                let error = Diagnostic::new(*span, message)
                    .label(declarator.name.span, format!("this is {}", object_words(kind)));
                self.error(error);
                return 1;
            }
        };
        let least = i128::from(kind == SyncKind::Barrier);
        let what = if kind == SyncKind::Barrier {
            "the number of threads of a barrier"
        } else {
            "the number of tokens of a semaphore"
        };
        let Some(count) = self.constant_int(value, what) else { return 1 };
        if count < least || count > i128::from(i32::MAX) {
            let message = format!("{what} cannot be {count}");
            self.error(
                Diagnostic::new(value.span, message).help(format!("it is from {least} to {}", i32::MAX)),
            );
            return 1;
        }
        count as u64
    }

    fn constant_int(&mut self, expr: &Expr, what: &str) -> Option<i128> {
        let value = self.body(Context::Constant, None).value(expr)?;
        match (value.ty, constant::evaluate(&value)) {
            (Type::Int(_), Some(Constant::Int(value))) => Some(value),
            (Type::Int(_), _) => {
                self.error(Diagnostic::new(expr.span, format!("{what} must be a constant")));
                None
            }
            (ty, _) => {
                self.error(Diagnostic::new(expr.span, format!("{what} must be an integer, not `{ty}`")));
                None
            }
        }
    }

    fn constant(&mut self, expr: &Expr, ty: Type) -> Option<Constant> {
        let mut body = self.body(Context::Constant, None);
        let value = body.value(expr)?;
        let value = body.convert(value, ty, "the initial value")?;
        let constant = constant::evaluate(&value);
        if constant.is_none() {
            let error = Diagnostic::new(expr.span, "an initial value must be a constant")
                .help("assign it at the start of a thread instead");
            self.error(error);
        }
        constant
    }

    /// Initial addresses must lie in the variable or just behind it. Checked last: sizes may come later.
    fn addresses_in_bounds(&mut self) {
        let mut errors: Vec<(Span, String)> = vec![];
        for global in &self.globals {
            let Content::Shared { initial, .. } = &global.content else { continue };
            for constant in initial {
                let Constant::Address { global: target, offset } = *constant else { continue };
                let target = &self.globals[target.index()];
                let Content::Shared { ty, .. } = target.content else { continue };
                let size = ty.bytes().saturating_mul(target.count.unwrap_or(1));
                if u64::try_from(offset).map_or(true, |offset| offset > size) {
                    let message =
                        format!("the initial value of `{}` lies outside of `{}`", global.name, target.name);
                    errors.push((global.span, message));
                }
            }
        }
        for (span, message) in errors {
            self.error(Diagnostic::new(span, message));
        }
    }
}

/// The type of a literal: the first of `int`, `i64`, `u64` that holds it, or of `u32`, `u64` with `u`.
pub(super) fn literal_type(value: u64, unsigned: bool) -> IntType {
    match (i32::try_from(value), u32::try_from(value), i64::try_from(value)) {
        (_, Ok(_), _) if unsigned => IntType::U32,
        (Ok(_), ..) if !unsigned => IntType::I32,
        (_, _, Ok(_)) if !unsigned => IntType::I64,
        _ => IntType::U64,
    }
}
