//! Waits that end while what was looked at would make the thread wait again.

use super::{Fact, Question, Symbolic};
use crate::wakeups::look;
use ctp::EventIndex;
use encode::Result;

impl Symbolic<'_> {
    /// The prefix ends right behind the end of the wait, and there its branches would come out as they did. `None` if it is no such wait.
    pub(super) fn wakeup(&mut self, wake: EventIndex) -> Result<Option<Question>> {
        let Some(look) = look(self.encoding.ctp(), wake) else { return Ok(None) };
        let mut facts = vec![Fact::Inside(wake)];
        if let Some(following) = self.encoding.following(wake) {
            let inside = self.encoding.inside(following);
            facts.push(Fact::Term(self.encoding.solver().not(inside)?));
        }
        for condition in look.conditions {
            facts.push(Fact::Term(self.encoding.condition_at_cut(condition, &look.reads)?));
        }
        Ok(Some(Question { facts, ..Question::default() }))
    }
}
