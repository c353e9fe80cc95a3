//! The walk itself: depth first, with or without remembering states.

use super::access::{is_race, pending};
use super::end::End;
use super::monitor::{Monitor, Watch};
use super::paths::Paths;
use super::{Method, Progress, Question};
use crate::Machine;
use crate::enabled::Readiness;
use crate::state::{Phase, State};
use crate::step::Nobody;
use ir::SiteId;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use subject::answers::{Answers, Counts, LimitReached, Race, Triple};
use subject::{Schedule, Segment};
use trace::{Choice, ThreadId};

type Key = Box<[u64]>;

/// After how many events progress is told.
const REPORT_EVERY: u64 = 200_000;

/// One walk.
pub struct Search<'q> {
    machine: &'q Machine,
    question: &'q Question<'q>,
    paths: Option<Paths>,
    answers: Answers,
    /// States that were seen: how many maximal schedules lead on from them, `None` while that is being found out.
    visited: FxHashMap<Key, Option<Counts>>,
    /// Ends that are already in the answers, with the number of segments of the schedule that led there.
    ends: FxHashMap<Key, usize>,
    stack: Vec<Frame>,
    /// What the step that is being made has shown, if it counts only once the whole trace has been run.
    shown: Shown,
    /// An estimate of the memory that `visited`, `ends` and `stack` take, in bytes.
    memory: u64,
}

/// A state with the past that leads to it.
#[derive(Clone)]
struct Node {
    state: State,
    monitor: Monitor,
}

/// A state on the way that is being walked.
struct Frame {
    node: Option<Node>,
    /// The ways on from here that have not been walked yet, last one first.
    ways: Vec<Way>,
    counts: Counts,
    key: Option<Key>,
    /// The step that led here.
    step: Option<Step>,
    /// What that step showed, if it counts only once the whole trace has been run from here.
    shown: Shown,
    /// How many segments the schedule has that led here.
    segments: usize,
    /// What this frame adds to the estimate of memory.
    bytes: u64,
}

/// What a step has shown.
#[derive(Default)]
struct Shown {
    unordered: Vec<Race>,
    triples: Vec<Triple>,
}

/// One way on: a thread's next event, and what settles it.
#[derive(Clone, Copy)]
struct Way {
    thread: usize,
    choice: Option<Choice>,
}

/// A step that was made.
#[derive(Clone, Copy)]
struct Step {
    thread: ThreadId,
    until: u64,
    site: SiteId,
    choice: Option<Choice>,
}

/// The memory that a remembered key takes.
fn key_bytes(key: &Key) -> u64 {
    (size_of_val::<[u64]>(key) + size_of::<(Key, Option<Counts>)>()) as u64
}

impl<'q> Search<'q> {
    pub fn new(machine: &'q Machine, question: &'q Question<'q>) -> Search<'q> {
        Search {
            machine,
            question,
            paths: question.along.map(|trace| Paths::of(trace, question.same_values)),
            answers: Answers::default(),
            visited: FxHashMap::default(),
            ends: FxHashMap::default(),
            stack: vec![],
            shown: Shown::default(),
            memory: 0,
        }
    }

    pub fn run(mut self, progress: &mut dyn FnMut(Progress)) -> Answers {
        let state = self.machine.initial(&mut Nobody);
        let mut start = Node { state, monitor: Monitor::default() };
        for t in 0..start.state.threads.len() {
            self.run_invisible(&mut start, t, None);
        }
        self.name_threads(&start.state, 0);
        self.enter(start, None);
        let mut next_report = REPORT_EVERY;
        while let Some(frame) = self.stack.last_mut() {
            let Some(way) = frame.ways.pop() else {
                self.leave();
                continue;
            };
            // The last way on needs no copy.
            let node = if frame.ways.is_empty() { frame.node.take() } else { frame.node.clone() };
            let Some(mut node) = node else { continue };
            if self.answers.steps >= self.question.max_steps {
                self.answers.limit = Some(LimitReached::Steps(self.question.max_steps));
                break;
            }
            let step = self.make(&mut node, way);
            self.enter(node, Some(step));
            if self.answers.steps >= next_report {
                next_report = self.answers.steps + REPORT_EVERY;
                let (steps, states) = (self.answers.steps, self.visited.len() as u64);
                progress(Progress { steps, states, findings: self.answers.findings() });
            }
            if self.answers.limit.is_some() {
                break;
            }
        }
        // After a limit the counts on the stack are a part of the truth.
        while !self.stack.is_empty() {
            self.leave();
        }
        self.answers.states = self.visited.len() as u64;
        self.answers
    }

    /// Makes a step, and the invisible ones behind it.
    fn make(&mut self, node: &mut Node, way: Way) -> Step {
        let threads = node.state.threads.len();
        let thread = node.state.threads[way.thread].id;
        let mut step = Step { thread, until: 0, site: SiteId(0), choice: way.choice };
        self.step(node, way.thread, way.choice, &mut step);
        self.run_invisible(node, way.thread, Some(&mut step));
        for child in threads..node.state.threads.len() {
            self.run_invisible(node, child, None);
        }
        self.name_threads(&node.state, threads);
        step
    }

    /// Takes note of the names of the threads from the `first` on.
    fn name_threads(&mut self, state: &State, first: usize) {
        for thread in &state.threads[first..] {
            let name = || self.machine.thread_name(state, thread.id);
            self.answers.threads.entry(thread.id).or_insert_with(name);
        }
    }

    fn run_invisible(&mut self, node: &mut Node, t: usize, mut step: Option<&mut Step>) {
        while self.may_go_on(node, t)
            && self.machine.readiness(&node.state, t) == Readiness::Ready
            && !self.machine.is_visible(&node.state, t)
        {
            let mut unused = Step { thread: ThreadId::MAIN, until: 0, site: SiteId(0), choice: None };
            self.step(node, t, None, step.as_deref_mut().unwrap_or(&mut unused));
        }
    }

    fn step(&mut self, node: &mut Node, t: usize, choice: Option<Choice>, step: &mut Step) {
        self.answers.steps += 1;
        step.site = self.machine.site(&node.state, t);
        let paths = self.paths.as_ref();
        if !self.question.history && paths.is_none() {
            self.machine.step(&mut node.state, t, choice, &mut Nobody);
            step.until = node.state.threads[t].done;
            return;
        }
        let history = self.question.history;
        let monitor = &mut node.monitor;
        let mut watch =
            Watch { machine: self.machine, monitor, paths, history, unordered: vec![], triples: vec![] };
        self.machine.step(&mut node.state, t, choice, &mut watch);
        let (unordered, triples) = (watch.unordered, watch.triples);
        step.until = node.state.threads[t].done;
        let last = Some(*step);
        for (race, address) in unordered {
            self.locate(&node.state, (race.first.site, race.second.site), address);
            match self.question.whole {
                true => self.shown.unordered.push(race),
                false => self.keep(|answers| &mut answers.unordered, race, last),
            }
        }
        for (triple, address) in triples {
            self.locate(&node.state, (triple.before.site, triple.between.site), address);
            match self.question.whole {
                true => self.shown.triples.push(triple),
                false => self.keep(|answers| &mut answers.triples, triple, last),
            }
        }
    }

    /// Keeps what a step has shown, now that the whole trace can be run from there.
    fn keep_shown(&mut self, shown: Shown, step: Option<Step>) {
        shown.unordered.into_iter().for_each(|race| self.keep(|answers| &mut answers.unordered, race, step));
        shown.triples.into_iter().for_each(|triple| self.keep(|answers| &mut answers.triples, triple, step));
    }

    /// Takes note of what two instructions both access.
    fn locate(&mut self, state: &State, sites: (SiteId, SiteId), address: u64) {
        if !self.answers.locations.contains_key(&sites) {
            let name = self.machine.show_place(state, address);
            self.answers.locations.insert(sites, name);
        }
    }

    /// Keeps a finding with the schedule of the way that is being walked, unless it has one that is as short.
    fn keep<K: Ord>(
        &mut self,
        list: impl Fn(&mut Answers) -> &mut BTreeMap<K, Schedule>,
        finding: K,
        last: Option<Step>,
    ) {
        let segments = self.segments(last);
        let is_shorter = list(&mut self.answers).get(&finding).is_none_or(|s| s.segments.len() > segments);
        if is_shorter {
            let schedule = self.schedule(last);
            list(&mut self.answers).insert(finding, schedule);
        }
    }

    /// How many segments the schedule of the way that is being walked has, with a step behind it.
    fn segments(&self, last: Option<Step>) -> usize {
        let Some(top) = self.stack.last() else { return usize::from(last.is_some()) };
        let same = |last: Step| top.step.is_some_and(|step| step.thread == last.thread);
        top.segments + usize::from(last.is_some_and(|last| !same(last)))
    }

    /// Whether the trace that is being kept to has the next event of thread `t`.
    fn may_go_on(&self, node: &Node, t: usize) -> bool {
        let thread = &node.state.threads[t];
        match &self.paths {
            None => true,
            Some(_) if thread.is_over() || node.monitor.departed.contains(&thread.id) => false,
            Some(paths) => paths.has(thread.id, thread.done, self.machine.site(&node.state, t)),
        }
    }

    /// Goes into a state, unless it was seen before.
    fn enter(&mut self, node: Node, step: Option<Step>) {
        let segments = self.segments(step);
        let key = (self.question.method == Method::Stateful).then(|| {
            let mut key = self.key(&node).into_vec();
            if self.question.switches.is_some() {
                // Who goes on without a switch, and how many are left.
                key.extend([step.map_or(u64::MAX, |step| step.thread.code()), segments as u64]);
            }
            key.into()
        });
        let shown = std::mem::take(&mut self.shown);
        if let Some(key) = &key {
            match self.visited.get(key) {
                Some(Some(counts)) => {
                    let counts = *counts;
                    if counts.whole > 0 {
                        self.keep_shown(shown, step);
                    }
                    if let Some(parent) = self.stack.last_mut() {
                        parent.counts.add(counts);
                    }
                    return;
                }
                Some(None) => {
                    self.answers.cyclic = true;
                    return;
                }
                None => {}
            }
            if self.visited.len() as u64 >= self.question.max_states {
                self.answers.limit = Some(LimitReached::States(self.question.max_states));
                return;
            }
            self.memory += key_bytes(key);
            self.visited.insert(key.clone(), None);
        }
        let bytes = size_of::<Frame>() as u64 + node.state.bytes() + node.monitor.bytes();
        self.memory += bytes;
        if self.memory > self.question.max_memory {
            self.answers.limit = Some(LimitReached::Memory(self.question.max_memory));
        }
        let mut ways = vec![];
        for thread in (0..node.state.threads.len()).rev() {
            if self.may_go_on(&node, thread) {
                let choices = self.machine.ways(&node.state, thread);
                ways.extend(choices.into_iter().rev().map(|choice| Way { thread, choice }));
            }
        }
        let could_go_on = !ways.is_empty();
        if let Some(most) = self.question.switches.filter(|&most| segments > most as usize) {
            let before = ways.len();
            let same = |way: &Way| step.is_some_and(|step| node.state.threads[way.thread].id == step.thread);
            ways.retain(same);
            if ways.len() < before {
                self.answers.switches = Some(most);
            }
        }
        let is_cut = could_go_on && ways.is_empty();
        let counts = Counts { cut: u128::from(is_cut), ..Counts::default() };
        self.stack.push(Frame { node: None, ways, counts, key, step, shown, segments, bytes });
        self.look(&node, is_cut);
        if let Some(frame) = self.stack.last_mut() {
            frame.node = Some(node);
        }
    }

    /// Comes back from a state, all of whose ways on have been walked.
    fn leave(&mut self) {
        let Some(frame) = self.stack.pop() else { return };
        self.memory -= frame.bytes;
        if frame.counts.whole > 0 {
            self.keep_shown(frame.shown, frame.step);
        }
        if let Some(key) = frame.key {
            self.visited.insert(key, Some(frame.counts));
        }
        match self.stack.last_mut() {
            Some(parent) => parent.counts.add(frame.counts),
            None => self.answers.schedules = frame.counts,
        }
    }

    /// What can be seen in the state that was just entered; `is_cut`: somebody could go on, but may not.
    fn look(&mut self, node: &Node, is_cut: bool) {
        let accesses: Vec<_> = (0..node.state.threads.len())
            .filter(|&t| self.may_go_on(node, t))
            .filter_map(|t| pending(self.machine, &node.state, t))
            .collect();
        for (i, a) in accesses.iter().enumerate() {
            for b in &accesses[i + 1..] {
                if is_race(a, b) {
                    let numbered = self.paths.is_some();
                    let race = Race::new(a.point(numbered), b.point(numbered));
                    self.locate(&node.state, (race.first.site, race.second.site), a.address.max(b.address));
                    self.keep(|answers| &mut answers.co_enabled, race, None);
                }
            }
        }
        if !is_cut && self.stack.last().is_some_and(|frame| frame.ways.is_empty()) {
            self.look_at_end(node);
        }
    }

    /// What can be seen in a state in which nobody goes on.
    fn look_at_end(&mut self, node: &Node) {
        let state = &node.state;
        let unfinished = (0..state.threads.len()).any(|t| !self.is_ended_or_blocked(node, t));
        let end = End::of(self.machine, state, unfinished, self.paths.is_some());
        let counts = Counts { whole: u128::from(self.ran_whole_trace(node)), ..end.counts };
        if let Some(frame) = self.stack.last_mut() {
            frame.counts.add(counts);
        }
        // An end that was seen is looked at again only if the way to it is shorter this time.
        let key = self.key(node);
        let segments = self.segments(None);
        match self.ends.get_mut(&key) {
            Some(known) if *known <= segments => return,
            Some(known) => *known = segments,
            None => {
                self.memory += key_bytes(&key);
                self.ends.insert(key, segments);
            }
        }
        let schedule = self.schedule(None);
        end.keep(&mut self.answers, segments, || schedule.clone());
    }

    /// Whether all events of the trace that is being kept to have been run, as recorded.
    fn ran_whole_trace(&self, node: &Node) -> bool {
        let done = || node.state.threads.iter().map(|thread| thread.done).sum::<u64>();
        let as_recorded = node.monitor.departed.is_empty() && node.state.ending.is_none();
        self.paths.as_ref().is_some_and(|paths| as_recorded && done() == paths.events())
    }

    /// Whether thread `t` has ended or waits for others; otherwise it has stopped for a reason of its own.
    fn is_ended_or_blocked(&self, node: &Node, t: usize) -> bool {
        let thread = &node.state.threads[t];
        match thread.phase {
            Phase::Ended => true,
            _ => self.may_go_on(node, t) && self.machine.readiness(&node.state, t) == Readiness::Blocked,
        }
    }

    fn key(&self, node: &Node) -> Key {
        let mut key = Vec::with_capacity(64);
        node.state.write_key(self.machine, self.question.history, &mut key);
        if self.question.history || self.paths.is_some() {
            let mut done: Vec<_> = node.state.threads.iter().map(|thread| (thread.id, thread.done)).collect();
            done.sort_unstable();
            key.extend(done.into_iter().map(|(_, done)| done));
            node.monitor.write_key(&mut key);
        }
        key.into()
    }

    /// The schedule of the way that is being walked, and of a step behind it.
    fn schedule(&self, last: Option<Step>) -> Schedule {
        let mut schedule = Schedule {
            fingerprint: Some(self.machine.fingerprint()),
            spurious: self.machine.options().spurious,
            ..Schedule::default()
        };
        for step in self.stack.iter().filter_map(|frame| frame.step).chain(last) {
            schedule.choices.extend(step.choice);
            let segment = Segment { thread: step.thread, until: step.until, site: Some(step.site) };
            match schedule.segments.last_mut() {
                Some(last) if last.thread == step.thread => *last = segment,
                _ => schedule.segments.push(segment),
            }
        }
        schedule
    }
}
