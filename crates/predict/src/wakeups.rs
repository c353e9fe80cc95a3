//! Waits after which nobody looks again: what a thread looked at before it went to wait, and whether it looks at it again when it is woken.
//!
//! A wait belongs into a loop: between the signal and the moment at which the thread has its mutex again, another one may have taken what it
//! waited for; and a broadcast may have been meant for somebody else. A thread that goes on without a second look then acts on what is no
//! longer so. Nothing is accessed without the lock, so it is no race, and no block is torn apart that a lock holds together.

use crate::candidates::may_write;
use ctp::{Ctp, EventIndex, ExprId, Kind, ReadId};
use rustc_hash::FxHashSet;
use trace::{EventKind, Location, WakeReason};

/// What a thread looked at before it went to wait.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Look {
    /// One bit each: its branches came out so that it went to wait, and its accesses hit memory.
    pub conditions: Vec<ExprId>,
    /// The reads of these that it would do again if it looked again, ascending.
    pub reads: Vec<ReadId>,
    /// The first event of them.
    pub first: EventIndex,
    /// The beginning of the wait.
    pub begin: EventIndex,
}

/// What was looked at before the wait that ends with this event, if that was not looked at again.
#[must_use]
pub fn look(ctp: &Ctp, wake: EventIndex) -> Option<Look> {
    let Kind::Other(EventKind::WaitEnd { mutex: Some(mutex), reason: WakeReason::Signal(_), .. }) =
        ctp.event(wake).kind
    else {
        return None;
    };
    let events = &ctp.thread(ctp.event(wake).thread).events;
    let woken = events.partition_point(|&at| at < wake);
    let begin = events[..woken].iter().rposition(|&at| {
        matches!(ctp.event(at).kind, Kind::Other(EventKind::WaitBegin { mutex: Some(of), .. }) if of == mutex)
    })?;
    // The look is what lies behind the last thing that the thread changed. What it has read before that it knows.
    let is_before = |kind: &Kind| takes(kind, mutex) || may_write(kind);
    let start = events[..begin].iter().rposition(|&at| is_before(&ctp.event(at).kind))?;
    let section = &events[start + 1..begin];
    let mut conditions = vec![];
    for &at in section {
        let kind = &ctp.event(at).kind;
        if let Kind::Branch { as_recorded, .. } = *kind {
            conditions.push(as_recorded);
        }
        conditions.extend(kind.access().and_then(|access| access.hits));
    }
    let mut reads = ctp.expressions.reads_of(conditions.iter().copied());
    reads.retain(|&read| section.binary_search(&ctp.read(read).event).is_ok());
    let first = reads.iter().map(|&read| ctp.read(read).event).min()?;
    let looked: FxHashSet<_> = reads.iter().map(|&read| ctp.event(ctp.read(read).event).site).collect();
    // It looks before it changes anything; what it reads of it later, in a next round perhaps, is too late.
    let acts = |kind: &Kind| may_write(kind) || gives_back(kind, mutex);
    let mut behind = events[woken + 1..].iter().take_while(|&&at| !acts(&ctp.event(at).kind));
    let again = behind.any(|&at| looked.contains(&ctp.event(at).site));
    (!again).then_some(Look { conditions, reads, first, begin: events[begin] })
}

fn takes(kind: &Kind, mutex: Location) -> bool {
    match kind {
        Kind::Other(EventKind::Lock { object, .. }) => *object == mutex,
        Kind::Other(EventKind::TryLock { object, acquired, .. }) => *object == mutex && acquired.is_some(),
        Kind::Other(EventKind::WaitEnd { mutex: of, .. }) => *of == Some(mutex),
        _ => false,
    }
}

fn gives_back(kind: &Kind, mutex: Location) -> bool {
    match kind {
        Kind::Other(EventKind::Unlock { object, .. }) => *object == mutex,
        Kind::Other(EventKind::WaitBegin { mutex: of, .. }) => *of == Some(mutex),
        _ => false,
    }
}
