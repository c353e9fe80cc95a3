//! Recursion is an error: every run must end, and calls are followed without a stack of unknown depth.
//!
//! Forks count too: a function that forks itself makes threads without end.

use super::Checker;
use crate::{Diagnostic, Span};
use ir::FunctionId;

impl Checker {
    /// Reports each cycle of calls once.
    pub(super) fn recursion(&mut self) {
        /// How far the search has come with a function.
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Done,
        }
        let mut states = vec![State::New; self.function_heads.len()];
        let mut cycles: Vec<Vec<(FunctionId, Span)>> = vec![];
        for root in 0..states.len() {
            // Depth-first search with its own stack: (function, next callee, where the callee is called).
            let mut path: Vec<(FunctionId, usize)> = vec![];
            if states[root] == State::New {
                states[root] = State::Open;
                path.push((FunctionId::new(root), 0));
            }
            while let Some((function, next)) = path.last_mut() {
                let callees = &self.function_heads[function.index()].callees;
                let Some(&(callee, _)) = callees.get(*next) else {
                    states[function.index()] = State::Done;
                    path.pop();
                    continue;
                };
                *next += 1;
                match states[callee.index()] {
                    State::New => {
                        states[callee.index()] = State::Open;
                        path.push((callee, 0));
                    }
                    State::Open => {
                        let from = path.iter().position(|(f, _)| *f == callee).unwrap_or(0);
                        cycles.push(
                            path[from..]
                                .iter()
                                .map(|&(f, n)| {
                                    let (_, span) = self.function_heads[f.index()].callees[n - 1];
                                    (f, span)
                                })
                                .collect(),
                        );
                    }
                    State::Done => {}
                }
            }
        }
        for cycle in cycles {
            self.report_cycle(&cycle);
        }
    }

    fn report_cycle(&mut self, cycle: &[(FunctionId, Span)]) {
        let name = |f: FunctionId| self.function_heads[f.index()].name.as_str();
        let (first, span) = cycle[0];
        let mut way: Vec<&str> = cycle.iter().map(|(f, _)| name(*f)).collect();
        way.push(name(first));
        let way = way.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(" → ");
        let message = if cycle.len() == 1 {
            format!("function `{}` calls itself", name(first))
        } else {
            format!("these functions call each other in a circle: {way}")
        };
        let callee = cycle.get(1).map_or(first, |(f, _)| *f);
        let mut error = Diagnostic::new(span, message).here(format!("`{}` is called here", name(callee)));
        for (i, (_, at)) in cycle.iter().enumerate().skip(1) {
            let callee = cycle.get(i + 1).map_or(first, |(f, _)| *f);
            error = error.label(*at, format!("`{}` is called here", name(callee)));
        }
        self.error(error.help("recursion is not part of the language, by calls or by forks; use a loop"));
    }
}
