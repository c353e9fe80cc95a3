//! The transitive closure of "before", as staircases between chains.
//!
//! Along a chain, what comes before its points can only grow. So for two chains `a` and `b`, "the last
//! point of `a` that comes before this point of `b`" is a staircase: a few steps, sorted both by the
//! position on `b` at which they begin and by the position on `a` that they lift to.
//!
//! ```text
//!   last point of a          ┌────────────  step {at: 7, from: 9}
//!   that is before    ┌──────┘              step {at: 4, from: 5}
//!   b's points        │
//!                  ───┘                     (nothing of a is before b's points 0..3)
//!   points of b:   0  4      7
//! ```
//!
//! This is a vector clock of every point, stored by where it changes; the idea of answering reachability
//! by chain positions is that of vector clocks and of the sparse structures used in dynamic race
//! prediction. With `k` chains, a new edge `u → v` adds the pairs (what is before u) × (what is after v)
//! and nothing else, so it touches at most `k²` staircases, most of them without effect, however many
//! points there are. Undoing replays a log backwards.

use super::point::At;

const NONE: u32 = u32::MAX;

/// From position `at` of the target chain on, position `from` of the source chain is before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Step {
    at: u32,
    from: u32,
}

#[derive(Default)]
struct Stair {
    source: u32,
    target: u32,
    steps: Vec<Step>,
}

/// One staircase got higher: for each point of `target` in `at..end`, all of `source` up to `from` is
/// before it now, and only up to `known` was before the first of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rise {
    pub(crate) source: u32,
    pub(crate) target: u32,
    pub(crate) at: u32,
    pub(crate) end: u32,
    pub(crate) from: u32,
    pub(crate) known: Option<u32>,
}

struct Undo {
    stair: u32,
    index: u32,
    removed: u32,
}

/// Staircases of every pair of chains that has an order, with an undo log.
#[derive(Default)]
pub(crate) struct Closure {
    rows: Vec<Vec<u32>>,
    stairs: Vec<Stair>,
    into: Vec<Vec<u32>>,
    outof: Vec<Vec<u32>>,
    undo: Vec<Undo>,
    removed: Vec<Step>,
    before_u: Vec<At>,
    after_v: Vec<At>,
}

impl Closure {
    pub(crate) fn ensure_chain(&mut self, chain: u32) {
        let need = chain as usize + 1;
        if self.rows.len() < need {
            self.rows.resize_with(need, Vec::new);
            self.into.resize_with(need, Vec::new);
            self.outof.resize_with(need, Vec::new);
        }
    }

    fn stair(&self, source: u32, target: u32) -> Option<&Stair> {
        match self.rows[source as usize].get(target as usize) {
            Some(&s) if s != NONE => Some(&self.stairs[s as usize]),
            _ => None,
        }
    }

    fn stair_index(&mut self, source: u32, target: u32) -> usize {
        let row = &mut self.rows[source as usize];
        if row.len() <= target as usize {
            row.resize(target as usize + 1, NONE);
        }
        if row[target as usize] == NONE {
            let index = self.stairs.len() as u32;
            row[target as usize] = index;
            self.stairs.push(Stair { source, target, steps: Vec::new() });
            self.into[target as usize].push(index);
            self.outof[source as usize].push(index);
        }
        self.rows[source as usize][target as usize] as usize
    }

    /// The last point of `chain` that is before `y` (or is `y`).
    pub(crate) fn latest(&self, y: At, chain: u32) -> Option<u32> {
        if chain == y.chain {
            return Some(y.position);
        }
        self.stair(chain, y.chain).and_then(|s| s.latest(y.position))
    }

    /// Whether `x` is before `y`, or is `y`.
    pub(crate) fn reaches(&self, x: At, y: At) -> bool {
        self.latest(y, x.chain).is_some_and(|p| p >= x.position)
    }

    /// Whether `x` is before `y`.
    pub(crate) fn before(&self, x: At, y: At) -> bool {
        x != y && self.reaches(x, y)
    }

    /// Calls `visit` with the last point of each other chain that is before `y`.
    pub(crate) fn each_before(&self, y: At, mut visit: impl FnMut(At)) {
        for &s in &self.into[y.chain as usize] {
            let stair = &self.stairs[s as usize];
            if let Some(position) = stair.latest(y.position) {
                visit(At { chain: stair.source, position });
            }
        }
    }

    /// Adds `u → v`, which must not close a cycle; pushes what got known onto `rises`.
    pub(crate) fn add(&mut self, u: At, v: At, rises: &mut Vec<Rise>) {
        debug_assert!(!self.reaches(v, u), "the caller checks for cycles");
        if self.reaches(u, v) {
            return;
        }
        let mut before_u = std::mem::take(&mut self.before_u);
        let mut after_v = std::mem::take(&mut self.after_v);
        before_u.clear();
        before_u.push(u);
        self.each_before(u, |at| before_u.push(at));
        after_v.clear();
        after_v.push(v);
        for &s in &self.outof[v.chain as usize] {
            let stair = &self.stairs[s as usize];
            if let Some(position) = stair.earliest(v.position) {
                after_v.push(At { chain: stair.target, position });
            }
        }
        for &x in &before_u {
            for &y in &after_v {
                if x.chain != y.chain {
                    self.raise(x, y, rises);
                }
            }
        }
        self.before_u = before_u;
        self.after_v = after_v;
    }

    fn raise(&mut self, x: At, y: At, rises: &mut Vec<Rise>) {
        let index = self.stair_index(x.chain, y.chain);
        let steps = &mut self.stairs[index].steps;
        let (at, from) = (y.position, x.position);
        let after = steps.partition_point(|s| s.at <= at);
        let known = after.checked_sub(1).map(|i| steps[i].from);
        if known.is_some_and(|k| k >= from) {
            return;
        }
        let low = if after > 0 && steps[after - 1].at == at { after - 1 } else { after };
        let high = low + steps[low..].partition_point(|s| s.from <= from);
        let end = steps.get(high).map_or(u32::MAX, |s| s.at);
        self.removed.extend_from_slice(&steps[low..high]);
        let new = Step { at, from };
        if low == high {
            steps.insert(low, new);
        } else {
            steps[low] = new;
            steps.drain(low + 1..high);
        }
        self.undo.push(Undo { stair: index as u32, index: low as u32, removed: (high - low) as u32 });
        rises.push(Rise { source: x.chain, target: y.chain, at, end, from, known });
    }

    /// A mark to return to with [`Closure::undo_to`].
    pub(crate) fn mark(&self) -> usize {
        self.undo.len()
    }

    pub(crate) fn undo_to(&mut self, mark: usize) {
        while self.undo.len() > mark {
            let Some(undo) = self.undo.pop() else { return };
            let steps = &mut self.stairs[undo.stair as usize].steps;
            let index = undo.index as usize;
            let kept = self.removed.len() - undo.removed as usize;
            if undo.removed == 0 {
                steps.remove(index);
            } else {
                steps.splice(index..index + 1, self.removed[kept..].iter().copied());
                self.removed.truncate(kept);
            }
        }
    }
}

impl Stair {
    fn latest(&self, position: u32) -> Option<u32> {
        let after = self.steps.partition_point(|s| s.at <= position);
        after.checked_sub(1).map(|i| self.steps[i].from)
    }

    fn earliest(&self, position: u32) -> Option<u32> {
        let first = self.steps.partition_point(|s| s.from < position);
        self.steps.get(first).map(|s| s.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Rng(u64);
    impl Rng {
        fn below(&mut self, n: u32) -> u32 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 % u64::from(n)) as u32
        }
    }

    /// Warshall on all points, the slow way.
    fn plain(chains: u32, length: u32, edges: &[(At, At)]) -> Vec<Vec<bool>> {
        let n = (chains * length) as usize;
        let id = |a: At| (a.chain * length + a.position) as usize;
        let mut reach = vec![vec![false; n]; n];
        for (i, row) in reach.iter_mut().enumerate() {
            row[i] = true;
            if !(i as u32 + 1).is_multiple_of(length) {
                row[i + 1] = true;
            }
        }
        for &(u, v) in edges {
            reach[id(u)][id(v)] = true;
        }
        for k in 0..n {
            let via = reach[k].clone();
            for row in reach.iter_mut().filter(|row| row[k]) {
                row.iter_mut().zip(&via).for_each(|(r, v)| *r |= v);
            }
        }
        reach
    }

    #[test]
    fn closure_equals_warshall_through_random_adding_and_undoing() {
        let mut rng = Rng(0x9e3779b97f4a7c15);
        for _ in 0..200 {
            let (chains, length) = (1 + rng.below(4), 1 + rng.below(5));
            let mut closure = Closure::default();
            closure.ensure_chain(chains - 1);
            let mut edges: Vec<(At, At)> = vec![];
            let mut marks = vec![];
            let mut rises = vec![];
            for _ in 0..30 {
                if !edges.is_empty() && rng.below(4) == 0 {
                    let keep = rng.below(edges.len() as u32) as usize;
                    closure.undo_to(marks[keep]);
                    edges.truncate(keep);
                    marks.truncate(keep);
                } else {
                    let mut at = || At { chain: rng.below(chains), position: rng.below(length) };
                    let (u, v) = (at(), at());
                    if closure.reaches(v, u) {
                        continue;
                    }
                    let old = plain(chains, length, &edges);
                    marks.push(closure.mark());
                    edges.push((u, v));
                    rises.clear();
                    closure.add(u, v, &mut rises);
                    let new = plain(chains, length, &edges);
                    // Each new pair lies in a reported rise, and each rise is true.
                    for i in 0..chains * length {
                        for j in 0..chains * length {
                            let x = At { chain: i / length, position: i % length };
                            let y = At { chain: j / length, position: j % length };
                            let risen = rises.iter().any(|r| {
                                r.source == x.chain
                                    && r.target == y.chain
                                    && x.position <= r.from
                                    && r.known.is_none_or(|k| x.position > k)
                                    && (r.at..r.end).contains(&y.position)
                            });
                            let (was, is) = (old[i as usize][j as usize], new[i as usize][j as usize]);
                            assert!(!is || was || risen, "{x:?} {y:?} missed by the rises");
                            assert!(!risen || is, "{x:?} {y:?} wrongly risen");
                        }
                    }
                }
                let reach = plain(chains, length, &edges);
                for i in 0..chains * length {
                    for j in 0..chains * length {
                        let x = At { chain: i / length, position: i % length };
                        let y = At { chain: j / length, position: j % length };
                        assert_eq!(closure.reaches(x, y), reach[i as usize][j as usize], "{x:?} {y:?}");
                    }
                }
            }
        }
    }
}
