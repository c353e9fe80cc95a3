//! Loops that a thread may go round without effect: those of which it is not certain that each round writes or synchronises.

use crate::{BlockId, Function, Op};
use std::collections::BTreeSet;

/// Whether these blocks of a function have such a loop.
pub(super) fn may_go_round(function: &Function, blocks: impl Iterator<Item = BlockId>) -> bool {
    // What an update or a call does may be nothing.
    let is_quiet = |op: &Op| {
        !matches!(
            op,
            Op::Store { .. }
                | Op::MemoryCopy { .. }
                | Op::MemorySet { .. }
                | Op::Free { .. }
                | Op::Fork { .. }
                | Op::Sync { .. }
        )
    };
    let mut left: BTreeSet<BlockId> =
        blocks.filter(|&id| function.block(id).instructions.iter().all(|one| is_quiet(&one.op))).collect();
    loop {
        let goes_on =
            |id: &BlockId| function.block(*id).terminator.successors().iter().any(|to| left.contains(to));
        let still: BTreeSet<BlockId> = left.iter().copied().filter(goes_on).collect();
        if still.len() == left.len() {
            return !left.is_empty();
        }
        left = still;
    }
}
