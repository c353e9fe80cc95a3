//! Where the schedules of a run's events come to an end before the run does: every thread has ended, waits for others, or stands before what fails.

use crate::paths::{Difference, Paths, Stop};
use crate::rounds::Rounded;
use ctp::{EventIndex, Kind, ThreadIndex};
use encode::{Bool, Encoding, Result};
use ir::{Program, SiteIndex};
use rustc_hash::FxHashMap;
use trace::{EventId, EventKind, ThreadId};

/// A place where a thread may wait for others.
struct Place {
    thread: ThreadIndex,
    /// What it would do there, if the concurrent trace program has that.
    event: Option<EventIndex>,
    /// So many events it has done there, if it waits by going round.
    done: Option<u64>,
    /// It stands there.
    here: Bool,
    /// It stands there, and waits.
    stuck: Bool,
}

/// The ends that the schedules of a run's events may have.
pub struct Ends {
    places: Vec<Place>,
    /// For each thread: it is not forked, or has ended.
    over: Vec<Bool>,
    /// No thread goes on.
    all: Bool,
}

/// For each thread that stopped in the run: it stands there, and does not go on.
pub type Stopped = FxHashMap<ThreadIndex, Bool>;

/// The threads of a run that stopped in it; `goes_on` says when they do.
pub fn stopped(
    encoding: &mut Encoding<'_>,
    paths: &Paths,
    goes_on: &FxHashMap<ThreadIndex, Vec<Bool>>,
    rounds: &[Rounded],
) -> Result<Stopped> {
    let ctp = encoding.ctp();
    let mut stopped = Stopped::default();
    for (n, thread) in ctp.threads.iter().enumerate() {
        let index = ThreadIndex::new(n);
        if !paths.stops.contains_key(&thread.id) {
            continue;
        }
        let standing = ctp.standing.iter().find(|standing| standing.id.thread == thread.id);
        let standing = standing.and_then(|one| ctp.find(one.id));
        let waits = |round: &&Rounded| {
            let stop = paths.stops.get(&thread.id).filter(|stop| !stop.fails);
            round.thread == index && stop.is_some_and(|stop| stop.done == round.done)
        };
        if let Some(round) = rounds.iter().find(waits) {
            stopped.insert(index, round.waits(encoding)?);
            continue;
        }
        let mut here = match standing {
            Some(event) => vec![encoding.next(event)?],
            None => done(encoding, index, usize::MAX)?,
        };
        for &goes_on in goes_on.get(&index).into_iter().flatten() {
            here.push(encoding.solver().not(goes_on)?);
        }
        stopped.insert(index, encoding.solver().and(&here)?);
    }
    Ok(stopped)
}

impl Ends {
    /// Of a run. `None` if there can be no other end than that of the run.
    pub fn new(
        program: &Program,
        encoding: &mut Encoding<'_>,
        stopped: &Stopped,
        rounds: &[Rounded],
    ) -> Result<Option<Ends>> {
        let ctp = encoding.ctp();
        let sites = SiteIndex::new(program);
        let events = || (0..ctp.events.len()).map(EventIndex::new).filter(|&at| !ctp.event(at).silent);
        let exclusive =
            events().any(|at| matches!(ctp.event(at).kind, Kind::Other(EventKind::ExclusiveBegin)));
        let waits = |at: EventIndex| matches!(&ctp.event(at).kind, Kind::Other(kind) if kind.may_wait());
        let joins = |at: EventIndex| matches!(ctp.event(at).kind, Kind::Other(EventKind::Join { .. }));
        // Who waits for a thread to end waits no longer than that one does.
        if !exclusive && rounds.is_empty() && !events().any(|at| waits(at) && !joins(at)) {
            return Ok(None);
        }
        let mut places = vec![];
        for event in events().filter(|&at| exclusive || waits(at)) {
            let timed = sites.has_deadline(program, ctp.event(event).site);
            let blocked = encoding.blocked(event, timed)?.blocked;
            let next = encoding.next(event)?;
            let stuck = encoding.solver().and(&[next, blocked])?;
            let thread = ctp.event(event).thread;
            places.push(Place { thread, event: Some(event), done: None, here: next, stuck });
        }
        for round in rounds {
            let stuck = round.waits(encoding)?;
            let Rounded { thread, next, here, done, .. } = *round;
            places.push(Place { thread, event: next, done: Some(done), here, stuck });
        }
        let (mut all, mut over) = (vec![], vec![]);
        for thread in (0..ctp.threads.len()).map(ThreadIndex::new) {
            let is_over = is_over(encoding, thread)?;
            over.push(is_over);
            let mut any = vec![is_over];
            any.extend(stopped.get(&thread));
            any.extend(places.iter().filter(|place| place.thread == thread).map(|place| place.stuck));
            all.push(encoding.solver().or(&any)?);
        }
        let all = encoding.solver().and(&all)?;
        Ok(Some(Ends { places, over, all }))
    }

    /// No thread goes on.
    pub fn all(&self) -> Bool {
        self.all
    }

    /// If no thread goes on: that is not the end of another run, `seen`, whose paths leave those of this run, `paths`, as `first` says.
    pub fn is_other(
        &self,
        encoding: &mut Encoding<'_>,
        stopped: &Stopped,
        (paths, seen): (&Paths, &Paths),
        first: &FxHashMap<ThreadId, Difference>,
    ) -> Result<Bool> {
        let ctp = encoding.ctp();
        let never = encoding.solver().bool_const(false);
        let mut any = vec![];
        for (n, thread) in ctp.threads.iter().enumerate() {
            let index = ThreadIndex::new(n);
            let stop = seen.stops.get(&thread.id);
            let there = match first.get(&thread.id) {
                Some(Difference::Decision(_)) => never,
                Some(&Difference::Behind(done)) => {
                    let waits = matches!(stop, Some(Stop { fails: false, .. }));
                    let next = behind(encoding, index, done);
                    let is_there = |place: &&Place| {
                        let meant = place.done == Some(done) || (next.is_some() && place.event == next);
                        place.thread == index && meant
                    };
                    self.places.iter().find(is_there).filter(|_| waits).map_or(never, |place| place.here)
                }
                None if !seen.threads.contains(&thread.id) => {
                    let forked = forked(encoding, index);
                    encoding.solver().not(forked)?
                }
                None => match (paths.stops.get(&thread.id), stop) {
                    (None, None) => self.over[n],
                    (own, others) if own == others => stopped.get(&index).copied().unwrap_or(never),
                    _ => never,
                },
            };
            any.push(encoding.solver().not(there)?);
        }
        encoding.solver().or(&any)
    }

    /// How far the threads have come that wait in the solution.
    pub fn waiting(&self, encoding: &mut Encoding<'_>) -> Result<Vec<EventId>> {
        let ctp = encoding.ctp();
        let Some(model) = encoding.solver().model() else { return Ok(vec![]) };
        let mut waiting = vec![];
        for place in &self.places {
            if model.holds(place.stuck)? {
                let round = place.done.map(|n| EventId { thread: ctp.thread(place.thread).id, n });
                let before = || place.event.map(|event| ctp.before(ctp.event(event).id));
                waiting.extend(round.or_else(before));
            }
        }
        Ok(waiting)
    }
}

/// The first event of a thread behind so many, silent ones left out.
pub fn behind(encoding: &Encoding<'_>, thread: ThreadIndex, done: u64) -> Option<EventIndex> {
    let ctp = encoding.ctp();
    let events = &ctp.thread(thread).events;
    events.iter().copied().find(|&at| !ctp.event(at).silent && ctp.event(at).id.n > done)
}

/// A thread has done so many of the events that the concurrent trace program has of it, as they were recorded.
pub fn done(encoding: &mut Encoding<'_>, thread: ThreadIndex, events: usize) -> Result<Vec<Bool>> {
    let ctp = encoding.ctp();
    let mut all = vec![];
    let events = ctp.thread(thread).events.iter().take(events);
    for &at in events.rev() {
        match &ctp.event(at).kind {
            kind if !ctp.event(at).silent || matches!(kind, Kind::Branch { .. }) => {
                all.push(encoding.as_recorded(at)?);
                return Ok(all);
            }
            Kind::Require { condition, .. } => all.push(encoding.condition(*condition)?),
            _ => {}
        }
    }
    all.push(forked(encoding, thread));
    Ok(all)
}

/// A thread is there.
fn forked(encoding: &mut Encoding<'_>, thread: ThreadIndex) -> Bool {
    let ctp = encoding.ctp();
    let fork = ctp.thread(thread).forked_by.and_then(|fork| ctp.find(fork));
    match fork {
        Some(fork) => encoding.inside(fork),
        None => encoding.solver().bool_const(true),
    }
}

/// A thread has ended, or has not been forked.
fn is_over(encoding: &mut Encoding<'_>, thread: ThreadIndex) -> Result<Bool> {
    let ctp = encoding.ctp();
    let forked = forked(encoding, thread);
    let mut any = vec![encoding.solver().not(forked)?];
    let last = ctp.thread(thread).events.last().copied();
    let end = last.filter(|&last| matches!(ctp.event(last).kind, Kind::Other(EventKind::End)));
    any.extend(end.map(|end| encoding.inside(end)));
    encoding.solver().or(&any)
}
