//! The final condition: over shared variables, and locals of threads that exist from the start.

use super::body::{Body, Context, ThreadLocals};
use super::{Checker, suggest};
use crate::ast::{self, Name};
use crate::typed::{self, Expr, ExprKind, LocalId};
use crate::types::Type;
use crate::{Diagnostic, Span};
use ir::Quantifier;

impl Checker {
    /// Checks the condition; gives back the threads with what is asked of them.
    pub(super) fn final_condition(
        &mut self,
        quantifier: Quantifier,
        condition: &ast::Expr,
        span: Span,
        threads: Vec<ThreadLocals>,
    ) -> (Option<typed::FinalCondition>, Vec<ThreadLocals>) {
        let mut body = self.body(Context::Final, None);
        body.threads = threads;
        let checked = body.truth(condition).map(|checked| typed::FinalCondition {
            quantifier,
            observed: std::mem::take(&mut body.observed),
            locals: std::mem::take(&mut body.locals),
            condition: checked,
            text: crate::format::expression(condition),
            span,
        });
        (checked, body.threads)
    }
}

impl Body<'_> {
    /// `T1.r1`: the local of the condition that stands for it.
    pub(super) fn final_local(&mut self, thread: &Name, local: &Name, span: Span) -> Option<Expr> {
        let Some(index) = self.threads.iter().position(|t| t.name == thread.text) else {
            let known = self.threads.iter().map(|t| t.name.as_str());
            let mut error = Diagnostic::new(thread.span, format!("there is no thread `{}`", thread.text));
            if let Some(meant) = suggest::similar(&thread.text, known) {
                error = error.help(format!("do you mean `{meant}`?"));
            } else {
                error = error.help("threads that exist from the start are those written `thread NAME { … }` and `main { … }`");
            }
            self.error(error);
            return None;
        };
        let known = &self.threads[index];
        let Some((name, id, ty, declared)) =
            known.locals.iter().find(|(name, ..)| *name == local.text).cloned()
        else {
            let names = known.locals.iter().map(|(name, ..)| name.as_str());
            let meant = suggest::similar(&local.text, names).map(str::to_owned);
            let message = format!("thread `{}` has no local `{}`", known.name, local.text);
            let mut error =
                Diagnostic::new(local.span, message).label(known.span, "the thread is declared here");
            error = error.help(match meant {
                Some(meant) => format!("do you mean `{}.{meant}`?", known.name),
                None => "only locals that are declared directly in the thread's body, outside of inner blocks, last until its end"
                    .to_owned(),
            });
            self.error(error);
            return None;
        };
        if ty == Type::Thread {
            let error = Diagnostic::new(
                span,
                format!("`{}` is a thread's handle, which has no value to ask for", local.text),
            )
            .label(declared, "declared here");
            self.error(error);
            return None;
        }
        let observed = &mut self.threads[index].observed;
        let result = observed.iter().position(|known| *known == id).unwrap_or_else(|| {
            observed.push(id);
            observed.len() - 1
        });
        let key = (index as u32, result as u32);
        let position = self.observed.iter().position(|known| *known == key).unwrap_or_else(|| {
            self.observed.push(key);
            self.locals.push(typed::Local { name: format!("{}.{name}", thread.text), ty });
            self.observed.len() - 1
        });
        Some(Expr { kind: ExprKind::Local(LocalId(position as u32)), ty, span })
    }
}
