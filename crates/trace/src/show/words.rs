//! Events and outcomes in words.

use crate::names::Names;
use crate::{BlockedThread, Event, EventKind, Location, LockMode, Logging, Outcome, WaitsFor, WakeReason};
use ir::{Order, SiteId};

/// What happened in an event: `read x = 0`, `lock m`, `woken (signal by T2)`.
pub(super) fn event(names: &Names<'_>, event: &Event) -> String {
    use EventKind as K;
    let at = |location: &_| names.location(*location);
    match &event.kind {
        K::Read { location, order, .. } if !names.has_values() => {
            format!("read {}{}", at(location), atomic(*order))
        }
        K::Write { location, order, .. } if !names.has_values() => {
            format!("write {}{}", at(location), atomic(*order))
        }
        K::Update { location, order, .. } if !names.has_values() => {
            format!("update {}{}", at(location), atomic(Some(*order)))
        }
        K::Read { location, bytes, value, order } => {
            format!("read {} = {}{}", at(location), names.value(*location, *bytes, *value), atomic(*order))
        }
        K::Write { location, bytes, value, order } => {
            format!("write {} := {}{}", at(location), names.value(*location, *bytes, *value), atomic(*order))
        }
        K::Update { location, bytes, old, new, order } => {
            let value = |value| names.value(*location, *bytes, value);
            format!("update {}: {} → {}{}", at(location), value(*old), value(*new), atomic(Some(*order)))
        }
        K::CompareExchange { location, bytes, old, expected, new, success, order } => {
            let value = |value| names.value(*location, *bytes, value);
            let (place, order) = (at(location), atomic(Some(*order)));
            match success {
                true => format!("cas {place}: {} → {}{order}", value(*old), value(*new)),
                false => format!("cas {place} failed: {}, expected {}{order}", value(*old), value(*expected)),
            }
        }
        K::ReadBytes { location, content } => format!("read {} = {}", at(location), bytes(content)),
        K::WriteBytes { location, content } => format!("write {} := {}", at(location), bytes(content)),
        K::Fence { order } => format!("fence{}", atomic(Some(*order))),
        K::Branch { taken } => format!("branch → {}", names.way(event.site, *taken)),
        K::Fork { child } => format!("fork {}", names.thread(*child)),
        K::Join { child } => format!("join {}", names.thread(*child)),
        K::End => "end".into(),
        K::Lock { object, mode, depth } => format!("lock {}{}", at(object), held(*mode, *depth)),
        K::TryLock { object, mode, acquired: Some(depth) } => {
            format!("trylock {}: acquired{}", at(object), held(*mode, *depth))
        }
        K::TryLock { object, mode, acquired: None } => {
            format!("trylock {}: not acquired{}", at(object), held(*mode, 0))
        }
        K::Unlock { object, mode, depth } => match depth {
            0 => format!("unlock {}{}", at(object), held(*mode, 0)),
            _ => format!("unlock {} (still held {depth} times)", at(object)),
        },
        K::WaitBegin { condition, mutex: Some(mutex) } => {
            format!("wait {}… (releases {})", at(condition), at(mutex))
        }
        K::WaitBegin { condition, mutex: None } => format!("wait {}…", at(condition)),
        K::StopWaiting { reason: WakeReason::Spurious, .. } => "stops waiting (spurious)".into(),
        K::StopWaiting { .. } => "stops waiting (expired)".into(),
        K::WaitEnd { reason, .. } => match reason {
            WakeReason::Signal(by) => format!("woken (signal by {})", names.thread(by.thread)),
            WakeReason::Expired => "woken (expired)".into(),
            WakeReason::Spurious => "woken (spurious)".into(),
        },
        K::Signal { condition, woken: Some(woken) } => {
            format!("signal {} → {}", at(condition), names.thread(*woken))
        }
        K::Signal { condition, woken: None } => format!("signal {} (nobody waits)", at(condition)),
        K::Broadcast { condition, woken } => format!("broadcast {} ({woken} woken)", at(condition)),
        K::Acquire { semaphore } => format!("acquire {}", at(semaphore)),
        K::TryAcquire { semaphore, acquired } if is_once(names, event.site) => {
            format!("once {}: {}", at(&guarded(*semaphore)), if *acquired { "first" } else { "was done" })
        }
        K::TryAcquire { semaphore, acquired } => {
            format!("try acquire {}: {}", at(semaphore), if *acquired { "acquired" } else { "not acquired" })
        }
        K::Release { semaphore } => format!("release {}", at(semaphore)),
        K::TokenCount { semaphore, value } => format!("count {} = {value}", at(semaphore)),
        K::BarrierArrive { barrier, round } => format!("arrive {} (round {round})", at(barrier)),
        K::BarrierLeave { barrier, round } => format!("leave {} (round {round})", at(barrier)),
        K::Alloc { allocation } => format!("alloc {}", names.allocation(*allocation)),
        K::Free { allocation: Some(allocation) } => format!("free {}", names.allocation(*allocation)),
        K::Free { allocation: None } => "free null".into(),
        K::Assert { held: true } => "assert held".into(),
        K::Assert { held: false } => "assert failed".into(),
        K::Assume => "assume held".into(),
        K::TransactionBegin => "transaction begins".into(),
        K::TransactionEnd => "transaction ends".into(),
        K::ExclusiveBegin => "exclusive begins".into(),
        K::ExclusiveEnd => "exclusive ends".into(),
        K::External { result } => {
            // What is so large is an address.
            let result = if *result > 1 << 36 { format!("{result:#x}") } else { result.to_string() };
            format!("{}() = {result}", names.called(event.site).unwrap_or("external"))
        }
        K::Fault { kind } => format!("fault: {}", kind.words()),
        K::System { what } => what.to_string(),
        K::Entry { parameters } => {
            let parameters: Vec<String> = parameters.iter().map(ToString::to_string).collect();
            format!("enter {}({})", names.function(event.site).unwrap_or("?"), parameters.join(", "))
        }
        K::Landing => "exception caught".into(),
    }
}

/// Whether what is done once is done at a site, if it is up to its thread.
fn is_once(names: &Names<'_>, site: SiteId) -> bool {
    const ONCE: [&str; 3] = ["pthread_once", "call_once", "__cxa_guard_acquire"];
    names.called(site).is_some_and(|name| ONCE.contains(&name))
}

/// What has this as its one token: the runtime puts it behind the object's first byte.
fn guarded(token: Location) -> Location {
    Location { offset: token.offset.saturating_sub(1), ..token }
}

/// How a run ended, one line or several.
pub(super) fn outcome(names: &Names<'_>, outcome: &Outcome) -> Vec<String> {
    match outcome {
        Outcome::Completed { state, condition } => {
            let mut lines = vec![match condition {
                None => "outcome: completed".into(),
                Some(true) => "outcome: completed, the final condition holds".into(),
                Some(false) => "outcome: completed, the final condition does not hold".into(),
            }];
            lines.extend(state.iter().map(|(name, value)| format!("  {name} = {value}")));
            lines
        }
        Outcome::AssertionFailed { event, site } => {
            vec![format!(
                "outcome: assertion failed in {}{}",
                names.thread(event.thread),
                place(names, *site)
            )]
        }
        Outcome::Fault { event, site, kind } => {
            let (thread, place) = (names.thread(event.thread), place(names, *site));
            vec![format!("outcome: {} in {thread}{place}", kind.words())]
        }
        Outcome::Deadlock { blocked } => {
            let mut lines = vec!["outcome: deadlock".into()];
            lines.extend(blocked.iter().map(|blocked| format!("  {}", waits(names, blocked))));
            lines
        }
        Outcome::Discarded { thread, site } => {
            let (thread, place) = (names.thread(*thread), place(names, *site));
            vec![format!("outcome: discarded, an assumption of {thread} does not hold{place}")]
        }
        Outcome::BoundExceeded { thread, site } => {
            let (thread, place) = (names.thread(*thread), place(names, *site));
            vec![format!("outcome: cut, a loop of {thread} exceeds its bound{place}")]
        }
        Outcome::LimitReached { events } => vec![format!("outcome: stopped at the limit of {events} events")],
        Outcome::Truncated => vec!["outcome: unknown, the trace ends before the run".into()],
        Outcome::Exited { status } => vec![format!("outcome: exited with status {status}")],
    }
}

fn waits(names: &Names<'_>, blocked: &BlockedThread) -> String {
    let thread = names.thread(blocked.thread);
    let what = match &blocked.waits_for {
        WaitsFor::Lock { object, held_by } => {
            let holders: Vec<String> = held_by.iter().map(|holder| names.thread(*holder)).collect();
            format!("{}, held by {}", names.location(*object), holders.join(", "))
        }
        WaitsFor::Condition { object } => format!("a signal on {}", names.location(*object)),
        WaitsFor::Semaphore { object } => format!("a token of {}", names.location(*object)),
        WaitsFor::Barrier { object, arrived, parties } => {
            format!("{}, where {arrived} of {parties} have arrived", names.location(*object))
        }
        WaitsFor::Join { thread } => format!("the end of {}", names.thread(*thread)),
        WaitsFor::Exclusive { thread } => {
            format!("the end of an exclusive block of {}", names.thread(*thread))
        }
        WaitsFor::Word { object } => format!("a wake-up at {}", names.location(*object)),
        WaitsFor::Change { object } => format!("another value of {}", names.location(*object)),
    };
    format!("{thread} waits for {what}{}", place(names, blocked.site))
}

/// What was logged, if not everything.
pub(super) fn logging(logging: &Logging) -> Option<String> {
    match logging {
        Logging::Everything => None,
        Logging::Synchronisation => Some("only synchronisation was logged".into()),
        Logging::Globals(globals) => {
            Some(format!("only synchronisation and accesses of {} globals were logged", globals.len()))
        }
        Logging::Shared => {
            Some("only synchronisation and accesses of memory that threads share were logged".into())
        }
        Logging::WithoutValues => Some("values are not known".into()),
        Logging::Window { from, to } => {
            Some(format!("outside the window from {from} to {to} only synchronisation was logged"))
        }
    }
}

/// ` at bank.c:4`, ` (t1)`
fn place(names: &Names<'_>, site: SiteId) -> String {
    let mut text = String::new();
    if let Some(source) = names.source(site) {
        text = format!(" at {}:{}", source.file, source.position.line);
    }
    if let Some(label) = names.label(site) {
        text.push_str(&format!(" ({label})"));
    }
    text
}

fn atomic(order: Option<Order>) -> &'static str {
    match order {
        None => "",
        Some(Order::Relaxed) => " (relaxed)",
        Some(Order::Acquire) => " (acquire)",
        Some(Order::Release) => " (release)",
        Some(Order::AcqRel) => " (acq_rel)",
        Some(Order::SeqCst) => " (seq_cst)",
    }
}

fn held(mode: LockMode, depth: u32) -> String {
    let mode = match mode {
        LockMode::Mutex => "",
        LockMode::Read => " (read)",
        LockMode::Write => " (write)",
    };
    if depth > 1 { format!("{mode} (held {depth} times)") } else { mode.into() }
}

/// `3 bytes 01 02 03`, the first eight.
fn bytes(content: &[u8]) -> String {
    let mut text = format!("{} bytes", content.len());
    content.iter().take(8).for_each(|byte| text.push_str(&format!(" {byte:02x}")));
    if content.len() > 8 {
        text.push('…');
    }
    text
}
