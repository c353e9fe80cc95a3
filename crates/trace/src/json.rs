//! A trace as JSON; `docs/trace-format.md` has the fields.

use crate::names::Names;
use crate::{
    Allocation, AllocationOrigin, BlockedThread, Choice, Event, EventId, EventKind, Location, LockMode,
};
use crate::{Logging, Outcome, Switch, ThreadId, Trace, WaitsFor, WakeReason};
use ir::{Order, Program, SiteId};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// The version of the JSON form; it changes when a field is renamed, removed or gets another meaning.
pub const JSON_VERSION: u32 = 1;

/// A trace as one JSON value; with the program, names, lines and labels are the source's.
#[must_use]
pub fn to_json(trace: &Trace, program: Option<&Program>) -> Value {
    let json = Json { names: Names::new(trace, program) };
    let mut value: Map<String, Value> = json.head(trace);
    value.insert("events".into(), trace.events.iter().map(|event| json.event(event)).collect());
    value.insert("outcome".into(), json.outcome(&trace.outcome));
    Value::Object(value)
}

/// Writes what [`to_json`] gives, event by event, so that a long trace takes no memory twice.
pub fn write_json(out: &mut impl Write, trace: &Trace, program: Option<&Program>) -> io::Result<()> {
    let json = Json { names: Names::new(trace, program) };
    writeln!(out, "{{")?;
    for (name, value) in json.head(trace) {
        writeln!(out, "\"{name}\": {value},")?;
    }
    writeln!(out, "\"events\": [")?;
    for (index, event) in trace.events.iter().enumerate() {
        let comma = if index + 1 < trace.events.len() { "," } else { "" };
        writeln!(out, "{}{comma}", json.event(event))?;
    }
    writeln!(out, "],\n\"outcome\": {}\n}}", json.outcome(&trace.outcome))
}

struct Json<'t> {
    names: Names<'t>,
}

impl Json<'_> {
    /// Everything but events and outcome.
    fn head(&self, trace: &Trace) -> Map<String, Value> {
        let origin = &trace.origin;
        let logging = match &origin.logging {
            Logging::Everything => json!({"kind": "everything"}),
            Logging::Synchronisation => json!({"kind": "synchronisation"}),
            Logging::Globals(globals) => {
                json!({"kind": "globals", "globals": globals.iter().map(|global| global.0).collect::<Vec<_>>()})
            }
            Logging::Shared => json!({"kind": "shared"}),
            Logging::WithoutValues => json!({"kind": "without-values"}),
            Logging::Window { from, to } => json!({"kind": "window", "from": from, "to": to}),
        };
        let threads: Vec<Value> = trace
            .threads
            .iter()
            .map(|info| {
                json!({
                    "id": info.id.to_string(),
                    "name": info.name,
                    "forked_by": info.forked_by.map(event_id),
                })
            })
            .collect();
        let parts = [
            ("version", json!(JSON_VERSION)),
            ("subject", json!(origin.subject)),
            ("fingerprint", json!(format!("{:016x}", origin.fingerprint))),
            ("strategy", json!(origin.strategy)),
            ("logging", logging),
            ("threads", Value::Array(threads)),
            ("allocations", trace.allocations.iter().map(|allocation| self.allocation(allocation)).collect()),
            ("switches", trace.switches.iter().map(switch).collect()),
            ("choices", trace.choices.iter().map(choice).collect()),
        ];
        parts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn allocation(&self, allocation: &Allocation) -> Value {
        let origin = match allocation.origin {
            AllocationOrigin::Global(global) => json!({"kind": "global", "global": global.0}),
            AllocationOrigin::Heap { by, site } => {
                json!({"kind": "heap", "by": event_id(by), "site": site.0})
            }
            AllocationOrigin::Stack { thread, earlier, site } => {
                json!({"kind": "stack", "thread": thread.to_string(), "earlier": earlier, "site": site.0})
            }
            AllocationOrigin::ThreadLocal { thread, global } => {
                json!({"kind": "thread_local", "thread": thread.to_string(), "global": global.0})
            }
            AllocationOrigin::StackOf(thread) => json!({"kind": "stack_of", "thread": thread.to_string()}),
            AllocationOrigin::Page(address) => json!({"kind": "page", "address": address}),
        };
        json!({
            "id": allocation.id.0,
            "name": self.names.allocation(allocation.id),
            "origin": origin,
            "shape": allocation.shape.map(|shape| shape.0),
            "bytes": allocation.bytes,
            "address": allocation.address,
        })
    }

    fn location(&self, location: &Location) -> Value {
        let Location { allocation, offset } = location;
        json!({"allocation": allocation.0, "offset": offset, "name": self.names.location(*location)})
    }

    /// Adds where an instruction stands in the source, as far as that is known.
    fn place(&self, value: &mut Value, site: SiteId) {
        value["site"] = json!(site.0);
        if let Some(source) = self.names.source(site) {
            value["file"] = json!(source.file);
            value["line"] = json!(source.position.line);
            value["column"] = json!(source.position.column);
        }
        if let Some(label) = self.names.label(site) {
            value["label"] = json!(label);
        }
    }

    fn event(&self, event: &Event) -> Value {
        let mut value = self.kind(event);
        value["thread"] = json!(event.id.thread.to_string());
        value["n"] = json!(event.id.n);
        self.place(&mut value, event.site);
        value
    }

    fn kind(&self, event: &Event) -> Value {
        use EventKind as K;
        let at = |location: &Location| self.location(location);
        let maybe = |location: &Option<Location>| location.as_ref().map(|location| self.location(location));
        match &event.kind {
            K::Read { location, bytes, value, order: o } => {
                json!({"kind": "read", "location": at(location), "bytes": bytes, "value": value, "order": o.map(order)})
            }
            K::Write { location, bytes, value, order: o } => {
                json!({"kind": "write", "location": at(location), "bytes": bytes, "value": value, "order": o.map(order)})
            }
            K::Update { location, bytes, old, new, order: o } => json!({
                "kind": "update", "location": at(location), "bytes": bytes, "old": old, "new": new, "order": order(*o),
            }),
            K::CompareExchange { location, bytes, old, expected, new, success, order: o } => json!({
                "kind": "compare_exchange", "location": at(location), "bytes": bytes, "old": old,
                "expected": expected, "new": new, "success": success, "order": order(*o),
            }),
            K::ReadBytes { location, content } => {
                json!({"kind": "read_bytes", "location": at(location), "content": hex(content)})
            }
            K::WriteBytes { location, content } => {
                json!({"kind": "write_bytes", "location": at(location), "content": hex(content)})
            }
            K::Fence { order: o } => json!({"kind": "fence", "order": order(*o)}),
            K::Branch { taken } => {
                json!({"kind": "branch", "taken": taken, "way": self.names.way(event.site, *taken)})
            }
            K::Fork { child } => json!({"kind": "fork", "child": child.to_string()}),
            K::Join { child } => json!({"kind": "join", "child": child.to_string()}),
            K::End => json!({"kind": "end"}),
            K::Lock { object, mode: m, depth } => {
                json!({"kind": "lock", "object": at(object), "mode": mode(*m), "depth": depth})
            }
            K::TryLock { object, mode: m, acquired } => json!({
                "kind": "try_lock", "object": at(object), "mode": mode(*m),
                "acquired": acquired.is_some(), "depth": acquired,
            }),
            K::Unlock { object, mode: m, depth } => {
                json!({"kind": "unlock", "object": at(object), "mode": mode(*m), "depth": depth})
            }
            K::WaitBegin { condition, mutex } => {
                json!({"kind": "wait_begin", "object": at(condition), "mutex": maybe(mutex)})
            }
            K::StopWaiting { condition, reason } => {
                json!({"kind": "stop_waiting", "object": at(condition), "reason": wake_reason(*reason).0})
            }
            K::WaitEnd { condition, mutex, reason } => {
                let (reason, by) = wake_reason(*reason);
                json!({
                    "kind": "wait_end", "object": at(condition), "mutex": maybe(mutex), "reason": reason, "by": by,
                })
            }
            K::Signal { condition, woken } => {
                json!({"kind": "signal", "object": at(condition), "woken": woken.as_ref().map(ThreadId::to_string)})
            }
            K::Broadcast { condition, woken } => {
                json!({"kind": "broadcast", "object": at(condition), "woken": woken})
            }
            K::Acquire { semaphore } => json!({"kind": "acquire", "object": at(semaphore)}),
            K::TryAcquire { semaphore, acquired } => {
                json!({"kind": "try_acquire", "object": at(semaphore), "acquired": acquired})
            }
            K::Release { semaphore } => json!({"kind": "release", "object": at(semaphore)}),
            K::TokenCount { semaphore, value } => {
                json!({"kind": "token_count", "object": at(semaphore), "value": value})
            }
            K::BarrierArrive { barrier, round } => {
                json!({"kind": "barrier_arrive", "object": at(barrier), "round": round})
            }
            K::BarrierLeave { barrier, round } => {
                json!({"kind": "barrier_leave", "object": at(barrier), "round": round})
            }
            K::Alloc { allocation } => json!({"kind": "alloc", "allocation": allocation.0}),
            K::Free { allocation } => json!({"kind": "free", "allocation": allocation.map(|id| id.0)}),
            K::Assert { held } => json!({"kind": "assert", "held": held}),
            K::Assume => json!({"kind": "assume"}),
            K::TransactionBegin => json!({"kind": "transaction_begin"}),
            K::TransactionEnd => json!({"kind": "transaction_end"}),
            K::ExclusiveBegin => json!({"kind": "exclusive_begin"}),
            K::ExclusiveEnd => json!({"kind": "exclusive_end"}),
            K::External { result } => {
                json!({"kind": "external", "symbol": self.names.called(event.site), "result": result})
            }
            K::Fault { kind } => json!({"kind": "fault", "what": kind.words()}),
            K::System { what } => json!({"kind": "system", "what": what}),
            K::Entry { parameters } => json!({"kind": "entry", "parameters": parameters}),
            K::Landing => json!({"kind": "landing"}),
        }
    }

    fn outcome(&self, outcome: &Outcome) -> Value {
        let placed = |mut value: Value, site: SiteId| {
            self.place(&mut value, site);
            value
        };
        match outcome {
            Outcome::Completed { state, condition } => {
                let state: Vec<Value> =
                    state.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
                json!({"kind": "completed", "state": state, "condition": condition})
            }
            Outcome::AssertionFailed { event, site } => {
                placed(json!({"kind": "assertion_failed", "event": event_id(*event)}), *site)
            }
            Outcome::Fault { event, site, kind } => {
                placed(json!({"kind": "fault", "event": event_id(*event), "what": kind.words()}), *site)
            }
            Outcome::Deadlock { blocked } => {
                let blocked: Vec<Value> = blocked
                    .iter()
                    .map(|BlockedThread { thread, site, waits_for }| {
                        let waits_for = self.waits_for(waits_for);
                        placed(json!({"thread": thread.to_string(), "waits_for": waits_for}), *site)
                    })
                    .collect();
                json!({"kind": "deadlock", "blocked": blocked})
            }
            Outcome::Discarded { thread, site } => {
                placed(json!({"kind": "discarded", "thread": thread.to_string()}), *site)
            }
            Outcome::BoundExceeded { thread, site } => {
                placed(json!({"kind": "bound_exceeded", "thread": thread.to_string()}), *site)
            }
            Outcome::LimitReached { events } => json!({"kind": "limit_reached", "events": events}),
            Outcome::Truncated => json!({"kind": "truncated"}),
            Outcome::Exited { status } => json!({"kind": "exited", "status": status}),
        }
    }

    fn waits_for(&self, waits_for: &WaitsFor) -> Value {
        match waits_for {
            WaitsFor::Lock { object, held_by } => {
                let held_by: Vec<String> = held_by.iter().map(ThreadId::to_string).collect();
                json!({"kind": "lock", "object": self.location(object), "held_by": held_by})
            }
            WaitsFor::Condition { object } => json!({"kind": "condition", "object": self.location(object)}),
            WaitsFor::Semaphore { object } => json!({"kind": "semaphore", "object": self.location(object)}),
            WaitsFor::Barrier { object, arrived, parties } => json!({
                "kind": "barrier", "object": self.location(object), "arrived": arrived, "parties": parties,
            }),
            WaitsFor::Join { thread } => json!({"kind": "join", "thread": thread.to_string()}),
            WaitsFor::Exclusive { thread } => json!({"kind": "exclusive", "thread": thread.to_string()}),
            WaitsFor::Word { object } => json!({"kind": "word", "object": self.location(object)}),
            WaitsFor::Change { object } => json!({"kind": "change", "object": self.location(object)}),
        }
    }
}

fn event_id(event: EventId) -> Value {
    json!({"thread": event.thread.to_string(), "n": event.n})
}

fn switch(switch: &Switch) -> Value {
    let enabled: Vec<String> = switch.enabled.iter().map(ThreadId::to_string).collect();
    json!({"thread": switch.thread.to_string(), "until": switch.until, "site": switch.site.map(|site| site.0), "enabled": enabled})
}

fn choice(choice: &Choice) -> Value {
    match choice {
        Choice::Wake(thread) => json!({"kind": "wake", "thread": thread.to_string()}),
        Choice::Expire => json!({"kind": "expire"}),
        Choice::Spurious => json!({"kind": "spurious"}),
    }
}

fn order(order: Order) -> &'static str {
    match order {
        Order::Relaxed => "relaxed",
        Order::Acquire => "acquire",
        Order::Release => "release",
        Order::AcqRel => "acq_rel",
        Order::SeqCst => "seq_cst",
    }
}

fn mode(mode: LockMode) -> &'static str {
    match mode {
        LockMode::Mutex => "mutex",
        LockMode::Read => "read",
        LockMode::Write => "write",
    }
}

fn hex(content: &[u8]) -> String {
    content.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The word for a reason, and the signal if it is one.
fn wake_reason(reason: WakeReason) -> (&'static str, Option<Value>) {
    match reason {
        WakeReason::Signal(by) => ("signal", Some(event_id(by))),
        WakeReason::Expired => ("expired", None),
        WakeReason::Spurious => ("spurious", None),
    }
}
