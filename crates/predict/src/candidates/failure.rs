//! Assertions and faults: conditions that the recorded run passed and another schedule may not
//! (docs/design/candidates.md, "Assertions and faults"). A fault of the recorded run itself is no prediction.

use super::Collector;
use claim::Candidate;
use ctp::{Access, Kind, Otherwise};
use trace::FaultKind;

pub(super) fn collect(collector: &mut Collector<'_>) {
    let ctp = collector.ctp;
    for failing in &ctp.failing {
        let id = ctp.event(failing.branch).id;
        collector.add(3, vec![failing.site], || Candidate::Assertion { event: id });
    }
    for event in &ctp.events {
        let (id, site) = (event.id, event.site);
        match &event.kind {
            Kind::Assert { .. } => collector.add(3, vec![site], || Candidate::Assertion { event: id }),
            Kind::Require { otherwise: Otherwise::Fault(kind), .. } => {
                collector.add(4, vec![site], || Candidate::Fault { event: id, kind: *kind });
            }
            kind => {
                for kind in
                    kind.access().into_iter().flat_map(|access| faults(collector, access)).collect::<Vec<_>>()
                {
                    collector.add(4, vec![site], || Candidate::Fault { event: id, kind });
                }
            }
        }
    }
}

fn faults(collector: &Collector<'_>, access: &Access) -> Vec<FaultKind> {
    let mut kinds: Vec<FaultKind> = access.faults.iter().map(|&(kind, _)| kind).collect();
    let freed = &collector.ctp.freed;
    if access.targets.iter().any(|target| freed.contains_key(&target.place.allocation)) {
        kinds.push(FaultKind::UseAfterFree);
    }
    kinds
}
