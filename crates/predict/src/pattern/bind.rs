//! The tuples of recorded events that a pattern fits.
//!
//! Their number is a product, so it is bounded: of the events of one thread at one instruction the first ones are taken, as many as there
//! may be candidates at one place, and the search for tuples ends at a limit. What is left out is counted.

use super::{Action, EventText, PatternError, PatternText, Who};
use claim::{Candidate, Pattern};
use ctp::{Ctp, EventIndex, Kind, ThreadIndex};
use ir::{Program, SiteId, SiteIndex};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use trace::{EventKind, Location, Trace};

/// Most tuples of one pattern.
const MOST_TUPLES: usize = 10_000;

/// The candidates that patterns are, and how many were left out.
pub(crate) fn bind(
    patterns: &[PatternText],
    ctp: &Ctp,
    program: &Program,
    trace: &Trace,
    per_place: usize,
) -> Result<(Vec<Candidate>, u64), PatternError> {
    let mut binding = Binding {
        ctp,
        sites: SiteIndex::new(program),
        program,
        trace,
        per_place,
        names: FxHashMap::default(),
        left_out: 0,
    };
    let mut all = vec![];
    for pattern in patterns {
        binding.pattern(pattern, &mut all)?;
    }
    Ok((all, binding.left_out))
}

struct Binding<'a> {
    ctp: &'a Ctp,
    program: &'a Program,
    sites: SiteIndex,
    trace: &'a Trace,
    per_place: usize,
    names: FxHashMap<Location, String>,
    left_out: u64,
}

impl Binding<'_> {
    fn pattern(&mut self, pattern: &PatternText, all: &mut Vec<Candidate>) -> Result<(), PatternError> {
        let mut fitting = vec![];
        for event in &pattern.events {
            fitting.push(self.fitting(pattern, event)?);
        }
        let mut tuple = vec![];
        let mut places: FxHashMap<Vec<SiteId>, usize> = FxHashMap::default();
        let mut tuples = 0;
        self.tuples(pattern, &fitting, &mut tuple, &mut |binding, tuple| {
            tuples += 1;
            let sites = tuple.iter().map(|&event| binding.ctp.event(event).site).collect();
            let at_place = places.entry(sites).or_default();
            if *at_place >= binding.per_place || tuples > MOST_TUPLES {
                binding.left_out += 1;
            } else {
                *at_place += 1;
                all.push(Candidate::Pattern(Pattern {
                    name: pattern.name.clone(),
                    events: tuple.iter().map(|&event| binding.ctp.event(event).id).collect(),
                    order: pattern.order.iter().map(|&(a, b)| (a as u32, b as u32)).collect(),
                    goal: pattern.goal.as_ref().map(|goal| goal.named(&|n| binding.ctp.event(tuple[n]).id)),
                }));
            }
            tuples <= MOST_TUPLES
        });
        Ok(())
    }

    /// The events that one event of a pattern may be.
    fn fitting(
        &mut self,
        pattern: &PatternText,
        wanted: &EventText,
    ) -> Result<Vec<EventIndex>, PatternError> {
        let unknown = |message| PatternError::Unknown { pattern: pattern.name.clone(), message };
        if let Who::Named(name) = &wanted.thread
            && !self.ctp.threads.iter().any(|thread| thread.name == *name)
        {
            let known: Vec<String> =
                self.ctp.threads.iter().map(|thread| format!("`{}`", thread.name)).collect();
            return Err(unknown(format!(
                "`{}`: there is no thread `{name}` in this run, only {}",
                wanted.name,
                known.join(", ")
            )));
        }
        let mut fitting = vec![];
        let mut at_place: FxHashMap<(ThreadIndex, SiteId), usize> = FxHashMap::default();
        let (mut known, mut named): (BTreeSet<String>, bool) = (BTreeSet::new(), wanted.what.is_none());
        for (at, event) in self.ctp.events.iter().enumerate() {
            let Some((kinds, object)) = does(&event.kind) else { continue };
            let name =
                self.names.entry(object).or_insert_with(|| self.trace.location_name(self.program, object));
            if wanted.what.as_ref().is_some_and(|what| !matches(what, name)) {
                if known.len() < 8 {
                    known.insert(format!("`{name}`"));
                }
                continue;
            }
            named = true;
            let line = self.sites.source(self.program, event.site).0.map(|position| position.line);
            let thread = &self.ctp.threads[event.thread.index()];
            let is_it = kinds.contains(&wanted.action)
                && wanted.line.is_none_or(|wanted| line == Some(wanted))
                && !matches!(&wanted.thread, Who::Named(name) if thread.name != *name);
            if !is_it {
                continue;
            }
            let so_many = at_place.entry((event.thread, event.site)).or_default();
            if *so_many >= self.per_place {
                self.left_out += 1;
            } else {
                *so_many += 1;
                fitting.push(EventIndex::new(at));
            }
        }
        match (named, &wanted.what) {
            (false, Some(what)) => Err(unknown(format!(
                "`{}`: nothing that threads share in this run is called `{what}`; there is {}",
                wanted.name,
                known.into_iter().collect::<Vec<_>>().join(", ")
            ))),
            _ => Ok(fitting),
        }
    }

    /// Calls `each` with every tuple until it says that it is enough.
    fn tuples(
        &mut self,
        pattern: &PatternText,
        fitting: &[Vec<EventIndex>],
        tuple: &mut Vec<EventIndex>,
        each: &mut dyn FnMut(&mut Self, &[EventIndex]) -> bool,
    ) -> bool {
        let Some(choices) = fitting.get(tuple.len()) else { return each(self, tuple) };
        for &event in choices {
            tuple.push(event);
            let goes_on = !self.is_possible(pattern, tuple) || self.tuples(pattern, fitting, tuple, each);
            tuple.pop();
            if !goes_on {
                return false;
            }
        }
        true
    }

    /// Whether the last event of a tuple goes with those before it: other events, threads as the variables say, and within
    /// one thread the order that it has.
    fn is_possible(&self, pattern: &PatternText, tuple: &[EventIndex]) -> bool {
        let distinct: FxHashSet<EventIndex> = tuple.iter().copied().collect();
        let thread = |at: usize| self.ctp.event(tuple[at]).thread;
        let threads_agree = (0..tuple.len()).all(|a| {
            (0..a).all(|b| match (&pattern.events[a].thread, &pattern.events[b].thread) {
                (Who::Variable(one), Who::Variable(other)) => (one == other) == (thread(a) == thread(b)),
                _ => true,
            })
        });
        let order_agrees = pattern.order.iter().filter(|&&(a, b)| a.max(b) < tuple.len()).all(|&(a, b)| {
            thread(a) != thread(b) || self.ctp.event(tuple[a]).id.n < self.ctp.event(tuple[b]).id.n
        });
        distinct.len() == tuple.len() && threads_agree && order_agrees
    }
}

/// What an event does, and to what.
fn does(kind: &Kind) -> Option<(&'static [Action], Location)> {
    use Action as A;
    let access = |actions: &'static [Action]| kind.access().map(|access| (actions, access.recorded));
    match kind {
        Kind::Read(_) => access(&[A::Read, A::Access]),
        Kind::Write(_) => access(&[A::Write, A::Access]),
        Kind::Update(_) | Kind::CompareExchange { .. } => access(&[A::Read, A::Write, A::Access]),
        Kind::Other(
            EventKind::Lock { object, .. } | EventKind::TryLock { object, acquired: Some(_), .. },
        ) => Some((&[A::Lock], *object)),
        Kind::Other(EventKind::Unlock { object, .. }) => Some((&[A::Unlock], *object)),
        Kind::Other(EventKind::WaitBegin { condition, .. }) => Some((&[A::Wait], *condition)),
        Kind::Other(EventKind::Signal { condition, .. } | EventKind::Broadcast { condition, .. }) => {
            Some((&[A::Signal], *condition))
        }
        Kind::Other(
            EventKind::Acquire { semaphore } | EventKind::TryAcquire { semaphore, acquired: true },
        ) => Some((&[A::Acquire], *semaphore)),
        Kind::Other(EventKind::Release { semaphore }) => Some((&[A::Release], *semaphore)),
        Kind::Other(EventKind::Free { allocation: Some(allocation) }) => {
            Some((&[A::Free], Location { allocation: *allocation, offset: 0 }))
        }
        _ => None,
    }
}

/// Whether a name fits; `*` stands for any characters.
fn matches(what: &str, name: &str) -> bool {
    let mut parts = what.split('*');
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    // Without a `*` nothing may be left; behind the last one the end has to fit.
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_stand_for_any_characters() {
        assert!(matches("x", "x") && !matches("x", "xy") && !matches("x", "y"));
        assert!(matches("*", "") && matches("a[*]", "a[12]") && !matches("a[*]", "a[12].x"));
        assert!(matches("*.next*", "*node.next (allocated at list.c:41)"));
        assert!(!matches("ab*ba", "aba"));
    }
}
