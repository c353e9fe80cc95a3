//! A trace of ours as a recording, to be written for other tools.
//!
//! Formats of other tools name variables; ours have bytes. A variable is a piece of memory that no access splits, as everywhere here,
//! and an access of several of them is several records. What is no access and no synchronisation (branches, assertions, allocation) is
//! left out. What synchronises and has no word in these formats is not: whoever left it out would claim that nothing is ordered by it.

use crate::recording::{Names, Recording};
use crate::{LockId, Operation, PlaceId, Record, ThreadNumber, VariableId};
use ir::{Program, SiteId, SiteIndex};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use trace::{AccessKind, AllocationId, Event, EventId, EventKind, Location, LockMode, ThreadId, Trace};

/// Why a trace cannot be written in a format of other tools.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Inexpressible {
    /// It has something that these formats have no word for.
    #[error(
        "event {event} is {what}, for which formats of other tools have no word; left out, it would order nothing, and what they \
         predict would be wrong"
    )]
    Event {
        /// Which event.
        event: EventId,
        /// What.
        what: &'static str,
    },
    /// It does not have all events.
    #[error("the trace does not have all events of its run: record it with `--log everything`")]
    Incomplete,
    /// An event is of a thread that the trace does not name.
    #[error("event {0} is of a thread that the trace does not have")]
    NoThread(EventId),
}

/// The recording that a trace is.
///
/// # Errors
/// If the trace is not complete, or has what other formats have no word for.
pub fn recording_of(trace: &Trace, program: &Program) -> Result<Recording, Inexpressible> {
    if !trace.origin.logging.is_complete() {
        return Err(Inexpressible::Incomplete);
    }
    let mut writer = Writer {
        trace,
        program,
        sites: SiteIndex::new(program),
        borders: borders(trace),
        recording: Recording::default(),
        threads: FxHashMap::default(),
        variables: FxHashMap::default(),
        locks: FxHashMap::default(),
        places: FxHashMap::default(),
    };
    for info in &trace.threads {
        let name = unused(&writer.recording.threads, info.name.clone());
        let number = writer.recording.threads.number(&name);
        writer.threads.insert(info.id, number);
    }
    for event in &trace.events {
        writer.event(event)?;
    }
    Ok(writer.recording)
}

/// Where pieces of memory begin and end that no access splits, of each allocation.
fn borders(trace: &Trace) -> FxHashMap<AllocationId, BTreeSet<u64>> {
    let mut borders: FxHashMap<AllocationId, BTreeSet<u64>> = FxHashMap::default();
    for event in &trace.events {
        if let Some((_, at, bytes, _)) = event.kind.access() {
            borders.entry(at.allocation).or_default().extend([at.offset, at.offset.saturating_add(bytes)]);
        }
    }
    borders
}

struct Writer<'t> {
    trace: &'t Trace,
    program: &'t Program,
    sites: SiteIndex,
    borders: FxHashMap<AllocationId, BTreeSet<u64>>,
    recording: Recording,
    threads: FxHashMap<ThreadId, ThreadNumber>,
    variables: FxHashMap<Location, VariableId>,
    locks: FxHashMap<Location, LockId>,
    places: FxHashMap<SiteId, PlaceId>,
}

impl Writer<'_> {
    fn event(&mut self, event: &Event) -> Result<(), Inexpressible> {
        let inexpressible = |what| Err(Inexpressible::Event { event: event.id, what });
        if let Some((kind, at, bytes, order)) = event.kind.access() {
            for variable in self.pieces(at, bytes) {
                let atomic = order.is_some();
                self.push(
                    event,
                    match kind {
                        AccessKind::Read => Operation::Read { variable, atomic },
                        AccessKind::Write => Operation::Write { variable, atomic },
                        AccessKind::Update => Operation::Update(variable),
                    },
                )?;
            }
            return Ok(());
        }
        match event.kind {
            EventKind::Lock { object, mode: LockMode::Mutex, .. }
            | EventKind::TryLock { object, mode: LockMode::Mutex, acquired: Some(_) } => {
                let lock = self.lock(object);
                self.push(event, Operation::Acquire(lock))
            }
            EventKind::Unlock { object, mode: LockMode::Mutex, .. } => {
                let lock = self.lock(object);
                self.push(event, Operation::Release(lock))
            }
            EventKind::Fork { child } => {
                let child = self.thread(event.id, child)?;
                self.push(event, Operation::Fork(child))
            }
            EventKind::Join { child } => {
                let child = self.thread(event.id, child)?;
                self.push(event, Operation::Join(child))
            }
            EventKind::TransactionBegin => self.push(event, Operation::Begin),
            EventKind::TransactionEnd => self.push(event, Operation::End),
            EventKind::Lock { .. } | EventKind::Unlock { .. } => inexpressible("an operation on a rwlock"),
            EventKind::TryLock { .. } => inexpressible("a try of a lock that did not get it"),
            EventKind::WaitBegin { .. }
            | EventKind::StopWaiting { .. }
            | EventKind::WaitEnd { .. }
            | EventKind::Signal { .. }
            | EventKind::Broadcast { .. } => inexpressible("an operation on a condition variable"),
            EventKind::Acquire { .. }
            | EventKind::TryAcquire { .. }
            | EventKind::Release { .. }
            | EventKind::TokenCount { .. } => inexpressible("an operation on a semaphore"),
            EventKind::BarrierArrive { .. } | EventKind::BarrierLeave { .. } => {
                inexpressible("an operation on a barrier")
            }
            EventKind::ExclusiveBegin | EventKind::ExclusiveEnd => {
                inexpressible("the border of a block that excludes all other threads")
            }
            // Nobody else notices them; and what others notice of them are accesses.
            _ => Ok(()),
        }
    }

    fn push(&mut self, event: &Event, operation: Operation) -> Result<(), Inexpressible> {
        let thread = self.thread(event.id, event.id.thread)?;
        let place = Some(self.place(event.site));
        let line = self.recording.records.len() as u32 + 1;
        self.recording.records.push(Record { thread, operation, place, line });
        Ok(())
    }

    fn thread(&self, event: EventId, thread: ThreadId) -> Result<ThreadNumber, Inexpressible> {
        self.threads.get(&thread).copied().ok_or(Inexpressible::NoThread(event))
    }

    /// The pieces of memory that an access touches.
    fn pieces(&mut self, at: Location, bytes: u64) -> Vec<VariableId> {
        let end = at.offset.saturating_add(bytes);
        let borders = self.borders.get(&at.allocation);
        let offsets: Vec<u64> =
            borders.map_or_else(Vec::new, |all| all.range(at.offset..end).copied().collect());
        let at_each = offsets.into_iter().map(|offset| Location { offset, ..at });
        at_each.map(|location| self.variable(location)).collect()
    }

    fn variable(&mut self, at: Location) -> VariableId {
        let (trace, program) = (self.trace, self.program);
        let name = || trace.location_name(program, at);
        numbered(&mut self.variables, &mut self.recording.variables, at, name)
    }

    fn lock(&mut self, at: Location) -> LockId {
        let (trace, program) = (self.trace, self.program);
        numbered(&mut self.locks, &mut self.recording.locks, at, || trace.location_name(program, at))
    }

    /// Where an instruction stands: in a file, or by its label or number.
    fn place(&mut self, site: SiteId) -> PlaceId {
        if let Some(&known) = self.places.get(&site) {
            return known;
        }
        let (position, label) = self.sites.source(self.program, site);
        let file = position.and_then(|at| Some((self.program.files.get(at.file.index())?, at)));
        let name = match (file, label) {
            (Some((file, at)), _) => format!("{}:{}:{}", file.path, at.line, at.column),
            (None, Some(label)) => label.to_owned(),
            (None, None) => format!("#{}", site.0),
        };
        let place = self.recording.places.number(&name);
        self.places.insert(site, place);
        place
    }
}

/// The number of a piece of memory, a new one with a name of its own if it is new.
fn numbered<I: From<u32> + Into<usize> + Copy>(
    known: &mut FxHashMap<Location, I>,
    names: &mut Names<I>,
    at: Location,
    name: impl FnOnce() -> String,
) -> I {
    *known.entry(at).or_insert_with(|| {
        let name = unused(names, name());
        names.number(&name)
    })
}

/// A name that nothing else of its kind has: two pieces of memory may be called the same.
fn unused<I: From<u32> + Into<usize> + Copy>(names: &Names<I>, mut name: String) -> String {
    while names.find(&name).is_some() {
        name.push('\'');
    }
    name
}
