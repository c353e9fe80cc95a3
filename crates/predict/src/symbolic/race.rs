//! Races (docs/design/candidates.md, "Races"): co-enabled, and not ordered by happens-before.

use super::{Fact, Question, Symbolic, either};
use claim::Answer;
use ctp::EventIndex;
use encode::Result;

impl Symbolic<'_> {
    /// Both accesses are next, and conflict.
    pub(super) fn co_enabled(&mut self, first: EventIndex, second: EventIndex) -> Result<Question> {
        let encoding = &mut self.encoding;
        let mut facts = vec![Fact::Term(encoding.overlap(first, second)?)];
        let mut writes = vec![];
        for event in [first, second] {
            facts.push(Fact::Next(event));
            facts.push(Fact::Term(encoding.can_access_at_cut(event)?));
            let thread = encoding.ctp().event(event).thread;
            facts.push(Fact::Term(encoding.not_excluded(thread)?));
            writes.push(encoding.would_write_at_cut(event)?);
        }
        facts.push(Fact::Term(encoding.solver().or(&writes)?));
        Ok(Question { facts, standing: vec![first, second], ..Question::default() })
    }

    /// Both accesses are executed, and the later one does not know the earlier one.
    pub(super) fn unordered(&mut self, first: EventIndex, second: EventIndex) -> Result<Answer> {
        // If both can be next at once, they can be made one right after the other.
        if self.options.switches.is_none() {
            let question = self.co_enabled(first, second)?;
            let answer = self.decide(question)?;
            if let Answer::Feasible(mut witness) = answer {
                // Memory is not accessed after it was given back.
                let frees = self.encoding.freed(first).is_some();
                let (one, other) = if frees { (second, first) } else { (first, second) };
                witness.order.extend([self.event(one).id, self.event(other).id]);
                return Ok(Answer::Feasible(witness));
            }
        }
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
        let mut facts = vec![
            Fact::Inside(later),
            Fact::Before(earlier, later),
            Fact::Term(encoding.overlap(earlier, later)?),
            Fact::Term(encoding.solver().or(&[one, other])?),
        ];
        let knowledge = encoding.knowledge(earlier, &others)?;
        if let Some(knows) = knowledge.of(later) {
            facts.push(Fact::Term(encoding.solver().not(knows)?));
        }
        // What is known of happens-before is asserted for this question only: a core says nothing of others.
        self.decide(Question { facts, alone: true, ..Question::default() })
    }
}
