//! Temporally extended goals (PLAN §4.1, §4.2): linear temporal logic over finite runs, whose atoms are "this event has happened".
//!
//! There is no "next", so steps that a formula does not speak of change nothing: it holds of a run exactly if it holds of the sequence of its
//! events in it. [`Formula::holds`] is what formulas mean; engines have ways of their own to look for runs of which one holds.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use trace::EventId;

/// A formula over the states of a run: the one before its first step and the one after each. `A` is what names an event.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(bound(deserialize = "A: Ord + Deserialize<'de>"))]
pub enum Formula<A = EventId> {
    /// Always, or never.
    Constant(bool),
    /// The event has happened.
    Happened(A),
    /// The formula does not hold.
    Not(Box<Formula<A>>),
    /// All hold.
    And(BTreeSet<Formula<A>>),
    /// Some holds.
    Or(BTreeSet<Formula<A>>),
    /// It holds now or in some later state.
    Eventually(Box<Formula<A>>),
    /// It holds in this state and all later ones.
    Always(Box<Formula<A>>),
    /// The second holds now or later, and until then the first does.
    Until(Box<Formula<A>>, Box<Formula<A>>),
}

impl<A: Ord + Copy> Formula<A> {
    /// It holds now or in some later state.
    #[must_use]
    pub fn eventually(one: Formula<A>) -> Formula<A> {
        Formula::Eventually(Box::new(one))
    }

    /// It holds in this state and all later ones.
    #[must_use]
    pub fn always(one: Formula<A>) -> Formula<A> {
        Formula::Always(Box::new(one))
    }

    /// The second holds now or later, and until then the first does.
    #[must_use]
    pub fn until(one: Formula<A>, other: Formula<A>) -> Formula<A> {
        Formula::Until(Box::new(one), Box::new(other))
    }

    /// The first event happens, and the second later.
    #[must_use]
    pub fn ordered(first: A, second: A) -> Formula<A> {
        let after = Formula::and([Formula::Happened(first), !Formula::Happened(second)]);
        Formula::and([Formula::eventually(after), Formula::eventually(Formula::Happened(second))])
    }

    /// The first event does not happen unless the second has.
    #[must_use]
    pub fn never_before(first: A, second: A) -> Formula<A> {
        let not_yet = Formula::always(!Formula::Happened(first));
        let second_alone = Formula::and([Formula::Happened(second), !Formula::Happened(first)]);
        Formula::or([not_yet, Formula::until(!Formula::Happened(first), second_alone)])
    }

    /// All of them.
    #[must_use]
    pub fn and(all: impl IntoIterator<Item = Formula<A>>) -> Formula<A> {
        let mut parts = BTreeSet::new();
        for formula in all {
            match formula {
                Formula::Constant(true) => {}
                Formula::Constant(false) => return Formula::Constant(false),
                Formula::And(more) => parts.extend(more),
                other => _ = parts.insert(other),
            }
        }
        match parts.len() {
            0 => Formula::Constant(true),
            1 => parts.pop_first().unwrap_or(Formula::Constant(true)),
            _ => Formula::And(parts),
        }
    }

    /// Some of them.
    #[must_use]
    pub fn or(all: impl IntoIterator<Item = Formula<A>>) -> Formula<A> {
        let mut parts = BTreeSet::new();
        for formula in all {
            match formula {
                Formula::Constant(false) => {}
                Formula::Constant(true) => return Formula::Constant(true),
                Formula::Or(more) => parts.extend(more),
                other => _ = parts.insert(other),
            }
        }
        match parts.len() {
            0 => Formula::Constant(false),
            1 => parts.pop_first().unwrap_or(Formula::Constant(false)),
            _ => Formula::Or(parts),
        }
    }

    /// The events that it speaks of, each once.
    #[must_use]
    pub fn events(&self) -> Vec<A> {
        let mut events = BTreeSet::new();
        self.gather(&mut events);
        events.into_iter().collect()
    }

    fn gather(&self, events: &mut BTreeSet<A>) {
        match self {
            Formula::Constant(_) => {}
            Formula::Happened(event) => _ = events.insert(*event),
            Formula::Not(one) | Formula::Eventually(one) | Formula::Always(one) => one.gather(events),
            Formula::And(all) | Formula::Or(all) => all.iter().for_each(|one| one.gather(events)),
            Formula::Until(one, other) => {
                one.gather(events);
                other.gather(events);
            }
        }
    }

    /// The same with other names for the events.
    #[must_use]
    pub fn named<B: Ord + Copy>(&self, name: &impl Fn(A) -> B) -> Formula<B> {
        let boxed = |one: &Formula<A>| Box::new(one.named(name));
        match self {
            Formula::Constant(value) => Formula::Constant(*value),
            Formula::Happened(event) => Formula::Happened(name(*event)),
            Formula::Not(one) => Formula::Not(boxed(one)),
            Formula::And(all) => Formula::And(all.iter().map(|one| one.named(name)).collect()),
            Formula::Or(all) => Formula::Or(all.iter().map(|one| one.named(name)).collect()),
            Formula::Eventually(one) => Formula::Eventually(boxed(one)),
            Formula::Always(one) => Formula::Always(boxed(one)),
            Formula::Until(one, other) => Formula::Until(boxed(one), boxed(other)),
        }
    }

    /// Whether it holds of the run in which these events happen in this order.
    #[must_use]
    pub fn holds(&self, run: &[A]) -> bool {
        let own = self.events();
        let run: Vec<A> = run.iter().copied().filter(|event| own.contains(event)).collect();
        self.holds_at(&run, 0)
    }

    /// Whether it holds in the state in which so many events of the run have happened.
    fn holds_at(&self, run: &[A], at: usize) -> bool {
        let mut later = at..=run.len();
        match self {
            Formula::Constant(value) => *value,
            Formula::Happened(event) => run[..at].contains(event),
            Formula::Not(one) => !one.holds_at(run, at),
            Formula::And(all) => all.iter().all(|one| one.holds_at(run, at)),
            Formula::Or(all) => all.iter().any(|one| one.holds_at(run, at)),
            Formula::Eventually(one) => later.any(|then| one.holds_at(run, then)),
            Formula::Always(one) => later.all(|then| one.holds_at(run, then)),
            Formula::Until(one, other) => later
                .any(|then| other.holds_at(run, then) && (at..then).all(|before| one.holds_at(run, before))),
        }
    }
}

impl<A> std::ops::Not for Formula<A> {
    type Output = Formula<A>;

    fn not(self) -> Formula<A> {
        match self {
            Formula::Constant(value) => Formula::Constant(!value),
            Formula::Not(one) => *one,
            other => Formula::Not(Box::new(other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::ThreadId;

    fn events() -> [EventId; 3] {
        [1, 2, 3].map(|n| EventId { thread: ThreadId::MAIN, n })
    }

    #[test]
    fn an_order_holds_of_runs_that_have_it() {
        let [a, b, c] = events();
        let ordered = Formula::ordered(a, b);
        assert!(ordered.holds(&[a, b]) && ordered.holds(&[a, c, b]));
        assert!(!ordered.holds(&[b, a]) && !ordered.holds(&[a]) && !ordered.holds(&[b]));
    }

    #[test]
    fn never_before_lets_neither_or_the_second_alone_happen() {
        let [a, b, _] = events();
        let never = Formula::never_before(a, b);
        assert!(never.holds(&[]) && never.holds(&[b]) && never.holds(&[b, a]));
        assert!(!never.holds(&[a]) && !never.holds(&[a, b]));
    }

    #[test]
    fn until_needs_its_second_part_and_always_its_part_to_the_end() {
        let [a, b, c] = events();
        let until = Formula::until(!Formula::Happened(a), Formula::Happened(b));
        assert!(until.holds(&[b, a]) && until.holds(&[c, b]) && !until.holds(&[a, b]) && !until.holds(&[c]));
        let always = Formula::always(!Formula::Happened(a));
        assert!(always.holds(&[b, c]) && always.holds(&[]) && !always.holds(&[b, a]));
        assert!(!(!always).holds(&[b]));
    }
}
