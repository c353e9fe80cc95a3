//! Blocks that exclude all other threads, as SV-COMP's `__VERIFIER_atomic_*` do: no event of another thread lies inside.

use crate::Encoding;
use claim::Because;
use ctp::{EventIndex, Kind, ThreadIndex};
use solver::Result;
use trace::EventKind;

impl Encoding<'_> {
    pub(crate) fn encode_exclusive(&mut self) -> Result<()> {
        let ctp = self.ctp;
        for (n, thread) in ctp.threads.iter().enumerate() {
            // As the machine has it: the first end ends it, however many begins there were.
            let mut open: Option<usize> = None;
            for &at in &thread.events {
                match self.kind(at) {
                    Kind::Other(EventKind::ExclusiveBegin) if open.is_none() => {
                        open = Some(self.sync.exclusive.len());
                        self.sync.exclusive.push((ThreadIndex::new(n), at, None));
                    }
                    Kind::Other(EventKind::ExclusiveEnd) => {
                        if let Some(block) = open.take() {
                            self.sync.exclusive[block].2 = Some(at);
                        }
                    }
                    _ => {}
                }
            }
        }
        for (thread, begin, end) in self.sync.exclusive.clone() {
            for at in (0..ctp.events.len()).map(EventIndex::new) {
                if self.points[at.index()].is_none() || self.event(at).thread == thread {
                    continue;
                }
                let inside = self.inside(at);
                let mut clause = vec![self.solver.not(inside)?, self.before(at, begin)?];
                if let Some(end) = end {
                    clause.push(self.before(end, at)?);
                }
                self.require(Because::Exclusive(ctp.event(begin).id), &clause)?;
            }
        }
        Ok(())
    }
}
