//! What the schedules of a subject show: the answers that a search over all of them collects.
//!
//! Plain data. The oracle and the walks of the machine fill it, and the report turns it into text, so that neither knows
//! the other.

use ir::{Quantifier, SiteId};
use schedule::Schedule;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use trace::{BlockedThread, FaultKind, ThreadId};

/// Everything that was seen, each thing with the first schedule that shows it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Answers {
    /// The states in which all threads have ended.
    pub final_states: BTreeMap<FinalState, Schedule>,
    /// Assertions that fail, and faults.
    pub failures: BTreeMap<Failure, Schedule>,
    /// Deadlocks: all live threads blocked, or a circle of threads that wait for each other.
    pub deadlocks: BTreeMap<Vec<BlockedThread>, Schedule>,
    /// Pairs of conflicting accesses, not both atomic, that are both next in some state.
    pub co_enabled: BTreeMap<Race, Schedule>,
    /// Pairs of conflicting accesses, not both atomic, that happens-before does not order in some run.
    pub unordered: BTreeMap<Race, Schedule>,
    /// Unserializable interleavings of three accesses.
    pub triples: BTreeMap<Triple, Schedule>,
    /// What two instructions of a race, or the first two of a triple, both access; by their sites.
    pub locations: BTreeMap<(SiteId, SiteId), String>,
    /// Loops that reached their bound: beyond it nothing is known.
    pub bounds: BTreeMap<SiteId, Schedule>,
    /// Instructions at which some schedules need more than the machine goes along with: beyond them nothing is known.
    pub exhausted: BTreeMap<SiteId, Schedule>,
    /// What the threads that were seen are called.
    pub threads: BTreeMap<ThreadId, String>,
    /// Maximal schedules that were gone through, by how they end.
    pub schedules: Counts,
    /// Of schedules that differ only in the order of independent steps one was gone through, for all of them.
    pub one_of_each_class: bool,
    /// States that were remembered (stateful only).
    pub states: u64,
    /// Events that were stepped through.
    pub steps: u64,
    /// A state could follow itself: there are infinite runs, which are not counted.
    pub cyclic: bool,
    /// Schedules with more context switches than this were left out.
    pub switches: Option<u32>,
    /// Why the walk is not complete.
    pub limit: Option<LimitReached>,
}

impl Answers {
    /// Keeps a finding with its schedule, unless it has one that is as short.
    pub fn keep<K: Ord>(
        list: &mut BTreeMap<K, Schedule>,
        finding: K,
        segments: usize,
        schedule: impl Fn() -> Schedule,
    ) {
        if list.get(&finding).is_none_or(|known| known.segments.len() > segments) {
            list.insert(finding, schedule());
        }
    }
}

impl Answers {
    /// Adds what other schedules of the same program have shown. Of two schedules that are as short the own one stays.
    pub fn merge(&mut self, more: Answers) {
        fn add<K: Ord>(known: &mut BTreeMap<K, Schedule>, more: BTreeMap<K, Schedule>) {
            for (finding, schedule) in more {
                Answers::keep(known, finding, schedule.segments.len(), || schedule.clone());
            }
        }
        add(&mut self.final_states, more.final_states);
        add(&mut self.failures, more.failures);
        add(&mut self.deadlocks, more.deadlocks);
        add(&mut self.co_enabled, more.co_enabled);
        add(&mut self.unordered, more.unordered);
        add(&mut self.triples, more.triples);
        add(&mut self.bounds, more.bounds);
        add(&mut self.exhausted, more.exhausted);
        for (sites, name) in more.locations {
            self.locations.entry(sites).or_insert(name);
        }
        for (thread, name) in more.threads {
            self.threads.entry(thread).or_insert(name);
        }
        self.schedules.add(more.schedules);
        self.one_of_each_class |= more.one_of_each_class;
        self.states += more.states;
        self.steps += more.steps;
        self.cyclic |= more.cyclic;
        self.switches = self.switches.or(more.switches);
        self.limit = self.limit.or(more.limit);
    }
}

impl Answers {
    /// All that was seen, without the schedules that show it: what two walks over the same schedules have in common.
    #[must_use]
    pub fn seen(&self) -> impl PartialEq + std::fmt::Debug + use<> {
        (
            self.final_states.keys().cloned().collect::<Vec<_>>(),
            self.failures.keys().copied().collect::<Vec<_>>(),
            self.deadlocks.keys().cloned().collect::<Vec<_>>(),
            self.co_enabled.keys().copied().collect::<Vec<_>>(),
            self.unordered.keys().copied().collect::<Vec<_>>(),
            self.triples.keys().copied().collect::<Vec<_>>(),
            self.bounds.keys().copied().collect::<Vec<_>>(),
        )
    }
}

/// Which limit ended the walk.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum LimitReached {
    /// On events.
    Steps(u64),
    /// On states.
    States(u64),
    /// On memory, in bytes.
    Memory(u64),
    /// On runs.
    Runs(u64),
    /// On the steps of one run.
    RunLength(u64),
    /// None: it was interrupted.
    Interrupted,
}

/// Numbers of maximal schedules; they saturate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counts {
    /// All threads ended.
    pub completed: u128,
    /// An assertion or a fault ended the process.
    pub failed: u128,
    /// All live threads blocked.
    pub deadlocked: u128,
    /// An assumption did not hold.
    pub discarded: u128,
    /// A loop bound or a limit of the machine was reached, or a thread left the trace's paths.
    pub cut: u128,
    /// Those of all these that run every event of the trace whose paths are kept to, as recorded.
    pub whole: u128,
}

impl Counts {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> u128 {
        [self.completed, self.failed, self.deadlocked, self.discarded, self.cut]
            .into_iter()
            .fold(0, u128::saturating_add)
    }

    /// Adds those of other schedules.
    pub fn add(&mut self, other: Counts) {
        self.completed = self.completed.saturating_add(other.completed);
        self.failed = self.failed.saturating_add(other.failed);
        self.deadlocked = self.deadlocked.saturating_add(other.deadlocked);
        self.discarded = self.discarded.saturating_add(other.discarded);
        self.cut = self.cut.saturating_add(other.cut);
        self.whole = self.whole.saturating_add(other.whole);
    }
}

/// A state in which all threads have ended.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct FinalState {
    /// Shared variables and observed locals, by name.
    pub values: Vec<(String, String)>,
    /// Whether the formula of the final condition holds.
    pub condition: Option<bool>,
}

/// What ended the process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Failure {
    /// Where, and by whom.
    pub at: Point,
    /// Which fault; `None` for an assertion.
    pub fault: Option<FaultKind>,
}

/// An event, as far as different runs have it in common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Point {
    /// Whose.
    pub thread: ThreadId,
    /// Its number, if the walk was kept to the paths of a trace: there numbers mean the same in all runs.
    pub n: Option<u64>,
    /// The instruction.
    pub site: SiteId,
}

/// Two accesses that race; the smaller point first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Race {
    /// One.
    pub first: Point,
    /// The other.
    pub second: Point,
}

impl Race {
    /// Of two points, in either order.
    #[must_use]
    pub fn new(a: Point, b: Point) -> Race {
        Race { first: a.min(b), second: a.max(b) }
    }
}

/// Three accesses of one location: `before` and `after` in one transaction, `between` in another thread, executed in this
/// order, of an unserializable kind, and not guarded independent (AV §3).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Triple {
    /// e1.
    pub before: Point,
    /// f.
    pub between: Point,
    /// e2.
    pub after: Point,
}

impl Answers {
    /// How many failures, deadlocks, races and unserializable interleavings there are.
    #[must_use]
    pub fn findings(&self) -> u64 {
        let unordered_only = self.unordered.keys().filter(|race| !self.co_enabled.contains_key(race)).count();
        let others = self.failures.len() + self.deadlocks.len() + self.co_enabled.len() + self.triples.len();
        (others + unordered_only) as u64
    }

    /// Whether everything was seen: no limit was reached, no bound on loops or switches, and no run is infinite.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let is_bounded = !self.bounds.is_empty() || self.switches.is_some();
        self.limit.is_none() && !is_bounded && self.exhausted.is_empty() && !self.cyclic
    }

    /// Whether a final condition with this quantifier holds; `None` if that is not known.
    #[must_use]
    pub fn condition(&self, quantifier: Quantifier) -> Option<bool> {
        let seen = |wanted: bool| self.final_states.keys().any(|state| state.condition == Some(wanted));
        // One state that was seen settles the question, one that was not settles it only if all were seen.
        let (settled, otherwise) = match quantifier {
            Quantifier::Exists => (seen(true), true),
            Quantifier::NotExists => (seen(true), false),
            Quantifier::Forall => (seen(false), false),
        };
        match settled {
            true => Some(otherwise),
            false => self.is_complete().then_some(!otherwise),
        }
    }
}
