//! Assertions and faults: the thread stands before what fails, and it would fail now.

use super::{Fact, Question, Symbolic, either};
use claim::{Answer, Unknown};
use ctp::{EventIndex, Kind, Otherwise};
use encode::{Bool, Result};
use trace::{EventId, FaultKind};

impl Symbolic<'_> {
    pub(super) fn assertion(&mut self, event: EventIndex) -> Result<Option<Question>> {
        let Kind::Assert { condition, .. } = self.event(event).kind else { return Ok(None) };
        let holds = self.encoding.condition(condition)?;
        let fails = self.encoding.solver().not(holds)?;
        self.failing(event, fails).map(Some)
    }

    /// An assertion of a compiled program: a branch that would go to where it fails.
    pub(super) fn failing_assertion(&mut self, id: EventId) -> Result<Answer> {
        let branches: Vec<EventIndex> =
            self.encoding.ctp().failing_at(id).map(|failing| failing.branch).collect();
        let mut answer: Option<Answer> = None;
        for branch in branches {
            let Kind::Branch { as_recorded, .. } = self.event(branch).kind else { continue };
            let holds = self.encoding.condition(as_recorded)?;
            let fails = self.encoding.solver().not(holds)?;
            let question = self.failing(branch, fails)?;
            let more = self.decide(question)?;
            answer = Some(match answer {
                Some(known) => either(known, more),
                None => more,
            });
        }
        Ok(answer.unwrap_or_else(|| Answer::Unknown(Unknown::NotInTrace(format!("event {id}")))))
    }

    fn failing(&mut self, event: EventIndex, fails: Bool) -> Result<Question> {
        let thread = self.event(event).thread;
        let (alone, in_turn) = (self.encoding.not_excluded(thread)?, self.encoding.may_end_with(thread));
        let facts = vec![Fact::Next(event), Fact::Term(fails), Fact::Term(alone), Fact::Term(in_turn)];
        Ok(Question { facts, last: Some(event), ..Question::default() })
    }

    /// A fault in place of an event: of the event itself, or of something that is computed before it.
    pub(super) fn fault(&mut self, id: EventId, kind: FaultKind) -> Result<Answer> {
        let ctp = self.encoding.ctp();
        let mut answer: Option<Answer> = None;
        for at in ctp.events_at(id) {
            let Some(fails) = self.faults(at, kind)? else { continue };
            let question = self.failing(at, fails)?;
            let more = self.decide(question)?;
            answer = Some(match answer {
                Some(known) => either(known, more),
                None => more,
            });
        }
        Ok(answer.unwrap_or_else(|| Answer::Unknown(Unknown::NotInTrace(format!("event {id}")))))
    }

    /// When an event is this fault; `None` if never.
    fn faults(&mut self, event: EventIndex, kind: FaultKind) -> Result<Option<Bool>> {
        let encoding = &mut self.encoding;
        let described = encoding.ctp().event(event);
        Ok(Some(match &described.kind {
            Kind::Require { condition, otherwise: Otherwise::Fault(fault) } if *fault == kind => {
                let condition = encoding.condition(*condition)?;
                encoding.solver().not(condition)?
            }
            described => {
                let Some(access) = described.access() else { return Ok(None) };
                if kind == FaultKind::UseAfterFree {
                    return Ok(Some(encoding.uses_freed_at_cut(event)?));
                }
                let fault = access.faults.iter().find(|&&(fault, _)| fault == kind);
                match fault {
                    Some(&(_, condition)) => encoding.condition(condition)?,
                    None => return Ok(None),
                }
            }
        }))
    }
}
