//! A planning problem (PLAN §4.1) in a compact form: what a state is, what the threads can do in it, and what is to be reached.
//!
//! PLAN has a fact for each event, for each writer of a location and for each lock. Here a state is a short list of numbers: how far each
//! thread has come, what each location holds, what state each lock, semaphore, wait and barrier is in. A fact of the paper is "this number
//! is that". Each event of the window is a [`Step`] of its thread, with one [`Way`] for each way in which it can come about; the paper's
//! actions are these ways.

use trace::{Choice, EventId, ThreadId};

/// A number of a state other than the threads' positions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Variable(pub(crate) u32);

/// A thread of the problem.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ThreadNumber(pub(crate) u32);

impl ThreadNumber {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a way needs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Condition {
    /// The number is this.
    Is(Variable, u32),
    /// The number is another one.
    IsNot(Variable, u32),
    /// It is at least this.
    AtLeast(Variable, u32),
    /// It is less than this.
    Below(Variable, u32),
    /// The thread has done at least so many of its steps.
    Done(ThreadNumber, u32),
}

/// What a way does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Effect {
    /// The number is this from now on.
    Set(Variable, u32),
    /// One is added to it.
    Increase(Variable),
    /// One is taken from it.
    Decrease(Variable),
    /// If it is the first, it becomes the second.
    Change(Variable, u32, u32),
}

impl Condition {
    /// The number that it is about, if it is about one.
    pub(crate) fn variable(self) -> Option<Variable> {
        match self {
            Condition::Is(variable, _)
            | Condition::IsNot(variable, _)
            | Condition::AtLeast(variable, _)
            | Condition::Below(variable, _) => Some(variable),
            Condition::Done(..) => None,
        }
    }
}

impl Effect {
    /// The number that it changes.
    pub(crate) fn variable(self) -> Variable {
        match self {
            Effect::Set(variable, _)
            | Effect::Increase(variable)
            | Effect::Decrease(variable)
            | Effect::Change(variable, ..) => variable,
        }
    }
}

/// One way in which an event can come about.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Way {
    /// What it needs, besides that its thread has come there.
    pub needs: Vec<Condition>,
    /// What it does, besides that its thread goes on.
    pub does: Vec<Effect>,
    /// The event read something else than recorded: its thread goes no further.
    pub is_last: bool,
    /// Whom a signal wakes.
    pub wakes: Option<ThreadId>,
}

/// One event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// Which.
    pub event: EventId,
    /// Its place in the recorded run.
    pub recorded: usize,
    /// The ways in which it can come about.
    pub ways: Vec<Way>,
    /// How a wait ends that nobody has signalled.
    pub ends_wait: Option<Choice>,
    /// For a signal: the states of all waits that it may reach.
    pub reaches: Vec<Variable>,
}

/// A thread's steps, in program order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadSteps {
    /// Who.
    pub id: ThreadId,
    /// What people call it.
    pub name: String,
    /// What it does.
    pub steps: Vec<Step>,
}

/// What a number of the state stands for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Meaning {
    /// What a location holds: an index into its contents.
    Location(ctp::LocationId),
    /// Whether a mutex is held.
    Mutex(trace::Location),
    /// How many readers hold a rwlock; [`WRITER`] if a writer does.
    RwLock(trace::Location),
    /// The tokens of a semaphore.
    Tokens(trace::Location),
    /// How far a thread's wait on a condition variable is.
    Wait(ThreadId, trace::Location),
    /// How many threads have arrived in the round of a barrier.
    Arrived(trace::Location),
    /// Whether a thread may leave a barrier.
    AtBarrier(ThreadId, trace::Location),
    /// Whether memory was given back.
    Freed(trace::AllocationId),
    /// Who is alone in an exclusive block: 0, or the thread's number and 1.
    Exclusive,
    /// Whether an event of the goal has happened.
    Happened(&'static str, EventId),
    /// What the location held before an event of the goal.
    Before(&'static str),
    /// How far a formula is on its way to hold.
    Formula,
}

/// The value of a rwlock's variable when a writer holds it.
pub const WRITER: u32 = u32::MAX;

/// What is planned for: a state to begin with, what threads can do, and what is to hold at the end.
#[derive(Clone, Debug, Default)]
pub struct Problem {
    /// The threads.
    pub threads: Vec<ThreadSteps>,
    /// What the numbers stand for.
    pub meanings: Vec<Meaning>,
    /// What they are at first.
    pub initial: Vec<u32>,
    /// What is to be reached.
    pub goal: Vec<Condition>,
    /// What locations may hold, by the index that a state has: who wrote it (`None`: it was there before), and what, if that is known.
    pub contents: Vec<(ctp::LocationId, Vec<Content>)>,
    /// Nothing can be a plan, whatever the search says: the goal's events do not meet.
    pub is_hopeless: bool,
    /// The goal has more states than are looked at: nothing is known.
    pub is_too_large: bool,
}

/// What a location may hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Content {
    /// Who writes it.
    pub writer: Option<EventId>,
    /// What it is.
    pub value: Option<u128>,
}

/// A state: the positions of the threads, then the variables. A thread that goes no further has the highest bit set.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State(pub(crate) Box<[u32]>);

impl State {
    const STOPPED: u32 = 1 << 31;

    /// How many steps a thread has done.
    pub(crate) fn done(&self, thread: ThreadNumber) -> u32 {
        self.0[thread.index()] & !State::STOPPED
    }

    pub(crate) fn is_stopped(&self, thread: ThreadNumber) -> bool {
        self.0[thread.index()] & State::STOPPED != 0
    }
}

impl Problem {
    /// All threads, as numbers.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = ThreadNumber> + use<> {
        (0..self.threads.len() as u32).map(ThreadNumber)
    }

    /// Whether a number says who has a mutex.
    pub(crate) fn is_mutex(&self, variable: Variable) -> bool {
        matches!(self.meanings[variable.0 as usize], Meaning::Mutex(_))
    }

    /// How many events it has.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.threads.iter().map(|thread| thread.steps.len()).sum()
    }

    pub(crate) fn start(&self) -> State {
        State(std::iter::repeat_n(0, self.threads.len()).chain(self.initial.iter().copied()).collect())
    }

    fn at(&self, variable: Variable) -> usize {
        self.threads.len() + variable.0 as usize
    }

    pub(crate) fn value(&self, state: &State, variable: Variable) -> u32 {
        state.0[self.at(variable)]
    }

    /// The next step of a thread that may go on.
    pub(crate) fn next(&self, state: &State, thread: ThreadNumber) -> Option<&Step> {
        match state.is_stopped(thread) {
            true => None,
            false => self.threads[thread.index()].steps.get(state.done(thread) as usize),
        }
    }

    pub(crate) fn holds(&self, state: &State, condition: Condition) -> bool {
        match condition {
            Condition::Is(variable, value) => self.value(state, variable) == value,
            Condition::IsNot(variable, value) => self.value(state, variable) != value,
            Condition::AtLeast(variable, value) => self.value(state, variable) >= value,
            Condition::Below(variable, value) => self.value(state, variable) < value,
            Condition::Done(thread, steps) => state.done(thread) >= steps,
        }
    }

    pub(crate) fn is_goal(&self, state: &State) -> bool {
        self.goal.iter().all(|&condition| self.holds(state, condition))
    }

    /// The ways in which a thread's next step can come about now.
    pub(crate) fn ways<'p>(
        &'p self,
        state: &'p State,
        thread: ThreadNumber,
    ) -> impl Iterator<Item = usize> + use<'p> {
        let ways = self.next(state, thread).map_or(&[][..], |step| &step.ways);
        let possible = |way: &Way| way.needs.iter().all(|&condition| self.holds(state, condition));
        ways.iter().enumerate().filter(move |(_, way)| possible(way)).map(|(n, _)| n)
    }

    /// The state after a thread's next step came about in one of its ways.
    pub(crate) fn after(&self, state: &State, thread: ThreadNumber, way: usize) -> State {
        let mut next = state.clone();
        self.apply(&mut next, thread, way);
        next
    }

    /// A thread's next step comes about in one of its ways.
    pub(crate) fn apply(&self, state: &mut State, thread: ThreadNumber, way: usize) {
        let Some(way) = self.next(state, thread).and_then(|step| step.ways.get(way)) else { return };
        state.0[thread.index()] += 1;
        if way.is_last {
            state.0[thread.index()] |= State::STOPPED;
        }
        for &effect in &way.does {
            match effect {
                Effect::Set(variable, value) => state.0[self.at(variable)] = value,
                Effect::Increase(variable) => state.0[self.at(variable)] += 1,
                Effect::Decrease(variable) => state.0[self.at(variable)] -= 1,
                Effect::Change(variable, from, to) => {
                    let number = &mut state.0[self.at(variable)];
                    if *number == from {
                        *number = to;
                    }
                }
            }
        }
    }
}
