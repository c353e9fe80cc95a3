//! Concurrent trace programs on paper: as AV prints them.
//!
//! [`Form::Events`] is AV Fig. 3, events as guarded assignments; [`Form::Cssa`] is AV Fig. 4, each variable
//! defined once, with a π-function for each use of a shared variable (AV §4.1, Def. 3); [`Form::Formula`] is
//! AV Fig. 5, the formula that is satisfiable iff there is a feasible linearization. The formula is for
//! reading: what the engines solve says the same with prefixes, and has a theory in the place of the clauses
//! about order.

mod event;
mod expression;
mod formula;
mod names;

use crate::{Ctp, Kind};
use ir::Program;
use names::Names;
use std::fmt::Write as _;
use trace::{EventKind, Trace};

/// What is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Events as guarded assignments (AV Fig. 3).
    Events,
    /// Concurrent static single assignment (AV Fig. 4).
    Cssa,
    /// The formula (AV Fig. 5).
    Formula,
}

/// A concurrent trace program as text. `program` and `trace` are those that it was built from.
#[must_use]
pub fn show(ctp: &Ctp, program: &Program, trace: &Trace, form: Form) -> String {
    let names = Names::new(ctp, program, trace, form != Form::Events);
    match form {
        Form::Formula => formula::formula(&names),
        Form::Events | Form::Cssa => events(&names),
    }
}

/// One line for each event, in the recorded order, with a gap where the thread changes.
fn events(names: &Names<'_>) -> String {
    let mut text = String::new();
    if names.cssa {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "t0: ⟨0, (assume(true), {{{}}})⟩", names.initial_assignments().join(", "));
    }
    let mut before = None;
    for (n, event) in names.ctp.events.iter().enumerate() {
        if !is_shown(&event.kind) {
            continue;
        }
        if before.replace(event.thread).is_some_and(|thread| thread != event.thread) {
            text.push('\n');
        }
        let index = crate::EventIndex::new(n);
        let _ = writeln!(
            text,
            "{}: {}{}",
            names.label(index),
            event::guarded(names, index),
            names.choices(index)
        );
    }
    text
}

/// Boundaries of transactions and ends of threads change no variable.
fn is_shown(kind: &Kind) -> bool {
    !matches!(
        kind,
        Kind::Other(EventKind::TransactionBegin | EventKind::TransactionEnd | EventKind::End)
            | Kind::Fence(_)
    )
}
