//! Where the schedules of a run's events can leave the run's paths: a branch that goes the other way, a compare-and-exchange, a try or the
//! end of a timed wait that comes out otherwise; an assertion, an assumption or an access that fails; and what a thread stood before at the end
//! of the run, which it can do elsewhere.

use crate::among::Among;
use crate::paths::outcome;
use ctp::{EventIndex, Kind, Otherwise, Standing};
use encode::{Bool, Encoding, Result};
use ir::{Program, SiteIndex};
use trace::{Choice, EventKind, WakeReason};

/// A wait that came to its end by itself.
pub const STOPPED: u64 = 0;
/// A wait that was signalled.
pub const SIGNALLED: u64 = 1;

/// What a departure leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leads {
    /// A decision comes out so; `None` if that is not one outcome.
    To(Option<u64>),
    /// The thread stops before the event: it fails.
    Nowhere,
    /// The thread does what it stood before at the end of the run; how that comes out, if it is a decision with one outcome.
    On(Option<u64>),
}

/// One way to leave the paths of a run.
pub struct Departure {
    /// It is taken.
    pub taken: Bool,
    /// It could be, if more context switches were allowed.
    pub possible: Bool,
    /// What comes out otherwise.
    pub event: EventIndex,
    /// To what it leads.
    pub leads: Leads,
    /// The event is not in the prefix: it is what the thread does next.
    pub is_next: bool,
    /// How it can come out, if that is not one outcome.
    pub among: Option<Among>,
}

impl Departure {
    /// What settles it.
    pub fn choice(&self, kind: &Kind) -> Option<Choice> {
        let expires = matches!(self.leads, Leads::To(Some(STOPPED)) | Leads::On(Some(STOPPED)));
        (expires && matches!(kind, Kind::Other(EventKind::WaitEnd { .. }))).then_some(Choice::Expire)
    }
}

/// All departures from a run. What ended the recorded run, and what threads stood before at its end, is in no prefix from now on.
///
/// # Errors
/// If the solver refuses a term; that is a fault of ours.
pub fn departures(program: &Program, encoding: &mut Encoding<'_>) -> Result<Vec<Departure>> {
    let ctp = encoding.ctp();
    let sites = SiteIndex::new(program);
    let mut all = vec![];
    // What ends a compiled program cannot be kept back, and what it accesses may be there though nobody knows.
    let may_fail = !program.threads.is_empty();
    let never = encoding.solver().bool_const(false);
    for at in (0..ctp.events.len()).map(EventIndex::new) {
        let event = ctp.event(at);
        let standing = ctp.standing.iter().find(|standing| standing.id == event.id && !event.silent);
        let within_bound = encoding.may_end_with(event.thread);
        let mut add =
            |encoding: &mut Encoding<'_>, possible: Bool, leads: Leads, is_next: bool| -> Result<()> {
                let taken = match is_next {
                    true => encoding.solver().and(&[possible, within_bound])?,
                    false => possible,
                };
                if possible != never {
                    let among = match leads {
                        Leads::To(None) => Among::of(program, &sites, ctp, at),
                        _ => None,
                    };
                    all.push(Departure { taken, possible, event: at, leads, is_next, among });
                }
                Ok(())
            };
        let alone = encoding.not_excluded(event.thread)?;
        let next = encoding.next(at)?;
        if let Some(standing) = standing {
            let inside = encoding.inside(at);
            let outside = encoding.solver().not(inside)?;
            encoding.solver().assert(outside)?;
            let goes_on = goes_on(encoding, at, standing)?;
            let decides = match &event.kind {
                Kind::Other(kind) => outcome(kind),
                _ => None,
            };
            let possible = encoding.solver().and(&[next, alone, goes_on])?;
            add(encoding, possible, Leads::On(decides), true)?;
        }
        match &event.kind {
            Kind::Other(EventKind::WaitEnd { condition, reason: WakeReason::Signal(_), .. })
                if sites.is_timed_wait(program, event.site) =>
            {
                let Some(begin) = encoding.previous(at) else { continue };
                let woken = encoding.woken_at_cut(*condition, begin)?;
                let waits = encoding.solver().not(woken)?;
                let stops = encoding.solver().and(&[next, alone, waits])?;
                let leads =
                    if standing.is_some() { Leads::On(Some(STOPPED)) } else { Leads::To(Some(STOPPED)) };
                add(encoding, stops, leads, true)?;
            }
            _ if standing.is_some() => {}
            Kind::Branch { as_recorded, taken, condition } => {
                let stays = encoding.condition(*as_recorded)?;
                let goes = encoding.solver().not(stays)?;
                let goes = encoding.solver().and(&[next, alone, goes])?;
                let is_switch = ctp.expressions.width(*condition).bits() > 1;
                let other = (!is_switch).then_some(u64::from(1 - (*taken).min(1)));
                add(encoding, goes, Leads::To(other), true)?;
            }
            Kind::Require { condition, otherwise } => {
                let stays = encoding.condition(*condition)?;
                let goes = encoding.solver().not(stays)?;
                let goes = encoding.solver().and(&[next, alone, goes])?;
                match otherwise {
                    Otherwise::OtherPath { .. } => add(encoding, goes, Leads::To(None), true)?,
                    Otherwise::Fault(_) | Otherwise::FarAddress if may_fail => {
                        add(encoding, goes, Leads::Nowhere, true)?
                    }
                    _ => {}
                }
            }
            // A failed assertion of a compiled program is an event of its own.
            Kind::Assert { condition, held } if !may_fail => {
                let holds = encoding.condition(*condition)?;
                let other = if *held { encoding.solver().not(holds)? } else { holds };
                let leads = Leads::To(Some(u64::from(!*held)));
                let possible = encoding.solver().and(&[next, alone, other])?;
                add(encoding, possible, leads, true)?;
                if !*held {
                    // What ended the process is in no prefix; if it holds now, that is where the prefix ends.
                    let inside = encoding.inside(at);
                    let outside = encoding.solver().not(inside)?;
                    encoding.solver().assert(outside)?;
                }
            }
            Kind::Assert { condition, .. } | Kind::Assume { condition } => {
                let holds = encoding.condition(*condition)?;
                let fails = encoding.solver().not(holds)?;
                let possible = encoding.solver().and(&[next, alone, fails])?;
                add(encoding, possible, Leads::Nowhere, true)?;
            }
            Kind::CompareExchange { success, .. } => {
                let possible = encoding.departed(at)?;
                add(encoding, possible, Leads::To(Some(u64::from(!*success))), false)?;
            }
            Kind::Other(kind) => match *kind {
                EventKind::TryLock { acquired: None, .. } | EventKind::TryAcquire { acquired: false, .. } => {
                    let possible = encoding.departed(at)?;
                    add(encoding, possible, Leads::To(Some(1)), false)?;
                }
                EventKind::StopWaiting { .. } => {
                    let possible = encoding.departed(at)?;
                    add(encoding, possible, Leads::To(Some(SIGNALLED)), false)?;
                }
                EventKind::TryLock { object, mode, acquired: Some(_) } => {
                    // What the thread holds itself did not keep it out, and does not elsewhere.
                    let held = encoding.held_at_cut(object, mode, |whose| whose != event.thread)?;
                    let possible = encoding.solver().and(&[next, alone, held])?;
                    add(encoding, possible, Leads::To(Some(0)), true)?;
                }
                EventKind::TryAcquire { semaphore, acquired: true } => {
                    let none = encoding.tokens_at_cut(semaphore, 0)?;
                    let possible = encoding.solver().and(&[next, alone, none])?;
                    add(encoding, possible, Leads::To(Some(0)), true)?;
                }
                EventKind::TokenCount { semaphore, value } => {
                    let same = encoding.tokens_at_cut(semaphore, value)?;
                    let other = encoding.solver().not(same)?;
                    let possible = encoding.solver().and(&[next, alone, other])?;
                    add(encoding, possible, Leads::To(None), true)?;
                }
                EventKind::Free { allocation: Some(allocation) } if may_fail => {
                    let freed = encoding.freed_at_cut(allocation, Some(at))?;
                    let possible = encoding.solver().and(&[next, alone, freed])?;
                    add(encoding, possible, Leads::Nowhere, true)?;
                }
                _ => {}
            },
            _ => {}
        }
        if may_fail && event.kind.access().is_some() && standing.is_none() && !event.silent {
            let faults = faults(encoding, at)?;
            let possible = encoding.solver().and(&[next, alone, faults])?;
            add(encoding, possible, Leads::Nowhere, true)?;
        }
    }
    Ok(all)
}

/// An access that its thread stands before would be a fault.
fn faults(encoding: &mut Encoding<'_>, at: EventIndex) -> Result<Bool> {
    let hits = encoding.ctp().event(at).kind.access().and_then(|access| access.hits);
    let freed = encoding.uses_freed_at_cut(at)?;
    match hits {
        None => Ok(freed),
        Some(hits) => {
            let hits = encoding.condition(hits)?;
            let misses = encoding.solver().not(hits)?;
            encoding.solver().or(&[misses, freed])
        }
    }
}

/// What a thread stood before at the end of the run, and has come to, it could do now.
fn goes_on(encoding: &mut Encoding<'_>, at: EventIndex, standing: &Standing) -> Result<Bool> {
    match &encoding.ctp().event(at).kind {
        Kind::Assert { condition, .. } | Kind::Assume { condition } => encoding.condition(*condition),
        Kind::Other(EventKind::Fault { .. }) => {
            let mut any = vec![];
            for &(condition, allocation) in &standing.otherwise {
                let mut all = vec![encoding.condition(condition)?];
                if let Some(allocation) = allocation {
                    let freed = encoding.freed_at_cut(allocation, None)?;
                    all.push(encoding.solver().not(freed)?);
                }
                any.push(encoding.solver().and(&all)?);
            }
            encoding.solver().or(&any)
        }
        Kind::Other(EventKind::Free { allocation: Some(allocation) }) => {
            let freed = encoding.freed_at_cut(*allocation, Some(at))?;
            encoding.solver().not(freed)
        }
        kind if kind.access().is_some() => {
            let faults = faults(encoding, at)?;
            encoding.solver().not(faults)
        }
        _ => {
            let blocked = encoding.blocked(at, false)?.blocked;
            encoding.solver().not(blocked)
        }
    }
}
