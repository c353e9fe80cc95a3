//! From declarations to clauses and theory constraints.
//!
//! Nothing is encoded before the first query that needs it: by then all locations are known, and the range
//! analysis ([`crate::ranges`]) can say how many bits the values of reads need.

use crate::blast::Cnf;
use crate::increments::Increments;
use crate::lit::Lit;
use crate::order::At;
use crate::problem::{ReadDecl, SectionDecl};
use crate::solver::Solver;
use crate::structure::Source;
use crate::terms::{BoolNode, BoolRef, BvRef};

/// Reads of locations with more writes than this get literals for bounds of their values.
const MANY_WRITES: usize = 8;

/// How much of each list of the problem has been encoded.
#[derive(Default)]
pub(crate) struct Progress {
    pub(crate) assertions: usize,
    edges_when: usize,
    locations: usize,
    exclusions: usize,
    matchings: usize,
    /// Variables that are the value of some read.
    pub(crate) read_values: rustc_hash::FxHashSet<BvRef>,
    pub(crate) increments: Increments,
}

impl Solver {
    pub(crate) fn encode(&mut self) {
        self.bound_reads(self.encoded.locations);
        self.find_comparisons();
        for i in self.encoded.locations..self.problem.locations.len() {
            self.encode_location(i);
        }
        self.encoded.locations = self.problem.locations.len();
        for i in self.encoded.exclusions..self.problem.exclusions.len() {
            self.encode_exclusion(i);
        }
        self.encoded.exclusions = self.problem.exclusions.len();
        for i in self.encoded.matchings..self.problem.matchings.len() {
            self.encode_matching(i);
        }
        self.encoded.matchings = self.problem.matchings.len();
        for i in self.encoded.edges_when..self.problem.edges_when.len() {
            let (condition, a, b) = self.problem.edges_when[i];
            self.encode_edge(condition, a, b);
        }
        self.encoded.edges_when = self.problem.edges_when.len();
        for i in self.encoded.assertions..self.problem.assertions.len() {
            let (term, depth) = self.problem.assertions[i];
            let scope = self.scope(depth);
            self.encode_assertion(term, scope);
        }
        self.encoded.assertions = self.problem.assertions.len();
    }

    /// A conjunction is asserted part by part, a disjunction is one clause.
    pub(crate) fn encode_assertion(&mut self, term: BoolRef, scope: Lit) {
        let mut clause = vec![-scope];
        match self.bank.bool_node(term).clone() {
            BoolNode::And(parts) if !term.negated() => {
                for &part in parts.iter() {
                    self.encode_assertion(part, scope);
                }
                return;
            }
            BoolNode::And(parts) => clause.extend(parts.iter().map(|&p| self.lit(!p))),
            _ => clause.push(self.lit(term)),
        }
        self.sat.clause(&clause);
    }

    fn encode_edge(&mut self, condition: BoolRef, a: At, b: At) {
        if self.fixed.before(a, b) {
            return;
        }
        if self.fixed.reaches(b, a) {
            let lit = self.lit(condition);
            self.sat.clause(&[-lit]);
            return;
        }
        let lit = self.observed_lit(condition);
        if lit.is_constant() {
            // An edge that always (or never) holds: as an order literal.
            if lit == Lit::TRUE {
                let term = self.bank.before(a, b);
                let before = self.lit(term);
                self.sat.clause(&[before]);
            }
            return;
        }
        self.theory_edge(lit, a, b);
    }

    fn theory_edge(&mut self, lit: Lit, a: At, b: At) {
        self.sat.theory.borrow_mut().edge_when(lit, a, b);
        self.sat.checker(|c| c.edge(lit, a, b));
    }

    fn encode_location(&mut self, index: usize) {
        let place = &self.problem.locations[index];
        if place.reads.is_empty() {
            return;
        }
        // Write 0 is the initial value, absent if there is none.
        let initially = Lit::constant(place.initial.is_some());
        let ats: Vec<At> = place.writes.iter().map(|w| w.at).collect();
        let whens: Vec<BoolRef> = place.writes.iter().map(|w| w.when).collect();
        let mut writes = vec![(None, initially)];
        for (&at, when) in ats.iter().zip(whens) {
            writes.push((Some(at), self.observed_lit(when)));
        }
        let count = writes.len();
        let mut order = vec![Lit::FALSE; count * count];
        for second in 1..count {
            order[second] = Lit::TRUE;
            for first in 1..second {
                let (a, b) = (ats[first - 1], ats[second - 1]);
                let term = self.before_term(a, b);
                let lit = self.lit(term);
                self.sat.prefer(lit);
                order[first * count + second] = lit;
                order[second * count + first] = -lit;
            }
        }
        let location = self.sat.theory.borrow_mut().add_location(&writes, order);
        self.sat.checker(|c| c.location(writes.clone()));
        for read in 0..self.problem.locations[index].reads.len() {
            self.encode_read(index, location, read, &writes);
        }
    }

    fn encode_read(&mut self, index: usize, location: u32, read: usize, writes: &[(Option<At>, Lit)]) {
        let place = &self.problem.locations[index];
        let ReadDecl { at, value, when, likely } = place.reads[read];
        // Where there are few sources, trying them costs less than more clauses.
        let many = writes.len() > MANY_WRITES;
        let thresholds = if many { self.encoded.increments.thresholds(value) } else { vec![] };
        let values: Vec<_> = place.writes.iter().map(|w| w.value).collect();
        let initial = place.initial;
        let present = self.lit(when);
        let mut clause = vec![-present];
        let mut sources = Vec::new();
        for write in self.possible_sources(at, writes) {
            let lit = self.sat.fresh_observed();
            clause.push(lit);
            sources.push((write as u32, lit));
            self.sat.clause(&[-lit, present]);
            self.sat.clause(&[-lit, writes[write].1]);
            let source = write.checked_sub(1).map_or(initial, |w| Some(values[w]));
            if let Some(source) = source {
                self.blaster.equal_when(&self.bank, &mut self.sat, lit, value, source);
                let both = [value, source];
                self.blaster.same_bounds_when(&self.bank, &mut self.sat, lit, both, &thresholds);
            }
            let wanted = match likely {
                Some(Source::Initial) => write == 0,
                Some(Source::Write(w)) => write == w + 1,
                None => false,
            };
            if likely.is_some() {
                self.sat.prefer(if wanted { lit } else { -lit });
            }
        }
        self.sat.clause(&clause);
        for bit in self.blaster.bv(&self.bank, &mut self.sat, value).to_vec() {
            self.sat.clause(&[present, -bit]);
        }
        self.sat.theory.borrow_mut().add_read(location, at, &sources);
        self.sat.checker(|c| {
            for &(write, lit) in &sources {
                c.source(lit, location as usize, at, write as usize);
            }
        });
    }

    /// The writes that the fixed order leaves as sources: not after the read, and not hidden by another write
    /// that is surely there and surely between.
    fn possible_sources(&self, read: At, writes: &[(Option<At>, Lit)]) -> Vec<usize> {
        let sure: Vec<At> = writes
            .iter()
            .filter(|(_, present)| *present == Lit::TRUE)
            .filter_map(|&(at, _)| at)
            .filter(|&at| self.fixed.before(at, read))
            .collect();
        // Of the writes that hide others, those that are not hidden themselves are enough.
        let mut hiding: Vec<At> = Vec::new();
        for &at in &sure {
            if !hiding.iter().any(|&h| self.fixed.before(at, h)) {
                hiding.retain(|&h| !self.fixed.before(h, at));
                hiding.push(at);
            }
        }
        let possible = |&(i, &(at, present)): &(usize, &(Option<At>, Lit))| {
            present != Lit::FALSE
                && match at {
                    None => hiding.is_empty() && i == 0,
                    Some(at) => {
                        !self.fixed.reaches(read, at) && !hiding.iter().any(|&h| self.fixed.before(at, h))
                    }
                }
        };
        writes.iter().enumerate().filter(possible).map(|(i, _)| i).collect()
    }

    fn encode_exclusion(&mut self, index: usize) {
        let sections = self.problem.exclusions[index].clone();
        let lits: Vec<Lit> = sections.iter().map(|s| self.observed_lit(s.when)).collect();
        let ids: Vec<u32> = sections
            .iter()
            .zip(&lits)
            .map(|(s, &lit)| self.sat.theory.borrow_mut().add_section(s.begin, s.end, lit))
            .collect();
        for j in 0..sections.len() {
            for i in 0..j {
                let (a, b) = (&sections[i], &sections[j]);
                let ordered = |x: &SectionDecl, y: &SectionDecl| {
                    x.end.is_some_and(|end| self.fixed.before(end, y.begin))
                };
                if (a.shared && b.shared) || ordered(a, b) || ordered(b, a) {
                    continue;
                }
                let order = if a.begin == b.begin {
                    // Two that begin at one point cannot both happen.
                    self.sat.clause(&[-lits[i], -lits[j]]);
                    continue;
                } else {
                    let term = self.before_term(a.begin, b.begin);
                    self.lit(term)
                };
                self.sat.prefer(order);
                if a.end.is_none() {
                    self.sat.clause(&[-order, -lits[i], -lits[j]]);
                }
                if b.end.is_none() {
                    self.sat.clause(&[order, -lits[i], -lits[j]]);
                }
                self.sat.theory.borrow_mut().exclude(ids[i], ids[j], order);
                let (one, other) = ((a.begin, a.end, lits[i]), (b.begin, b.end, lits[j]));
                self.sat.checker(|c| c.exclude(one, other));
            }
        }
    }

    fn encode_matching(&mut self, index: usize) {
        let matching = &self.problem.matchings[index];
        let takers: Vec<_> =
            matching.takers.iter().map(|t| (t.at, t.after, t.when, t.served_by.clone())).collect();
        let givers: Vec<_> = matching.givers.iter().map(|g| (g.at, g.many, g.when)).collect();
        for (at, after, when, served_by) in &takers {
            let mut clause = vec![-self.lit(*when)];
            for (&service, &(giver, _, giver_when)) in served_by.iter().zip(&givers) {
                if service == BoolRef::FALSE {
                    continue;
                }
                let lit = self.observed_lit(service);
                clause.push(lit);
                let there = self.lit(giver_when);
                self.sat.clause(&[-lit, there]);
                if let Some(giver) = giver {
                    self.encode_edge(service, giver, *at);
                    if let Some(after) = *after {
                        self.encode_edge(service, after, giver);
                    }
                }
            }
            self.sat.clause(&clause);
        }
        for (g, &(_, many, _)) in givers.iter().enumerate() {
            if !many {
                let services: Vec<BoolRef> = takers.iter().map(|t| t.3[g]).collect();
                let one = self.bank.at_most(1, &services);
                self.encode_assertion(one, Lit::TRUE);
            }
        }
    }
}
