//! Whether what is claimed of a run holds at its end.

use crate::access::Access;
use crate::run::{Run, State};
use crate::{Refusal, Unfounded, Waits};
use claim::{Candidate, Deadlock, Pattern, is_unserializable};
use ir::{Op, Operand};
use trace::{AccessKind, EventId, EventKind, ThreadId};

pub fn check(run: &Run<'_>, candidate: &Candidate) -> Result<(), Refusal> {
    claim(run, candidate).map_err(Refusal::Claim)
}

fn claim(run: &Run<'_>, candidate: &Candidate) -> Result<(), Unfounded> {
    match candidate {
        Candidate::Atomicity { before, between, after } => atomicity(run, *before, *between, *after),
        Candidate::CoEnabledRace { first, second } => {
            let (a, b) = (next_access(run, *first)?, next_access(run, *second)?);
            if a.races(&b) { Ok(()) } else { Err(Unfounded::NoConflict(*first, *second)) }
        }
        Candidate::UnorderedRace { first, second } => {
            let (a, b) = (access(run, *first)?, access(run, *second)?);
            match run.known {
                _ if !a.races(b) => Err(Unfounded::NoConflict(*first, *second)),
                Some(false) => Ok(()),
                _ => Err(Unfounded::Ordered(*first, *second)),
            }
        }
        Candidate::Assertion { event } => match run.done.get(event) {
            Some(done) if done.assertion == Some(false) => Ok(()),
            Some(_) => Err(Unfounded::Held(*event)),
            None => Err(Unfounded::NotRun(*event)),
        },
        Candidate::Fault { event, kind } => match run.done.get(event) {
            Some(done) if done.fault == Some(*kind) => Ok(()),
            _ => Err(Unfounded::NoFault { event: *event, kind: *kind }),
        },
        Candidate::Deadlock(deadlock) => deadlocked(run, deadlock),
        Candidate::Wakeup { look, wake } => would_wait_again(run, *look, *wake),
        Candidate::Pattern(pattern) => follows(run, pattern),
    }
}

/// The events of a pattern were executed as it asks, and its goal holds of the run.
fn follows(run: &Run<'_>, pattern: &Pattern) -> Result<(), Unfounded> {
    let at = |event: EventId| run.done.get(&event).map(|done| done.at).ok_or(Unfounded::NotRun(event));
    for event in pattern.required() {
        at(event)?;
    }
    for (first, second) in pattern.ordered() {
        if at(first)? >= at(second)? {
            return Err(Unfounded::Order(first, second));
        }
    }
    let Some(goal) = &pattern.goal else { return Ok(()) };
    let mut done: Vec<EventId> = goal.events().into_iter().filter(|&event| at(event).is_ok()).collect();
    done.sort_by_key(|event| at(*event).ok());
    if goal.holds(&done) { Ok(()) } else { Err(Unfounded::Goal) }
}

fn access<'r>(run: &'r Run<'_>, event: EventId) -> Result<&'r Access, Unfounded> {
    let done = run.done.get(&event).ok_or(Unfounded::NotRun(event))?;
    done.access.as_ref().ok_or(Unfounded::NoAccess(event))
}

fn atomicity(run: &Run<'_>, before: EventId, between: EventId, after: EventId) -> Result<(), Unfounded> {
    let (e1, f, e2) = (access(run, before)?, access(run, between)?, access(run, after)?);
    if before.thread != after.thread || between.thread == before.thread {
        return Err(Unfounded::Threads);
    }
    for (a, b) in [(before, between), (between, after)] {
        if run.done[&a].at >= run.done[&b].at {
            return Err(Unfounded::Order(a, b));
        }
    }
    for (a, b) in [(e1, f), (f, e2), (e1, e2)] {
        if a.frees || b.frees || !a.overlaps(b) {
            return Err(Unfounded::OtherLocation(a.event, b.event));
        }
    }
    // Inferred transactions are others' business; marked ones are in the program.
    if run.is_marked && (e1.transaction.is_none() || e1.transaction != e2.transaction) {
        return Err(Unfounded::NoTransaction(before, after));
    }
    if !is_unserializable(e1.kind, f.kind, e2.kind) {
        return Err(Unfounded::Serializable);
    }
    for (a, b) in [(e1, f), (f, e2)] {
        if a.is_independent_of(b) {
            return Err(Unfounded::Independent(a.event, b.event));
        }
    }
    Ok(())
}

/// The thread has just been woken; if it went back to where it looked, it would come to wait again.
fn would_wait_again(run: &Run<'_>, look: EventId, wake: EventId) -> Result<(), Unfounded> {
    let at = |event: EventId| run.done.get(&event).map(|done| done.at).ok_or(Unfounded::NotRun(event));
    if look.thread != wake.thread {
        return Err(Unfounded::Threads);
    }
    if at(look)? >= at(wake)? {
        return Err(Unfounded::Order(look, wake));
    }
    let t = run.index(wake.thread).ok_or(Unfounded::NotRun(wake))?;
    let before = run.looks.get(&look).ok_or(Unfounded::NotRun(look))?;
    if run.threads[t].done != wake.n {
        return Err(Unfounded::WentOn(wake));
    }
    let mut again = run.clone();
    again.threads[t] = before.clone();
    loop {
        let expected = again.expected(t).filter(|expected| expected.id < wake);
        let expected = expected.ok_or(Unfounded::WouldNotWait(wake))?;
        let comes = again.reachable(t, expected).is_none();
        if comes && matches!(expected.kind, EventKind::WaitBegin { .. }) {
            return Ok(());
        }
        let goes = comes && again.go_on_as_recorded(expected.id).is_ok();
        if !goes || again.ended {
            return Err(Unfounded::WouldNotWait(wake));
        }
    }
}

/// The access that a thread is about to make: the given event is next, enabled, and hits memory.
fn next_access(run: &Run<'_>, event: EventId) -> Result<Access, Unfounded> {
    let not_next = Unfounded::NotNext(event);
    let t = run.index(event.thread).ok_or(not_next)?;
    let expected = run.expected(t).filter(|expected| expected.id == event).ok_or(not_next)?;
    if run.ended || run.reachable(t, expected).is_some() || run.waits(t).is_some() {
        return Err(not_next);
    }
    let no_access = Unfounded::NoAccess(event);
    if let (true, EventKind::Free { allocation: Some(allocation) }) = (run.compiled, &expected.kind) {
        return freeing(run, event, *allocation).ok_or(no_access);
    }
    let frame = run.top(t).ok_or(no_access)?;
    let block = run.program.function(frame.function).block(frame.block);
    let instruction = block.instructions.get(frame.at as usize).ok_or(no_access)?;
    let value = |operand: Operand| run.operand(t, frame, operand).0.map(|bits| bits as u64);
    let bytes_of = |operand: Operand| u64::from(run.operand(t, frame, operand).1.bytes());
    let halfway = matches!(run.threads[t].state, State::Copying(_));
    let mut frees = false;
    let (kind, atomic, pointer, bytes) = match &instruction.op {
        Op::Load { pointer, order } => {
            let result = *instruction.results.first().ok_or(no_access)?;
            let bytes = u64::from(run.program.function(frame.function).value(result).ty.bytes());
            (AccessKind::Read, order.is_some(), *pointer, bytes)
        }
        Op::Store { pointer, value, order } => {
            (AccessKind::Write, order.is_some(), *pointer, bytes_of(*value))
        }
        Op::Update { pointer, value, .. } => (AccessKind::Update, true, *pointer, bytes_of(*value)),
        Op::CompareExchange { pointer, expected: wanted, .. } => {
            let bytes = bytes_of(*wanted);
            let old = value(*pointer).and_then(|at| run.memory.load(at, bytes));
            let old = old.map(|content| crate::access::number(&content));
            let equal = old.is_some() && old == run.operand(t, frame, *wanted).0;
            (if equal { AccessKind::Update } else { AccessKind::Read }, true, *pointer, bytes)
        }
        Op::MemoryCopy { to, bytes, .. } if halfway => {
            (AccessKind::Write, false, *to, value(*bytes).unwrap_or(0))
        }
        Op::MemoryCopy { from, bytes, .. } => (AccessKind::Read, false, *from, value(*bytes).unwrap_or(0)),
        Op::MemorySet { to, bytes, .. } => (AccessKind::Write, false, *to, value(*bytes).unwrap_or(0)),
        Op::Free { pointer } => {
            let block = value(*pointer).and_then(|at| run.memory.blocks.get(&at));
            let block = block.filter(|block| block.heap && !block.freed).ok_or(no_access)?;
            frees = true;
            (AccessKind::Write, false, *pointer, block.bytes)
        }
        _ => return Err(no_access),
    };
    let address = value(pointer).or_else(|| run.recorded_address(expected)).ok_or(no_access)?;
    if !frees && run.memory.find(address, bytes, kind != AccessKind::Read).is_err() {
        return Err(no_access);
    }
    let (before, after, decides, transaction) = (None, None, None, None);
    Ok(Access { event, kind, atomic, frees, address, bytes, before, after, decides, transaction })
}

/// The access that a call of `free` in compiled code is: to all that it gives back.
fn freeing(run: &Run<'_>, event: EventId, allocation: trace::AllocationId) -> Option<Access> {
    let address = run.trace.allocations.get(allocation.0 as usize)?.address;
    let block = run.memory.blocks.get(&address).filter(|block| block.heap && !block.freed)?;
    let (kind, atomic, frees, bytes) = (AccessKind::Write, false, true, block.bytes);
    let (before, after, decides, transaction) = (None, None, None, None);
    Some(Access { event, kind, atomic, frees, address, bytes, before, after, decides, transaction })
}

/// Whether a thread is one that never goes on by itself: it has ended, or stopped for a reason of its own.
fn is_over(run: &Run<'_>, t: usize) -> bool {
    matches!(run.threads[t].state, State::Ended | State::Stopped)
}

fn deadlocked(run: &Run<'_>, deadlock: &Deadlock) -> Result<(), Unfounded> {
    let mut members: Vec<ThreadId> = vec![];
    for &event in deadlock.blocked() {
        let not_blocked = Unfounded::NotBlocked(event);
        let t = run.index(event.thread).ok_or(not_blocked)?;
        if is_over(run, t) || run.waits(t).is_none() || run.next_id(t) != event {
            return Err(not_blocked);
        }
        members.push(event.thread);
    }
    match deadlock {
        Deadlock::Circle(events) => {
            let lonely = events.iter().find(|event| !reaches_itself(run, event.thread));
            lonely.map_or(Ok(()), |&event| Err(Unfounded::NoCircle(event)))
        }
        Deadlock::AllBlocked(_) => {
            let free = (0..run.threads.len())
                .find(|&t| !is_over(run, t) && (run.ended || !members.contains(&run.threads[t].id)));
            free.map_or(Ok(()), |t| Err(Unfounded::GoesOn(run.threads[t].id)))
        }
    }
}

/// Whether a thread waits, through locks, joins and exclusive blocks of others, for itself.
fn reaches_itself(run: &Run<'_>, start: ThreadId) -> bool {
    let waits_for = |thread: ThreadId| -> Vec<ThreadId> {
        let Some(t) = run.index(thread).filter(|&t| !is_over(run, t)) else { return vec![] };
        match run.waits(t) {
            Some(Waits::Lock(holders)) => holders,
            Some(Waits::Join(thread) | Waits::Exclusive(thread)) => vec![thread],
            _ => vec![],
        }
    };
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
}
