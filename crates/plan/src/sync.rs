//! What each primitive needs and does, as facts of the state (docs/design/feasibility.md). PLAN §4.3 has
//! mutexes; the others are ours.
//!
//! Outcomes are part of a thread's way: a try that failed must fail again, a wait that expired must expire, and a count of tokens must come
//! out the same. Only at the end of its way a thread may get what it did not get when the run was recorded: others may then not get it. Which of several waiters a signal wakes is a choice, so it has a way for each of them.

use crate::build::{Builder, JOIN};
use crate::problem::{Condition, Effect, Meaning, Step, ThreadNumber, Variable, WRITER, Way};
use trace::{Choice, EventKind, Location, LockMode, ThreadId, WakeReason};

/// How far a wait is: nobody waits, somebody waits, a signal came, or it ended without one.
const WAITING: u32 = 1;
const WOKEN: u32 = 2;
const STOPPED: u32 = 3;

/// Whether a thread is at a barrier, and may leave it.
const AT_BARRIER: u32 = 1;
const MAY_LEAVE: u32 = 2;

impl Builder<'_> {
    fn mutex(&mut self, object: Location) -> Variable {
        self.variable(Meaning::Mutex(object), 0)
    }

    fn rwlock(&mut self, object: Location) -> Variable {
        self.variable(Meaning::RwLock(object), 0)
    }

    fn tokens(&mut self, semaphore: Location) -> Variable {
        let count = self.ctp.objects.get(&semaphore).map_or(0, |object| object.count);
        self.variable(Meaning::Tokens(semaphore), u32::try_from(count).unwrap_or(u32::MAX / 2))
    }

    fn wait(&mut self, thread: ThreadId, condition: Location) -> Variable {
        self.variable(Meaning::Wait(thread, condition), 0)
    }

    /// What has happened already and still matters: the past of a slice.
    pub fn set_past(&mut self) {
        let ctp = self.ctp;
        for event in &ctp.events[..ctp.past] {
            let ctp::Kind::Other(kind) = &event.kind else { continue };
            let thread = event.id.thread;
            match *kind {
                EventKind::Lock { object, mode, .. }
                | EventKind::TryLock { object, mode, acquired: Some(_) } => {
                    let (lock, held) = match mode {
                        LockMode::Mutex => (self.mutex(object), 1),
                        LockMode::Write => (self.rwlock(object), WRITER),
                        LockMode::Read => {
                            let lock = self.rwlock(object);
                            (lock, self.initial(lock) + 1)
                        }
                    };
                    self.set_initial(lock, held);
                }
                EventKind::WaitEnd { mutex: Some(mutex), .. } => {
                    let mutex = self.mutex(mutex);
                    self.set_initial(mutex, 1);
                }
                EventKind::WaitBegin { condition, .. } => {
                    let wait = self.wait(thread, condition);
                    self.set_initial(wait, WAITING);
                }
                EventKind::BarrierArrive { barrier, .. } => {
                    let arrived = self.variable(Meaning::Arrived(barrier), 0);
                    self.set_initial(arrived, self.initial(arrived) + 1);
                    let at = self.variable(Meaning::AtBarrier(thread, barrier), 0);
                    self.set_initial(at, AT_BARRIER);
                }
                EventKind::Free { allocation: Some(allocation) } => {
                    let freed = self.variable(Meaning::Freed(allocation), 0);
                    self.set_initial(freed, 1);
                }
                _ => {}
            }
        }
    }

    pub fn synchronise(&mut self, number: ThreadNumber, step: &mut Step, kind: &EventKind) {
        let thread = step.event.thread;
        let mut way = Way::default();
        match *kind {
            EventKind::Lock { object, mode, depth } => self.acquire(&mut way, object, mode, depth),
            EventKind::TryLock { object, mode, acquired: Some(depth) } => {
                self.acquire(&mut way, object, mode, depth);
            }
            EventKind::TryLock { object, mode, acquired: None } => {
                let held = match mode {
                    LockMode::Mutex => Condition::Is(self.mutex(object), 1),
                    LockMode::Write => Condition::IsNot(self.rwlock(object), 0),
                    LockMode::Read => Condition::Is(self.rwlock(object), WRITER),
                };
                way.needs.push(held);
                let mut gets = Way { is_last: true, ..Way::default() };
                self.acquire(&mut gets, object, mode, 1);
                step.ways.push(gets);
            }
            EventKind::Unlock { object, mode: LockMode::Mutex, depth: 0 } => {
                way.does.push(Effect::Set(self.mutex(object), 0));
            }
            // Of a recursive lock that is still held nothing is given back.
            EventKind::Unlock { mode: LockMode::Mutex, .. } => {}
            EventKind::Unlock { object, mode: LockMode::Write, .. } => {
                way.does.push(Effect::Set(self.rwlock(object), 0));
            }
            EventKind::Unlock { object, mode: LockMode::Read, .. } => {
                way.does.push(Effect::Decrease(self.rwlock(object)));
            }
            EventKind::WaitBegin { condition, mutex } => {
                way.does.extend(mutex.map(|mutex| Effect::Set(self.mutex(mutex), 0)));
                way.does.push(Effect::Set(self.wait(thread, condition), WAITING));
            }
            EventKind::StopWaiting { condition, reason } => {
                let wait = self.wait(thread, condition);
                way.needs.push(Condition::Is(wait, WAITING));
                way.does.push(Effect::Set(wait, STOPPED));
                let choice = if reason == WakeReason::Spurious { Choice::Spurious } else { Choice::Expire };
                step.ends_wait = Some(choice);
            }
            EventKind::WaitEnd { condition, mutex, reason } => {
                let wait = self.wait(thread, condition);
                let over = if matches!(reason, WakeReason::Signal(_)) { WOKEN } else { STOPPED };
                way.needs.push(Condition::Is(wait, over));
                way.does.push(Effect::Set(wait, 0));
                if let Some(mutex) = mutex {
                    self.acquire(&mut way, mutex, LockMode::Mutex, 1);
                }
            }
            EventKind::Signal { condition, .. } => return self.signal(step, condition),
            EventKind::Broadcast { condition, .. } => {
                for waiter in self.users.get(&condition).cloned().unwrap_or_default() {
                    way.does.push(Effect::Change(self.wait(waiter, condition), WAITING, WOKEN));
                }
            }
            EventKind::Acquire { semaphore } | EventKind::TryAcquire { semaphore, acquired: true } => {
                let tokens = self.tokens(semaphore);
                way.needs.push(Condition::AtLeast(tokens, 1));
                way.does.push(Effect::Decrease(tokens));
            }
            EventKind::TryAcquire { semaphore, acquired: false } => {
                let tokens = self.tokens(semaphore);
                way.needs.push(Condition::Is(tokens, 0));
                let (needs, does) = (vec![Condition::AtLeast(tokens, 1)], vec![Effect::Decrease(tokens)]);
                step.ways.push(Way { needs, does, is_last: true, ..Way::default() });
            }
            EventKind::Release { semaphore } => way.does.push(Effect::Increase(self.tokens(semaphore))),
            EventKind::TokenCount { semaphore, value } => {
                let value = u32::try_from(value).unwrap_or(u32::MAX);
                way.needs.push(Condition::Is(self.tokens(semaphore), value));
            }
            EventKind::BarrierArrive { barrier, .. } => return self.arrive(step, barrier),
            EventKind::BarrierLeave { barrier, .. } => {
                let at = self.variable(Meaning::AtBarrier(thread, barrier), 0);
                way.needs.push(Condition::Is(at, MAY_LEAVE));
                way.does.push(Effect::Set(at, 0));
            }
            EventKind::Join { child } => {
                way.needs.extend(self.numbers.get(&child).map(|&child| Condition::Done(child, JOIN)));
            }
            EventKind::Free { allocation: Some(allocation) } => {
                let freed = self.variable(Meaning::Freed(allocation), 0);
                way.needs.push(Condition::Is(freed, 0));
                way.does.push(Effect::Set(freed, 1));
            }
            EventKind::ExclusiveBegin => {
                way.does.push(Effect::Set(self.variable(Meaning::Exclusive, 0), number.0 + 1));
            }
            EventKind::ExclusiveEnd => way.does.push(Effect::Set(self.variable(Meaning::Exclusive, 0), 0)),
            _ => {}
        }
        step.ways.push(way);
    }

    fn acquire(&mut self, way: &mut Way, object: Location, mode: LockMode, depth: u32) {
        match mode {
            // Whoever holds a recursive lock takes it once more.
            LockMode::Mutex if depth > 1 => {}
            LockMode::Mutex => {
                let lock = self.mutex(object);
                way.needs.push(Condition::Is(lock, 0));
                way.does.push(Effect::Set(lock, 1));
            }
            LockMode::Write => {
                let lock = self.rwlock(object);
                way.needs.push(Condition::Is(lock, 0));
                way.does.push(Effect::Set(lock, WRITER));
            }
            LockMode::Read => {
                let lock = self.rwlock(object);
                way.needs.push(Condition::Below(lock, WRITER));
                way.does.push(Effect::Increase(lock));
            }
        }
    }

    /// A signal wakes exactly one of those who wait, if somebody does.
    fn signal(&mut self, step: &mut Step, condition: Location) {
        let mut nobody = Way::default();
        for waiter in self.users.get(&condition).cloned().unwrap_or_default() {
            let wait = self.wait(waiter, condition);
            step.reaches.push(wait);
            nobody.needs.push(Condition::IsNot(wait, WAITING));
            step.ways.push(Way {
                needs: vec![Condition::Is(wait, WAITING)],
                does: vec![Effect::Set(wait, WOKEN)],
                wakes: Some(waiter),
                ..Way::default()
            });
        }
        step.ways.push(nobody);
    }

    /// The last one of a round opens the barrier for all.
    fn arrive(&mut self, step: &mut Step, barrier: Location) {
        let thread = step.event.thread;
        let parties = self.ctp.objects.get(&barrier).map_or(1, |object| object.count.max(1));
        let last = u32::try_from(parties - 1).unwrap_or(u32::MAX / 2);
        let arrived = self.variable(Meaning::Arrived(barrier), 0);
        let own = self.variable(Meaning::AtBarrier(thread, barrier), 0);
        step.ways.push(Way {
            needs: vec![Condition::Below(arrived, last)],
            does: vec![Effect::Increase(arrived), Effect::Set(own, AT_BARRIER)],
            ..Way::default()
        });
        let mut opens = vec![Effect::Set(arrived, 0), Effect::Set(own, MAY_LEAVE)];
        for other in self.users.get(&barrier).cloned().unwrap_or_default() {
            let at = self.variable(Meaning::AtBarrier(other, barrier), 0);
            opens.push(Effect::Change(at, AT_BARRIER, MAY_LEAVE));
        }
        step.ways.push(Way { needs: vec![Condition::AtLeast(arrived, last)], does: opens, ..Way::default() });
    }
}

/// Whether a wait is one that a signal can reach.
pub(crate) fn is_waiting(state: u32) -> bool {
    state == WAITING
}
