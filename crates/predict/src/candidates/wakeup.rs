//! Waits after which nobody looks again, although it may have to wait again (see [`wakeups`](crate::wakeups)).

use super::Collector;
use crate::wakeups::look;
use claim::Candidate;
use ctp::EventIndex;

pub(super) fn collect(collector: &mut Collector<'_>) {
    let ctp = collector.ctp;
    for wake in (0..ctp.events.len()).map(EventIndex::new) {
        if let Some(look) = look(ctp, wake) {
            let (first, end) = (ctp.event(look.first), ctp.event(wake));
            collector
                .add(5, vec![first.site, end.site], || Candidate::Wakeup { look: first.id, wake: end.id });
        }
    }
}
