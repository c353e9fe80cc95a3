//! Who can go on, who cannot and why, and what others can notice.

use crate::Machine;
use crate::code::Code;
use crate::object::Object;
use crate::state::{Phase, State};
use crate::sync::waiters;
use ir::{CheckKind, SyncOp};
use trace::{BlockedThread, Choice, ThreadId, WaitsFor};

/// Whether a thread can do its next event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Readiness {
    /// There is none: the thread has ended, or stopped at an assumption or a loop bound, or the process has ended.
    Over,
    /// Not now.
    Blocked,
    /// Yes.
    Ready,
    /// Only by stopping to wait though nobody signalled.
    Unsignalled { timed: bool },
}

impl Machine {
    /// Whether thread `t` can do its next event.
    pub(crate) fn readiness(&self, state: &State, t: usize) -> Readiness {
        match state.ending {
            Some(_) => Readiness::Over,
            None => self.own_readiness(state, t),
        }
    }

    /// Whether thread `t` could do its next event if the process had not ended.
    fn own_readiness(&self, state: &State, t: usize) -> Readiness {
        let thread = &state.threads[t];
        if thread.is_over() {
            return Readiness::Over;
        }
        if state.exclusive.is_some_and(|owner| owner != thread.id) {
            return Readiness::Blocked;
        }
        let when = |free| if free { Readiness::Ready } else { Readiness::Blocked };
        match thread.phase {
            Phase::Waiting { mutex, timed, woken, .. } => {
                if woken.is_some() {
                    when(mutex.is_none_or(|mutex| state.objects[mutex].mutex_free_for(thread.id)))
                } else if timed || self.options().spurious {
                    Readiness::Unsignalled { timed }
                } else {
                    Readiness::Blocked
                }
            }
            Phase::AtBarrier { barrier, round } => match state.objects[barrier] {
                Object::Barrier { round: now, .. } => when(now > round),
                _ => Readiness::Ready,
            },
            Phase::Ready => match self.next_sync(state, t) {
                Some((op, operand)) => when(self.is_free(state, thread.id, op, operand)),
                None => Readiness::Ready,
            },
            _ => Readiness::Ready,
        }
    }

    /// The synchronisation operation that thread `t` stands at, with its first operand (0 if it has none).
    pub(crate) fn next_sync(&self, state: &State, t: usize) -> Option<(SyncOp, u64)> {
        let thread = &state.threads[t];
        let frame = thread.top();
        match &self.code(frame.function).code[frame.at as usize] {
            Code::Sync { op, operands, .. } => {
                Some((*op, operands.first().map_or(0, |&operand| thread.value(frame, operand))))
            }
            _ => None,
        }
    }

    /// Whether a blocking operation can go on. One on a wrong address can: into its fault.
    fn is_free(&self, state: &State, me: ThreadId, op: SyncOp, operand: u64) -> bool {
        let object = |address| self.layout().locate_object(address).ok().map(|index| &state.objects[index]);
        match op {
            SyncOp::MutexLock => object(operand).is_none_or(|mutex| mutex.mutex_free_for(me)),
            SyncOp::ReadLock => !matches!(object(operand), Some(Object::RwLock { writer: Some(_), .. })),
            SyncOp::WriteLock => match object(operand) {
                Some(Object::RwLock { writer, readers }) => writer.is_none() && readers.is_empty(),
                _ => true,
            },
            SyncOp::Acquire => !matches!(object(operand), Some(Object::Semaphore { tokens: 0 })),
            SyncOp::Join => match self.joined(state, operand) {
                Some(child) => matches!(state.threads[child].phase, Phase::Ended),
                None => true,
            },
            _ => true,
        }
    }

    /// Every way in which thread `t` can do its next event; `None` where nothing is left open. For a signal with several
    /// waiters one way per waiter.
    pub(crate) fn ways(&self, state: &State, t: usize) -> Vec<Option<Choice>> {
        match self.readiness(state, t) {
            Readiness::Over | Readiness::Blocked => vec![],
            Readiness::Unsignalled { timed } => self.unsignalled(timed).into_iter().map(Some).collect(),
            Readiness::Ready => match self.signal_waiters(state, t) {
                Some(waiters) => waiters.into_iter().map(|waiter| Some(Choice::Wake(waiter))).collect(),
                None => vec![None],
            },
        }
    }

    /// How a wait that nobody signalled can end.
    pub(crate) fn unsignalled(&self, timed: bool) -> Vec<Choice> {
        let expire = timed.then_some(Choice::Expire);
        expire.into_iter().chain(self.options().spurious.then_some(Choice::Spurious)).collect()
    }

    /// The waiters among which the signal that thread `t` is about to give must choose; `None` if it need not.
    pub(crate) fn signal_waiters(&self, state: &State, t: usize) -> Option<Vec<ThreadId>> {
        if !matches!(state.threads[t].phase, Phase::Ready) {
            return None;
        }
        let (SyncOp::Signal, operand) = self.next_sync(state, t)? else { return None };
        let condition = self.layout().locate_object(operand).ok()?;
        let waiters = waiters(state, condition);
        (waiters.len() > 1).then(|| waiters.into_iter().map(|w| state.threads[w].id).collect())
    }

    /// Whether another thread could notice the next event of thread `t`, or whether `t` may have to wait for it.
    pub(crate) fn is_visible(&self, state: &State, t: usize) -> bool {
        let thread = &state.threads[t];
        if !matches!(thread.phase, Phase::Ready) {
            return true;
        }
        let frame = thread.top();
        match &self.code(frame.function).code[frame.at as usize] {
            Code::Branch { .. } | Code::Switch { .. } | Code::Fence { .. } | Code::HeapAlloc { .. } => false,
            Code::Check { kind: CheckKind::Assert, condition } => thread.value(frame, *condition) & 1 == 0,
            Code::Check { .. } => false,
            Code::Sync { op: SyncOp::TransactionBegin | SyncOp::TransactionEnd, .. } => false,
            // The end of a thread is noticed only by those who wait for it.
            Code::Return(_) => self.has_joins(),
            _ => true,
        }
    }

    /// What thread `t`, which is blocked, waits for.
    pub(crate) fn blocked(&self, state: &State, t: usize) -> BlockedThread {
        let thread = &state.threads[t];
        let lock = |index: usize| WaitsFor::Lock {
            object: self.layout().objects[index],
            held_by: state.objects[index].holders(),
        };
        let waits_for = match (state.exclusive, &thread.phase) {
            (Some(owner), _) if owner != thread.id => WaitsFor::Exclusive { thread: owner },
            (_, Phase::Waiting { mutex: Some(mutex), woken: Some(_), .. }) => lock(*mutex),
            (_, Phase::Waiting { condition, .. }) => {
                WaitsFor::Condition { object: self.layout().objects[*condition] }
            }
            (_, Phase::AtBarrier { barrier, .. }) => {
                let (arrived, parties) = match state.objects[*barrier] {
                    Object::Barrier { arrived, parties, .. } => (arrived, parties),
                    _ => (0, 0),
                };
                WaitsFor::Barrier { object: self.layout().objects[*barrier], arrived, parties }
            }
            _ => match self.next_sync(state, t) {
                Some((SyncOp::Join, handle)) => {
                    let child = self.joined(state, handle).map(|child| state.threads[child].id);
                    WaitsFor::Join { thread: child.unwrap_or(thread.id) }
                }
                Some((op, operand)) => match self.layout().locate_object(operand) {
                    Ok(index) if op == SyncOp::Acquire => {
                        WaitsFor::Semaphore { object: self.layout().objects[index] }
                    }
                    Ok(index) => lock(index),
                    Err(_) => WaitsFor::Join { thread: thread.id },
                },
                // Only synchronisation blocks.
                None => WaitsFor::Join { thread: thread.id },
            },
        };
        BlockedThread { thread: thread.id, site: self.site(state, t), waits_for }
    }

    /// All threads that cannot go on though they have not ended, ordered by thread.
    pub(crate) fn all_blocked(&self, state: &State) -> Vec<BlockedThread> {
        // The end of the process leaves everybody where they are.
        let mut blocked: Vec<BlockedThread> = (0..state.threads.len())
            .filter(|&t| self.own_readiness(state, t) == Readiness::Blocked)
            .map(|t| self.blocked(state, t))
            .collect();
        blocked.sort_unstable();
        blocked
    }
}

/// The threads that wait for each other in a circle, by locks, joins and exclusive blocks. A circle stays for ever,
/// whatever the other threads do.
pub(crate) fn in_circles(blocked: &[BlockedThread]) -> Vec<BlockedThread> {
    let waits_for = |thread: ThreadId| -> Vec<ThreadId> {
        let of = blocked.iter().find(|b| b.thread == thread);
        match of.map(|b| &b.waits_for) {
            Some(WaitsFor::Lock { held_by, .. }) => held_by.clone(),
            Some(WaitsFor::Join { thread } | WaitsFor::Exclusive { thread }) => vec![*thread],
            _ => vec![],
        }
    };
    // A thread is in a circle if it is reachable from itself.
    let reaches_itself = |start: ThreadId| {
        let (mut seen, mut work) = (vec![], waits_for(start));
        while let Some(thread) = work.pop() {
            if thread == start {
                return true;
            }
            if !seen.contains(&thread) {
                seen.push(thread);
                work.extend(waits_for(thread));
            }
        }
        false
    };
    blocked.iter().filter(|b| reaches_itself(b.thread)).cloned().collect()
}
