//! The ways of a branch: where they come together again, and what may happen on each of them (PRUNE §5.1).

use super::effects::All;
use super::rounds::may_go_round;
use super::{Effects, PostDominators};
use crate::{BlockId, FunctionId, Program};
use std::collections::BTreeSet;

/// The branches of a program.
pub struct Branches<'p> {
    program: &'p Program,
    effects: All<'p>,
    merges: Vec<PostDominators>,
}

/// What may happen between a branch and its merge point.
#[derive(Clone, Debug)]
pub struct Ways {
    /// The immediate post-dominator.
    pub merge: BlockId,
    /// One for each successor, in their order.
    pub sides: Vec<Side>,
}

/// One way.
#[derive(Clone, Debug)]
pub struct Side {
    /// What may happen on it, calls included.
    pub effects: Effects,
    /// Its blocks; none if it leads to the merge point at once. The branch itself is among them if it can come round to it.
    pub blocks: BTreeSet<BlockId>,
    /// The blocks from which it comes to the merge point.
    pub last: BTreeSet<BlockId>,
}

impl<'p> Branches<'p> {
    /// Those of a program.
    #[must_use]
    pub fn new(program: &'p Program) -> Branches<'p> {
        let merges = program.functions.iter().map(PostDominators::new).collect();
        Branches { program, effects: All::new(program), merges }
    }

    /// The ways of the branch at the end of a block; none if they do not come together in the function.
    #[must_use]
    pub fn ways(&self, function: FunctionId, block: BlockId) -> Option<Ways> {
        let code = self.program.function(function);
        let merge = self.merges[function.index()].of(block)?;
        let sides = code.block(block).terminator.successors().into_iter().map(|first| {
            let mut side =
                Side { effects: Effects::default(), blocks: BTreeSet::new(), last: BTreeSet::new() };
            let mut work = vec![(block, first)];
            while let Some((from, to)) = work.pop() {
                if to == merge {
                    side.last.insert(from);
                } else if side.blocks.insert(to) {
                    side.effects.join(&self.effects.block(function, to));
                    work.extend(code.block(to).terminator.successors().into_iter().map(|next| (to, next)));
                }
            }
            side.effects.rounds |= may_go_round(code, side.blocks.iter().copied());
            side
        });
        Some(Ways { merge, sides: sides.collect() })
    }
}
