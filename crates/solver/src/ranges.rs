//! How large the values of reads can get, so that they need few bits.
//!
//! A value flows from a write to a read to the next write, forward in time, so it passes each write at most
//! once. Where a write stores "a read plus a constant", the bounds move by that constant; every other stored value
//! is a start, bounded by what holds of its term whatever its variables are. Reads that do not happen are zero, so zero
//! is a start too. Locations that values flow around between form a group (a strongly connected component): within it
//! a value can collect every positive constant, or every negative one, but each only once. Groups are
//! taken in the order of flow.
//!
//! What was found is kept for [`crate::increments`], which says more about reads that are compared with a constant.
//!
//! "Forward in time" needs that a write comes after the read that it depends on by the fixed order: otherwise
//! values could justify themselves, and the stored value counts as a start.

use crate::increments::Group;
use crate::order::At;
use crate::solver::Solver;
use crate::terms::facts::Facts;
use crate::terms::value::signed;
use crate::terms::{BvNode, BvRef};
use rustc_hash::FxHashMap;

/// Where a read's value belongs, and when it is read.
type Owners = FxHashMap<BvRef, (usize, At)>;

/// A write that stores what was read from another location (or the same), moved by a constant.
struct Flow {
    from: usize,
    to: usize,
    by: i128,
    at: At,
}

impl Solver {
    /// Bounds the values of the reads of the locations from `first` on.
    pub(crate) fn bound_reads(&mut self, first: usize) {
        let locations = &self.problem.locations[first..];
        let mut owners = Owners::default();
        for (i, location) in locations.iter().enumerate() {
            owners.extend(location.reads.iter().map(|read| (read.value, (i, read.at))));
        }
        // Absent reads are zero: every location starts with that.
        let mut bounds: Vec<(i128, i128)> = vec![(0, 0); locations.len()];
        let mut flows = Vec::new();
        for (i, location) in locations.iter().enumerate() {
            let mut start = |value: BvRef| {
                let (low, high) = self.bank.facts(value).signed_range();
                bounds[i] = (bounds[i].0.min(low), bounds[i].1.max(high));
            };
            location.initial.into_iter().for_each(&mut start);
            for write in &location.writes {
                match self.moved(write.value, write.at, &owners) {
                    Some((from, by)) => flows.push(Flow { from, to: i, by, at: write.at }),
                    None => start(write.value),
                }
            }
        }
        let (groups, group) = settle(&bounds, &flows);
        let known = self.encoded.increments.add(groups);
        let mut facts = Vec::new();
        for (i, location) in locations.iter().enumerate() {
            for read in &location.reads {
                let group = known + group[i];
                let (low, high) = self.encoded.increments.group(group).range();
                let width = self.bank.width(read.value);
                let (least, greatest) = Facts::unknown(width).signed_range();
                if least <= low && high <= greatest {
                    facts.push((read.value, Facts::between(low, high, width)));
                    self.encoded.increments.read(read.value, read.at, group);
                }
            }
        }
        for (value, facts) in facts {
            self.blaster.bound(value, facts);
        }
    }

    /// The location of the earlier read that the stored value is, and the constant added to it.
    fn moved(&self, value: BvRef, at: At, owners: &Owners) -> Option<(usize, i128)> {
        let (read, by) = match self.bank.bv_node(value) {
            BvNode::Sum { constant, addends } => match addends[..] {
                [(term, 1)] => (term, signed(*constant, self.bank.width(value))),
                _ => return None,
            },
            _ => (value, 0),
        };
        let &(from, read_at) = owners.get(&read)?;
        (read_at == at || self.fixed.before(read_at, at)).then_some((from, by))
    }
}

/// Lets bounds flow, group by group. Returns the groups and which one each location belongs to.
fn settle(bounds: &[(i128, i128)], flows: &[Flow]) -> (Vec<Group>, Vec<usize>) {
    let (group, count) = groups(bounds.len(), flows);
    let mut all: Vec<Group> = (0..count).map(|_| Group::default()).collect();
    for (i, &(low, high)) in bounds.iter().enumerate() {
        all[group[i]].start(low, high);
    }
    let mut outer: Vec<Vec<&Flow>> = vec![Vec::new(); count];
    for flow in flows {
        if group[flow.from] == group[flow.to] {
            all[group[flow.to]].step(flow.at, flow.by);
        } else {
            outer[group[flow.from]].push(flow);
        }
    }
    // Groups are numbered against the flow: those that others flow into come first.
    for g in (0..count).rev() {
        let (low, high) = all[g].range();
        for flow in &outer[g] {
            all[group[flow.to]].start(low.saturating_add(flow.by), high.saturating_add(flow.by));
        }
    }
    (all, group)
}

/// Strongly connected components (Tarjan), numbered so that flow goes from higher to lower numbers.
fn groups(count: usize, flows: &[Flow]) -> (Vec<usize>, usize) {
    const NEW: usize = usize::MAX;
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); count];
    for flow in flows.iter().filter(|f| f.from != f.to) {
        next[flow.from].push(flow.to);
    }
    let (mut index, mut low) = (vec![NEW; count], vec![0; count]);
    let mut group = vec![NEW; count];
    let (mut open, mut seen, mut groups) = (Vec::new(), 0, 0);
    for root in 0..count {
        let mut stack = vec![(root, 0)];
        while let Some((at, child)) = stack.pop() {
            if child == 0 {
                if index[at] != NEW {
                    continue;
                }
                (index[at], low[at]) = (seen, seen);
                seen += 1;
                open.push(at);
            }
            if child > 0 {
                low[at] = low[at].min(low[next[at][child - 1]]);
            }
            match next[at][child..].iter().position(|&n| index[n] == NEW || group[n] == NEW) {
                Some(skip) => {
                    let to = next[at][child + skip];
                    stack.push((at, child + skip + 1));
                    if index[to] == NEW {
                        stack.push((to, 0));
                    } else {
                        low[at] = low[at].min(index[to]);
                    }
                }
                None => {
                    if low[at] == index[at] {
                        while let Some(member) = open.pop() {
                            group[member] = groups;
                            if member == at {
                                break;
                            }
                        }
                        groups += 1;
                    }
                }
            }
        }
    }
    (group, groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(from: usize, to: usize, by: i128) -> Flow {
        Flow { from, to, by, at: At { chain: 0, position: 0 } }
    }

    fn ranges(bounds: &[(i128, i128)], flows: &[Flow]) -> Vec<(i128, i128)> {
        let (groups, group) = settle(bounds, flows);
        group.iter().map(|&g| groups[g].range()).collect()
    }

    #[test]
    fn a_counter_collects_each_step_once() {
        assert_eq!(ranges(&[(0, 2)], &[flow(0, 0, 1), flow(0, 0, 3), flow(0, 0, -2)]), [(-2, 6)]);
    }

    #[test]
    fn bounds_flow_through_groups_in_order() {
        // 0 → 1 ⇄ 2 → 3, with 4 apart.
        let bounds = [(0, 5), (0, 0), (0, 1), (0, 0), (-3, 0)];
        let flows = [flow(2, 3, 10), flow(1, 2, 1), flow(2, 1, 2), flow(0, 1, 100)];
        assert_eq!(ranges(&bounds, &flows), [(0, 5), (0, 108), (0, 108), (0, 118), (-3, 0)]);
    }

    #[test]
    fn groups_are_those_of_plain_reachability() {
        let mut state = 12345u64;
        let mut random = |n: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((state >> 33) % n) as usize
        };
        for _ in 0..300 {
            let count = 1 + random(8);
            let flows: Vec<Flow> =
                (0..random(16)).map(|_| flow(random(count as u64), random(count as u64), 0)).collect();
            let mut reach = vec![vec![false; count]; count];
            (0..count).for_each(|i| reach[i][i] = true);
            for _ in 0..count {
                for f in &flows {
                    for row in &mut reach {
                        row[f.to] |= row[f.from];
                    }
                }
            }
            let (group, groups) = groups(count, &flows);
            assert!(group.iter().all(|&g| g < groups));
            for i in 0..count {
                for j in 0..count {
                    assert_eq!(group[i] == group[j], reach[i][j] && reach[j][i]);
                    assert!(!reach[i][j] || group[i] >= group[j], "flow goes to lower numbers");
                }
            }
        }
    }
}
