//! Temporally extended goals (PLAN §4.1, §4.2): linear temporal logic over finite runs, whose atoms are "this event has happened".
//!
//! A formula is compiled into the problem by progression (Bacchus and Kabanza 1998): what is still to be shown after a state is a formula
//! again, and of these there are finitely many. They become the values of one more number of the state; the steps that the formula speaks of
//! change it. There is no "next", so steps that it does not speak of change nothing: a formula holds of a run exactly if it holds of the
//! sequence of its events in it.

use crate::build::Builder;
use crate::problem::{Condition, Effect, Meaning, Way};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use trace::EventId;

/// A formula over the states of a run: the one before its first step and the one after each.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Formula {
    /// Always, or never.
    Constant(bool),
    /// The event has happened.
    Happened(EventId),
    /// The formula does not hold.
    Not(Box<Formula>),
    /// All hold.
    And(BTreeSet<Formula>),
    /// Some holds.
    Or(BTreeSet<Formula>),
    /// It holds now or in some later state.
    Eventually(Box<Formula>),
    /// It holds in this state and all later ones.
    Always(Box<Formula>),
    /// The second holds now or later, and until then the first does.
    Until(Box<Formula>, Box<Formula>),
}

/// More states of a formula than this are not made: it is then not solved.
const MOST_STATES: usize = 4096;

impl Formula {
    /// The first event happens, and the second later.
    #[must_use]
    pub fn ordered(first: EventId, second: EventId) -> Formula {
        let after = Formula::and([Formula::Happened(first), !Formula::Happened(second)]);
        Formula::and([
            Formula::Eventually(Box::new(after)),
            Formula::Eventually(Box::new(Formula::Happened(second))),
        ])
    }

    /// The first event does not happen unless the second has.
    #[must_use]
    pub fn never_before(first: EventId, second: EventId) -> Formula {
        let not_yet = Formula::Always(Box::new(!Formula::Happened(first)));
        let until = Formula::Until(
            Box::new(!Formula::Happened(first)),
            Box::new(Formula::and([Formula::Happened(second), !Formula::Happened(first)])),
        );
        Formula::or([not_yet, until])
    }

    /// All of them.
    #[must_use]
    pub fn and(all: impl IntoIterator<Item = Formula>) -> Formula {
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
    pub fn or(all: impl IntoIterator<Item = Formula>) -> Formula {
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
    pub fn events(&self) -> Vec<EventId> {
        let mut events = BTreeSet::new();
        self.gather(&mut events);
        events.into_iter().collect()
    }

    fn gather(&self, events: &mut BTreeSet<EventId>) {
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

    /// What is still to be shown by later states, after one in which these events have happened.
    fn progress(&self, happened: &BTreeSet<EventId>) -> Formula {
        match self {
            Formula::Constant(_) => self.clone(),
            Formula::Happened(event) => Formula::Constant(happened.contains(event)),
            Formula::Not(one) => !one.progress(happened),
            Formula::And(all) => Formula::and(all.iter().map(|one| one.progress(happened))),
            Formula::Or(all) => Formula::or(all.iter().map(|one| one.progress(happened))),
            Formula::Eventually(one) => Formula::or([one.progress(happened), self.clone()]),
            Formula::Always(one) => Formula::and([one.progress(happened), self.clone()]),
            Formula::Until(one, other) => {
                Formula::or([other.progress(happened), Formula::and([one.progress(happened), self.clone()])])
            }
        }
    }

    /// Whether what is still to be shown holds if no state follows.
    fn holds_at_end(&self) -> bool {
        match self {
            Formula::Constant(value) => *value,
            Formula::Happened(_) | Formula::Eventually(_) | Formula::Until(..) => false,
            Formula::Always(_) => true,
            Formula::Not(one) => !one.holds_at_end(),
            Formula::And(all) => all.iter().all(Formula::holds_at_end),
            Formula::Or(all) => all.iter().any(Formula::holds_at_end),
        }
    }

    /// Whether it holds of the run in which these events happen in this order.
    #[must_use]
    pub fn holds(&self, run: &[EventId]) -> bool {
        let mut happened = BTreeSet::new();
        let mut left = self.progress(&happened);
        for &event in run {
            happened.insert(event);
            left = left.progress(&happened);
        }
        left.holds_at_end()
    }

    /// Compiles it into a problem: the number of the state says what is still to be shown, and which of its events have happened.
    pub(crate) fn set_goal(&self, builder: &mut Builder<'_>) {
        let events = self.events();
        let places: Vec<_> = events.iter().map(|event| builder.places.get(event).copied()).collect();
        let variable = builder.variable(Meaning::Formula, 0);
        let none = BTreeSet::new();
        // What is left, with what has happened, by its number.
        let mut numbers: FxHashMap<(Formula, BTreeSet<EventId>), u32> = FxHashMap::default();
        let mut states = vec![(self.progress(&none), none)];
        numbers.insert(states[0].clone(), 0);
        let mut moves: Vec<(usize, u32, u32)> = vec![];
        let mut at = 0;
        while let Some((left, happened)) = states.get(at).cloned() {
            for (n, &event) in events.iter().enumerate() {
                if happened.contains(&event) || places[n].is_none() {
                    continue;
                }
                let mut now = happened.clone();
                now.insert(event);
                let next = (left.progress(&now), now);
                let number = *numbers.entry(next.clone()).or_insert_with(|| {
                    states.push(next);
                    states.len() as u32 - 1
                });
                moves.push((n, at as u32, number));
            }
            at += 1;
            if at > MOST_STATES {
                builder.problem.is_hopeless = true;
                return;
            }
        }
        for (n, &place) in places.iter().enumerate() {
            let Some(place) = place else { continue };
            let ways = std::mem::take(builder.ways_of(place));
            let steps = moves.iter().filter(|(of, ..)| *of == n);
            *builder.ways_of(place) = steps
                .flat_map(|&(_, from, to)| {
                    ways.iter().cloned().map(move |mut way: Way| {
                        way.needs.push(Condition::Is(variable, from));
                        way.does.push(Effect::Set(variable, to));
                        way
                    })
                })
                .collect();
        }
        // All states in which it holds become one behind the others: a goal is a conjunction.
        let accepting: Vec<u32> =
            (0..states.len() as u32).filter(|&n| states[n as usize].0.holds_at_end()).collect();
        let accepts =
            builder.variable(Meaning::Happened("goal", EventId { thread: trace::ThreadId::MAIN, n: 0 }), 0);
        if accepting.contains(&0) {
            builder.set_initial(accepts, 1);
        }
        for place in places.into_iter().flatten() {
            for way in builder.ways_of(place) {
                let to = way.does.iter().rev().find_map(|effect| match effect {
                    Effect::Set(of, to) if *of == variable => Some(*to),
                    _ => None,
                });
                let accepted = to.is_some_and(|to| accepting.contains(&to));
                way.does.push(Effect::Set(accepts, u32::from(accepted)));
            }
        }
        builder.problem.goal.push(Condition::Is(accepts, 1));
    }
}

impl std::ops::Not for Formula {
    type Output = Formula;

    fn not(self) -> Formula {
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
        let until = Formula::Until(Box::new(!Formula::Happened(a)), Box::new(Formula::Happened(b)));
        assert!(until.holds(&[b, a]) && until.holds(&[c, b]) && !until.holds(&[a, b]) && !until.holds(&[c]));
        let always = Formula::Always(Box::new(!Formula::Happened(a)));
        assert!(always.holds(&[b, c]) && always.holds(&[]) && !always.holds(&[b, a]));
        assert!(!(!always).holds(&[b]));
    }
}
