//! Sections that exclude each other: of two that are both there, one ends before the other begins.
//!
//! Which of the two begins first is a literal. From it, and from both being there, the edge "end of the
//! first → begin of the second" is derived. And when one is seen to begin before the other ends, it must be
//! the first of the two. (docs/design/feasibility.md, "Mutexes and rwlocks")

use super::watch::Watch;
use super::{Closing, Role, Theory};
use crate::lit::Lit;
use crate::order::At;
use crate::order::graph::{Cause, Node};

struct Section {
    begin: Node,
    /// A section that is still open at the end of what is known has no end.
    end: Option<Node>,
    present: Lit,
    pairs: Vec<u32>,
}

struct Pair {
    first: u32,
    second: u32,
    /// True when `first` begins before `second`.
    order: Lit,
}

#[derive(Default)]
pub(crate) struct Sections {
    sections: Vec<Section>,
    pairs: Vec<Pair>,
    fresh_pairs: Vec<u32>,
}

// Declarations.
impl Theory {
    pub(crate) fn add_section(&mut self, begin: At, end: Option<At>, present: Lit) -> u32 {
        let section = self.sections.sections.len() as u32;
        let begin = self.node(begin);
        let end = end.map(|at| self.node(at));
        self.ensure(present);
        if !present.is_constant() {
            self.role(present, Role::SectionPresent { section });
        }
        self.sections.sections.push(Section { begin, end, present, pairs: Vec::new() });
        section
    }

    /// The two sections exclude each other; `order` is true when `first` begins first.
    pub(crate) fn exclude(&mut self, first: u32, second: u32, order: Lit) {
        let pair = self.sections.pairs.len() as u32;
        self.ensure(order);
        self.sections.pairs.push(Pair { first, second, order });
        self.sections.sections[first as usize].pairs.push(pair);
        self.sections.sections[second as usize].pairs.push(pair);
        if !order.is_constant() {
            self.role(order, Role::SectionOrder { pair });
            self.role(-order, Role::SectionOrder { pair });
        }
        for (flipped, one, other) in [(false, first, second), (true, second, first)] {
            let begin = self.graph.at(self.sections.sections[one as usize].begin);
            if let Some(end) = self.sections.sections[other as usize].end {
                let end = self.graph.at(end);
                if begin.chain != end.chain {
                    self.watch(begin, end, Watch::Overlap { pair, flipped });
                }
            }
        }
        self.sections.fresh_pairs.push(pair);
    }
}

// Search.
impl Theory {
    /// Looks at new pairs once at level 0: their literals may have been decided before they were declared.
    pub(super) fn absorb_sections(&mut self) {
        for pair in std::mem::take(&mut self.sections.fresh_pairs) {
            self.on_section(pair);
            self.on_overlap(pair, false);
            self.on_overlap(pair, true);
        }
    }

    pub(super) fn on_section_present(&mut self, section: u32) {
        for i in 0..self.sections.sections[section as usize].pairs.len() {
            let pair = self.sections.sections[section as usize].pairs[i];
            self.on_section(pair);
            self.on_overlap(pair, false);
            self.on_overlap(pair, true);
        }
    }

    /// Derives the edge of a decided pair.
    pub(super) fn on_section(&mut self, pair: u32) {
        let Pair { first, second, order } = self.sections.pairs[pair as usize];
        let (one, other, order) = match self.value(order) {
            1 => (first, second, order),
            -1 => (second, first, -order),
            _ => return,
        };
        let (one, other) = (&self.sections.sections[one as usize], &self.sections.sections[other as usize]);
        if self.value(one.present) != 1 || self.value(other.present) != 1 {
            return;
        }
        // Without an end a clause already says that it cannot be the first.
        if let Some(end) = one.end {
            let cause = Cause::Exclusion { order, present: [one.present, other.present] };
            self.add_edge(end, other.begin, cause);
        }
    }

    /// One section begins before the other ends: then it begins first, if both are there.
    pub(super) fn on_overlap(&mut self, pair: u32, flipped: bool) {
        let Pair { first, second, order } = self.sections.pairs[pair as usize];
        let (one, other, order) = if flipped { (second, first, -order) } else { (first, second, order) };
        let (one, other) = (&self.sections.sections[one as usize], &self.sections.sections[other as usize]);
        if self.value(order) != 0 || self.value(one.present) != 1 || self.value(other.present) != 1 {
            return;
        }
        let (begin, present) = (one.begin, [one.present, other.present]);
        if let Some(end) = other.end
            && self.closure.reaches(self.graph.at(begin), self.graph.at(end))
        {
            // Were the order the opposite, the other's end would be before this begin.
            let cause = Cause::Exclusion { order: -order, present: [present[1], present[0]] };
            let closing = Closing::Edge { from: end, to: begin, cause };
            self.propagate(order, Some((begin, end)), present, closing);
        }
    }
}
