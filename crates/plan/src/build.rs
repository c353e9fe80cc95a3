//! From a concurrent trace program, or a slice of one, to a planning problem (PLAN §4.3).
//!
//! All values that threads read are those of the recorded run, so each thread goes its recorded way, computes what it computed and accesses
//! what it accessed: of the program nothing is needed but that. What neither needs nor changes anything is no step, since a schedule does it
//! right before the thread's next one.

use crate::formula;
use crate::goal::{Goal, Until};
use crate::memory::{Contents, recorded_reads};
use crate::problem::{Condition, Effect, Meaning, Problem, Step, ThreadNumber, ThreadSteps, Variable, Way};
use crate::triple;
use ctp::{Ctp, EventIndex, Kind};
use rustc_hash::{FxHashMap, FxHashSet};
use trace::{AllocationId, EventId, EventKind, ThreadId};

/// How much of the data a plan respects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Data {
    /// Each read sees the value that it saw; writers of the same value are not told apart.
    Values,
    /// The same, with one way for each writer that a read may be coupled with, as PLAN has it.
    Writers,
    /// None: runs are valid with respect to synchronisation only (PLAN §1, Penelope).
    Ignored,
}

/// What the problem is made from.
pub(crate) struct Builder<'c> {
    pub ctp: &'c Ctp,
    pub data: Data,
    pub problem: Problem,
    variables: FxHashMap<Meaning, Variable>,
    /// Where the step of each event is.
    pub places: FxHashMap<EventId, (ThreadNumber, usize)>,
    pub contents: Contents,
    /// The threads by their names.
    pub numbers: FxHashMap<ThreadId, ThreadNumber>,
    /// Who ever waits for each condition, and who comes to each barrier.
    pub users: FxHashMap<trace::Location, Vec<ThreadId>>,
    /// Memory that is given back in the window or was before.
    pub freed: FxHashSet<AllocationId>,
    pub has_exclusive: bool,
    /// Events whose reads are left open.
    open: Vec<EventId>,
    /// Events that must be steps.
    asked: Vec<EventId>,
    until_between: bool,
}

impl Problem {
    /// The problem to reach a goal from the beginning of a concurrent trace program.
    #[must_use]
    pub fn new(ctp: &Ctp, goal: &Goal, data: Data) -> Problem {
        let mut builder = Builder::new(ctp, goal, data);
        builder.set_past();
        for n in 0..ctp.threads.len() {
            builder.thread(ThreadNumber(n as u32));
        }
        builder.join_all();
        builder.set_goal(goal);
        let mut problem = builder.problem;
        problem.contents = builder.contents.all();
        // A thread that stands before its fork of another one never gets there.
        let is_beyond = |goal: &Condition| {
            matches!(goal, Condition::Done(thread, steps)
                if *steps as usize > problem.threads[thread.index()].steps.len())
        };
        problem.is_hopeless |= problem.goal.iter().any(is_beyond);
        problem
    }
}

impl<'c> Builder<'c> {
    fn new(ctp: &'c Ctp, goal: &Goal, data: Data) -> Builder<'c> {
        let mut users: FxHashMap<trace::Location, Vec<ThreadId>> = FxHashMap::default();
        let (mut freed, mut has_exclusive) = (FxHashSet::default(), false);
        for event in &ctp.events {
            let Kind::Other(kind) = &event.kind else { continue };
            match *kind {
                EventKind::WaitBegin { condition: object, .. }
                | EventKind::BarrierArrive { barrier: object, .. } => {
                    let users = users.entry(object).or_default();
                    if !users.contains(&event.id.thread) {
                        users.push(event.id.thread);
                    }
                }
                EventKind::Free { allocation: Some(allocation) } => _ = freed.insert(allocation),
                EventKind::ExclusiveBegin => has_exclusive = true,
                _ => {}
            }
        }
        let numbers = ctp.threads.iter().enumerate().map(|(n, thread)| (thread.id, ThreadNumber(n as u32)));
        Builder {
            ctp,
            data,
            problem: Problem::default(),
            variables: FxHashMap::default(),
            places: FxHashMap::default(),
            contents: Contents::new(ctp, data),
            numbers: numbers.collect(),
            users,
            freed,
            has_exclusive,
            open: goal.open(),
            asked: goal.events(),
            until_between: matches!(goal, Goal::Triple { until: Until::Between, .. }),
        }
    }

    /// The number that something is in a state.
    pub fn variable(&mut self, meaning: Meaning, initial: u32) -> Variable {
        let next = Variable(self.problem.meanings.len() as u32);
        let variable = *self.variables.entry(meaning.clone()).or_insert(next);
        if variable == next {
            self.problem.meanings.push(meaning);
            self.problem.initial.push(initial);
        }
        variable
    }

    pub fn set_initial(&mut self, variable: Variable, value: u32) {
        self.problem.initial[variable.0 as usize] = value;
    }

    pub fn initial(&self, variable: Variable) -> u32 {
        self.problem.initial[variable.0 as usize]
    }

    /// The events of a thread up to where it does something that ends the process.
    fn thread(&mut self, number: ThreadNumber) {
        let ctp = self.ctp;
        let thread = &ctp.threads[number.index()];
        let (mut steps, mut alone): (Vec<Step>, bool) = (vec![], false);
        // What must come before anything that the thread does.
        let fork = thread.forked_by.and_then(|fork| ctp.find(fork)).map(|fork| ctp.event(fork).id);
        for &at in thread.events.iter().filter(|at| at.index() >= ctp.past) {
            let event = ctp.event(at);
            let ends =
                matches!(event.kind, Kind::Assert { held: false, .. } | Kind::Other(EventKind::Fault { .. }));
            if ends {
                break;
            }
            if event.silent {
                // A write that the trace does not see happens with the step before it.
                let does = self.writes(at, None);
                let ways = steps.last_mut().map(|step| &mut step.ways);
                ways.into_iter().flatten().for_each(|way| way.does.extend(&does));
                continue;
            }
            alone |= matches!(event.kind, Kind::Other(EventKind::ExclusiveBegin));
            let mut step = self.step(number, at);
            if self.has_exclusive {
                let begins = matches!(event.kind, Kind::Other(EventKind::ExclusiveBegin));
                let owner = if alone && !begins { number.0 + 1 } else { 0 };
                let exclusive = self.variable(Meaning::Exclusive, 0);
                step.ways.iter_mut().for_each(|way| way.needs.push(Condition::Is(exclusive, owner)));
            }
            alone &= !matches!(event.kind, Kind::Other(EventKind::ExclusiveEnd));
            let is_first = steps.is_empty();
            if let Some(fork) = fork.filter(|_| is_first) {
                self.after_fork(&mut step, fork);
            }
            let plain = step.ways.iter().any(|way| way.needs.is_empty() && way.does.is_empty());
            let needed = self.asked.contains(&event.id)
                || matches!(event.kind, Kind::Other(EventKind::Fork { .. } | EventKind::End));
            if !plain || needed {
                self.places.insert(event.id, (number, steps.len()));
                steps.push(step);
            }
        }
        self.problem.threads.push(ThreadSteps { id: thread.id, name: thread.name.clone(), steps });
    }

    /// A thread's first step comes after its fork. Parents come before their children, so its place is known already.
    fn after_fork(&mut self, step: &mut Step, fork: EventId) {
        let Some(&parent) = self.numbers.get(&fork.thread) else { return };
        // A parent that has fewer steps than this never forks.
        let done = self.places.get(&fork).map_or(u32::MAX, |&(_, at)| at as u32 + 1);
        step.ways.iter_mut().for_each(|way| way.needs.push(Condition::Done(parent, done)));
    }

    /// A join needs all steps of the thread, however many of them the goal leaves.
    fn join_all(&mut self) {
        let lengths: Vec<u32> = self.problem.threads.iter().map(|thread| thread.steps.len() as u32).collect();
        let ended = |n: usize| {
            let last = self.ctp.threads[n].events.last().map(|&at| &self.ctp.event(at).kind);
            last.is_none() || matches!(last, Some(Kind::Other(EventKind::End)))
        };
        let ended: Vec<bool> = (0..lengths.len()).map(ended).collect();
        for thread in &mut self.problem.threads {
            for needs in thread.steps.iter_mut().flat_map(|step| &mut step.ways).map(|way| &mut way.needs) {
                for condition in needs {
                    if let Condition::Done(child, steps @ JOIN) = condition {
                        *steps = if ended[child.index()] { lengths[child.index()] } else { u32::MAX };
                    }
                }
            }
        }
    }

    /// One event with the ways in which it can come about.
    fn step(&mut self, number: ThreadNumber, at: EventIndex) -> Step {
        let event = self.ctp.event(at);
        let mut step =
            Step { event: event.id, recorded: at.index(), ways: vec![], ends_wait: None, reaches: vec![] };
        match &event.kind {
            kind if kind.access().is_some() => {
                let open = self.open.contains(&event.id);
                step.ways = match open && self.until_between {
                    // Nothing follows it.
                    true => vec![Way { is_last: true, ..Way::default() }],
                    false => self.access(at, open),
                };
                self.not_freed(at, &mut step.ways);
            }
            Kind::Other(kind) => self.synchronise(number, &mut step, kind),
            _ => step.ways.push(Way::default()),
        }
        step
    }

    fn not_freed(&mut self, at: EventIndex, ways: &mut [Way]) {
        let Some(access) = self.ctp.event(at).kind.access() else { return };
        // With other data it may be other memory.
        if self.data == Data::Ignored && access.targets.len() > 1 {
            return;
        }
        let allocation = access.recorded.allocation;
        if self.freed.contains(&allocation) {
            let freed = self.variable(Meaning::Freed(allocation), 0);
            ways.iter_mut().for_each(|way| way.needs.push(Condition::Is(freed, 0)));
        }
    }

    fn set_goal(&mut self, goal: &Goal) {
        match goal {
            Goal::Triple { before, between, after, until } => {
                triple::set_goal(self, [*before, *between, *after], *until);
            }
            Goal::Stand(events) => {
                for &event in events {
                    let Some(&(thread, at)) = self.places.get(&event) else {
                        self.problem.is_hopeless = true;
                        continue;
                    };
                    self.problem.goal.push(Condition::Done(thread, at as u32));
                    // It is there, and nobody else is alone.
                    let exclusive = self.variables.get(&Meaning::Exclusive).copied();
                    let stands = |need: &Condition| match need {
                        Condition::Done(..) => true,
                        Condition::Is(of, _) => Some(*of) == exclusive,
                        _ => false,
                    };
                    let needs = self.ways_of((thread, at)).first().map(|way| way.needs.clone());
                    self.problem.goal.extend(needs.into_iter().flatten().filter(stands));
                    self.will_write(event, events);
                    // The thread does nothing behind it, and comes there only by its recorded way.
                    let steps = &mut self.problem.threads[thread.index()].steps;
                    steps.truncate(at);
                    steps.iter_mut().for_each(|step| step.ways.retain(|way| !way.is_last));
                }
            }
            Goal::Ordered { events, order } => {
                let places: Vec<_> = events.iter().map(|event| self.places.get(event).copied()).collect();
                self.problem.is_hopeless = places.contains(&None);
                for &(thread, at) in places.iter().flatten() {
                    self.problem.goal.push(Condition::Done(thread, at as u32 + 1));
                }
                for &(first, second) in order {
                    let pair = (places.get(first as usize), places.get(second as usize));
                    let (Some(&Some((before, at))), Some(&Some(place))) = pair else { continue };
                    self.need(place, Condition::Done(before, at as u32 + 1));
                }
            }
            Goal::Formula(formula) => formula::set_goal(formula, self),
        }
    }

    /// Before an access that only reads, a compare-and-exchange must stand where it will write: else the two are no conflict.
    fn will_write(&mut self, event: EventId, all: &[EventId]) {
        let ctp = self.ctp;
        let kind = |id: &EventId| ctp.find(*id).map(|at| &ctp.event(at).kind);
        let reads_only = |id: &EventId| *id != event && matches!(kind(id), Some(Kind::Read(_)));
        let Some(Kind::CompareExchange { equal, success, .. }) = kind(&event) else { return };
        // Whoever writes it, a value is one content here.
        if self.data != Data::Values || !all.iter().any(reads_only) {
            return;
        }
        let Some(at) = ctp.find(event) else { return };
        let [(location, old)] = recorded_reads(ctp, at)[..] else { return };
        let operands = ctp.expressions.get(*equal).operands();
        let other = operands.filter_map(|id| ctp.expressions.recorded(id)).find(|&value| value != old);
        let Some(wanted) = (if *success { Some(old) } else { other }) else { return };
        let Some(held) = self.location(location) else { return };
        match self.contents.with_value(location, wanted)[..] {
            [content] => self.problem.goal.push(Condition::Is(held, content)),
            _ => self.problem.is_hopeless = true,
        }
    }

    /// A step needs something more.
    pub fn need(&mut self, (thread, at): (ThreadNumber, usize), condition: Condition) {
        self.ways_of((thread, at)).iter_mut().for_each(|way| way.needs.push(condition));
    }

    /// A step does something more.
    pub fn also(&mut self, (thread, at): (ThreadNumber, usize), effect: Effect) {
        self.ways_of((thread, at)).iter_mut().for_each(|way| way.does.push(effect));
    }

    pub fn ways_of(&mut self, (thread, at): (ThreadNumber, usize)) -> &mut Vec<Way> {
        &mut self.problem.threads[thread.index()].steps[at].ways
    }
}

/// Stands for all steps of a thread until it is known how many these are.
pub(crate) const JOIN: u32 = u32::MAX - 1;
