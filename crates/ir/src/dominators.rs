//! Dominators of a function's blocks, after Lengauer and Tarjan ("A fast algorithm for finding dominators
//! in a flowgraph", TOPLAS 1979), in its simple form: O(m log n), without recursion, because a program
//! that comes from outside may have any form. Names are the paper's.

/// No vertex.
const NONE: u32 = u32::MAX;

/// Which blocks dominate which, of those that the entry reaches.
pub(crate) struct Dominators {
    /// For each block its place in the preorder of the dominator tree, or `NONE`.
    enter: Vec<u32>,
    /// For each block how many blocks it dominates, itself included.
    size: Vec<u32>,
    /// For each block its immediate dominator, or `NONE`.
    above: Vec<u32>,
}

impl Dominators {
    /// Computes them; block 0 is the entry, and all numbers in `successors` are in range.
    pub(crate) fn new(successors: &[Vec<u32>], predecessors: &[Vec<u32>]) -> Dominators {
        let count = successors.len();
        let mut dominators =
            Dominators { enter: vec![NONE; count], size: vec![0; count], above: vec![NONE; count] };
        if successors.is_empty() {
            return dominators;
        }
        let Search { number, vertex, parent } = Search::new(successors);
        let dom = immediate(predecessors, &number, &vertex, &parent);

        // dom[w] < w, so sizes of subtrees come from a walk backwards, and preorder numbers from one forwards.
        let n = vertex.len();
        let mut size = vec![1; n];
        for w in (1..n).rev() {
            size[dom[w] as usize] += size[w];
        }
        let (mut enter, mut next) = (vec![0; n], vec![1; n]);
        for w in 1..n {
            let above = dom[w] as usize;
            enter[w] = next[above];
            next[above] += size[w];
            next[w] = enter[w] + 1;
        }
        for w in 0..n {
            dominators.enter[vertex[w] as usize] = enter[w];
            dominators.size[vertex[w] as usize] = size[w];
            if w > 0 {
                dominators.above[vertex[w] as usize] = vertex[dom[w] as usize];
            }
        }
        dominators
    }

    /// Whether the entry reaches a block.
    pub(crate) fn reachable(&self, block: usize) -> bool {
        self.enter[block] != NONE
    }

    /// The block nearest to `block` that every way from the entry to it goes through; none for the entry, and for what is never reached.
    pub(crate) fn immediate(&self, block: usize) -> Option<usize> {
        let above = self.above[block];
        (above != NONE).then_some(above as usize)
    }

    /// Whether every way from the entry to `below` goes through `above`. What is never reached is dominated by all.
    pub(crate) fn dominates(&self, above: usize, below: usize) -> bool {
        if !self.reachable(below) {
            return true;
        }
        self.reachable(above)
            && self.enter[above] <= self.enter[below]
            && self.enter[below] - self.enter[above] < self.size[above]
    }
}

/// A depth-first search from the entry.
struct Search {
    /// For each block its preorder number, or `NONE`.
    number: Vec<u32>,
    /// The block with each number.
    vertex: Vec<u32>,
    /// For each number that of the vertex it was reached from.
    parent: Vec<u32>,
}

impl Search {
    fn new(successors: &[Vec<u32>]) -> Search {
        let mut search = Search { number: vec![NONE; successors.len()], vertex: vec![0], parent: vec![NONE] };
        search.number[0] = 0;
        let mut stack = vec![(0, 0)];
        while let Some((block, next)) = stack.last_mut() {
            let Some(&to) = successors[*block as usize].get(*next) else {
                stack.pop();
                continue;
            };
            *next += 1;
            if search.number[to as usize] == NONE {
                search.parent.push(search.number[*block as usize]);
                search.number[to as usize] = search.vertex.len() as u32;
                search.vertex.push(to);
                stack.push((to, 0));
            }
        }
        search
    }
}

/// The immediate dominators, in preorder numbers.
fn immediate(predecessors: &[Vec<u32>], number: &[u32], vertex: &[u32], parent: &[u32]) -> Vec<u32> {
    let n = vertex.len();
    let mut forest = Forest { ancestor: vec![NONE; n], label: (0..n as u32).collect(), path: vec![] };
    let mut semi: Vec<u32> = (0..n as u32).collect();
    let mut dom = vec![0; n];
    let mut bucket = vec![vec![]; n];
    for w in (1..n).rev() {
        for &block in &predecessors[vertex[w] as usize] {
            let v = number[block as usize];
            if v != NONE {
                semi[w] = semi[w].min(semi[forest.eval(v, &semi) as usize]);
            }
        }
        bucket[semi[w] as usize].push(w as u32);
        forest.ancestor[w] = parent[w];
        for v in std::mem::take(&mut bucket[parent[w] as usize]) {
            let u = forest.eval(v, &semi);
            dom[v as usize] = if semi[u as usize] < semi[v as usize] { u } else { parent[w] };
        }
    }
    for w in 1..n {
        if dom[w] != semi[w] {
            dom[w] = dom[dom[w] as usize];
        }
    }
    dom
}

/// The forest of processed vertices, with path compression.
struct Forest {
    ancestor: Vec<u32>,
    label: Vec<u32>,
    path: Vec<u32>,
}

impl Forest {
    /// The vertex of smallest semidominator on the way from `v` up to below its root.
    fn eval(&mut self, v: u32, semi: &[u32]) -> u32 {
        let mut x = v;
        while self.ancestor[x as usize] != NONE && self.ancestor[self.ancestor[x as usize] as usize] != NONE {
            self.path.push(x);
            x = self.ancestor[x as usize];
        }
        while let Some(x) = self.path.pop() {
            let above = self.ancestor[x as usize] as usize;
            if semi[self.label[above] as usize] < semi[self.label[x as usize] as usize] {
                self.label[x as usize] = self.label[above];
            }
            self.ancestor[x as usize] = self.ancestor[above];
        }
        self.label[v as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// By the definition: `above` dominates `below` if removing it cuts `below` off.
    fn dominates_by_definition(successors: &[Vec<u32>], above: usize, below: usize) -> bool {
        let mut seen = vec![false; successors.len()];
        let mut stack = if above == 0 { vec![] } else { vec![0] };
        while let Some(block) = stack.pop() {
            if block != above && !std::mem::replace(&mut seen[block], true) {
                stack.extend(successors[block].iter().map(|&to| to as usize));
            }
        }
        !seen[below]
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(
            successors in (1usize..12).prop_flat_map(|n| {
                prop::collection::vec(prop::collection::vec(0..n as u32, 0..4), n)
            })
        ) {
            let n = successors.len();
            let mut predecessors = vec![vec![]; n];
            for (from, to) in successors.iter().enumerate() {
                to.iter().for_each(|&to| predecessors[to as usize].push(from as u32));
            }
            let dominators = Dominators::new(&successors, &predecessors);
            for above in (0..n).filter(|&b| dominators.reachable(b)) {
                for below in 0..n {
                    let expected = dominates_by_definition(&successors, above, below);
                    prop_assert_eq!(dominators.dominates(above, below), expected, "{} {}", above, below);
                }
            }
        }
    }

    #[test]
    fn a_long_chain_of_nested_loops_takes_no_time() {
        let n = 200_000u32;
        let successors: Vec<Vec<u32>> =
            (0..n).map(|b| if b + 1 < n { vec![b + 1, b / 2 + 1] } else { vec![] }).collect();
        let mut predecessors = vec![vec![]; n as usize];
        for (from, to) in successors.iter().enumerate() {
            to.iter().for_each(|&to| predecessors[to as usize].push(from as u32));
        }
        let dominators = Dominators::new(&successors, &predecessors);
        assert!(dominators.dominates(7, n as usize - 1));
    }
}
