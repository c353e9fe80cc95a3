//! Wake-up trees: what is still to be run from a point, as sequences of steps that share their beginnings.
//!
//! Abdulla, Aronis, Jonsson, Sagonas: Optimal dynamic partial order reduction (POPL 2014). A branch says more than "this thread next": it
//! leads to a step that has to come before one that it came after in an earlier run. Running into something that was seen before
//! is impossible on such a way, and that is what makes the search optimal.

use std::collections::VecDeque;
use std::rc::Rc;
use subject::{Footprint, Move};

/// One step of a sequence: who, and what it touches.
#[derive(Clone, Debug)]
pub struct Item {
    pub made: Move,
    pub footprint: Rc<Footprint>,
}

impl Item {
    /// Whether the order of the two makes a difference.
    pub fn conflicts(&self, other: &Item) -> bool {
        self.made.thread == other.made.thread || self.footprint.conflicts(&other.footprint)
    }
}

/// Where a step stands in a sequence that starts at the same point.
#[derive(PartialEq, Eq, Debug)]
enum Standing {
    /// It can come first: it is the step with this index, and nothing before it minds.
    First(usize),
    /// It is not in the sequence, and can come before all of it.
    Beside,
    /// It cannot come first.
    Behind,
}

fn standing(item: &Item, sequence: &[Item]) -> Standing {
    for (at, other) in sequence.iter().enumerate() {
        if other.made.thread == item.made.thread {
            let same = other.made == item.made;
            return if same { Standing::First(at) } else { Standing::Behind };
        }
        if other.footprint.conflicts(&item.footprint) {
            return Standing::Behind;
        }
    }
    Standing::Beside
}

/// Whether `item` is a weak initial of `sequence`: whatever begins with the sequence can also begin with the item.
pub fn can_come_first(item: &Item, sequence: &[Item]) -> bool {
    standing(item, sequence) != Standing::Behind
}

/// Whether `item` is an initial of `sequence`: it is part of it, and can come first.
pub fn is_first(item: &Item, sequence: &[Item]) -> bool {
    matches!(standing(item, sequence), Standing::First(_))
}

/// The branches of a wake-up tree, in the order in which they are to be run.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    branches: VecDeque<Branch>,
}

/// One branch.
#[derive(Clone, Debug)]
pub struct Branch {
    pub item: Item,
    pub then: Tree,
}

impl Branch {
    /// The steps along the first way through it.
    pub fn first_way(&self) -> Vec<Move> {
        let mut way = vec![self.item.made];
        let mut tree = &self.then;
        while let Some(branch) = tree.branches.front() {
            way.push(branch.item.made);
            tree = &branch.then;
        }
        way
    }
}

impl Tree {
    pub fn is_empty(&self) -> bool {
        self.branches.is_empty()
    }

    /// Takes out the next branch.
    pub fn next(&mut self) -> Option<Branch> {
        self.branches.pop_front()
    }

    /// Adds a sequence, unless some branch covers it.
    pub fn insert(&mut self, mut sequence: Vec<Item>) {
        let mut tree = self;
        loop {
            let place = tree.branches.iter().position(|branch| can_come_first(&branch.item, &sequence));
            let Some(place) = place else { break };
            if let Standing::First(at) = standing(&tree.branches[place].item, &sequence) {
                sequence.remove(at);
            }
            tree = &mut tree.branches[place].then;
            if tree.is_empty() {
                return;
            }
        }
        for item in sequence {
            tree.branches.push_back(Branch { item, then: Tree::default() });
            let last = tree.branches.len() - 1;
            tree = &mut tree.branches[last].then;
        }
    }

    /// Adds the first step of a sequence, unless some branch begins with a step that can come first in it.
    pub fn insert_first(&mut self, sequence: &[Item]) {
        if let Some(first) = sequence.first()
            && !self.branches.iter().any(|branch| is_first(&branch.item, sequence))
        {
            self.branches.push_back(Branch { item: first.clone(), then: Tree::default() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::{AllocationId, EventKind, Location, ThreadId};

    /// A step of a thread that reads or writes a variable.
    fn item(thread: u64, variable: u64, writes: bool) -> Item {
        let thread = ThreadId::MAIN.child(thread).expect("few threads");
        let location = Location { allocation: AllocationId(0), offset: variable };
        let kind = match writes {
            true => EventKind::Write { location, bytes: 1, value: 0, order: None },
            false => EventKind::Read { location, bytes: 1, value: 0, order: None },
        };
        let mut footprint = Footprint::default();
        footprint.add(thread, &kind, |at| at.offset, |_| 0, &[]);
        Item { made: Move { thread, choice: None }, footprint: Rc::new(footprint) }
    }

    fn sequences(tree: &Tree) -> Vec<Vec<ThreadId>> {
        let mut all = vec![];
        for branch in &tree.branches {
            let mut rest = sequences(&branch.then);
            if rest.is_empty() {
                rest.push(vec![]);
            }
            all.extend(rest.into_iter().map(|mut rest| {
                rest.insert(0, branch.item.made.thread);
                rest
            }));
        }
        all
    }

    #[test]
    fn a_step_can_come_first_if_nothing_before_it_minds() {
        let sequence = [item(0, 0, true), item(1, 1, true), item(2, 0, false)];
        assert!(can_come_first(&item(1, 1, true), &sequence), "it is in the sequence");
        assert!(can_come_first(&item(3, 7, true), &sequence), "it is beside the sequence");
        assert!(!can_come_first(&item(2, 0, false), &sequence), "it reads what the first one writes");
        assert!(is_first(&item(1, 1, true), &sequence) && !is_first(&item(3, 7, true), &sequence));
    }

    #[test]
    fn what_a_branch_covers_is_not_added() {
        let mut tree = Tree::default();
        tree.insert(vec![item(0, 0, true), item(1, 0, true)]);
        // The same two writes, with an independent step of somebody else before them.
        tree.insert(vec![item(2, 5, true), item(0, 0, true), item(1, 0, true)]);
        assert_eq!(sequences(&tree).len(), 1);
        // The other order of the writes is something else.
        tree.insert(vec![item(1, 0, true), item(0, 0, true)]);
        let threads = |tree: &Tree| sequences(tree).iter().map(|one| one[0]).collect::<Vec<_>>();
        let child = |n| ThreadId::MAIN.child(n).expect("few threads");
        assert_eq!(threads(&tree), [child(0), child(1)]);
        // Branches share their beginnings.
        tree.insert(vec![item(0, 0, true), item(2, 0, true)]);
        assert_eq!(tree.branches.len(), 2);
        assert_eq!(sequences(&tree).len(), 3);
    }
}
