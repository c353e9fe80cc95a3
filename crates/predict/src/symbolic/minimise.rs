//! Smaller witnesses (docs/design/witnesses.md, "Before a finding is shown"): threads that play no part are
//! left out, and of the others as little as can be is run.
//!
//! A thread is left out by asking again with its first event outside the prefix; if that is not possible, some later part of it is
//! left out, found by bisection. The order of what remains has few switches already ([`encode::Encoding::witness`]).

use super::Symbolic;
use claim::{Answer, Candidate};
use ctp::{EventIndex, ThreadIndex};
use encode::{Bool, Result};

impl Symbolic<'_> {
    /// Decides a candidate like [`Symbolic::answer`], with a small witness if it is feasible.
    ///
    /// # Errors
    /// As for [`Symbolic::answer`].
    pub fn answer_small(&mut self, candidate: &Candidate) -> Result<Answer> {
        self.small = true;
        let answer = self.answer(candidate);
        self.small = false;
        answer
    }

    /// Leaves out what is not needed for what is assumed; the last question is asked with the answer yes.
    pub(super) fn shrink(&mut self, assumptions: &mut Vec<Bool>) -> Result<()> {
        let ctp = self.encoding.ctp();
        for thread in (0..ctp.threads.len()).map(ThreadIndex::new) {
            let events: Vec<EventIndex> =
                ctp.thread(thread).events.iter().copied().filter(|&at| !ctp.event(at).silent).collect();
            // So many are inside now; how many must be?
            let (mut least, mut most) = (0, self.so_many_inside(&events)?);
            while least < most {
                let half = (least + most) / 2;
                // Nothing at all is the most likely answer, and the best one.
                let kept = if least == 0 && half > 0 && most == events.len() { 0 } else { half };
                let without = self.outside(events[kept])?;
                assumptions.push(without);
                match self.encoding.ask(assumptions)? {
                    encode::Answer::Sat => most = self.so_many_inside(&events)?,
                    _ => {
                        assumptions.pop();
                        least = kept + 1;
                    }
                }
            }
        }
        self.encoding.ask(assumptions)?;
        Ok(())
    }

    fn so_many_inside(&mut self, events: &[EventIndex]) -> Result<usize> {
        let inside: Vec<Bool> = events.iter().map(|&event| self.encoding.inside(event)).collect();
        let Some(model) = self.encoding.solver().model() else { return Ok(0) };
        let mut count = 0;
        for inside in inside {
            count += usize::from(model.holds(inside)?);
        }
        Ok(count)
    }

    fn outside(&mut self, event: EventIndex) -> Result<Bool> {
        let inside = self.encoding.inside(event);
        self.encoding.solver().not(inside)
    }
}
