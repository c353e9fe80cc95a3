//! A run in the claimed order: threads, and the order of their events.

use crate::access::Access;
use crate::clocks::Clocks;
use crate::memory::Memory;
use crate::objects::{self, Object};
use crate::path::{Outcome, Paths};
use crate::{Departure, Refusal, Rules, Waits, address};
use claim::{Candidate, Witness};
use ir::{BlockId, FunctionId, Operand, Program, SiteId, SiteIndex, SitePlace, Type, Width};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use trace::{AllocationOrigin, Choice, Event, EventId, EventKind, FaultKind, ThreadId, Trace, WakeReason};

/// One activation of a function.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    pub function: FunctionId,
    pub block: BlockId,
    pub at: u32,
    pub base: usize,
    /// A call of code that is not in the program is under way, or has come back.
    pub call: Call,
    /// It was called by code that is not in the program, or is what the thread runs.
    pub bottom: bool,
    /// The trace has told of its entry, or will not.
    pub entered: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    None,
    Foreign,
    Returned,
}

/// What a thread is about to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum State {
    /// The event of the instruction that it stands at.
    Ready,
    /// A fault there.
    Fault(FaultKind),
    /// The end of the process, because an assertion of compiled code does not hold.
    AssertionFails,
    /// Nothing: an assumption does not hold, or a loop has reached its bound.
    Stopped,
    /// The end of a wait.
    Waiting { condition: u64, mutex: Option<u64>, timed: bool, woken: Option<WakeReason> },
    /// Leaving a barrier.
    AtBarrier { barrier: u64, round: u64 },
    /// The writing half of a copy.
    Copying(Vec<u8>),
    /// Nothing.
    Ended,
}

/// A thread. It stands before its next event.
#[derive(Clone, Debug)]
pub struct Thread {
    pub id: ThreadId,
    pub frames: Vec<Frame>,
    pub values: Vec<Option<u128>>,
    pub state: State,
    /// How many of its recorded events have run, and the number of the last.
    pub events: usize,
    pub done: u64,
    pub departed: Option<Departure>,
    pub allocations: u64,
    pub forks: u64,
    /// How deep in transactions, and how many it has begun.
    pub depth: u32,
    pub transactions: u64,
}

/// An event that has run.
#[derive(Clone, Debug)]
pub struct Done {
    pub at: usize,
    pub access: Option<Access>,
    pub assertion: Option<bool>,
    pub fault: Option<FaultKind>,
}

/// What came of an event.
pub struct Happened {
    pub outcome: Outcome,
    pub access: Option<Access>,
    pub assertion: Option<bool>,
}

impl Happened {
    pub fn plain() -> Happened {
        Happened { outcome: Outcome::Plain, access: None, assertion: None }
    }
}

/// What will be asked about.
#[derive(Default)]
pub struct Asked {
    /// Events.
    pub events: FxHashSet<EventId>,
    /// Those with which threads begin to look whether they are to wait.
    pub looks: FxHashSet<EventId>,
}

impl<'a> FromIterator<&'a Candidate> for Asked {
    fn from_iter<I: IntoIterator<Item = &'a Candidate>>(candidates: I) -> Asked {
        let mut asked = Asked::default();
        for candidate in candidates {
            asked.events.extend(candidate.events());
            if let Candidate::Wakeup { look, .. } = candidate {
                asked.looks.insert(*look);
            }
        }
        asked
    }
}

/// A run. A copy of it goes on from the same point.
#[derive(Clone)]
pub struct Run<'r> {
    pub program: &'r Program,
    pub trace: &'r Trace,
    pub rules: Rules,
    pub sites: Rc<SiteIndex>,
    pub compiled: bool,
    /// The program marks transactions.
    pub is_marked: bool,
    pub paths: Rc<Paths<'r>>,
    pub memory: Memory,
    pub objects: FxHashMap<u64, Object>,
    pub threads: Vec<Thread>,
    pub exclusive: Option<ThreadId>,
    pub ended: bool,
    pub clocks: Clocks,
    /// The events that somebody asks about, as far as they have run.
    pub done: FxHashMap<EventId, Done>,
    asked: Rc<Asked>,
    /// Threads as they were before they looked whether to wait, where that is asked about.
    pub looks: FxHashMap<EventId, Thread>,
    /// Two events of which it matters whether the later one knows of the earlier one, and whether it did.
    pub watched: Option<(EventId, EventId)>,
    pub known: Option<bool>,
    pub choices: std::vec::IntoIter<Choice>,
    pub globals: Rc<FxHashMap<(Option<ThreadId>, ir::GlobalId), u64>>,
    pub step: usize,
    count: usize,
}

impl<'r> Run<'r> {
    /// The beginning of a run, of whose events these will be asked about.
    pub fn new(
        program: &'r Program,
        trace: &'r Trace,
        rules: Rules,
        asked: Asked,
    ) -> Result<Run<'r>, Refusal> {
        trace.check_fits(program)?;
        let mut globals = FxHashMap::default();
        for allocation in &trace.allocations {
            match allocation.origin {
                AllocationOrigin::Global(global) => globals.insert((None, global), allocation.address),
                AllocationOrigin::ThreadLocal { thread, global } => {
                    globals.insert((Some(thread), global), allocation.address)
                }
                _ => None,
            };
        }
        let mut run = Run {
            program,
            trace,
            rules,
            sites: Rc::new(SiteIndex::new(program)),
            compiled: program.threads.is_empty(),
            is_marked: trace.events.iter().any(|event| event.kind == EventKind::TransactionBegin),
            paths: Rc::new(Paths::of(trace)),
            memory: Memory::new(program, trace),
            objects: objects::initial(program, trace),
            threads: vec![],
            exclusive: None,
            ended: false,
            clocks: Clocks::default(),
            done: FxHashMap::default(),
            asked: Rc::new(asked),
            looks: FxHashMap::default(),
            watched: None,
            known: None,
            choices: vec![].into_iter(),
            globals: Rc::new(globals),
            step: 0,
            count: 0,
        };
        if run.compiled {
            run.start(ThreadId::MAIN);
        }
        let mut others = 0;
        for start in &program.threads {
            let id = match start.main {
                true => Some(ThreadId::MAIN),
                false => {
                    others += 1;
                    ThreadId::MAIN.child(others - 1)
                }
            };
            let Some(id) = id else { continue };
            let t = run.start(id);
            run.push(t, start.function, &[], true);
        }
        for t in 0..run.threads.len() {
            run.settle(t)?;
        }
        Ok(run)
    }

    /// How many threads that are not forked come before the first fork of a thread.
    pub fn first_fork(&self, parent: ThreadId) -> u64 {
        match parent {
            ThreadId::MAIN => self.program.threads.iter().filter(|start| !start.main).count() as u64,
            _ => 0,
        }
    }

    /// A thread comes into being, without anything to run yet.
    pub fn start(&mut self, id: ThreadId) -> usize {
        self.threads.push(Thread {
            id,
            frames: vec![],
            values: vec![],
            state: State::Ready,
            events: 0,
            done: 0,
            departed: None,
            allocations: 0,
            forks: 0,
            depth: 0,
            transactions: 0,
        });
        self.threads.len() - 1
    }

    /// Puts an activation of a function on top.
    pub fn push(&mut self, t: usize, function: FunctionId, arguments: &[Option<u128>], bottom: bool) {
        let code = self.program.function(function);
        let thread = &mut self.threads[t];
        let base = thread.values.len();
        thread.values.resize(base + code.values.len(), None);
        for (parameter, &argument) in code.parameters.iter().zip(arguments) {
            thread.values[base + parameter.value.index()] = argument;
        }
        let (block, call, entered) = (BlockId(0), Call::None, bottom);
        thread.frames.push(Frame { function, block, at: 0, base, call, bottom, entered });
    }

    pub fn pop(&mut self, t: usize) {
        let thread = &mut self.threads[t];
        if let Some(frame) = thread.frames.pop() {
            thread.values.truncate(frame.base);
        }
    }

    pub fn index(&self, id: ThreadId) -> Option<usize> {
        self.threads.iter().position(|thread| thread.id == id)
    }

    pub fn top(&self, t: usize) -> Option<Frame> {
        self.threads[t].frames.last().copied()
    }

    /// The instruction that a thread stands at.
    pub fn site(&self, t: usize) -> Option<SiteId> {
        let frame = self.top(t)?;
        let place = SitePlace { function: frame.function, block: frame.block, instruction: frame.at };
        Some(self.sites.site(place))
    }

    /// The event that the trace has next of a thread.
    pub fn expected(&self, t: usize) -> Option<&'r Event> {
        self.paths.event(self.threads[t].id, self.threads[t].events)
    }

    pub fn next_id(&self, t: usize) -> EventId {
        let thread = &self.threads[t];
        EventId { thread: thread.id, n: self.expected(t).map_or(thread.done + 1, |event| event.id.n) }
    }

    /// The value of an operand, if it is known, and its width.
    pub fn operand(&self, t: usize, frame: Frame, operand: Operand) -> (Option<u128>, Width) {
        let function = self.program.function(frame.function);
        match operand {
            Operand::Value(value) => {
                let width = width_of(function.value(value).ty);
                (self.threads[t].values.get(frame.base + value.index()).copied().flatten(), width)
            }
            Operand::Const { width, bits } => (Some(bits), width),
            Operand::Null => (Some(0), Width::W64),
            Operand::Global(global) => {
                let id = self.threads[t].id;
                let address = match self.compiled {
                    true => {
                        let known =
                            self.globals.get(&(None, global)).or(self.globals.get(&(Some(id), global)));
                        known.copied()
                    }
                    false => Some(address::of_global(global)),
                };
                (address.map(u128::from), Width::W64)
            }
            Operand::Function(function) => {
                let address = (!self.compiled).then(|| address::of_function(function));
                (address.map(u128::from), Width::W64)
            }
            Operand::Unknown(ty) => (None, width_of(ty)),
        }
    }

    pub fn set(&mut self, t: usize, frame: Frame, value: ir::ValueId, to: Option<u128>) {
        let width = width_of(self.program.function(frame.function).value(value).ty);
        self.threads[t].values[frame.base + value.index()] = to.map(|bits| bits & width.mask());
    }

    /// Runs the next event of the trace, as recorded.
    pub fn go_on_as_recorded(&mut self, event: EventId) -> Result<(), Refusal> {
        let no_thread = Refusal::NoThread { step: self.step, thread: event.thread };
        let t = self.index(event.thread).ok_or(no_thread)?;
        self.event(t, event)
    }

    /// Runs a witness, or what follows the part of it that is kept as recorded and has been run.
    pub fn follow(&mut self, witness: &Witness) -> Result<(), Refusal> {
        self.choices = witness.choices.clone().into_iter();
        let done: FxHashMap<ThreadId, u64> = self.threads.iter().map(|t| (t.id, t.done)).collect();
        for (step, &event) in witness.order.iter().enumerate() {
            if witness.recorded.is_some() && done.get(&event.thread).is_some_and(|&n| n >= event.n) {
                continue;
            }
            self.step = step;
            let t = self.index(event.thread).ok_or(Refusal::NoThread { step, thread: event.thread })?;
            if self.threads[t].done >= event.n {
                return Err(Refusal::Again { step, event });
            }
            while self.threads[t].done < event.n {
                self.event(t, event)?;
            }
        }
        match self.choices.len() {
            // Compiled code has more timed operations than the checker knows of; their outcomes are as recorded.
            _ if self.compiled => Ok(()),
            0 => Ok(()),
            left => Err(Refusal::ChoicesLeft(left)),
        }
    }

    /// Does the next event of a thread, on its way to event `goal`.
    fn event(&mut self, t: usize, goal: EventId) -> Result<(), Refusal> {
        let step = self.step;
        let not = |why| Err(Refusal::NotReached { step, event: goal, why });
        let Some(expected) = self.expected(t) else {
            // Behind the last event of the trace nothing happens but that an assertion may fail.
            if self.ended || self.threads[t].state != State::AssertionFails {
                return not(Departure::NotInTrace);
            }
            self.threads[t].done = goal.n;
            self.ended = true;
            let done = Done { at: self.count, access: None, assertion: Some(false), fault: None };
            self.done.insert(goal, done);
            return Ok(());
        };
        let event = expected.id;
        if self.ended {
            return Err(Refusal::AfterTheEnd { step, event });
        }
        if let Some(why) = self.reachable(t, expected) {
            return not(why);
        }
        if let Some(why) = self.waits(t) {
            return Err(Refusal::Blocked { step, event, why });
        }
        if self.asked.looks.contains(&event) {
            self.looks.insert(event, self.threads[t].clone());
        }
        self.clocks.tick(event);
        self.memory.see(event);
        let happened = match self.threads[t].state {
            State::Fault(kind) => Err(kind),
            State::AssertionFails => Ok(Happened { assertion: Some(false), ..Happened::plain() }),
            _ => self.perform(t, expected)?,
        };
        let (mut happened, fault) = match happened {
            Ok(happened) => (happened, None),
            Err(kind) => (Happened::plain(), Some(kind)),
        };
        self.threads[t].events += 1;
        self.threads[t].done = event.n;
        if fault.is_none() && happened.outcome != Outcome::of(&expected.kind) {
            self.threads[t].departed = Some(Departure::Outcome(event));
            if self.compiled && matches!(happened.outcome, Outcome::Branch(_)) && self.comes_to_fail(t) {
                happened.assertion = Some(false);
            }
        }
        if self.rules.same_values
            && happened.access.as_ref().is_some_and(|access| access.saw_another(expected))
        {
            self.threads[t].departed = Some(Departure::Value(event));
        }
        self.ended |= fault.is_some() || happened.assertion == Some(false);
        if let Some((a, b)) = self.watched
            && (event == a || event == b)
        {
            let other = if event == a { b } else { a };
            self.known = self.done.contains_key(&other).then(|| self.clocks.knows(event.thread, other));
        }
        let Happened { access, assertion, .. } = happened;
        if self.asked.events.contains(&event) {
            self.done.insert(event, Done { at: self.count, access, assertion, fault });
        }
        self.count += 1;
        if !self.ended && self.threads[t].departed.is_none() {
            self.settle(t)?;
        }
        Ok(())
    }

    /// Why a thread does not come to the event that the trace has next of it.
    pub fn reachable(&self, t: usize, expected: &Event) -> Option<Departure> {
        let thread = &self.threads[t];
        if thread.departed.is_some() {
            return thread.departed;
        }
        match (&thread.state, self.site(t)) {
            (State::Ended, _) => Some(Departure::Ended),
            // What faults while it computes faults in place of its next event, wherever that is.
            (State::Fault(_) | State::AssertionFails, _) => None,
            (State::Stopped, site) => Some(Departure::Stops(site.unwrap_or(expected.site))),
            (_, Some(site)) if site != expected.site && !self.compiled => Some(Departure::Elsewhere(site)),
            (_, Some(site)) if self.is_outside(t, expected) => Some(Departure::Elsewhere(site)),
            _ => None,
        }
    }

    /// Whether a thread is in code outside the program while the event is the function's own: an access or a branch.
    fn is_outside(&self, t: usize, expected: &Event) -> bool {
        let Some(frame) = self.top(t).filter(|frame| frame.call == Call::Foreign) else { return false };
        let function = self.sites.place(expected.site).map(|place| place.function);
        is_own(&expected.kind) && function == Some(frame.function)
    }

    /// Whether a thread that has left its path comes, without anything that others notice, to where an assertion fails.
    fn comes_to_fail(&mut self, t: usize) -> bool {
        self.settle(t).is_ok() && self.threads[t].state == State::AssertionFails
    }

    /// The choice that settles an event; in compiled code the next one of its kind.
    pub fn choice(&mut self, fits: impl Fn(&Choice) -> bool) -> Option<Choice> {
        match self.compiled {
            true => self.choices.find(|choice| fits(choice)),
            false => self.choices.next().filter(|choice| fits(choice)),
        }
    }

    /// What a thread's next event waits for; `None` if it can happen.
    pub fn waits(&self, t: usize) -> Option<Waits> {
        if let Some(owner) = self.exclusive
            && owner != self.threads[t].id
        {
            return Some(Waits::Exclusive(owner));
        }
        self.waits_for_object(t)
    }

    pub fn not_followed(&self, t: usize, what: &'static str) -> Refusal {
        let site = self.site(t).unwrap_or(SiteId(0));
        Refusal::NotFollowed { event: self.next_id(t), site, what }
    }
}

/// Whether an event is that of an instruction of the program, not of something that it calls.
fn is_own(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::Read { .. }
            | EventKind::Write { .. }
            | EventKind::Update { .. }
            | EventKind::CompareExchange { .. }
            | EventKind::Branch { .. }
    )
}

/// The width that a value has as an integer.
pub fn width_of(ty: Type) -> Width {
    match ty {
        Type::Int(width) => width,
        Type::Ptr => Width::W64,
        Type::Opaque(bytes) => Width::new((8 * bytes.clamp(1, 16)) as u8).unwrap_or(Width::W64),
    }
}
