//! Locksets and acquisition histories (AV §3; Kahlon, Ivančić, Gupta, CAV 2005).
//!
//! Lockset: e1 and e2 lie in one and the same section, and f lies in a section that this one excludes. It is not enough that the same
//! lock is held at e1 and at e2: between two sections of one lock there is room for f.
//!
//! Acquisition history: while it held l, one thread has acquired l'; the other holds l' and has acquired l meanwhile. Then each of
//! the two sections would have begun before the other.

use super::Filter;
use claim::Because;
use ctp::{Ctp, Event, Kind};
use trace::{EventId, EventKind, Location, LockMode};

/// A stretch in which a thread holds a lock: behind event `from`, before event `to`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Section {
    lock: Location,
    mode: LockMode,
    from: u64,
    to: u64,
}

impl Section {
    fn excludes(&self, other: &Section) -> bool {
        self.lock == other.lock && !(self.mode == LockMode::Read && other.mode == LockMode::Read)
    }
}

/// The sections of each thread, by their beginning.
pub struct Locks {
    sections: Vec<Vec<Section>>,
    /// For each thread, behind which of its events it is in which sections; ascending.
    held: Vec<Vec<(u64, Vec<usize>)>>,
}

impl Locks {
    pub fn new(ctp: &Ctp) -> Locks {
        let mut locks =
            Locks { sections: vec![vec![]; ctp.threads.len()], held: vec![vec![]; ctp.threads.len()] };
        for (n, thread) in ctp.threads.iter().enumerate() {
            // Held locks: how often, and which section.
            let mut open: Vec<(Location, u32, usize)> = vec![];
            let (sections, held) = (&mut locks.sections[n], &mut locks.held[n]);
            for event in thread.events.iter().map(|&at| ctp.event(at)).filter(|event| !event.silent) {
                match event.kind {
                    Kind::Other(
                        EventKind::Lock { object, mode, .. }
                        | EventKind::TryLock { object, mode, acquired: Some(_) },
                    ) => acquire(&mut open, sections, object, mode, event.id.n),
                    Kind::Other(EventKind::WaitEnd { mutex: Some(mutex), .. }) => {
                        acquire(&mut open, sections, mutex, LockMode::Mutex, event.id.n);
                    }
                    Kind::Other(
                        EventKind::Unlock { object, .. } | EventKind::WaitBegin { mutex: Some(object), .. },
                    ) => release(&mut open, sections, object, event.id.n),
                    _ => continue,
                }
                held.push((event.id.n, open.iter().map(|&(.., section)| section).collect()));
            }
        }
        locks
    }

    /// The sections that an access lies in.
    fn held(&self, event: &Event) -> Vec<Section> {
        let (changes, sections) = (&self.held[event.thread.index()], &self.sections[event.thread.index()]);
        let behind = changes.partition_point(|&(n, _)| n < event.id.n).checked_sub(1);
        behind.map_or(vec![], |last| changes[last].1.iter().map(|&section| sections[section]).collect())
    }

    /// Why `f` cannot come between `e1` and `e2`, or while the thread stands before `e1` if they are the same.
    pub fn exclude(&self, e1: &Event, e2: &Event, f: &Event) -> Option<(Filter, Because)> {
        let (at_end, remote) = (self.held(e2), self.held(f));
        let spanning: Vec<Section> = self.held(e1).into_iter().filter(|s| at_end.contains(s)).collect();
        for section in &spanning {
            if remote.iter().any(|other| section.excludes(other)) {
                let acquire = EventId { n: section.from, ..e1.id };
                return Some((Filter::Lockset, Because::Lock(acquire)));
            }
        }
        for section in spanning.iter().filter(|section| section.mode != LockMode::Read) {
            for other in remote.iter().filter(|other| other.mode != LockMode::Read) {
                let one = self.acquired(e1, section.from, e1.id.n, other.lock);
                let two = self.acquired(f, other.from, f.id.n, section.lock);
                if one && two {
                    let acquire = EventId { n: section.from, ..e1.id };
                    return Some((Filter::AcquisitionHistory, Because::Lock(acquire)));
                }
            }
        }
        None
    }

    /// Whether the thread of an event acquired a lock between two of its events.
    fn acquired(&self, event: &Event, from: u64, to: u64, lock: Location) -> bool {
        let sections = &self.sections[event.thread.index()];
        let first = sections.partition_point(|section| section.from <= from);
        sections[first..].iter().take_while(|section| section.from < to).any(|section| section.lock == lock)
    }
}

fn acquire(
    open: &mut Vec<(Location, u32, usize)>,
    sections: &mut Vec<Section>,
    lock: Location,
    mode: LockMode,
    n: u64,
) {
    if let Some(held) = open.iter_mut().find(|held| held.0 == lock) {
        held.1 += 1;
        return;
    }
    open.push((lock, 1, sections.len()));
    sections.push(Section { lock, mode, from: n, to: u64::MAX });
}

fn release(open: &mut Vec<(Location, u32, usize)>, sections: &mut [Section], lock: Location, n: u64) {
    let Some(at) = open.iter().position(|held| held.0 == lock) else { return };
    open[at].1 -= 1;
    if open[at].1 == 0 {
        let (.., section) = open.swap_remove(at);
        sections[section].to = n;
    }
}
