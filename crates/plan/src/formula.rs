//! Formulas as goals (PLAN §4.1): a formula is compiled into the problem by progression (Bacchus and Kabanza 1998).
//!
//! What is still to be shown after a state is a formula again, and of these there are finitely many. They become the values of one more number of the
//! state; the steps that the formula speaks of change it.

use crate::build::Builder;
use crate::problem::{Condition, Effect, Meaning, Way};
use claim::Formula;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use trace::EventId;

/// More states of a formula than this are not made: it is then not solved.
const MOST_STATES: usize = 4096;

/// What is still to be shown by later states, after one in which these events have happened.
fn progress(formula: &Formula, happened: &BTreeSet<EventId>) -> Formula {
    match formula {
        Formula::Constant(_) => formula.clone(),
        Formula::Happened(event) => Formula::Constant(happened.contains(event)),
        Formula::Not(one) => !progress(one, happened),
        Formula::And(all) => Formula::and(all.iter().map(|one| progress(one, happened))),
        Formula::Or(all) => Formula::or(all.iter().map(|one| progress(one, happened))),
        Formula::Eventually(one) => Formula::or([progress(one, happened), formula.clone()]),
        Formula::Always(one) => Formula::and([progress(one, happened), formula.clone()]),
        Formula::Until(one, other) => {
            Formula::or([progress(other, happened), Formula::and([progress(one, happened), formula.clone()])])
        }
    }
}

/// Whether what is still to be shown holds if no state follows.
fn holds_at_end(formula: &Formula) -> bool {
    match formula {
        Formula::Constant(value) => *value,
        Formula::Happened(_) | Formula::Eventually(_) | Formula::Until(..) => false,
        Formula::Always(_) => true,
        Formula::Not(one) => !holds_at_end(one),
        Formula::And(all) => all.iter().all(holds_at_end),
        Formula::Or(all) => all.iter().any(holds_at_end),
    }
}

/// Compiles it into a problem: the number of the state says what is still to be shown, and which of its events have happened.
pub(crate) fn set_goal(formula: &Formula, builder: &mut Builder<'_>) {
    let events = formula.events();
    let places: Vec<_> = events.iter().map(|event| builder.places.get(event).copied()).collect();
    let variable = builder.variable(Meaning::Formula, 0);
    let none = BTreeSet::new();
    // What is left, with what has happened, by its number.
    let mut numbers: FxHashMap<(Formula, BTreeSet<EventId>), u32> = FxHashMap::default();
    let mut states = vec![(progress(formula, &none), none)];
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
            let next = (progress(&left, &now), now);
            let number = *numbers.entry(next.clone()).or_insert_with(|| {
                states.push(next);
                states.len() as u32 - 1
            });
            moves.push((n, at as u32, number));
        }
        at += 1;
        if at > MOST_STATES {
            builder.problem.is_too_large = true;
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
        (0..states.len() as u32).filter(|&n| holds_at_end(&states[n as usize].0)).collect();
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
