//! Three-access atomicity violations (AV §4.3): e1 < f < e2, all executed, of one location, and ¬c_G for both pairs.

use super::{Fact, Question, Symbolic};
use claim::Because;
use ctp::EventIndex;
use encode::{Model, Result};

impl Symbolic<'_> {
    pub(super) fn atomicity(
        &mut self,
        before: EventIndex,
        between: EventIndex,
        after: EventIndex,
    ) -> Result<Question> {
        let encoding = &mut self.encoding;
        let mut facts =
            vec![Fact::Before(before, between), Fact::Before(between, after), Fact::Inside(after)];
        for (one, other) in [(before, between), (between, after), (before, after)] {
            facts.push(Fact::Term(encoding.overlap(one, other)?));
        }
        // Unserializable: f writes, or both of the transaction's accesses do.
        let (e1, f, e2) = (encoding.writes(before)?, encoding.writes(between)?, encoding.writes(after)?);
        let both = encoding.solver().and(&[e1, e2])?;
        facts.push(Fact::Term(encoding.solver().or(&[f, both])?));
        let mut reasons = vec![];
        if encoding.model_kind() != Model::Cam {
            for (first, second) in [(before, between), (between, after)] {
                let independent = self.independent(first, second)?;
                let matters = self.encoding.solver().not(independent)?;
                facts.push(Fact::Term(matters));
                let (first, second) = (self.event(first).id, self.event(second).id);
                reasons.push((matters, Because::Independent { first, second }));
            }
        }
        Ok(Question { facts, reasons, ..Question::default() })
    }
}
