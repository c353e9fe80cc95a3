//! The independent checker of theory lemmas.
//!
//! It is told what was declared (which literal means which edge, which are the writes of a location, which
//! sections exclude each other) and nothing of how the theory works. A lemma is right when its links form a
//! cycle, each link is justified by what was declared, and the clause denies one of the literals used.
//! Plain searches, no cleverness: it must be possible to read it and believe it.

use crate::lit::Lit;
use crate::order::At;
use crate::order::graph::Cause;
use crate::theory::lemma::{Lemma, Link};
use rustc_hash::{FxHashMap, FxHashSet};

#[derive(Clone, Copy)]
struct Source {
    location: usize,
    read: At,
    write: usize,
}

/// Of two sections that exclude each other: where the one begins, and the presence of both.
type Ordered = (At, [Lit; 2]);

#[derive(Default)]
pub(crate) struct Checker {
    fixed: FxHashSet<(At, At)>,
    edges: FxHashSet<(Lit, At, At)>,
    /// Per location the point and presence of each write; the initial value has no point.
    locations: Vec<Vec<(Option<At>, Lit)>>,
    sources: FxHashMap<Lit, Source>,
    /// By the end of the one and the begin of the other.
    exclusions: FxHashMap<(At, At), Vec<Ordered>>,
    checked: u64,
    wrong: Option<String>,
}

// What was declared.
impl Checker {
    pub(crate) fn fix(&mut self, from: At, to: At) {
        self.fixed.insert((from, to));
    }

    pub(crate) fn edge(&mut self, lit: Lit, from: At, to: At) {
        self.edges.insert((lit, from, to));
    }

    pub(crate) fn location(&mut self, writes: Vec<(Option<At>, Lit)>) {
        self.locations.push(writes);
    }

    pub(crate) fn source(&mut self, lit: Lit, location: usize, read: At, write: usize) {
        self.sources.insert(lit, Source { location, read, write });
        if let Some(from) = self.locations[location][write].0 {
            self.edge(lit, from, read);
        }
    }

    pub(crate) fn exclude(&mut self, one: (At, Option<At>, Lit), other: (At, Option<At>, Lit)) {
        for (one, other) in [(one, other), (other, one)] {
            if let Some(end) = one.1 {
                self.exclusions.entry((end, other.0)).or_default().push((one.0, [one.2, other.2]));
            }
        }
    }
}

// What is checked.
impl Checker {
    /// How many lemmas were checked, and the first that was wrong.
    pub(crate) fn result(&self) -> (u64, Option<&str>) {
        (self.checked, self.wrong.as_deref())
    }

    pub(crate) fn check(&mut self, lemma: &Lemma, clause: &[Lit]) {
        self.checked += 1;
        let wrong = match lemma.two_sources {
            Some((one, other)) => self.two_sources(one, other, clause),
            None => self.cycle(&lemma.links, clause),
        };
        if let Err(reason) = wrong {
            self.wrong.get_or_insert(format!("{reason}\nlemma {lemma:?}\nclause {clause:?}"));
        }
    }

    fn two_sources(&self, one: Lit, other: Lit, clause: &[Lit]) -> Result<(), String> {
        let (Some(a), Some(b)) = (self.sources.get(&one), self.sources.get(&other)) else {
            return Err("not the sources of a read".into());
        };
        if (a.location, a.read) != (b.location, b.read) || a.write == b.write {
            return Err("not two sources of one read".into());
        }
        denies(clause, one)?;
        denies(clause, other)
    }

    fn cycle(&self, links: &[Link], clause: &[Lit]) -> Result<(), String> {
        if links.is_empty() {
            return Err("an empty cycle".into());
        }
        for (i, link) in links.iter().enumerate() {
            let next = links[(i + 1) % links.len()].from;
            if link.to.chain != next.chain || link.to.position > next.position {
                return Err(format!("the path breaks between {:?} and {next:?}", link.to));
            }
            self.justified(link)?;
            let mut denied = Ok(());
            link.cause.each(|lit| denied = denied.clone().and_then(|()| denies(clause, lit)));
            denied?;
        }
        Ok(())
    }

    fn justified(&self, link: &Link) -> Result<(), String> {
        let fine = match link.cause {
            Cause::Fixed => self.fixed.contains(&(link.from, link.to)),
            Cause::Given(lit) => self.edges.contains(&(lit, link.from, link.to)),
            Cause::FromRead { reads_from, order, present } => {
                self.sources.get(&reads_from).is_some_and(|source| {
                    let writes = &self.locations[source.location];
                    source.read == link.from
                        && link.to != source.read
                        && writes.iter().enumerate().any(|(i, &(at, there))| {
                            i != source.write
                                && at == Some(link.to)
                                && there == present
                                && writes[source.write].0.is_none_or(|w| self.means(order, w, link.to))
                        })
                })
            }
            Cause::Exclusion { order, present } => {
                self.exclusions.get(&(link.from, link.to)).is_some_and(|all| {
                    all.iter().any(|&(own, p)| p == present && self.means(order, own, link.to))
                })
            }
        };
        if fine { Ok(()) } else { Err(format!("{link:?} is not justified")) }
    }

    /// Whether `lit` says that `from` is before `to`; the constant says so when it is fixed.
    fn means(&self, lit: Lit, from: At, to: At) -> bool {
        if lit != Lit::TRUE {
            return self.edges.contains(&(lit, from, to));
        }
        let mut reached = vec![from];
        let mut index = 0;
        while let Some(&at) = reached.get(index) {
            index += 1;
            if at.chain == to.chain && at.position <= to.position {
                return from != to;
            }
            for &(u, v) in &self.fixed {
                if u.chain == at.chain && u.position >= at.position && !reached.contains(&v) {
                    reached.push(v);
                }
            }
        }
        false
    }
}

fn denies(clause: &[Lit], lit: Lit) -> Result<(), String> {
    if clause.contains(&-lit) { Ok(()) } else { Err(format!("the clause does not deny {lit:?}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(chain: u32, position: u32) -> At {
        At { chain, position }
    }

    fn given(lit: i32, from: At, to: At) -> Link {
        Link { from, to, cause: Cause::Given(Lit::new(lit)) }
    }

    fn checker() -> Checker {
        let mut checker = Checker::default();
        checker.edge(Lit::new(2), at(0, 1), at(1, 0));
        checker.edge(Lit::new(3), at(1, 1), at(0, 0));
        checker
    }

    fn verdict(links: Vec<Link>, clause: &[i32]) -> bool {
        let mut checker = checker();
        let clause: Vec<Lit> = clause.iter().map(|&l| Lit::new(l)).collect();
        checker.check(&Lemma { links, two_sources: None }, &clause);
        checker.result().1.is_none()
    }

    #[test]
    fn a_cycle_is_accepted_only_if_closed_declared_and_denied() {
        let good = || vec![given(2, at(0, 1), at(1, 0)), given(3, at(1, 1), at(0, 0))];
        assert!(verdict(good(), &[-2, -3]));
        assert!(!verdict(good(), &[-2]), "a literal that the cycle uses is not denied");
        assert!(!verdict(good()[..1].to_vec(), &[-2]), "not closed");
        assert!(
            !verdict(vec![given(2, at(0, 1), at(1, 2)), given(3, at(1, 1), at(0, 0))], &[-2, -3]),
            "undeclared"
        );
    }

    #[test]
    fn a_from_read_edge_needs_its_write_order() {
        let mut checker = Checker::default();
        checker.location(vec![(None, Lit::TRUE), (Some(at(0, 0)), Lit::TRUE), (Some(at(1, 0)), Lit::TRUE)]);
        checker.source(Lit::new(2), 0, at(2, 0), 1);
        checker.edge(Lit::new(3), at(0, 0), at(1, 0));
        checker.edge(Lit::new(4), at(1, 0), at(2, 0));
        let fr = |order| {
            let cause =
                Cause::FromRead { reads_from: Lit::new(2), order: Lit::new(order), present: Lit::TRUE };
            Link { from: at(2, 0), to: at(1, 0), cause }
        };
        assert!(checker.justified(&fr(3)).is_ok());
        assert!(checker.justified(&fr(-3)).is_err());
        assert!(checker.justified(&fr(1)).is_err());
    }
}
