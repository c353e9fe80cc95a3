//! Why a finding is wrong, for somebody who has never heard its name.

use super::Words;
use claim::{Block, Candidate};
use trace::Logging;

impl Words<'_> {
    pub(super) fn why(&self) -> Vec<String> {
        let x = self.location;
        match &self.finding.candidate {
            Candidate::Atomicity { before, between, .. } => {
                let (own, other) = (self.thread(*before), self.thread(*between));
                let what = match self.verbs() {
                    ["reads", _, "reads"] => {
                        format!("{own} reads {x} twice, and the second time gets what {other} has put there")
                    }
                    [_, _, "reads"] => {
                        format!("{own} writes {x}, and when it reads it back gets what {other} has put there")
                    }
                    ["reads", _, "writes"] => format!(
                        "{own} writes {x} although {other} has changed it since {own} read it: the change is lost"
                    ),
                    [_, "reads", _] => {
                        format!("{other} sees {x} in between, before {own} writes it a second time")
                    }
                    _ => format!("what {other} does to {x} falls into the middle of what {own} does to it"),
                };
                let meant = match self.finding.block {
                    Some(Block::Lock(lock)) if self.telling.recorded.origin.logging == Logging::WithoutValues => format!(
                        "both are in one section of `{}`, so the section looks as if it were meant to be one step",
                        self.telling.location(lock)
                    ),
                    Some(Block::Lock(lock)) => format!(
                        "one call takes `{}` for both, so the block looks as if it were meant to be one step",
                        self.telling.location(lock)
                    ),
                    Some(Block::Function) => "the block is one call of a function".to_owned(),
                    Some(Block::Update) => {
                        "what it writes is computed from what it read, so the two look as if they were meant to be one step"
                            .to_owned()
                    }
                    Some(Block::Marked) | None => "the block is marked as atomic".to_owned(),
                };
                vec![what, format!("({meant}; no order of whole blocks does this)")]
            }
            Candidate::CoEnabledRace { .. } => {
                vec!["both stand right before their accesses, and nothing keeps them apart".to_owned()]
            }
            Candidate::UnorderedRace { .. } => {
                vec!["no lock, join, or release and acquire stands between the two".to_owned()]
            }
            Candidate::Assertion { .. } | Candidate::Fault { .. } | Candidate::Deadlock(_) => vec![],
            Candidate::Wakeup { wake, .. } => {
                let own = self.thread(*wake);
                vec![
                    format!("what {own} looked at before it went to wait would make it wait again, but it does not look"),
                    "(a wait belongs into a loop: `while`, not `if`. Others may come between the signal and the moment at which the \
                     woken thread has its lock again, and a signal may have been meant for somebody else)"
                        .to_owned(),
                ]
            }
            Candidate::Pattern(pattern) if pattern.goal.is_some() => {
                vec!["as far as the schedule goes, the run is what the pattern's goal asks for".to_owned()]
            }
            Candidate::Pattern(_) => vec!["all of its events run in the order that it asks for".to_owned()],
        }
    }
}
