//! Mutexes and rwlocks: of two sections whose acquires are both in the prefix one is left before the other is
//! entered (docs/design/feasibility.md, "Mutexes and rwlocks").
//!
//! A recursive lock is held from its first acquire to its last release. A wait gives its mutex back once and takes it again. A try that
//! failed lies inside a section that is in its way; or it succeeds, which is a section without an end, and its thread stops.

use crate::Encoding;
use claim::Because;
use ctp::{EventIndex, Kind, ThreadIndex};
use rustc_hash::FxHashMap;
use solver::{Bool, Result};
use trace::{EventKind, Location, LockMode};

/// A stretch in which a thread holds a lock.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// Whose.
    pub thread: ThreadIndex,
    /// How it is held.
    pub mode: LockMode,
    /// The acquire.
    pub begin: EventIndex,
    /// The release, if the trace has it.
    pub end: Option<EventIndex>,
    /// It is entered.
    pub entered: Bool,
}

impl Section {
    fn excludes(&self, mode: LockMode) -> bool {
        !(self.mode == LockMode::Read && mode == LockMode::Read)
    }
}

/// A lock that a thread holds while its events are gone through.
#[derive(Clone, Copy, Default)]
struct Held {
    times: u32,
    section: usize,
}

impl Encoding<'_> {
    pub(crate) fn encode_locks(&mut self) -> Result<()> {
        self.find_sections()?;
        let objects: Vec<Location> = self.sync.sections.keys().copied().collect();
        for object in objects {
            let mut sections = self.sync.sections.get(&object).cloned().unwrap_or_default();
            sections.sort_by_key(|section| section.begin);
            let mut excluded = vec![];
            for section in &sections {
                let switch = self.switch(Because::Lock(self.event(section.begin).id));
                let when = self.solver.and(&[section.entered, switch])?;
                let begin = self.point(section.begin)?;
                let end = section.end.map(|end| self.point(end)).transpose()?;
                let shared = section.mode == LockMode::Read;
                excluded.push(solver::Section { begin, end, when, shared });
            }
            self.solver.exclude(&excluded)?;
            self.sync.sections.insert(object, sections);
        }
        self.encode_failed_tries()
    }

    fn find_sections(&mut self) -> Result<()> {
        let ctp = self.ctp;
        for (n, thread) in ctp.threads.iter().enumerate() {
            let thread_index = ThreadIndex::new(n);
            let mut held: FxHashMap<Location, Held> = FxHashMap::default();
            for &at in &thread.events {
                let Kind::Other(kind) = self.kind(at) else { continue };
                match *kind {
                    EventKind::Lock { object, mode, .. }
                    | EventKind::TryLock { object, mode, acquired: Some(_) } => {
                        self.acquire(&mut held, thread_index, object, mode, at);
                    }
                    EventKind::WaitEnd { mutex: Some(mutex), .. } => {
                        self.acquire(&mut held, thread_index, mutex, LockMode::Mutex, at);
                    }
                    EventKind::Unlock { object, .. } => self.release(&mut held, object, at),
                    EventKind::WaitBegin { mutex: Some(mutex), .. } => self.release(&mut held, mutex, at),
                    EventKind::TryLock { object, mode, acquired: None } => {
                        let entered = self.departed(at)?;
                        self.add_section(object, thread_index, mode, at, entered);
                    }
                    EventKind::StopWaiting { .. } => {
                        // The wait may be signalled instead, and then needs its mutex.
                        if let Some(mutex) = self.mutex_of_wait(at) {
                            let entered = self.departed(at)?;
                            self.add_section(mutex, thread_index, LockMode::Mutex, at, entered);
                        }
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn add_section(
        &mut self,
        object: Location,
        thread: ThreadIndex,
        mode: LockMode,
        begin: EventIndex,
        entered: Bool,
    ) -> usize {
        let sections = self.sync.sections.entry(object).or_default();
        sections.push(Section { thread, mode, begin, end: None, entered });
        sections.len() - 1
    }

    fn acquire(
        &mut self,
        held: &mut FxHashMap<Location, Held>,
        thread: ThreadIndex,
        object: Location,
        mode: LockMode,
        at: EventIndex,
    ) {
        let now = held.entry(object).or_default();
        now.times += 1;
        if now.times == 1 {
            let entered = self.inside(at);
            now.section = self.add_section(object, thread, mode, at, entered);
        }
    }

    fn release(&mut self, held: &mut FxHashMap<Location, Held>, object: Location, at: EventIndex) {
        let Some(now) = held.get_mut(&object).filter(|held| held.times > 0) else { return };
        now.times -= 1;
        if now.times == 0
            && let Some(section) = self.sync.sections.get_mut(&object).and_then(|s| s.get_mut(now.section))
        {
            section.end = Some(at);
        }
    }

    /// The mutex of the wait that an event is a part of.
    fn mutex_of_wait(&self, at: EventIndex) -> Option<Location> {
        match self.kind(self.previous(at)?) {
            Kind::Other(EventKind::WaitBegin { mutex, .. }) => *mutex,
            _ => None,
        }
    }

    fn encode_failed_tries(&mut self) -> Result<()> {
        for at in (0..self.ctp.events.len()).map(EventIndex::new) {
            let Kind::Other(EventKind::TryLock { object, mode, acquired: None }) = self.kind(at) else {
                continue;
            };
            let failed = self.as_recorded(at)?;
            let mut clause = vec![self.solver.not(failed)?];
            let sections = self.sync.sections.get(object).cloned().unwrap_or_default();
            for section in sections.iter().filter(|s| s.begin != at && s.excludes(*mode)) {
                let mut inside = vec![section.entered, self.before(section.begin, at)?];
                if let Some(end) = section.end {
                    inside.push(self.before(at, end)?);
                }
                clause.push(self.solver.and(&inside)?);
            }
            self.require(Because::Lock(self.event(at).id), &clause)?;
        }
        Ok(())
    }

    /// Some thread (of those that `whose` takes) holds the lock in a way that excludes `mode` when the prefix ends.
    ///
    /// # Errors
    /// As for [`Encoding::ask`].
    pub fn held_at_cut(
        &mut self,
        object: Location,
        mode: LockMode,
        whose: impl Fn(ThreadIndex) -> bool,
    ) -> Result<Bool> {
        let sections = self.sync.sections.get(&object).cloned().unwrap_or_default();
        let mut any = vec![];
        for section in sections.iter().filter(|s| whose(s.thread) && s.excludes(mode)) {
            let left = section.end.map_or(self.solver.bool_const(false), |end| self.inside(end));
            let not_left = self.solver.not(left)?;
            any.push(self.solver.and(&[section.entered, not_left])?);
        }
        self.solver.or(&any)
    }

    /// The sections of a lock, by their beginning in the recorded run.
    #[must_use]
    pub fn sections(&self, object: Location) -> &[Section] {
        self.sync.sections.get(&object).map_or(&[], Vec::as_slice)
    }
}
