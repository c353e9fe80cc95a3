//! Events as guarded assignments `⟨thread, (assume(condition), {assignments})⟩` (AV §2): synchronisation too, as the paper models it.

use super::names::Names;
use crate::{Access, EventIndex, Kind};
use trace::{EventKind, LockMode};

/// An event as a tuple of thread and action.
pub fn guarded(names: &Names<'_>, index: EventIndex) -> String {
    let event = names.ctp.event(index);
    let (guard, assignments) = action(names, index);
    let assignments = if assignments.is_empty() { " ".to_owned() } else { assignments.join(", ") };
    format!("⟨{}, (assume({guard}), {{{assignments}}})⟩", event.thread.0 + 1)
}

/// The guard and the assignments of an event.
pub fn action(names: &Names<'_>, index: EventIndex) -> (String, Vec<String>) {
    let show = |id| names.expression(id, index);
    let always = || "true".to_owned();
    match &names.ctp.event(index).kind {
        Kind::Read(access) | Kind::Write(access) | Kind::Update(access) => {
            (access.hits.map_or_else(always, show), assignments(names, index, access))
        }
        Kind::CompareExchange { access, equal, success } => {
            let guard = show(*equal);
            let mut assignments = assignments(names, index, access);
            if !success {
                assignments
                    .retain(|assignment| names.local(index).is_some_and(|l| assignment.starts_with(l)));
            }
            (if *success { guard } else { format!("¬({guard})") }, assignments)
        }
        Kind::Branch { as_recorded, .. } => (show(*as_recorded), vec![]),
        Kind::Assert { condition, .. } => (always(), vec![format!("assert({})", show(*condition))]),
        Kind::Assume { condition } | Kind::Require { condition, .. } => (show(*condition), vec![]),
        Kind::Pin { holds, why } => (show(*holds), vec![format!("pinned: {}", pin(why))]),
        Kind::Fence(_) => (always(), vec!["fence".to_owned()]),
        Kind::Other(kind) => other(names, index, kind),
    }
}

fn assignments(names: &Names<'_>, index: EventIndex, access: &Access) -> Vec<String> {
    let mut assignments = vec![];
    if let (Some(local), Some(old)) = (names.local(index), access.old) {
        assignments.push(format!("{local} := {}", names.expression(old, index)));
    }
    for target in &access.targets {
        for write in &target.writes {
            let name = names.location(write.location, Some(index));
            let value = names.expression(write.value, index);
            assignments.push(match write.when.filter(|_| access.targets.len() > 1) {
                Some(when) => format!("if {} then {name} := {value}", names.expression(when, index)),
                None => format!("{name} := {value}"),
            });
        }
    }
    assignments
}

/// Synchronisation on variables of its own, as AV §2 has it: a lock holds its owner, a semaphore its tokens, a condition
/// variable whether it was signalled.
fn other(names: &Names<'_>, index: EventIndex, kind: &EventKind) -> (String, Vec<String>) {
    let me = names.ctp.event(index).thread.0 + 1;
    let at = |place| names.trace.location_name(names.program, place);
    let thread = |id| names.trace.thread_name(id);
    let always = |what: String| ("true".to_owned(), vec![what]);
    match kind {
        EventKind::Lock { object, mode, depth } => {
            let name = at(*object);
            match mode {
                LockMode::Read => (format!("{name} ≥ 0"), vec![format!("{name} := {name} + 1")]),
                LockMode::Write => (format!("{name} = 0"), vec![format!("{name} := -{me}")]),
                LockMode::Mutex if *depth > 1 => (format!("{name} = {me}"), vec![]),
                LockMode::Mutex => (format!("{name} = 0"), vec![format!("{name} := {me}")]),
            }
        }
        EventKind::Unlock { object, mode, depth } => {
            let name = at(*object);
            match mode {
                LockMode::Read => (format!("{name} > 0"), vec![format!("{name} := {name} - 1")]),
                LockMode::Write => (format!("{name} = -{me}"), vec![format!("{name} := 0")]),
                LockMode::Mutex if *depth > 0 => (format!("{name} = {me}"), vec![]),
                LockMode::Mutex => (format!("{name} = {me}"), vec![format!("{name} := 0")]),
            }
        }
        EventKind::TryLock { object, acquired: Some(_), .. } => {
            (format!("{} = 0", at(*object)), vec![format!("{} := {me}", at(*object))])
        }
        EventKind::TryLock { object, .. } => (format!("{} ≠ 0", at(*object)), vec![]),
        EventKind::WaitBegin { condition, mutex } => {
            let released = mutex.map(|mutex| format!("{} := 0", at(mutex)));
            let assignments = [format!("{} := 0", at(*condition))].into_iter().chain(released).collect();
            ("true".to_owned(), assignments)
        }
        EventKind::WaitEnd { condition, mutex, .. } => {
            let free = mutex.map_or_else(String::new, |mutex| format!(" ∧ {} = 0", at(mutex)));
            let taken = mutex.map(|mutex| format!("{} := {me}", at(mutex)));
            let assignments = [format!("{} := 0", at(*condition))].into_iter().chain(taken).collect();
            (format!("{} > 0{free}", at(*condition)), assignments)
        }
        EventKind::StopWaiting { condition, .. } => always(format!("{} stops waiting", at(*condition))),
        EventKind::Signal { condition, .. } => always(format!("{} := 1", at(*condition))),
        EventKind::Broadcast { condition, .. } => always(format!("{} := all", at(*condition))),
        EventKind::Acquire { semaphore } | EventKind::TryAcquire { semaphore, acquired: true } => {
            let name = at(*semaphore);
            (format!("{name} > 0"), vec![format!("{name} := {name} - 1")])
        }
        EventKind::TryAcquire { semaphore, .. } => (format!("{} = 0", at(*semaphore)), vec![]),
        EventKind::Release { semaphore } => {
            let name = at(*semaphore);
            (format!("{name} ≥ 0"), vec![format!("{name} := {name} + 1")])
        }
        EventKind::TokenCount { semaphore, value } => (format!("{} = {value}", at(*semaphore)), vec![]),
        EventKind::BarrierArrive { barrier, .. } => always(format!("arrive({})", at(*barrier))),
        EventKind::BarrierLeave { barrier, round } => {
            (format!("round {round} of {} is complete", at(*barrier)), vec![])
        }
        EventKind::Fork { child } => always(format!("fork({})", thread(*child))),
        EventKind::Join { child } => (format!("{} has ended", thread(*child)), vec![]),
        EventKind::ExclusiveBegin => ("all = 0".to_owned(), vec![format!("all := {me}")]),
        EventKind::ExclusiveEnd => (format!("all = {me}"), vec!["all := 0".to_owned()]),
        EventKind::Alloc { allocation } => {
            always(format!("alloc({})", at(trace::Location { allocation: *allocation, offset: 0 })))
        }
        EventKind::Free { allocation: Some(allocation) } => {
            always(format!("free({})", at(trace::Location { allocation: *allocation, offset: 0 })))
        }
        EventKind::External { .. } => always("external call".to_owned()),
        EventKind::System { what } => always(what.to_string()),
        EventKind::Fault { kind } => always(kind.words().to_owned()),
        _ => ("true".to_owned(), vec![]),
    }
}

fn pin(why: &crate::PinReason) -> String {
    use crate::PinReason as P;
    match why {
        P::Opaque(what) => format!("{what} is not followed"),
        P::External(name) => format!("given to {name}"),
        P::Address { targets } => format!("an address that may be {targets} things"),
        P::UnknownAddress => "an address that may be anything".to_owned(),
        P::Object => "which object".to_owned(),
        P::Size => "how large".to_owned(),
        P::Freed => "what is given back".to_owned(),
        P::Joined => "which thread is joined".to_owned(),
        P::Mismatch => "not as it was rebuilt".to_owned(),
    }
}
