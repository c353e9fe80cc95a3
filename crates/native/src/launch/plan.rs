//! Strategies in the numbers of the log.

use crate::Linked;
use ir::SiteId;
use subject::{Schedule, Segment, Strategy};

/// A strategy whose schedule names sites as the log does. A site that the log cannot name is not checked.
#[must_use]
pub fn for_log(linked: &Linked, strategy: &Strategy) -> Strategy {
    let Strategy::Follow { schedule, then } = strategy else { return strategy.clone() };
    let site = |site: SiteId| linked.log_site(site).map(SiteId);
    let segments = schedule.segments.iter();
    let segments = segments.map(|segment| Segment { site: segment.site.and_then(site), ..*segment });
    Strategy::Follow {
        schedule: Schedule { segments: segments.collect(), ..schedule.clone() },
        then: Box::new(for_log(linked, then)),
    }
}
