//! Flow of control and of values: predecessors, phis, and that definitions dominate their uses.

use super::function::Checked;
use super::{Place, Verifier, fail};
use crate::dominators::Dominators;
use crate::{BlockId, Function, Op, Operand, Terminator};

/// Where a value is defined.
#[derive(Clone, Copy)]
pub(super) enum Definition {
    Parameter,
    Instruction {
        block: usize,
        index: usize,
    },
    /// On the normal way out of this block.
    Invoke {
        block: usize,
    },
}

/// The flow graph of one function.
pub(super) struct Flow {
    definitions: Vec<Option<Definition>>,
    /// For each block those that may go to it, each once.
    predecessors: Vec<Vec<u32>>,
    dominators: Dominators,
    /// For each block on how many edges control comes in that has not been there before.
    entered: Vec<u32>,
}

impl Flow {
    /// All successors exist.
    pub(super) fn new(function: &Function, definitions: Vec<Option<Definition>>) -> Flow {
        let successors: Vec<Vec<u32>> = function
            .blocks
            .iter()
            .map(|block| block.terminator.successors().into_iter().map(|to| to.0).collect())
            .collect();
        let mut predecessors: Vec<Vec<u32>> = vec![vec![]; successors.len()];
        for (from, to) in successors.iter().enumerate() {
            for &to in to {
                let list = &mut predecessors[to as usize];
                if list.last() != Some(&(from as u32)) {
                    list.push(from as u32);
                }
            }
        }
        let dominators = Dominators::new(&successors, &predecessors);
        let entered = (0..successors.len())
            .map(|block| {
                let comes = |&from: &u32| {
                    dominators.reachable(from as usize) && !dominators.dominates(block, from as usize)
                };
                predecessors[block].iter().filter(|from| comes(from)).count() as u32
            })
            .collect();
        Flow { definitions, predecessors, dominators, entered }
    }

    /// Whether a definition has happened whenever control is in `block` before its `index`-th instruction.
    fn before(&self, function: &Function, definition: Definition, block: usize, index: usize) -> bool {
        match definition {
            Definition::Parameter => true,
            Definition::Instruction { block: defining, index: at } if defining == block => {
                at < index || !self.dominators.reachable(block)
            }
            Definition::Instruction { block: defining, .. } => self.dominators.dominates(defining, block),
            Definition::Invoke { block: defining } => {
                // Only the normal way carries the value: that edge itself must dominate the use, so it is
                // the only one on which control comes into its target.
                let Terminator::Invoke { normal, unwind, .. } = &function.blocks[defining].terminator else {
                    return false;
                };
                !self.dominators.reachable(block)
                    || (normal != unwind
                        && self.entered[normal.index()] == 1
                        && !self.dominators.dominates(normal.index(), defining)
                        && self.dominators.dominates(normal.index(), block))
            }
        }
    }

    /// Whether a definition has happened whenever control goes from `from` to `to`.
    fn on_edge(&self, function: &Function, definition: Definition, from: usize, to: usize) -> bool {
        match definition {
            Definition::Invoke { block } if block == from => match &function.blocks[from].terminator {
                Terminator::Invoke { normal, unwind, .. } => normal != unwind && normal.index() == to,
                _ => false,
            },
            other => self.before(function, other, from, usize::MAX),
        }
    }
}

impl Verifier<'_> {
    /// Phis and the order of definitions and uses.
    pub(super) fn flow(&mut self, checked: &Checked<'_>, flow: &Flow) {
        let Checked { id, function } = *checked;
        self.place = Place::Block(id, BlockId(0));
        if let Some(from) = flow.predecessors[0].first() {
            fail!(self, "it is the entry, but b{from} goes to it");
        }
        let mut mark = Mark { last: vec![usize::MAX; function.blocks.len()], round: 0 };
        for (b, block) in function.blocks.iter().enumerate() {
            for (i, instruction) in block.instructions.iter().enumerate() {
                self.place = Place::Instruction(id, BlockId::new(b), i);
                match &instruction.op {
                    Op::Phi { incoming } => self.phi(checked, flow, &mut mark, b, incoming),
                    op => op.for_each_operand(|operand| self.usage(checked, flow, operand, b, i)),
                }
            }
            self.place = Place::Terminator(id, BlockId::new(b));
            block.terminator.for_each_operand(|operand| self.usage(checked, flow, operand, b, usize::MAX));
        }
    }

    fn usage(&mut self, checked: &Checked<'_>, flow: &Flow, operand: &Operand, block: usize, index: usize) {
        if let Operand::Value(value) = operand
            && let Some(Some(definition)) = flow.definitions.get(value.index())
            && !flow.before(checked.function, *definition, block, index)
        {
            fail!(self, "uses %{}, which is not defined on every way here", value.0);
        }
    }

    fn phi(
        &mut self,
        checked: &Checked<'_>,
        flow: &Flow,
        mark: &mut Mark,
        block: usize,
        incoming: &[(BlockId, Operand)],
    ) {
        let predecessors = &flow.predecessors[block];
        if incoming.len() != predecessors.len() {
            fail!(
                self,
                "a phi of {} values in a block with {} predecessors",
                incoming.len(),
                predecessors.len()
            );
        }
        mark.round += 1;
        for (from, operand) in incoming {
            if predecessors.binary_search(&from.0).is_err() {
                fail!(self, "the phi has a value for b{}, which does not go here", from.0);
                continue;
            }
            if std::mem::replace(&mut mark.last[from.index()], mark.round) == mark.round {
                fail!(self, "the phi has two values for b{}", from.0);
            }
            if let Operand::Value(value) = operand
                && let Some(Some(definition)) = flow.definitions.get(value.index())
                && !flow.on_edge(checked.function, *definition, from.index(), block)
            {
                fail!(self, "uses %{} for b{}, where it is not defined on every way", value.0, from.0);
            }
        }
    }
}

/// Which blocks the present phi has named already.
struct Mark {
    last: Vec<usize>,
    round: usize,
}
