//! Running the machine under a strategy and recording the trace.

use crate::Machine;
use crate::enabled::Readiness;
use crate::memory::Block;
use crate::spin::{Noticed, Quiet, going_round};
use crate::state::{Ending, Phase, State};
use crate::step::Observer;
use ir::{GlobalId, Program, SiteId};
use subject::{Exhausted, Ready, Run, RunError, Scheduler, Strategy, Subject};
use trace::{
    Allocation, AllocationId, AllocationOrigin, Choice, Event, EventId, EventKind, Logging, Origin, Outcome,
    Switch, ThreadId, ThreadInfo, Trace,
};

impl Subject for Machine {
    fn name(&self) -> &str {
        &self.program().name
    }

    fn program(&self) -> &Program {
        self.program()
    }

    fn run(&self, strategy: &Strategy, logging: &Logging) -> Result<Run, RunError> {
        let mut recording = Recording::new(self, strategy, logging)?;
        let outcome = loop {
            let ready = recording.ready();
            if recording.stays(&ready) {
                break recording.outcome();
            }
            if let Some(limit) = recording.limit() {
                break limit;
            }
            recording.step(&ready, &ready);
        };
        Ok(recording.finish(strategy, outcome))
    }

    fn exhaust(&self, strategy: &Strategy) -> Result<Exhausted, RunError> {
        let mut recording = Recording::new(self, strategy, &Logging::Everything)?;
        loop {
            let ready = recording.ready();
            let ends = |ready: &Ready| {
                let state = &recording.state;
                state.thread_index(ready.thread).is_some_and(|t| self.ends_process(state, t))
            };
            let (last, others): (Vec<Ready>, Vec<Ready>) = ready.iter().partition(|ready| ends(ready));
            if let Some(limit) = recording.limit().filter(|_| !ready.is_empty()) {
                let runs = vec![recording.finish(strategy, limit)];
                return Ok(Exhausted { runs, ..Exhausted::default() });
            }
            if !recording.stays(&others) {
                recording.step(&others, &ready);
                continue;
            }
            let pending = Some(self.pending(&recording.state));
            let mut runs = vec![];
            for one in &last {
                let mut recording = recording.clone();
                recording.step(&[*one], &ready);
                let outcome = recording.outcome();
                runs.push(recording.finish(strategy, outcome));
            }
            if last.is_empty() {
                let outcome = recording.outcome();
                runs.push(recording.finish(strategy, outcome));
            }
            let going_round = others.iter().map(|ready| ready.thread).collect();
            return Ok(Exhausted { runs, pending, going_round });
        }
    }
}

/// How reluctant a thread is that would only go round once more: more than one whose wait may end by itself.
const GOES_ROUND: u64 = 2;

/// A run that is being recorded.
#[derive(Clone)]
struct Recording<'m> {
    machine: &'m Machine,
    scheduler: Scheduler,
    recorder: Recorder<'m>,
    state: State,
    /// For each thread what it has done since somebody could notice it, if loops that only wait are recognised.
    quiet: Vec<Quiet>,
    switches: Vec<Switch>,
    choices: Vec<Choice>,
}

impl<'m> Recording<'m> {
    /// Before the first event.
    fn new(
        machine: &'m Machine,
        strategy: &Strategy,
        logging: &'m Logging,
    ) -> Result<Recording<'m>, RunError> {
        if let Strategy::Follow { schedule, .. } = strategy
            && let Some(fingerprint) = schedule.fingerprint
            && fingerprint != machine.fingerprint()
        {
            return Err(RunError::OtherProgram { schedule: fingerprint, subject: machine.fingerprint() });
        }
        let mut recorder = Recorder {
            logging,
            events: vec![],
            allocations: machine.global_allocations(),
            counted: 0,
            noticed: machine.options().spins.then(Noticed::default),
        };
        let scheduler = Scheduler::new(strategy);
        let state = machine.initial(&mut recorder);
        let quiet = if machine.options().spins { Quiet::of_all(machine, &state) } else { vec![] };
        Ok(Recording { machine, scheduler, recorder, state, quiet, switches: vec![], choices: vec![] })
    }

    /// The threads that can go on, ordered by thread. Who would only go round once more would rather let others go.
    fn ready(&self) -> Vec<Ready> {
        let mut ready = self.machine.ready(&self.state);
        for ready in ready.iter_mut().filter(|_| !self.quiet.is_empty()) {
            let t = self.state.thread_index(ready.thread);
            if t.is_some_and(|t| self.quiet[t].waits(self.machine, &self.state)) {
                ready.reluctance = GOES_ROUND;
            }
        }
        ready
    }

    /// Whether nobody of those who can go on does so: all would only go round once more.
    fn stays(&self, ready: &[Ready]) -> bool {
        ready.iter().all(|ready| ready.reluctance == GOES_ROUND)
            && (ready.is_empty() || !self.scheduler.is_following())
    }

    /// How a run ended in which nobody goes on.
    fn outcome(&self) -> Outcome {
        match going_round(self.machine, &self.state, &self.quiet) {
            Some(blocked) => Outcome::Deadlock { blocked },
            None => self.machine.outcome(&self.state),
        }
    }

    /// The outcome if there were too many events.
    fn limit(&self) -> Option<Outcome> {
        let events = self.machine.options().max_events;
        (self.recorder.counted >= events).then_some(Outcome::LimitReached { events })
    }

    /// Does an event of one of `among`; `ready` are all that can go on.
    fn step(&mut self, among: &[Ready], ready: &[Ready]) {
        let picked = self.scheduler.pick(among);
        // The scheduler picks among those that are ready.
        let Some(t) = self.state.thread_index(picked) else { return };
        let choice = self.machine.settle(&self.state, t, &mut self.scheduler);
        self.choices.extend(choice);
        let site = self.machine.site(&self.state, t);
        let threads = self.state.threads.len();
        self.machine.step(&mut self.state, t, choice, &mut self.recorder);
        if let Some(noticed) = &mut self.recorder.noticed {
            let state = &self.state;
            self.quiet[t].step(self.machine, state, t, std::mem::take(noticed));
            let children = threads..state.threads.len();
            self.quiet.extend(children.map(|child| Quiet::new(self.machine, state, child)));
        }
        let until = self.state.threads[t].done;
        match self.switches.last_mut() {
            Some(last) if last.thread == picked => (last.until, last.site) = (until, Some(site)),
            _ => {
                let enabled = ready.iter().map(|ready| ready.thread).collect();
                self.switches.push(Switch { thread: picked, until, site: Some(site), enabled });
            }
        }
    }

    fn finish(self, strategy: &Strategy, outcome: Outcome) -> Run {
        let (machine, state) = (self.machine, &self.state);
        let origin = Origin {
            subject: machine.program().name.clone(),
            fingerprint: machine.fingerprint(),
            strategy: strategy.to_string(),
            logging: self.recorder.logging.clone(),
        };
        let trace = Trace {
            origin,
            threads: state.threads.iter().map(|thread| machine.thread_info(state, thread.id)).collect(),
            allocations: self.recorder.allocations,
            events: self.recorder.events,
            switches: self.switches,
            choices: self.choices,
            outcome,
        };
        Run { trace, departure: self.scheduler.departure().cloned(), output: None }
    }
}

impl Machine {
    /// The threads that can go on, ordered by thread.
    fn ready(&self, state: &State) -> Vec<Ready> {
        let mut ready: Vec<Ready> = (0..state.threads.len())
            .filter_map(|t| {
                let readiness = self.readiness(state, t);
                let reluctance = match readiness {
                    Readiness::Over | Readiness::Blocked => return None,
                    Readiness::Ready => 0,
                    Readiness::Unsignalled { .. } => 1,
                };
                let visible = self.is_visible(state, t);
                Some(Ready { thread: state.threads[t].id, site: self.site(state, t), visible, reluctance })
            })
            .collect();
        ready.sort_unstable_by_key(|ready| ready.thread);
        ready
    }

    /// Settles what the next event of thread `t` leaves open.
    fn settle(&self, state: &State, t: usize, scheduler: &mut Scheduler) -> Option<Choice> {
        if let Readiness::Unsignalled { timed } = self.readiness(state, t) {
            return Some(scheduler.end_unsignalled(&self.unsignalled(timed)));
        }
        self.signal_waiters(state, t).map(|waiters| Choice::Wake(scheduler.wake(&waiters)))
    }

    /// How a run ended that stands in a state in which nobody can go on.
    pub(crate) fn outcome(&self, state: &State) -> Outcome {
        match state.ending {
            Some(Ending::Assertion(event, site)) => return Outcome::AssertionFailed { event, site },
            Some(Ending::Fault(event, site, kind)) => return Outcome::Fault { event, site, kind },
            None => {}
        }
        let stopped = |phase: fn(&Phase) -> bool| {
            let at = state.threads.iter().position(|thread| phase(&thread.phase));
            at.map(|t| (state.threads[t].id, self.site(state, t)))
        };
        if let Some((thread, site)) = stopped(|phase| matches!(phase, Phase::AssumptionFailed)) {
            return Outcome::Discarded { thread, site };
        }
        if let Some((thread, site)) = stopped(|phase| matches!(phase, Phase::BoundReached)) {
            return Outcome::BoundExceeded { thread, site };
        }
        let blocked = self.all_blocked(state);
        if !blocked.is_empty() {
            return Outcome::Deadlock { blocked };
        }
        Outcome::Completed { state: self.final_values(state), condition: self.final_condition(state) }
    }

    fn global_allocations(&self) -> Vec<Allocation> {
        let globals = self.program().globals.iter().enumerate();
        globals
            .map(|(g, global)| Allocation {
                id: AllocationId(g as u32),
                origin: AllocationOrigin::Global(GlobalId::new(g)),
                shape: Some(global.shape),
                bytes: self.program().shape_bytes(global.shape),
                address: crate::address::of_global(GlobalId::new(g)),
            })
            .collect()
    }

    fn thread_info(&self, state: &State, id: ThreadId) -> ThreadInfo {
        let forked_by = state.thread_index(id).and_then(|t| state.threads[t].forked_by);
        ThreadInfo { id, name: self.thread_name(state, id), forked_by }
    }

    /// The thread of a name that [`Trace::thread_name`] gives, or that [`ThreadId`] shows.
    #[must_use]
    pub fn thread_named(&self, name: &str) -> Option<ThreadId> {
        if let Some((id, _)) = self.static_threads().find(|&(_, known)| known == name) {
            return Some(id);
        }
        if let Ok(thread) = name.parse() {
            return Some(thread);
        }
        let (parent, own) = match name.rsplit_once('/') {
            Some((parent, own)) => (self.thread_named(parent)?, own),
            None => (ThreadId::MAIN, name),
        };
        let number: u64 = own.rsplit_once('#')?.1.parse().ok()?;
        parent.child(self.first_fork(parent) + number.checked_sub(1)?)
    }

    /// The name in the source for a thread that exists from the start; for a forked one its function and its number among
    /// its parent's forks, behind the parent's name unless that is `main`.
    pub(crate) fn thread_name(&self, state: &State, id: ThreadId) -> String {
        if let Some((_, name)) = self.static_threads().find(|&(start, _)| start == id) {
            return name.to_owned();
        }
        let Some(thread) = state.thread_index(id).map(|t| &state.threads[t]) else { return id.to_string() };
        let parent = thread.forked_by.map_or(ThreadId::MAIN, |event| event.thread);
        let number = id.path().last().map_or(0, |&older| older + 1) - self.first_fork(parent);
        let name = format!("{}#{number}", self.program().function(thread.function).name);
        match parent {
            ThreadId::MAIN => name,
            _ => format!("{}/{name}", self.thread_name(state, parent)),
        }
    }
}

/// Keeps the events that the logging asks for.
#[derive(Clone)]
struct Recorder<'l> {
    logging: &'l Logging,
    events: Vec<Event>,
    allocations: Vec<Allocation>,
    counted: u64,
    /// What the last step was to others, if loops that only wait are recognised.
    noticed: Option<Noticed>,
}

impl Recorder<'_> {
    fn keeps(&self, kind: &EventKind) -> bool {
        if kind.is_synchronisation() {
            return true;
        }
        match self.logging {
            // What is shared is known only after the run; the machine's runs are short.
            Logging::Everything | Logging::Shared | Logging::WithoutValues => true,
            Logging::Synchronisation => false,
            Logging::Window { from, to } => (*from..*to).contains(&self.counted),
            Logging::Globals(globals) => kind.access().is_some_and(|(_, location, ..)| {
                let allocation = self.allocations.get(location.allocation.0 as usize);
                matches!(allocation.map(|a| a.origin),
                    Some(AllocationOrigin::Global(global)) if globals.contains(&global))
            }),
        }
    }
}

impl Observer for Recorder<'_> {
    fn event(&mut self, state: &State, event: Event, _before: u64) {
        if let Some(noticed) = &mut self.noticed {
            noticed.add(&state.memory, &event.kind);
        }
        if self.keeps(&event.kind) {
            self.events.push(event);
        }
        self.counted += 1;
    }

    fn allocated(&mut self, block: &Block, site: SiteId, by: EventId) {
        let origin = match block.heap {
            true => AllocationOrigin::Heap { by, site },
            false => {
                let (_, number) = crate::address::allocation_at(block.base);
                AllocationOrigin::Stack { thread: by.thread, earlier: number - 1, site }
            }
        };
        let bytes = block.content.len() as u64;
        let shape = Some(block.shape);
        self.allocations.push(Allocation { id: block.allocation, origin, shape, bytes, address: block.base });
    }
}
