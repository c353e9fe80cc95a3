//! The order in which the blocks of a function are unfolded: a weak topological order (F. Bourdoncle, FMPA 1993).
//!
//! A block comes after all blocks that lead to it without going round a loop, and the blocks of a loop stand together,
//! its head first. So whoever takes the waiting block with the least number, but goes back to the head of a loop only when nobody
//! waits inside it, goes round a loop to its end before leaving it, and meets each place behind a branch once, with all ways that
//! lead there.

use ir::Function;

/// The place of a block in the order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rank {
    /// Its number.
    pub number: usize,
    /// For the head of a loop the number behind the loop's last block, otherwise the next number.
    pub end: usize,
}

/// For each block its place; blocks that nothing leads to have the largest number.
pub fn ranks(function: &Function) -> Vec<Rank> {
    let count = function.blocks.len();
    let successors: Vec<Vec<usize>> = function
        .blocks
        .iter()
        .map(|b| b.terminator.successors().iter().map(|s| s.index()).collect())
        .collect();
    let mut order = Vec::with_capacity(count);
    arrange(&successors, &[0], &vec![true; count], &mut order);
    let mut ranks = vec![Rank { number: usize::MAX, end: usize::MAX }; count];
    for (number, &(block, size)) in order.iter().enumerate() {
        ranks[block] = Rank { number, end: number + size };
    }
    ranks
}

/// Appends the blocks of `within` that `entries` lead to, components in topological order, heads first, each block with the size of the
/// component that it heads.
fn arrange(successors: &[Vec<usize>], entries: &[usize], within: &[bool], order: &mut Vec<(usize, usize)>) {
    for component in components(successors, entries, within).into_iter().rev() {
        // The component was found from its first block on: that is its head.
        let head = component[0];
        order.push((head, component.len()));
        if component.len() > 1 {
            let mut rest = vec![false; within.len()];
            component[1..].iter().for_each(|&block| rest[block] = true);
            let inside: Vec<usize> = successors[head].iter().copied().filter(|&to| rest[to]).collect();
            arrange(successors, &inside, &rest, order);
        }
    }
}

/// Strongly connected components (R. Tarjan), those that others lead to first; each begins with the block by which it was entered.
fn components(successors: &[Vec<usize>], entries: &[usize], within: &[bool]) -> Vec<Vec<usize>> {
    struct Search<'a> {
        successors: &'a [Vec<usize>],
        within: &'a [bool],
        number: Vec<Option<usize>>,
        low: Vec<usize>,
        stack: Vec<usize>,
        on_stack: Vec<bool>,
        next: usize,
        found: Vec<Vec<usize>>,
    }
    impl Search<'_> {
        fn visit(&mut self, block: usize) {
            self.number[block] = Some(self.next);
            self.low[block] = self.next;
            self.next += 1;
            self.stack.push(block);
            self.on_stack[block] = true;
            for &to in &self.successors[block] {
                if !self.within[to] {
                    continue;
                }
                match self.number[to] {
                    None => {
                        self.visit(to);
                        self.low[block] = self.low[block].min(self.low[to]);
                    }
                    Some(number) if self.on_stack[to] => self.low[block] = self.low[block].min(number),
                    Some(_) => {}
                }
            }
            if Some(self.low[block]) == self.number[block] {
                let at = self.stack.iter().rposition(|&b| b == block).unwrap_or(0);
                let component = self.stack.split_off(at);
                component.iter().for_each(|&b| self.on_stack[b] = false);
                self.found.push(component);
            }
        }
    }
    let count = successors.len();
    let mut search = Search {
        successors,
        within,
        number: vec![None; count],
        low: vec![0; count],
        stack: vec![],
        on_stack: vec![false; count],
        next: 0,
        found: vec![],
    };
    for &entry in entries {
        if search.number[entry].is_none() {
            search.visit(entry);
        }
    }
    search.found
}
