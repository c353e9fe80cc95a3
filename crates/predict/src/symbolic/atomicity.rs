//! Three-access atomicity violations (AV §4.3): e1 < f < e2, all executed, of one location, and ¬c_G for both pairs.

use super::{Question, Symbolic};
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
        let mut assumptions = vec![
            encoding.before(before, between)?,
            encoding.before(between, after)?,
            encoding.inside(after),
            encoding.overlap(before, between)?,
            encoding.overlap(between, after)?,
            encoding.overlap(before, after)?,
        ];
        // Unserializable: f writes, or both of the transaction's accesses do.
        let (e1, f, e2) = (encoding.writes(before)?, encoding.writes(between)?, encoding.writes(after)?);
        let both = encoding.solver().and(&[e1, e2])?;
        assumptions.push(encoding.solver().or(&[f, both])?);
        if encoding.model_kind() != Model::Cam {
            for (first, second) in [(before, between), (between, after)] {
                let independent = self.independent(first, second)?;
                assumptions.push(self.encoding.solver().not(independent)?);
            }
        }
        Ok(Question { assumptions, ..Question::default() })
    }
}
