//! What a finding leads to.

use super::Words;
use claim::{Candidate, Consequence};
use ir::SiteId;
use trace::{EventId, FaultKind, Outcome};

impl Words<'_> {
    /// Where the run that showed it failed.
    pub(super) fn fails_at(&self) -> Option<SiteId> {
        match self.finding.run.as_deref()?.outcome {
            Outcome::AssertionFailed { site, .. } | Outcome::Fault { site, .. } => Some(site),
            _ => None,
        }
    }

    /// What came of it, unless the finding itself says so.
    pub(super) fn consequence(&self) -> Option<String> {
        let at = |event: &EventId| {
            let place = self.fails_at().map(|site| format!(" at {}", self.telling.sources.place(site)));
            format!("{} in thread {}", place.unwrap_or_default(), self.thread(*event))
        };
        let own = |event: &EventId| match &self.finding.candidate {
            Candidate::Assertion { event: asked } | Candidate::Fault { event: asked, .. } => asked == event,
            _ => false,
        };
        match &self.finding.consequence {
            Consequence::AssertionFailed { event } | Consequence::Crashed { event, .. } if own(event) => None,
            Consequence::AssertionFailed { event } => Some(format!("the assertion{} fails", at(event))),
            Consequence::Crashed { event, kind } => Some(format!("{}{}", kind.words(), at(event))),
            Consequence::Deadlocked if matches!(self.finding.candidate, Candidate::Deadlock(_)) => None,
            Consequence::Deadlocked => {
                Some("the program never ends: its threads wait for each other".to_owned())
            }
            Consequence::OtherResult(result) => Some(format!("the program {result}, as no clean run did")),
            Consequence::None
                if matches!(self.finding.candidate, Candidate::Fault { kind: FaultKind::UseAfterFree, .. }) =>
            {
                Some("none was seen, because memory that is given back is kept aside here; elsewhere anything may happen".to_owned())
            }
            Consequence::None => Some("none was seen: the program ended as clean runs do".to_owned()),
            Consequence::NotSeen => None,
        }
    }
}
