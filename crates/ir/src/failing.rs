//! Code that does nothing but fail: what a failed assertion of a compiled program leads to.

use crate::{BlockId, Callee, FunctionId, Op, Program, SiteId, SiteIndex, SitePlace, Terminator};

/// Functions that end the process because an assertion does not hold.
const FAILING: [&str; 6] = [
    "__assert_fail",
    "__assert_perror_fail",
    "__assert",
    "__tb_assert_failed",
    "reach_error",
    "__VERIFIER_error",
];

/// So far functions that only call such a function are looked into.
const DEEPEST: u32 = 4;
/// So many blocks that only lead on may follow each other.
const LONGEST: u32 = 16;

/// Whether a function outside the program ends the process because an assertion does not hold.
#[must_use]
pub fn is_assertion_failure(symbol: &str) -> bool {
    FAILING.contains(&symbol)
}

/// The call with which a block fails: who comes to the block comes to the call, and that ends the process because an assertion does not
/// hold.
#[must_use]
pub fn failing_call(
    program: &Program,
    sites: &SiteIndex,
    function: FunctionId,
    block: BlockId,
) -> Option<SiteId> {
    let (block, instruction) = failing_place(program, function, block, DEEPEST)?;
    Some(sites.site(SitePlace { function, block, instruction }))
}

fn failing_place(
    program: &Program,
    function: FunctionId,
    mut block: BlockId,
    deepest: u32,
) -> Option<(BlockId, u32)> {
    let code = program.functions.get(function.index())?;
    for _ in 0..LONGEST {
        let here = code.blocks.get(block.index())?;
        for (at, instruction) in here.instructions.iter().enumerate() {
            let fails = match &instruction.op {
                Op::Call { callee: Callee::External(symbol), .. } => is_assertion_failure(symbol),
                Op::Call { callee: Callee::Function(called), .. } => {
                    let name = program.functions.get(called.index()).map(|called| &*called.name);
                    name.is_some_and(is_assertion_failure)
                        || (deepest > 0 && failing_place(program, *called, BlockId(0), deepest - 1).is_some())
                }
                Op::Call { .. } => false,
                _ => continue,
            };
            // Any other call may come back or not.
            return fails.then_some((block, at as u32));
        }
        match here.terminator {
            Terminator::Jump(next) => block = next,
            _ => return None,
        }
    }
    None
}
