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
