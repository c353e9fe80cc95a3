//! The final condition: a function of the observed locals that reads the final memory.

use super::{FunctionLowering, LowerOptions, Shapes, position};
use crate::typed;
use ir::{FinalCondition, Function, FunctionId, Observed, ResultDef, Terminator, Type};

/// The condition's function, which is to get the number `id`, and what the program says about it.
pub(super) fn lower(
    program: &typed::Program,
    options: &LowerOptions,
    shapes: &mut Shapes,
    condition: &typed::FinalCondition,
    id: usize,
) -> (Function, FinalCondition) {
    let mut lowering = FunctionLowering::new(program, options, shapes);
    for local in &condition.locals {
        let variable = lowering.builder.variable(local.ty.lowered(), Some(&local.name));
        lowering.variables.push(variable);
        lowering.builder.parameter(variable);
    }
    let place = position(condition.span);
    let result = lowering.truth(&condition.condition);
    lowering.builder.end(Terminator::Return(vec![result]), place, false);
    let (values, parameters, blocks) = lowering.builder.finish();
    let function = Function {
        name: "final condition".into(),
        parameters,
        results: vec![ResultDef { ty: Type::BOOL, name: None, signed: false }],
        values,
        blocks,
        position: place,
    };
    let observed = condition.observed.iter().map(|&(thread, result)| Observed { thread, result }).collect();
    let condition = FinalCondition {
        quantifier: condition.quantifier,
        function: FunctionId::new(id),
        observed,
        text: condition.text.clone(),
    };
    (function, condition)
}
