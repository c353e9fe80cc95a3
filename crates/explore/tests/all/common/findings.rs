//! What prediction finds in some runs, in the words of the oracle: instructions and threads, not events.

use claim::{Answer, Candidate, Deadlock, Property};
use ctp::{Atomic, Ctp, Kind, Otherwise};
use ir::{Program, SiteId};
use machine::oracle::Answers;
use predict::{Symbolic, Wanted, candidates, symbolic};
use std::collections::{BTreeMap, BTreeSet};
use trace::{EventId, FaultKind, Outcome, ThreadId, Trace};

/// An instruction, and who runs it.
pub type Place = (ThreadId, SiteId);

/// What was found.
#[derive(Debug, Default)]
pub struct Findings {
    /// Assertions and faults.
    pub failures: BTreeSet<(Place, Option<FaultKind>)>,
    /// Assertions of compiled programs with no event between them, of which one fails.
    pub failing_among: BTreeSet<Vec<Place>>,
    /// Pairs, the smaller place first; whether both were next at once.
    pub races: BTreeSet<(bool, Place, Place)>,
    pub triples: BTreeSet<(Place, Place, Place)>,
    /// All threads that had not ended, and circles of some of them.
    pub blocked: BTreeSet<Vec<Place>>,
    pub circles: BTreeSet<Vec<Place>>,
    /// Of some candidate it is not known.
    pub unknown: bool,
}

/// What the oracle says.
pub fn expected(answers: &Answers) -> Findings {
    let place = |point: machine::oracle::Point| (point.thread, point.site);
    let race = |next, race: &machine::oracle::Race| pair(next, place(race.first), place(race.second));
    let mut races: BTreeSet<_> = answers.co_enabled.keys().map(|one| race(true, one)).collect();
    races.extend(answers.unordered.keys().map(|one| race(false, one)));
    let triples = answers.triples.keys();
    let blocked = answers.deadlocks.keys();
    Findings {
        failures: answers.failures.keys().map(|failure| (place(failure.at), failure.fault)).collect(),
        races,
        triples: triples.map(|one| (place(one.before), place(one.between), place(one.after))).collect(),
        blocked: blocked.map(|all| sorted(all.iter().map(|one| (one.thread, one.site)))).collect(),
        ..Findings::default()
    }
}

fn pair(next: bool, a: Place, b: Place) -> (bool, Place, Place) {
    (next, a.min(b), a.max(b))
}

fn sorted(places: impl Iterator<Item = Place>) -> Vec<Place> {
    let mut places: Vec<Place> = places.collect();
    places.sort_unstable();
    places
}

impl Findings {
    /// Adds what a run ends with.
    pub fn add_outcome(&mut self, trace: &Trace) {
        match &trace.outcome {
            Outcome::AssertionFailed { event, site } => {
                _ = self.failures.insert(((event.thread, *site), None))
            }
            Outcome::Fault { event, site, kind } => {
                self.failures.insert(((event.thread, *site), Some(*kind)));
            }
            Outcome::Deadlock { blocked } => {
                self.blocked.insert(sorted(blocked.iter().map(|one| (one.thread, one.site))));
            }
            _ => {}
        }
    }

    /// Adds what a run shows, and what is predicted from it.
    pub fn add(&mut self, program: &Program, trace: &Trace) {
        self.add_outcome(trace);
        let options = ctp::Options { atomic: Atomic::Marked, ..ctp::Options::default() };
        let ctp = Ctp::build(program, trace, &options).expect("the trace fits");
        let properties = vec![Property::Atomicity, Property::Race, Property::Assertion, Property::Deadlock];
        let wanted = Wanted { properties, per_place: usize::MAX };
        let all = candidates(&ctp, &wanted).all;
        let mut engine =
            Symbolic::new(program, &ctp, &all, symbolic::Options::default()).expect("the trace is encoded");
        let sites: BTreeMap<EventId, SiteId> =
            trace.events.iter().map(|event| (event.id, event.site)).collect();
        let place = |id: EventId| (id.thread, sites[&id]);
        for candidate in &all {
            match engine.answer(candidate).expect("it is decided") {
                Answer::Feasible(_) => {}
                Answer::Infeasible(_) => continue,
                Answer::Unknown(_) => {
                    self.unknown = true;
                    continue;
                }
            }
            match *candidate {
                Candidate::Atomicity { before, between, after } => {
                    self.triples.insert((place(before), place(between), place(after)));
                }
                Candidate::CoEnabledRace { first, second } => {
                    self.races.insert(pair(true, place(first), place(second)));
                }
                Candidate::UnorderedRace { first, second } => {
                    self.races.insert(pair(false, place(first), place(second)));
                }
                Candidate::Assertion { event } => {
                    let failing = ctp.failing_at(event).map(|failing| (event.thread, failing.site));
                    let failing = sorted(failing);
                    match failing[..] {
                        [] => _ = self.failures.insert((place(event), None)),
                        [one] => _ = self.failures.insert((one, None)),
                        _ => _ = self.failing_among.insert(failing),
                    }
                }
                Candidate::Fault { event, kind } => {
                    self.failures.extend(
                        fault_sites(&ctp, event, kind).map(|site| ((event.thread, site), Some(kind))),
                    );
                }
                _ => {}
            }
        }
        for (candidate, answer) in engine.deadlocks(1000).expect("they are enumerated") {
            match (candidate, answer) {
                (Candidate::Deadlock(Deadlock::Circle(events)), Answer::Feasible(_)) => {
                    self.circles.insert(sorted(events.into_iter().map(place)));
                }
                (Candidate::Deadlock(Deadlock::AllBlocked(events)), Answer::Feasible(_)) => {
                    self.blocked.insert(sorted(events.into_iter().map(place)));
                }
                _ => self.unknown = true,
            }
        }
    }

    /// Whether each deadlock of one is one of the other.
    pub fn same_deadlocks(&self, expected: &Findings) -> Result<(), String> {
        let within = |circle: &Vec<Place>, all: &Vec<Place>| circle.iter().all(|place| all.contains(place));
        for all in &expected.blocked {
            if !self.blocked.contains(all) && !self.circles.iter().any(|circle| within(circle, all)) {
                return Err(format!("missed {all:?}"));
            }
        }
        for all in &self.blocked {
            if !expected.blocked.contains(all) && !expected.blocked.iter().any(|known| within(known, all)) {
                return Err(format!("too much {all:?}"));
            }
        }
        for circle in &self.circles {
            if !expected.blocked.iter().any(|all| within(circle, all)) {
                return Err(format!("too much, circle {circle:?}"));
            }
        }
        Ok(())
    }
}

/// Where a fault that comes in place of an event is: at the event, or at what is computed before it.
fn fault_sites(ctp: &Ctp, id: EventId, kind: FaultKind) -> impl Iterator<Item = SiteId> {
    ctp.events_at(id).filter_map(move |at| {
        let event = ctp.event(at);
        match &event.kind {
            Kind::Require { otherwise: Otherwise::Fault(fault), .. } => {
                (*fault == kind).then_some(event.site)
            }
            other => {
                let access = other.access()?;
                let faults = access.faults.iter().any(|&(fault, _)| fault == kind);
                (faults || kind == FaultKind::UseAfterFree).then_some(event.site)
            }
        }
    })
}
