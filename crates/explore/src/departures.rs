//! Where the schedules of a run's events can leave the run's paths: a branch that goes the other way, a compare-and-exchange, a try or the
//! end of a timed wait that comes out otherwise, an assertion.

use ctp::{EventIndex, Kind, Otherwise};
use encode::{Bool, Encoding, Result};
use ir::{Op, Program, SiteIndex, SyncOp};
use trace::{Choice, EventKind, WakeReason};

/// A wait that came to its end by itself.
pub const STOPPED: u64 = 0;
/// A wait that was signalled.
pub const SIGNALLED: u64 = 1;

/// One way to leave the paths of a run.
pub struct Departure {
    /// It is taken.
    pub taken: Bool,
    /// What comes out otherwise.
    pub event: EventIndex,
    /// How; `None` if that is not one outcome.
    pub outcome: Option<u64>,
    /// The event is not in the prefix: it is what the thread does next.
    pub is_next: bool,
    /// What settles it.
    pub choice: Option<Choice>,
}

/// All departures from a run. What ended the recorded run is in no prefix from now on.
///
/// # Errors
/// If the solver refuses a term; that is a fault of ours.
pub fn departures(program: &Program, encoding: &mut Encoding<'_>) -> Result<Vec<Departure>> {
    let ctp = encoding.ctp();
    let sites = SiteIndex::new(program);
    let mut all = vec![];
    for at in (0..ctp.events.len()).map(EventIndex::new) {
        let event = ctp.event(at);
        let mut add = |taken: Bool, outcome: Option<u64>, is_next: bool, choice: Option<Choice>| {
            all.push(Departure { taken, event: at, outcome, is_next, choice });
        };
        let alone = encoding.not_excluded(event.thread)?;
        let next = encoding.next(at)?;
        let within_bound = encoding.may_end_with(event.thread);
        let next = encoding.solver().and(&[next, within_bound])?;
        match &event.kind {
            Kind::Branch { as_recorded, taken, condition } => {
                let stays = encoding.condition(*as_recorded)?;
                let goes = encoding.solver().not(stays)?;
                let goes = encoding.solver().and(&[next, alone, goes])?;
                let is_switch = ctp.expressions.width(*condition).bits() > 1;
                let other = (!is_switch).then_some(u64::from(1 - (*taken).min(1)));
                add(goes, other, true, None);
            }
            Kind::Require { condition, otherwise: Otherwise::OtherPath } => {
                let stays = encoding.condition(*condition)?;
                let goes = encoding.solver().not(stays)?;
                add(encoding.solver().and(&[next, alone, goes])?, None, true, None);
            }
            Kind::Assert { condition, held } => {
                let holds = encoding.condition(*condition)?;
                let other = if *held { encoding.solver().not(holds)? } else { holds };
                add(encoding.solver().and(&[next, alone, other])?, Some(u64::from(!*held)), true, None);
                if !*held {
                    // What ended the process is in no prefix; if it holds now, that is where the prefix ends.
                    let inside = encoding.inside(at);
                    let outside = encoding.solver().not(inside)?;
                    encoding.solver().assert(outside)?;
                }
            }
            Kind::CompareExchange { success, .. } => {
                add(encoding.departed(at)?, Some(u64::from(!*success)), false, None);
            }
            Kind::Other(kind) => match *kind {
                EventKind::TryLock { acquired: None, .. } | EventKind::TryAcquire { acquired: false, .. } => {
                    add(encoding.departed(at)?, Some(1), false, None);
                }
                EventKind::StopWaiting { .. } => {
                    add(encoding.departed(at)?, Some(SIGNALLED), false, None);
                }
                EventKind::TryLock { object, mode, acquired: Some(_) } => {
                    // What the thread holds itself did not keep it out, and does not elsewhere.
                    let held = encoding.held_at_cut(object, mode, |whose| whose != event.thread)?;
                    add(encoding.solver().and(&[next, alone, held])?, Some(0), true, None);
                }
                EventKind::TryAcquire { semaphore, acquired: true } => {
                    let none = encoding.tokens_at_cut(semaphore, 0)?;
                    add(encoding.solver().and(&[next, alone, none])?, Some(0), true, None);
                }
                EventKind::TokenCount { semaphore, value } => {
                    let same = encoding.tokens_at_cut(semaphore, value)?;
                    let other = encoding.solver().not(same)?;
                    add(encoding.solver().and(&[next, alone, other])?, None, true, None);
                }
                EventKind::WaitEnd { condition, reason: WakeReason::Signal(_), .. }
                    if matches!(
                        sites.op(program, event.site),
                        Some(Op::Sync { op: SyncOp::TimedWait, .. })
                    ) =>
                {
                    let Some(begin) = encoding.previous(at) else { continue };
                    let woken = encoding.woken_at_cut(condition, begin)?;
                    let waits = encoding.solver().not(woken)?;
                    let stops = encoding.solver().and(&[next, alone, waits])?;
                    add(stops, Some(STOPPED), true, Some(Choice::Expire));
                }
                _ => {}
            },
            _ => {}
        }
    }
    Ok(all)
}
