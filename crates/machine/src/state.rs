//! States of the machine: memory, synchronisation objects, threads.

use crate::Machine;
use crate::memory::Memory;
use crate::object::Object;
use ir::{FunctionId, SiteId};
use trace::{EventId, FaultKind, ThreadId, WakeReason};

/// Everything that decides how a run can go on, and some counters that only serve the trace.
#[derive(Clone, Debug)]
pub struct State {
    pub(crate) memory: Memory,
    pub(crate) objects: Vec<Object>,
    /// In the order of creation.
    pub(crate) threads: Vec<Thread>,
    /// Who is inside an exclusive block.
    pub(crate) exclusive: Option<ThreadId>,
    pub(crate) ending: Option<Ending>,
    /// How many allocations this run has made; numbers them for the trace.
    pub(crate) allocations: u32,
}

/// What ended the process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// An assertion did not hold.
    Assertion(EventId, SiteId),
    /// A fault.
    Fault(EventId, SiteId, FaultKind),
}

/// One thread. It always stands before its next event: everything between two events has been done.
#[derive(Clone, Debug)]
pub struct Thread {
    pub(crate) id: ThreadId,
    /// What it runs, for its name.
    pub(crate) function: FunctionId,
    pub(crate) forked_by: Option<EventId>,
    pub(crate) phase: Phase,
    pub(crate) frames: Vec<Frame>,
    /// The registers of all frames, one behind the other; the results after the thread's end.
    pub(crate) registers: Vec<u64>,
    /// How many events it has done.
    pub(crate) done: u64,
    pub(crate) forks: u64,
    pub(crate) allocations: u64,
}

/// One activation of a function.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    pub(crate) function: FunctionId,
    /// The instruction that is next, or the call that is under way.
    pub(crate) at: u32,
    /// Its first register.
    pub(crate) base: u32,
}

/// What a thread is about to do.
#[derive(Clone, Debug)]
pub enum Phase {
    /// The event of the instruction it stands at.
    Ready,
    /// A fault of that instruction.
    Faulting(FaultKind),
    /// Nothing: an assumption does not hold.
    AssumptionFailed,
    /// Nothing: a loop has reached its bound.
    BoundReached,
    /// The end of a wait: to stop waiting, or, once it is known why the wait is over, to acquire the mutex again.
    Waiting { condition: usize, mutex: Option<usize>, timed: bool, woken: Option<WakeReason> },
    /// Leaving a barrier.
    AtBarrier { barrier: usize, round: u64 },
    /// The writing half of a copy.
    Copying(Box<[u8]>),
    /// Nothing: it has ended.
    Ended,
}

impl Thread {
    /// Whether it will never do another event.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Ended | Phase::AssumptionFailed | Phase::BoundReached)
    }

    pub(crate) fn top(&self) -> Frame {
        // A thread that is not over has at least the frame of its own function.
        self.frames[self.frames.len() - 1]
    }

    /// The identity of its next event.
    pub(crate) fn next_event(&self) -> EventId {
        EventId { thread: self.id, n: self.done + 1 }
    }
}

impl State {
    pub(crate) fn thread_index(&self, id: ThreadId) -> Option<usize> {
        self.threads.iter().position(|thread| thread.id == id)
    }

    /// How many events have been done.
    pub(crate) fn events(&self) -> u64 {
        self.threads.iter().map(|thread| thread.done).sum()
    }

    /// An estimate of the memory that a copy of this state takes besides itself, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        let blocks = self.memory.blocks.iter().map(|block| size_of_val(block) + block.content.len());
        let threads = self.threads.iter().map(|thread| {
            size_of_val(thread) + 8 * thread.registers.len() + size_of::<Frame>() * thread.frames.len()
        });
        let bytes = self.memory.globals.len() + size_of_val(&self.objects[..]);
        (bytes + blocks.sum::<usize>() + threads.sum::<usize>()) as u64
    }

    /// Writes what decides how the run can go on: two states with the same key have the same future. Counters
    /// of events, numbers of allocations and dead registers are left out. With `history`, so is nothing that
    /// happens-before may still ask for.
    pub(crate) fn write_key(&self, machine: &Machine, history: bool, key: &mut Vec<u64>) {
        push_bytes(key, &self.memory.globals);
        for object in &self.objects {
            match object {
                Object::Mutex { owner, depth, .. } => {
                    key.push(owner.map_or(0, ThreadId::code));
                    key.push(u64::from(*depth));
                }
                Object::RwLock { writer, readers } => {
                    key.push(writer.map_or(0, ThreadId::code));
                    key.push(readers.len() as u64);
                    readers.iter().for_each(|&(reader, depth)| key.extend([reader.code(), u64::from(depth)]));
                }
                Object::Condition => {}
                Object::Semaphore { tokens } => key.push(*tokens),
                Object::Barrier { arrived, round, .. } => key.extend([*arrived, *round]),
            }
        }
        key.push(self.memory.blocks.len() as u64);
        for block in &self.memory.blocks {
            key.extend([block.base, u64::from(block.freed), block.content.len() as u64]);
            push_bytes(key, &block.content);
        }
        key.push(self.exclusive.map_or(0, ThreadId::code));
        match self.ending {
            None => key.push(0),
            Some(Ending::Assertion(event, site)) => key.extend([1, event.thread.code(), u64::from(site.0)]),
            Some(Ending::Fault(event, site, kind)) => {
                key.extend([2 + kind as u64, event.thread.code(), u64::from(site.0)]);
            }
        }
        // Order of creation depends on the schedule, identity does not.
        let mut order: Vec<usize> = (0..self.threads.len()).collect();
        order.sort_unstable_by_key(|&t| self.threads[t].id);
        order.into_iter().for_each(|t| self.threads[t].write_key(machine, history, key));
    }
}

impl Thread {
    fn write_key(&self, machine: &Machine, history: bool, key: &mut Vec<u64>) {
        key.extend([self.id.code(), self.forks, self.allocations, self.frames.len() as u64]);
        match &self.phase {
            Phase::Ready => key.push(0),
            Phase::Faulting(kind) => key.extend([1, *kind as u64]),
            Phase::AssumptionFailed => key.push(2),
            Phase::BoundReached => key.push(3),
            Phase::Waiting { woken, .. } => {
                key.push(4);
                match woken {
                    None => key.push(0),
                    Some(WakeReason::Expired) => key.push(1),
                    Some(WakeReason::Spurious) => key.push(2),
                    // Whose signal it was makes a difference only to happens-before.
                    Some(WakeReason::Signal(by)) if history => key.extend([3, by.thread.code(), by.n]),
                    Some(WakeReason::Signal(_)) => key.push(3),
                }
            }
            Phase::AtBarrier { round, .. } => key.extend([5, *round]),
            Phase::Copying(content) => {
                key.extend([6, content.len() as u64]);
                push_bytes(key, content);
            }
            Phase::Ended => {
                key.push(7);
                key.extend(&self.registers);
                return;
            }
        }
        for frame in &self.frames {
            key.push(u64::from(frame.function.0) << 32 | u64::from(frame.at));
            let live = &machine.code(frame.function).live[frame.at as usize];
            key.extend(live.iter().map(|&register| self.registers[(frame.base + register) as usize]));
        }
    }
}

fn push_bytes(key: &mut Vec<u64>, bytes: &[u8]) {
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        key.push(u64::from_le_bytes(word));
    }
}
