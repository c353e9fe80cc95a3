//! Guarded independence (AV §3, Def. 2 and its rules) as a term: the guard c_G, with the values of the schedule that is looked for.
//!
//! x in the guards is the value before the first of the two events. Read otherwise, a read that sees the
//! remote write would always count as independent of it, and AV Fig. 1 (b) would have no violation. The
//! machine's oracle has the same definition (`oracle/transactions.rs`): accesses that overlap only in part,
//! or of more than eight bytes, are never independent.

use super::Symbolic;
use crate::candidates::reads;
use ctp::EventIndex;
use encode::{Bool, Bv, Result};

impl Symbolic<'_> {
    /// The order of the two makes no difference.
    pub(super) fn independent(&mut self, first: EventIndex, second: EventIndex) -> Result<Bool> {
        let never = self.encoding.solver().bool_const(false);
        let (one, other) = (&self.event(first).kind, &self.event(second).kind);
        if one.access().is_none_or(|access| access.bytes > 8) {
            return Ok(never);
        }
        let same_bytes = self.encoding.same_bytes(first, second)?;
        let (Some(after_first), Some(after_second)) =
            (self.encoding.content_after(first)?, self.encoding.content_after(second)?)
        else {
            return Ok(never);
        };
        if after_first.width() != after_second.width() {
            return Ok(never);
        }
        let (one_writes, other_writes) = (self.encoding.writes(first)?, self.encoding.writes(second)?);
        let mut guards = vec![same_bytes];
        let x = self.encoding.content_before(first)?;
        // Rules 4a and 4c: a read, and a write of e.
        for (read, reader, writes, written) in
            [(first, reads(one), other_writes, after_second), (second, reads(other), one_writes, after_first)]
        {
            if reader {
                let same = match x {
                    Some(x) => self.makes_no_difference(read, x, written)?,
                    None => never,
                };
                guards.push(self.encoding.solver().implies(writes, same)?);
            }
        }
        // Rule 4b: two writes.
        let both = self.encoding.solver().and(&[one_writes, other_writes])?;
        let equal = self.encoding.solver().bv_eq(after_first, after_second)?;
        guards.push(self.encoding.solver().implies(both, equal)?);
        self.encoding.solver().and(&guards)
    }

    /// Whether a read sees x or what is written comes to the same: they are equal, or decide the same way.
    fn makes_no_difference(&mut self, read: EventIndex, x: Bv, written: Bv) -> Result<Bool> {
        let equal = self.encoding.solver().bv_eq(x, written)?;
        let Some(decision) = self.event(read).kind.access().and_then(|access| access.decision) else {
            return Ok(equal);
        };
        let mut all = vec![];
        let mut outcomes = vec![];
        for value in [x, written] {
            let defined = self.encoding.term_with(decision.defined, value)?;
            let one = self.encoding.solver().bv_const(1, 1)?;
            all.push(self.encoding.solver().bv_eq(defined, one)?);
            outcomes.push(self.encoding.term_with(decision.outcome, value)?);
        }
        all.push(self.encoding.solver().bv_eq(outcomes[0], outcomes[1])?);
        let decided = self.encoding.solver().and(&all)?;
        self.encoding.solver().or(&[equal, decided])
    }
}
