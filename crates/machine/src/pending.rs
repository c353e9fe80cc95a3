//! What threads would do next that do not go on: who waits for a lock would take it, who stands before a failing assertion would fail.

use crate::Machine;
use crate::code::Code;
use crate::enabled::Readiness;
use crate::object::Object;
use crate::state::{Phase, State};
use crate::step::{Nobody, Observer};
use ir::{CheckKind, SyncOp, eval};
use trace::{Event, EventKind, FaultKind, Location, LockMode, WakeReason};

/// Keeps the first event.
struct First(Option<Event>);

impl Observer for First {
    fn event(&mut self, _: &State, event: Event, _: u64) {
        self.0.get_or_insert(event);
    }
}

impl Machine {
    /// Whether the next event of thread `t`, which it can do, ends the process.
    pub(crate) fn ends_process(&self, state: &State, t: usize) -> bool {
        let thread = &state.threads[t];
        match thread.phase {
            Phase::Faulting(_) => return true,
            Phase::Ready => {}
            _ => return false,
        }
        let frame = thread.top();
        let value = |source| thread.value(frame, source);
        let faults = |at, bytes, write| self.layout().locate(&state.memory, at, bytes, write).is_err();
        match &self.code(frame.function).code[frame.at as usize] {
            Code::Load { pointer, bytes, .. } => faults(value(*pointer), u64::from(*bytes), false),
            Code::Store { pointer, bytes, .. } => faults(value(*pointer), u64::from(*bytes), true),
            Code::Update { pointer, width, .. } | Code::CompareExchange { pointer, width, .. } => {
                faults(value(*pointer), u64::from(width.bytes()), true)
            }
            Code::Check { kind: CheckKind::Assert, condition } => value(*condition) & 1 == 0,
            Code::Check { .. } | Code::Branch { .. } | Code::Switch { .. } | Code::Fence { .. } => false,
            Code::Return(_) => false,
            _ => {
                let mut after = state.clone();
                self.step(&mut after, t, None, &mut Nobody);
                after.ending.is_some()
            }
        }
    }

    /// What each thread that has not ended would do next if nothing kept it; nothing for one that has come to the bound of a loop. A thread
    /// whose assumption does not hold would go on if it held. Who accesses memory that was given back, or gives it back twice, would do so
    /// if it had not been.
    pub(crate) fn pending(&self, state: &State) -> Vec<Event> {
        let mut free = state.clone();
        (free.exclusive, free.ending) = (None, None);
        (0..free.threads.len()).filter_map(|t| self.pending_of(&free, t)).collect()
    }

    fn pending_of(&self, state: &State, t: usize) -> Option<Event> {
        let thread = &state.threads[t];
        let kind = match thread.phase {
            Phase::Ended | Phase::BoundReached => return None,
            Phase::AssumptionFailed => EventKind::Assume,
            _ if self.readiness(state, t) != Readiness::Ready => self.blocked_event(state, t)?,
            _ => {
                let mut first = First(None);
                self.step(&mut state.clone(), t, None, &mut first);
                match first.0?.kind {
                    EventKind::Fault { kind: kind @ (FaultKind::UseAfterFree | FaultKind::DoubleFree) } => {
                        self.on_freed(state, t).unwrap_or(EventKind::Fault { kind })
                    }
                    kind => kind,
                }
            }
        };
        Some(Event { id: thread.next_event(), site: self.site(state, t), kind })
    }

    /// What thread `t`, which cannot go on, would do if it could; `None` if it does not wait for anything.
    pub(crate) fn blocked_event(&self, state: &State, t: usize) -> Option<EventKind> {
        let thread = &state.threads[t];
        let object = |index: usize| self.layout().objects[index];
        Some(match thread.phase {
            Phase::Waiting { condition, mutex, woken, .. } => {
                // Whose signal it will be nobody knows.
                let reason = woken.unwrap_or(WakeReason::Signal(thread.next_event()));
                EventKind::WaitEnd { condition: object(condition), mutex: mutex.map(object), reason }
            }
            Phase::AtBarrier { barrier, round } => {
                EventKind::BarrierLeave { barrier: object(barrier), round }
            }
            _ => match self.next_sync(state, t)? {
                (SyncOp::Join, handle) => {
                    let child = self.joined(state, handle)?;
                    EventKind::Join { child: state.threads[child].id }
                }
                (op, operand) => {
                    let index = self.layout().locate_object(operand).ok()?;
                    let mode = match (op, &state.objects[index]) {
                        (SyncOp::ReadLock, _) => LockMode::Read,
                        (_, Object::RwLock { .. }) => LockMode::Write,
                        _ => LockMode::Mutex,
                    };
                    match op {
                        SyncOp::Acquire => EventKind::Acquire { semaphore: object(index) },
                        _ => EventKind::Lock { object: object(index), mode, depth: 1 },
                    }
                }
            },
        })
    }

    /// The access of thread `t` to memory that was given back, as if it held zeros.
    fn on_freed(&self, state: &State, t: usize) -> Option<EventKind> {
        let thread = &state.threads[t];
        let frame = thread.top();
        let value = |source| thread.value(frame, source);
        let place = |at: u64| -> Option<Location> {
            let block = state.memory.blocks.iter().rev().find(|block| block.base <= at).filter(|b| b.heap)?;
            let offset = at - block.base;
            (offset < block.bytes).then_some(Location { allocation: block.allocation, offset })
        };
        Some(match &self.code(frame.function).code[frame.at as usize] {
            Code::Load { pointer, bytes, order, .. } => {
                EventKind::Read { location: place(value(*pointer))?, bytes: *bytes, value: 0, order: *order }
            }
            Code::Store { pointer, bytes, value: stored, order } => EventKind::Write {
                location: place(value(*pointer))?,
                bytes: *bytes,
                value: value(*stored),
                order: *order,
            },
            Code::Update { op, width, pointer, value: operand, order, .. } => {
                let new = eval::update(*op, *width, 0, u128::from(value(*operand))) as u64;
                let (location, bytes) = (place(value(*pointer))?, width.bytes() as u8);
                EventKind::Update { location, bytes, old: 0, new, order: *order }
            }
            Code::CompareExchange { width, pointer, expected, new, success, failure, .. } => {
                let (expected, new) = (value(*expected), value(*new));
                EventKind::CompareExchange {
                    location: place(value(*pointer))?,
                    bytes: width.bytes() as u8,
                    old: 0,
                    expected,
                    new,
                    success: expected == 0,
                    order: if expected == 0 { *success } else { *failure },
                }
            }
            Code::Free { pointer } => {
                EventKind::Free { allocation: Some(place(value(*pointer))?.allocation) }
            }
            _ => return None,
        })
    }
}
