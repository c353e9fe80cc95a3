//! Predictions from traces of other tools, which have no values and no program.
//!
//! Twice: on small recordings an enumeration of all orders that keep each read to its write, written for this test and sharing nothing with
//! the engines, says what is feasible; and for runs of random programs, what is predicted after a way through another format is a
//! schedule of the program itself, by the checker's account.

use crate::common::programs::programs;
use crate::common::{config, machine_of, run, with_source};
use claim::{Answer, Candidate, Deadlock, Property, Witness};
use foreign::{Format, Recording, StandIn, recording_of};
use predict::{Engines, Options, Prediction, Wanted, predict};
use proptest::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use trace::{Event, EventId, EventKind, Location, Outcome, ThreadId, Trace};
use witness::{Refusal, Unfounded};

fn predicted(stand_in: &(ir::Program, Trace), engines: Engines) -> Prediction {
    let properties = vec![Property::Atomicity, Property::Race, Property::Deadlock];
    let options = Options {
        wanted: Wanted { properties, per_place: usize::MAX },
        ctp: ctp::Options { atomic: ctp::Atomic::Marked, ..ctp::Options::default() },
        engines,
        ..Options::default()
    };
    predict(&stand_in.0, &stand_in.1, &options, &mut |_| {}).expect("it can be predicted from")
}

/// All orders of the events of a trace that keep to program order, fork and join and locks, and in which a thread goes on behind a
/// read only if that saw the write that it saw.
struct Orders<'t> {
    threads: Vec<(ThreadId, Option<EventId>, Vec<&'t Event>)>,
}

/// How far it has come: the events that each thread has done, whether it has stopped, who wrote each location last and who has each
/// lock.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
struct State {
    done: Vec<usize>,
    stopped: Vec<bool>,
    holds: BTreeMap<Location, u64>,
    locks: BTreeMap<Location, (usize, u32)>,
}

impl<'t> Orders<'t> {
    fn new(trace: &'t Trace) -> Orders<'t> {
        let own = |id: ThreadId| trace.events.iter().filter(|event| event.id.thread == id).collect();
        Orders { threads: trace.threads.iter().map(|info| (info.id, info.forked_by, own(info.id))).collect() }
    }

    fn begin(&self) -> State {
        let count = self.threads.len();
        State { done: vec![0; count], stopped: vec![false; count], ..State::default() }
    }

    fn next(&self, state: &State, t: usize) -> Option<&'t Event> {
        let (_, fork, events) = &self.threads[t];
        let is_there = fork.is_none_or(|fork| {
            let parent = self.index(fork.thread);
            parent.is_some_and(|parent| state.done[parent] as u64 >= fork.n)
        });
        events.get(state.done[t]).copied().filter(|_| is_there && !state.stopped[t])
    }

    fn index(&self, id: ThreadId) -> Option<usize> {
        self.threads.iter().position(|(thread, ..)| *thread == id)
    }

    /// Whom the next event of a thread waits for; `None` if it can happen.
    fn waits_for(&self, state: &State, t: usize, event: &Event) -> Option<usize> {
        match event.kind {
            EventKind::Lock { object, .. } => {
                state.locks.get(&object).map(|&(owner, _)| owner).filter(|&owner| owner != t)
            }
            EventKind::Join { child } => {
                let child = self.index(child)?;
                let ended = matches!(self.threads[child].2.last(), Some(last) if last.kind == EventKind::End);
                let all = self.threads[child].2.len();
                (!ended || state.done[child] < all).then_some(child)
            }
            _ => None,
        }
    }

    fn step(&self, state: &State, t: usize, event: &Event) -> State {
        let mut state = state.clone();
        state.done[t] += 1;
        match event.kind {
            EventKind::Read { location, value, .. } => {
                state.stopped[t] = state.holds.get(&location).copied().unwrap_or(0) != value;
            }
            EventKind::Write { location, value, .. } => _ = state.holds.insert(location, value),
            EventKind::Update { location, old, new, .. } => {
                state.stopped[t] = state.holds.insert(location, new).unwrap_or(0) != old;
            }
            EventKind::Lock { object, .. } => state.locks.entry(object).or_insert((t, 0)).1 += 1,
            EventKind::Unlock { object, .. } => {
                if let Some(held) = state.locks.get_mut(&object) {
                    held.1 -= 1;
                    if held.1 == 0 {
                        state.locks.remove(&object);
                    }
                }
            }
            _ => {}
        }
        state
    }

    /// Whether some order comes to where `is_it` says so; it is told the state and how many of `events` have come, in this order. Orders in
    /// which they come in another one are left out. `None` if there are too many.
    fn reaches(&self, events: &[EventId], is_it: &dyn Fn(&State, usize) -> bool) -> Option<bool> {
        let mut seen: FxHashSet<(State, usize)> = FxHashSet::default();
        let mut open = vec![(self.begin(), 0)];
        while let Some((state, come)) = open.pop() {
            if is_it(&state, come) {
                return Some(true);
            }
            if seen.len() > 100_000 {
                return None;
            }
            for t in 0..self.threads.len() {
                let Some(event) = self.next(&state, t) else { continue };
                if self.waits_for(&state, t, event).is_some() {
                    continue;
                }
                let place = events.iter().position(|&id| id == event.id);
                let come = match place {
                    Some(n) if n == come => come + 1,
                    Some(_) => continue,
                    None => come,
                };
                let next = (self.step(&state, t, event), come);
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        Some(false)
    }

    fn stands_before(&self, state: &State, id: EventId) -> bool {
        self.index(id.thread).and_then(|t| self.next(state, t)).is_some_and(|next| next.id == id)
    }

    /// Whether these threads wait for each other in a circle.
    fn is_circle(&self, state: &State, events: &[EventId]) -> bool {
        let threads: Vec<Option<usize>> = events.iter().map(|id| self.index(id.thread)).collect();
        events.iter().all(|&id| {
            self.stands_before(state, id)
                && self
                    .index(id.thread)
                    .and_then(|t| self.waits_for(state, t, self.next(state, t)?))
                    .is_some_and(|by| threads.contains(&Some(by)))
        })
    }

    /// Whether a candidate is feasible; `None` if that is not known here.
    fn feasible(&self, candidate: &Candidate) -> Option<bool> {
        match candidate {
            Candidate::Atomicity { before, between, after } => {
                self.reaches(&[*before, *between, *after], &|_, come| come == 3)
            }
            Candidate::CoEnabledRace { first, second } => self.reaches(&[], &|state, _| {
                self.stands_before(state, *first) && self.stands_before(state, *second)
            }),
            Candidate::Deadlock(Deadlock::Circle(events)) => {
                self.reaches(&[], &|state, _| self.is_circle(state, events))
            }
            _ => None,
        }
    }

    /// Whether some circle is there at all.
    fn some_circle(&self) -> Option<bool> {
        self.reaches(&[], &|state, _| {
            let waits: Vec<Option<usize>> = (0..self.threads.len())
                .map(|t| self.next(state, t).and_then(|event| self.waits_for(state, t, event)))
                .collect();
            (0..waits.len()).any(|start| {
                let mut at = start;
                (0..waits.len()).any(|_| match waits[at] {
                    Some(next) => {
                        at = next;
                        at == start
                    }
                    None => false,
                })
            })
        })
    }
}

/// Recordings of up to three threads, as text: sections nest, and some locks are taken again.
fn recordings() -> impl Strategy<Value = String> {
    let access = prop::sample::select(vec!["r(x)", "w(x)", "r(y)", "w(y)"]);
    let piece = prop_oneof![
        6 => access.clone().prop_map(|one| vec![one.to_owned()]),
        3 => (prop::sample::select(vec!["a", "b"]), prop::collection::vec(access.clone(), 0..3)).prop_map(|(lock, inside)| {
            section(lock, inside.into_iter().map(str::to_owned).collect())
        }),
        2 => (any::<bool>(), access.clone()).prop_map(|(turn, inside)| {
            let (outer, inner) = if turn { ("a", "b") } else { ("b", "a") };
            section(outer, section(inner, vec![inside.to_owned()]))
        }),
        1 => access.clone().prop_map(|inside| section("a", section("a", vec![inside.to_owned()]))),
        1 => prop::collection::vec(access, 2..4).prop_map(|inside| {
            let inside = inside.into_iter().map(str::to_owned);
            ["begin".to_owned()].into_iter().chain(inside).chain(["end".to_owned()]).collect()
        }),
    ];
    let thread = prop::collection::vec(piece, 1..4).prop_map(|pieces: Vec<Vec<String>>| pieces.concat());
    (prop::collection::vec(thread, 2..4), prop::collection::vec(0..3usize, 0..60), any::<[bool; 2]>())
        .prop_map(|(threads, turns, [forks, joins])| interleaved(&threads, &turns, forks, joins))
}

fn section(lock: &str, inside: Vec<String>) -> Vec<String> {
    [format!("acq({lock})")].into_iter().chain(inside).chain([format!("rel({lock})")]).collect()
}

/// One order of what threads do; a step that cannot be is tried again later.
fn interleaved(threads: &[Vec<String>], turns: &[usize], forks: bool, joins: bool) -> String {
    let mut text = String::new();
    if forks {
        (1..threads.len()).for_each(|n| text.push_str(&format!("T0|fork(T{n})|{n}\n")));
    }
    let mut at = vec![0; threads.len()];
    let endless = turns.iter().copied().chain((0..threads.len()).cycle());
    for t in endless.map(|turn| turn % threads.len()).take(turns.len() + 400) {
        let Some(step) = threads[t].get(at[t]) else { continue };
        let line = format!("T{t}|{step}|{}\n", 10 * t + at[t]);
        if Format::Std.read(format!("{text}{line}").as_bytes()).is_ok() {
            text.push_str(&line);
            at[t] += 1;
        }
    }
    if joins {
        let done = (1..threads.len()).filter(|&n| at[n] == threads[n].len());
        done.for_each(|n| text.push_str(&format!("T0|join(T{n})|{n}\n")));
    }
    text
}

fn stand_in(recording: &Recording) -> (ir::Program, Trace) {
    StandIn::new(recording, "test.std").expect("it can have happened").into_parts()
}

/// Each answer of an engine against the enumeration.
fn compare(text: &str) -> Result<(), TestCaseError> {
    let recording = Format::Std.read(text.as_bytes()).expect("it is right");
    let stand_in = stand_in(&recording);
    let orders = Orders::new(&stand_in.1);
    for engines in [Engines::Symbolic, Engines::Plan, Engines::Sync, Engines::Lockset, Engines::All] {
        let prediction = predicted(&stand_in, engines);
        let mut circles = 0;
        for (candidate, answer) in &prediction.answers {
            let Some(feasible) = orders.feasible(candidate) else { continue };
            let claimed = match answer {
                Answer::Feasible(witness) => {
                    let rules = witness::Rules::of(&stand_in.1);
                    let checked = witness::check(&stand_in.0, &stand_in.1, rules, candidate, witness);
                    prop_assert!(checked.is_ok(), "{:?} is refused: {:?}\n{}", candidate, checked, text);
                    circles += usize::from(candidate.property() == Property::Deadlock);
                    Some(true)
                }
                Answer::Infeasible(_) => Some(false),
                Answer::Unknown(why) => {
                    prop_assert!(
                        engines != Engines::Symbolic,
                        "{:?} is unknown: {:?}\n{}",
                        candidate,
                        why,
                        text
                    );
                    None
                }
            };
            prop_assert!(
                claimed.is_none_or(|claimed| claimed == feasible),
                "{:?}: {:?} says {:?}\n{}",
                candidate,
                engines,
                answer,
                text
            );
        }
        if engines == Engines::Symbolic
            && let Some(some) = orders.some_circle()
        {
            prop_assert_eq!(circles > 0, some, "circles\n{}", text);
        }
        prop_assert!(prediction.coverage.same_writes);
        for finding in &prediction.findings {
            prop_assert_eq!(&finding.standing, &claim::Standing::Predicted(claim::Unconfirmed::NoSubject));
        }
    }
    Ok(())
}

/// What is predicted of a run after a way through another format is a schedule of the program itself.
fn compare_with_program(machine: &machine::Machine, trace: &Trace) -> Result<(), TestCaseError> {
    if !matches!(trace.outcome, Outcome::Completed { .. }) {
        return Ok(());
    }
    let Ok(recording) = recording_of(trace, machine.program()) else { return Ok(()) };
    let text = Format::Csv.write(&recording);
    let read = Format::Csv.read(text.as_bytes()).expect("what is written is read");
    let stand_in = stand_in(&read);
    let own = exported(trace, &stand_in.1)?;
    for (candidate, answer) in &predicted(&stand_in, Engines::Symbolic).answers {
        let Answer::Feasible(witness) = answer else { continue };
        let native = native(candidate, &own);
        let witness = native_witness(&witness.whole(&stand_in.1), candidate, &native, &own);
        let checked = witness::check(machine.program(), trace, witness::Rules::default(), &native, &witness);
        // Values may be such that the order of two accesses makes no difference, and only the program knows.
        let is_known = matches!(checked, Ok(()) | Err(Refusal::Claim(Unfounded::Independent(..))));
        prop_assert!(is_known, "{:?} by {:?}: {:?}\n{}", native, witness, checked, text);
    }
    Ok(())
}

/// The event of the program's trace that each event of the stand-in's trace is.
fn exported(trace: &Trace, stand_in: &Trace) -> Result<FxHashMap<EventId, EventId>, TestCaseError> {
    let is_exported = |event: &&Event| {
        event.kind.access().is_some()
            || matches!(
                event.kind,
                EventKind::Lock { .. }
                    | EventKind::TryLock { .. }
                    | EventKind::Unlock { .. }
                    | EventKind::Fork { .. }
                    | EventKind::Join { .. }
                    | EventKind::TransactionBegin
                    | EventKind::TransactionEnd
            )
    };
    let is_end = |event: &&Event| event.kind == EventKind::End;
    let names: FxHashMap<&str, ThreadId> = trace.threads.iter().map(|info| (&*info.name, info.id)).collect();
    let theirs: Vec<&Event> = stand_in.events.iter().filter(|event| !is_end(event)).collect();
    let ours: Vec<&Event> = trace.events.iter().filter(is_exported).collect();
    prop_assert_eq!(theirs.len(), ours.len());
    let mut own: FxHashMap<EventId, EventId> =
        theirs.iter().zip(&ours).map(|(theirs, ours)| (theirs.id, ours.id)).collect();
    for end in stand_in.events.iter().filter(is_end) {
        let thread = names[&*stand_in.thread_name(end.id.thread)];
        let last = trace.events.iter().find(|event| event.id.thread == thread && is_end(event));
        own.insert(end.id, last.expect("a thread that is joined has ended").id);
    }
    Ok(own)
}

fn native(candidate: &Candidate, own: &FxHashMap<EventId, EventId>) -> Candidate {
    let all = |events: &[EventId]| {
        let mut all: Vec<EventId> = events.iter().map(|id| own[id]).collect();
        all.sort_unstable();
        all
    };
    match candidate {
        Candidate::Atomicity { before, between, after } => {
            Candidate::Atomicity { before: own[before], between: own[between], after: own[after] }
        }
        Candidate::CoEnabledRace { first, second } => Candidate::co_enabled(own[first], own[second]),
        Candidate::UnorderedRace { first, second } => Candidate::unordered(own[first], own[second]),
        Candidate::Deadlock(Deadlock::Circle(events)) => Candidate::Deadlock(Deadlock::Circle(all(events))),
        Candidate::Deadlock(Deadlock::AllBlocked(events)) => {
            Candidate::Deadlock(Deadlock::AllBlocked(all(events)))
        }
        other => other.clone(),
    }
}

/// The same order of the program's own events; with what its threads do for themselves on the way to where they stand.
fn native_witness(
    witness: &Witness,
    candidate: &Candidate,
    native: &Candidate,
    own: &FxHashMap<EventId, EventId>,
) -> Witness {
    let mut order: Vec<EventId> = witness.order.iter().map(|id| own[id]).collect();
    if matches!(candidate, Candidate::CoEnabledRace { .. } | Candidate::Deadlock(_)) {
        for id in native.events() {
            let before = EventId { n: id.n - 1, ..id };
            let done = order.iter().rev().find(|done| done.thread == id.thread).map_or(0, |done| done.n);
            order.extend((done < before.n).then_some(before));
        }
    }
    Witness { recorded: None, order, choices: vec![] }
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn answers_are_those_of_an_enumeration_that_keeps_reads_to_their_writes(text in recordings()) {
        compare(&text)?;
    }

    #[test]
    fn what_is_predicted_without_values_is_a_schedule_of_the_program(file in programs(), seed in any::<u64>()) {
        let machine = machine_of(&file);
        with_source(&file, seed, compare_with_program(&machine, &run(&machine, seed)))?;
    }
}

#[test]
fn a_read_that_saw_another_write_ends_its_thread() {
    // T1 read what T0 had written, and only then wrote y: y cannot come before x.
    let text = "T0|w(y)|1\nT0|w(x)|2\nT1|r(x)|3\nT1|w(y)|4\n";
    let stand_in = stand_in(&Format::Std.read(text.as_bytes()).expect("it is right"));
    let answers = predicted(&stand_in, Engines::Symbolic).answers;
    let next_at_once = answers.iter().filter_map(|(candidate, answer)| match candidate {
        Candidate::CoEnabledRace { first, second } => {
            Some((first.n, second.n, matches!(answer, Answer::Feasible(_))))
        }
        _ => None,
    });
    // The write of x and its read, and the writes of y.
    assert_eq!(next_at_once.collect::<Vec<_>>(), [(1, 2, false), (2, 1, true)]);
}

/// A schedule of a long trace was written out for each finding, and its run too: a million events took gigabytes.
#[test]
fn of_a_long_trace_only_the_end_of_a_witness_is_written_out() {
    let rounds =
        (0..6_000).map(|n| format!("T{0}|acq(l)|1\nT{0}|r(x)|2\nT{0}|w(x)|3\nT{0}|rel(l)|4\n", n % 2));
    let text = format!("{}T0|w(y)|5\nT1|r(y)|6\n", rounds.collect::<String>());
    let recording = Format::Std.read(text.as_bytes()).expect("it is right");
    let (program, trace) = stand_in(&recording);
    let race = Wanted { properties: vec![Property::Race], ..Wanted::default() };
    let options = Options { wanted: race, ..Options::default() };
    let prediction = predict(&program, &trace, &options, &mut |_| {}).expect("it can be predicted from");
    let is_next = |candidate: &Candidate| matches!(candidate, Candidate::CoEnabledRace { .. });
    let found = prediction.findings.iter().find(|finding| is_next(&finding.candidate)).expect("y is racy");
    assert!(
        found.witness.recorded.is_some() && found.witness.order.len() < 5_000,
        "{:?}",
        found.witness.recorded
    );
    let run = found.run.as_deref().expect("what can be shown");
    assert!(run.events.len() < 10_000, "{}", run.events.len());
    let last: Vec<EventId> = run.events.iter().rev().take(2).map(|event| event.id).collect();
    assert!(found.candidate.events().iter().all(|event| last.contains(event)), "{last:?}");
    assert!(
        run.events.len() > 2
            && run.switches.last().is_some_and(|last| last.until == run.events.last().expect("one").id.n)
    );
}
