//! The final condition: its function looks at the final memory and changes nothing.

use super::{Place, Verifier, fail};
use crate::{Callee, Function, FunctionId, Op, Terminator, Type};
use std::collections::HashSet;

impl Verifier<'_> {
    pub(super) fn final_condition(&mut self) {
        let program = self.program;
        let Some(condition) = &program.final_condition else { return };
        self.place = Place::FinalCondition;
        if !self.function_exists(condition.function) {
            return;
        }
        let function = program.function(condition.function);
        match &function.results[..] {
            [result] if result.ty == Type::BOOL => {}
            results => {
                let types: Vec<String> = results.iter().map(|r| r.ty.to_string()).collect();
                fail!(self, "${} gives ({}), expected (i1)", function.name, types.join(", "));
            }
        }
        if condition.observed.len() != function.parameters.len() {
            let (observed, parameters) = (condition.observed.len(), function.parameters.len());
            fail!(self, "observes {observed} locals, but ${} has {parameters} parameters", function.name);
        }
        for (observed, parameter) in condition.observed.iter().zip(&function.parameters) {
            let Some(thread) = program.threads.get(observed.thread as usize) else {
                fail!(
                    self,
                    "observes thread number {}, but there are {}",
                    observed.thread,
                    program.threads.len()
                );
                continue;
            };
            let Some(runs) = program.functions.get(thread.function.index()) else { continue };
            let Some(result) = runs.results.get(observed.result as usize) else {
                fail!(
                    self,
                    "observes result {} of thread {}, but it has {}",
                    observed.result,
                    thread.name,
                    runs.results.len()
                );
                continue;
            };
            if let Some(value) = function.values.get(parameter.value.index())
                && value.ty != result.ty
            {
                let number = parameter.value.0;
                fail!(
                    self,
                    "observes result {} of thread {}, {}, as %{number}, {}",
                    observed.result,
                    thread.name,
                    result.ty,
                    value.ty
                );
            }
        }
        self.no_effects(condition.function);
    }

    /// Neither the function nor any that it calls may have an effect.
    fn no_effects(&mut self, root: FunctionId) {
        let program = self.program;
        let mut seen = HashSet::from([root]);
        let mut left = vec![root];
        while let Some(id) = left.pop() {
            let function = program.function(id);
            let mut callees = vec![];
            if let Some(effect) = effect(function, &mut callees) {
                fail!(self, "evaluates ${}, which {effect}", function.name);
            }
            callees.retain(|callee| callee.index() < program.functions.len() && seen.insert(*callee));
            left.append(&mut callees);
        }
    }
}

/// An effect that the function has itself, if any; whom it calls goes to `callees`.
fn effect(function: &Function, callees: &mut Vec<FunctionId>) -> Option<&'static str> {
    let mut effect = None;
    let mut call = |callee: &Callee| match callee {
        Callee::Function(callee) => {
            callees.push(*callee);
            None
        }
        Callee::Indirect(_) => Some("calls through an address"),
        Callee::External(_) => Some("calls code that is not part of the program"),
    };
    for block in &function.blocks {
        for instruction in &block.instructions {
            effect = effect.or(match &instruction.op {
                Op::Binary { .. }
                | Op::Compare { .. }
                | Op::Cast { .. }
                | Op::Select { .. }
                | Op::Phi { .. }
                | Op::Address { .. }
                | Op::Load { .. }
                | Op::Opaque { memory: false, .. } => None,
                Op::Store { .. }
                | Op::Update { .. }
                | Op::CompareExchange { .. }
                | Op::MemoryCopy { .. }
                | Op::MemorySet { .. } => Some("writes memory"),
                Op::StackAlloc { .. } | Op::HeapAlloc { .. } | Op::Free { .. } => {
                    Some("allocates memory or gives it back")
                }
                Op::Fence { .. } | Op::Sync { .. } | Op::Fork { .. } => Some("synchronises"),
                Op::Check { .. } => Some("asserts or assumes"),
                Op::Opaque { memory: true, .. } => Some("may change memory in an unknown way"),
                Op::Call { callee, .. } => call(callee),
            });
        }
        if let Terminator::Invoke { callee, .. } = &block.terminator {
            effect = effect.or(call(callee));
        }
    }
    effect
}
