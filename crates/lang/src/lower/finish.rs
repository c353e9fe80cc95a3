//! The last step of building a function: trivial phis go, blocks and values are numbered without gaps.

use ir::{Block, BlockId, Instruction, Op, Operand, Parameter, Terminator, ValueId, ValueInfo};
use std::collections::HashMap;

/// A function whose blocks still have the builder's numbers.
pub(super) struct Parts {
    pub(super) values: Vec<ValueInfo>,
    pub(super) parameters: Vec<Parameter>,
    /// In their final order.
    pub(super) blocks: Vec<(BlockId, Block)>,
}

/// Removes what construction has left over.
pub(super) fn finish(mut parts: Parts) -> (Vec<ValueInfo>, Vec<Parameter>, Vec<Block>) {
    let replaced = trivial_phis(&parts);
    for (_, block) in &mut parts.blocks {
        block.instructions.retain(|i| !i.results.iter().any(|value| replaced.contains_key(value)));
        for instruction in &mut block.instructions {
            instruction.op.for_each_operand_mut(|operand| *operand = resolve(&replaced, *operand));
        }
        block.terminator.for_each_operand_mut(|operand| *operand = resolve(&replaced, *operand));
    }
    number(parts)
}

/// Phis that stand for one other value: all their operands are that value or themselves.
fn trivial_phis(parts: &Parts) -> HashMap<ValueId, Operand> {
    let mut replaced = HashMap::new();
    loop {
        let before = replaced.len();
        let instructions = parts.blocks.iter().flat_map(|(_, block)| &block.instructions);
        for Instruction { results, op, .. } in instructions {
            let (Op::Phi { incoming }, [phi]) = (op, results.as_slice()) else { continue };
            if replaced.contains_key(phi) {
                continue;
            }
            let mut others = incoming
                .iter()
                .map(|(_, operand)| resolve(&replaced, *operand))
                .filter(|operand| *operand != Operand::Value(*phi));
            if let Some(first) = others.next()
                && others.all(|operand| operand == first)
            {
                replaced.insert(*phi, first);
            }
        }
        if replaced.len() == before {
            return replaced;
        }
    }
}

fn resolve(replaced: &HashMap<ValueId, Operand>, mut operand: Operand) -> Operand {
    // No cycle: a phi is replaced by a value that was not replaced at that time.
    while let Operand::Value(value) = operand
        && let Some(other) = replaced.get(&value)
    {
        operand = *other;
    }
    operand
}

/// Numbers blocks by position, and values by first definition: parameters first, then in order.
fn number(parts: Parts) -> (Vec<ValueInfo>, Vec<Parameter>, Vec<Block>) {
    let block_numbers: HashMap<BlockId, BlockId> =
        parts.blocks.iter().enumerate().map(|(n, (id, _))| (*id, BlockId::new(n))).collect();
    let mut value_numbers: HashMap<ValueId, ValueId> = HashMap::new();
    let mut values = vec![];
    let results = parts.blocks.iter().flat_map(|(_, block)| &block.instructions).flat_map(|i| &i.results);
    for value in parts.parameters.iter().map(|p| &p.value).chain(results) {
        value_numbers.insert(*value, ValueId::new(values.len()));
        values.push(parts.values[value.index()].clone());
    }
    let block_number = |id: &mut BlockId| *id = block_numbers.get(id).copied().unwrap_or(*id);
    let value_number = |value: &mut ValueId| *value = value_numbers.get(value).copied().unwrap_or(*value);
    let operand_number = |operand: &mut Operand| {
        if let Operand::Value(value) = operand {
            value_number(value);
        }
    };
    let mut parameters = parts.parameters;
    parameters.iter_mut().for_each(|p| value_number(&mut p.value));
    let mut blocks = vec![];
    for (_, mut block) in parts.blocks {
        for instruction in &mut block.instructions {
            instruction.results.iter_mut().for_each(value_number);
            instruction.op.for_each_operand_mut(operand_number);
            if let Op::Phi { incoming } = &mut instruction.op {
                incoming.iter_mut().for_each(|(from, _)| block_number(from));
            }
        }
        block.terminator.for_each_operand_mut(operand_number);
        match &mut block.terminator {
            Terminator::Jump(to) => block_number(to),
            Terminator::Branch { then, otherwise, .. } => {
                block_number(then);
                block_number(otherwise);
            }
            _ => {}
        }
        blocks.push(block);
    }
    (values, parameters, blocks)
}
