//! Merge points: the immediate post-dominators of a function's blocks (PRUNE §5.1).

use crate::dominators::Dominators;
use crate::{BlockId, Function};

/// For each block of a function the first one that every way from it to the function's end goes through.
#[derive(Clone, Debug)]
pub struct PostDominators {
    immediate: Vec<Option<BlockId>>,
}

impl PostDominators {
    /// Those of a function.
    #[must_use]
    pub fn new(function: &Function) -> PostDominators {
        // Dominators of the graph turned round, whose entry is a block behind all ends.
        let count = function.blocks.len();
        let (mut forward, mut backward) = (vec![vec![]; count + 1], vec![vec![]; count + 1]);
        let mut edge = |from: usize, to: usize| {
            forward[to].push(from as u32);
            backward[from].push(to as u32);
        };
        for (at, block) in function.blocks.iter().enumerate() {
            let successors = block.terminator.successors();
            if successors.is_empty() {
                edge(at + 1, 0);
            }
            successors.into_iter().for_each(|to| edge(at + 1, to.index() + 1));
        }
        let dominators = Dominators::new(&forward, &backward);
        let immediate = |at: usize| match dominators.immediate(at + 1) {
            Some(0) | None => None,
            Some(above) => Some(BlockId::new(above - 1)),
        };
        PostDominators { immediate: (0..count).map(immediate).collect() }
    }

    /// That of a block; none if its ways come together only behind the function, or never.
    #[must_use]
    pub fn of(&self, block: BlockId) -> Option<BlockId> {
        self.immediate[block.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Block, Operand, Terminator, Width};
    use proptest::prelude::*;

    fn function(successors: &[Vec<usize>]) -> Function {
        let condition = Operand::int(Width::W1, 0);
        let block = |to: &Vec<usize>| {
            let terminator = match to[..] {
                [] => Terminator::Return(vec![]),
                [to] => Terminator::Jump(BlockId::new(to)),
                [then, otherwise, ..] => {
                    let (then, otherwise) = (BlockId::new(then), BlockId::new(otherwise));
                    Terminator::Branch { condition, then, otherwise }
                }
            };
            Block { instructions: vec![], terminator, position: None, label: None }
        };
        Function {
            name: "f".into(),
            parameters: vec![],
            results: vec![],
            values: vec![],
            blocks: successors.iter().map(block).collect(),
            position: None,
        }
    }

    /// Whether a block leads to an end of the function without going through `avoided`.
    fn ends(successors: &[Vec<usize>], from: usize, avoided: Option<usize>) -> bool {
        let (mut seen, mut work) = (vec![false; successors.len()], vec![from]);
        while let Some(at) = work.pop() {
            if Some(at) == avoided || std::mem::replace(&mut seen[at], true) {
                continue;
            }
            if successors[at].is_empty() {
                return true;
            }
            work.extend(&successors[at]);
        }
        false
    }

    proptest! {
        #[test]
        fn every_way_to_the_end_goes_through_the_merge_point(
            successors in (1usize..9).prop_flat_map(|n| prop::collection::vec(prop::collection::vec(0..n, 0..=2), n))
        ) {
            let merges = PostDominators::new(&function(&successors));
            for block in (0..successors.len()).filter(|&block| ends(&successors, block, None)) {
                let behind: Vec<usize> = (0..successors.len())
                    .filter(|&other| other != block && !ends(&successors, block, Some(other)))
                    .collect();
                match merges.of(BlockId::new(block)) {
                    None => prop_assert!(behind.is_empty(), "{} has {:?}", block, behind),
                    Some(merge) => {
                        prop_assert!(behind.contains(&merge.index()));
                        // It is the nearest: all others are behind it too.
                        for &other in behind.iter().filter(|&&other| other != merge.index()) {
                            prop_assert!(!ends(&successors, merge.index(), Some(other)));
                        }
                    }
                }
            }
        }
    }
}
