//! Where the events of a trace are, by thread: for who asks for single events of a long one.

use crate::{EventId, ThreadId, Trace};
use std::collections::HashMap;

/// The events of a trace, by thread.
pub struct Places<'t> {
    trace: &'t Trace,
    threads: HashMap<ThreadId, Vec<u32>>,
}

impl<'t> Places<'t> {
    /// Goes through a trace once.
    #[must_use]
    pub fn new(trace: &'t Trace) -> Places<'t> {
        let mut threads: HashMap<ThreadId, Vec<u32>> = HashMap::new();
        // Events come in stretches of one thread.
        let mut at = 0;
        for stretch in trace.events.chunk_by(|one, next| one.id.thread == next.id.thread) {
            let end = at + stretch.len() as u32;
            threads.entry(stretch[0].id.thread).or_default().extend(at..end);
            at = end;
        }
        Places { trace, threads }
    }

    /// Where the events of a thread are.
    #[must_use]
    pub fn of(&self, thread: ThreadId) -> &[u32] {
        self.threads.get(&thread).map_or(&[], Vec::as_slice)
    }

    /// How many events of a thread have numbers up to this one.
    #[must_use]
    pub fn until(&self, id: EventId) -> usize {
        self.of(id.thread).partition_point(|&at| self.trace.events[at as usize].id.n <= id.n)
    }

    /// Where an event is, if the trace has it.
    #[must_use]
    pub fn find(&self, id: EventId) -> Option<usize> {
        let at = *self.of(id.thread).get(self.until(id).checked_sub(1)?)? as usize;
        (self.trace.events[at].id == id).then_some(at)
    }
}
