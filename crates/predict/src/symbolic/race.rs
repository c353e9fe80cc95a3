//! Races (DESIGN §10): co-enabled, and not ordered by happens-before.

use super::{Question, Symbolic, either};
use claim::Answer;
use ctp::EventIndex;
use encode::{Bool, Result};

impl Symbolic<'_> {
    /// Both accesses are next, and conflict.
    pub(super) fn co_enabled(&mut self, first: EventIndex, second: EventIndex) -> Result<Question> {
        let encoding = &mut self.encoding;
        let mut assumptions = vec![encoding.overlap(first, second)?];
        let mut writes = vec![];
        for event in [first, second] {
            assumptions.push(encoding.next(event)?);
            assumptions.push(encoding.can_access_at_cut(event)?);
            let thread = encoding.ctp().event(event).thread;
            assumptions.push(encoding.not_excluded(thread)?);
            writes.push(encoding.would_write_at_cut(event)?);
        }
        assumptions.push(encoding.solver().or(&writes)?);
        Ok(Question { assumptions, standing: vec![first, second], last: None })
    }

    /// Both accesses are executed, and the later one does not know the earlier one.
    pub(super) fn unordered(&mut self, first: EventIndex, second: EventIndex) -> Result<Answer> {
        let forwards = self.unordered_one_way(first, second)?;
        if matches!(forwards, Answer::Feasible(_)) {
            return Ok(forwards);
        }
        let backwards = self.unordered_one_way(second, first)?;
        Ok(either(forwards, backwards))
    }

    fn unordered_one_way(&mut self, earlier: EventIndex, later: EventIndex) -> Result<Answer> {
        self.encoding.open_scope();
        let answer = self.ask_unordered(earlier, later);
        self.encoding.close_scope()?;
        answer
    }

    fn ask_unordered(&mut self, earlier: EventIndex, later: EventIndex) -> Result<Answer> {
        let others = self.others.clone();
        let encoding = &mut self.encoding;
        let (one, other) = (encoding.writes(earlier)?, encoding.writes(later)?);
        let mut assumptions: Vec<Bool> = vec![
            encoding.inside(later),
            encoding.before(earlier, later)?,
            encoding.overlap(earlier, later)?,
            encoding.solver().or(&[one, other])?,
        ];
        let knowledge = encoding.knowledge(earlier, &others)?;
        if let Some(knows) = knowledge.of(later) {
            assumptions.push(encoding.solver().not(knows)?);
        }
        self.decide(Question { assumptions, ..Question::default() })
    }
}
