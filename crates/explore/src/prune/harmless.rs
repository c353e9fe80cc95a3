//! The question of PRUNE §5.4: can a schedule that begins like the recorded run show anything that was not checked?
//!
//! What keeps to the paths of a run, up to any point, was checked with its concurrent trace program. So it is asked for a schedule
//! with the same beginning that leaves them: where nothing is known of what follows, that is enough; by a phantom edge, if something goes wrong
//! behind it.
//!
//! A schedule that leaves the paths of this run may keep to those of another that was checked. The paper
//! wants that too (PRUNE §3.2: no concurrent trace program twice), and leaves it to chance; here a departure
//! counts only if no known run begins so. That is enough if it is asked about every known run that has this
//! beginning: take a schedule that shows something new, and the known run that it keeps to for longest. Where
//! it leaves that one, it leaves all others that it has kept to so far. Either that, or the abstraction of
//! the run alone, says that a beginning is harmless.

use super::workers::{Leaves, Workers};
use super::{Class, points};
use crate::arena::Arena;
use crate::paths::Paths;
use crate::question::{Question, Sought};
use claim::Witness;
use ctp::{Ctp, EventIndex, Kind, Otherwise};
use encode::{Bool, Encoding, Result};
use ir::{Op, Program, SiteIndex, SyncOp};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use trace::{BlockedThread, EventId, LockMode, ThreadId, WaitsFor};

/// Runs that are asked about together, at most; of later ones each is asked about alone.
const MOST_KNOWN: usize = 1000;

/// Runs that are asked about at once; then so many times as many. It is not the number of workers, so that what is asked does not depend on that.
const TOGETHER: usize = 8;

/// A run that is to be asked about.
pub struct Asked {
    /// Its concurrent trace program.
    pub ctp: Ctp,
    /// Its abstraction, if that has phantom edges, with the paths as that has them.
    pub abstraction: Option<(Ctp, Paths)>,
    /// Its paths.
    pub paths: Paths,
    /// The threads that wait at its end.
    pub stuck: Vec<BlockedThread>,
    /// Assertions and faults are looked for.
    pub asserts: bool,
}

impl Asked {
    /// All that its threads do was run: whoever decides the same does the same.
    pub fn is_whole(&self) -> bool {
        self.stuck.is_empty()
    }
}

/// Runs whose paths something new leaves, each with a schedule that does, if that was asked for and the solver knows one.
pub type Leads = Vec<(usize, Option<Witness>)>;

/// The runs so far, as far as they say something about others.
pub struct Known<'a> {
    arena: &'a Arena<Asked>,
    workers: Workers<'a>,
    runs: Vec<Run<'a>>,
    by_class: BTreeMap<Class, usize>,
    /// How often the solver was asked.
    pub questions: u64,
}

struct Run<'a> {
    asked: &'a Asked,
    /// From the point behind so many steps of the present run on nothing new leaves its paths.
    clear_from: usize,
}

impl<'a> Known<'a> {
    pub fn new(arena: &'a Arena<Asked>, workers: Workers<'a>) -> Known<'a> {
        Known { arena, workers, runs: vec![], by_class: BTreeMap::new(), questions: 0 }
    }

    /// The number of a run, if its events are those of a known one.
    pub fn find(&self, class: &Class) -> Option<usize> {
        self.by_class.get(class).copied()
    }

    /// Whether there is room for more runs.
    pub fn has_room(&self) -> bool {
        self.runs.len() < MOST_KNOWN
    }

    /// Takes a run in; gives its number.
    pub fn add(&mut self, class: Class, asked: Asked) -> usize {
        let asked = self.arena.keep(asked);
        self.workers.take(asked);
        self.by_class.insert(class, self.runs.len());
        self.runs.push(Run { asked, clear_from: usize::MAX });
        self.runs.len() - 1
    }

    /// The present run is another one from the point behind so many steps on.
    pub fn back_to(&mut self, steps: usize) {
        for run in self.runs.iter_mut().filter(|run| run.clear_from != usize::MAX && run.clear_from > steps) {
            run.clear_from = usize::MAX;
        }
    }

    /// The first of these points of the run `own` from which on nothing that was not checked can follow. Steps are given by their last events.
    /// Where that is not known, it counts as harmful.
    pub fn first_harmless(&mut self, own: usize, made: &[EventId], points: &[usize]) -> Result<usize> {
        let Some((&first, rest)) = points.split_first() else { return Ok(0) };
        if self.is_clear(own, &made[..first])? {
            return Ok(0);
        }
        let run = (own, self.runs[own].asked);
        let abstraction =
            run.1.abstraction.is_some().then(|| self.workers.ask_abstraction(run, made, points));
        let clear = 1 + points::first_harmless(rest, &mut |at| self.is_clear(own, &made[..at]))?;
        let Some(abstraction) = abstraction else { return Ok(clear) };
        let (range, questions) = abstraction.wait()?;
        self.questions += questions;
        if clear <= range.start {
            return Ok(clear);
        }
        let between = &points[range.start..clear.min(range.end)];
        let harmless = points::first_harmless(between, &mut |at| {
            self.questions += 1;
            self.workers.is_harmless_in_the_abstract(run, &made[..at])
        })?;
        Ok(range.start + harmless)
    }

    /// The known runs that begin with these steps of the run `own`: that one first, then those that are most like it, the later ones.
    fn beginning_so(&self, own: usize, steps: &[EventId]) -> Vec<usize> {
        let mut done: FxHashMap<ThreadId, u64> = FxHashMap::default();
        done.extend(steps.iter().map(|step| (step.thread, step.n)));
        let paths = &self.runs[own].asked.paths;
        let begins_so = |run: &Run<'_>| {
            paths.decisions.iter().all(|(&thread, own)| {
                let made = paths.made_until(thread, done.get(&thread).copied().unwrap_or(0));
                let others = run.asked.paths.decisions.get(&thread).map_or(&[][..], Vec::as_slice);
                others.get(..made) == own.get(..made)
            })
        };
        let others = (0..self.runs.len()).rev().filter(|&at| at != own && begins_so(&self.runs[at]));
        [own].into_iter().chain(others).collect()
    }

    /// What is new behind these steps of the run `own`; of some runs, if there is more. Where ways need not be run because of what they may write,
    /// none is given: going back step by step leaves more out.
    pub fn leads(&mut self, own: usize, steps: &[EventId]) -> Result<Leads> {
        match self.runs[own].asked.abstraction {
            Some(_) => Ok(vec![]),
            None => self.leaving(own, steps, TOGETHER, true),
        }
    }

    /// The same for one run.
    pub fn leads_of(&mut self, run: usize, steps: &[EventId]) -> Result<Leads> {
        self.ask(&[run], steps, true)
    }

    /// Whether nothing new can leave the paths of any run that begins with these steps of the run `own`.
    fn is_clear(&mut self, own: usize, steps: &[EventId]) -> Result<bool> {
        // Most often the run itself is not clear, or all are.
        Ok(self.leaving(own, steps, 1, false)?.is_empty())
    }

    /// What is new behind these steps of the run `own`. So many of the runs that begin with them are asked about at first, then more and more at
    /// once, until there is something.
    fn leaving(&mut self, own: usize, steps: &[EventId], first: usize, lead: bool) -> Result<Leads> {
        let mut runs = self.beginning_so(own, steps);
        runs.retain(|&at| self.runs[at].clear_from > steps.len());
        let (mut left, mut together) = (&runs[..], first);
        while !left.is_empty() {
            let asked;
            (asked, left) = left.split_at(together.min(left.len()));
            together *= TOGETHER;
            let leaving = self.ask(asked, steps, lead)?;
            if !leaving.is_empty() {
                return Ok(leaving);
            }
        }
        Ok(vec![])
    }

    /// What leaves the paths of these runs.
    fn ask(&mut self, runs: &[usize], steps: &[EventId], lead: bool) -> Result<Leads> {
        self.questions += runs.len() as u64;
        let mut leaving = vec![];
        for (&at, leaves) in runs.iter().zip(self.workers.ask(runs, steps, lead)?) {
            match leaves {
                Leaves::Nothing => self.runs[at].clear_from = steps.len(),
                Leaves::Something(witness) => leaving.push((at, witness)),
            }
        }
        Ok(leaving)
    }
}

/// A run that is asked about alone.
pub struct Alone<'c> {
    question: Question<'c>,
}

impl<'c> Alone<'c> {
    pub fn new(program: &Program, asked: &'c Asked, limits: encode::Limits) -> Result<Alone<'c>> {
        let about =
            asked.abstraction.as_ref().map_or((&asked.ctp, &asked.paths), |(ctp, paths)| (ctp, paths));
        Ok(Alone { question: question(program, asked, about, limits)? })
    }

    /// Whether nothing that was not checked can follow on these steps.
    pub fn is_harmless(&mut self, steps: &[EventId]) -> Result<bool> {
        let begins = beginning(self.question.encoding(), steps)?;
        self.question.says_nothing(&begins)
    }
}

pub fn question<'c>(
    program: &Program,
    asked: &Asked,
    (ctp, paths): (&'c Ctp, &'c Paths),
    limits: encode::Limits,
) -> Result<Question<'c>> {
    let mut question = Question::new(program, ctp, paths, limits, None, Sought::Unchecked)?;
    for one in &asked.stuck {
        let goes_on = goes_on(program, question.encoding(), one)?;
        question.add(goes_on)?;
    }
    if asked.asserts && !ctp.phantoms.is_empty() {
        let (wrong, behind) = (goes_wrong(question.encoding())?, question.phantom());
        let harm = question.encoding().solver().and(&[wrong, behind])?;
        question.add(harm)?;
    }
    Ok(question)
}

/// Φ_pfx: these steps come first, in this order.
pub fn beginning(encoding: &mut Encoding<'_>, steps: &[EventId]) -> Result<Vec<Bool>> {
    let ctp = encoding.ctp();
    let mut assumed = vec![];
    let mut done: FxHashMap<ThreadId, u64> = FxHashMap::default();
    let mut before: Option<EventIndex> = None;
    for step in steps {
        let from = done.insert(step.thread, step.n).unwrap_or(0);
        // Only the first event of a step is noticed by others; it may be that nobody looks.
        let first = first_behind(ctp, step.thread, from).filter(|&at| ctp.event(at).id.n <= step.n);
        let Some(first) = first else { continue };
        if let Some(before) = before {
            assumed.push(encoding.before(before, first)?);
        }
        before = Some(first);
    }
    for thread in &ctp.threads {
        let done = done.get(&thread.id).copied().unwrap_or(0);
        let own = thread.events.iter().copied().filter(|&at| !ctp.event(at).silent);
        if let Some(last) = own.take_while(|&at| ctp.event(at).id.n <= done).last() {
            assumed.push(encoding.inside(last));
        }
        if let (Some(before), Some(next)) = (before, first_behind(ctp, thread.id, done)) {
            assumed.push(encoding.before(before, next)?);
        }
    }
    Ok(assumed)
}

/// The first event of a thread behind its `n`-th one.
fn first_behind(ctp: &Ctp, thread: ThreadId, n: u64) -> Option<EventIndex> {
    let thread = ctp.threads.iter().find(|known| known.id == thread)?;
    thread.events.iter().copied().find(|&at| !ctp.event(at).silent && ctp.event(at).id.n > n)
}

/// A thread that waits at the end of the run has come there, and does not have to wait. Who waits for a thread to end waits until that does more
/// than it did.
fn goes_on(program: &Program, encoding: &mut Encoding<'_>, stuck: &BlockedThread) -> Result<Bool> {
    let ctp = encoding.ctp();
    let free = match stuck.waits_for {
        WaitsFor::Join { .. } => return Ok(encoding.solver().bool_const(false)),
        WaitsFor::Lock { object, .. } => {
            let mode = match SiteIndex::new(program).op(program, stuck.site) {
                Some(Op::Sync { op: SyncOp::ReadLock, .. }) => LockMode::Read,
                Some(Op::Sync { op: SyncOp::WriteLock, .. }) => LockMode::Write,
                _ => LockMode::Mutex,
            };
            let held = encoding.held_at_cut(object, mode, |_| true)?;
            encoding.solver().not(held)?
        }
        WaitsFor::Semaphore { object } => {
            let none = encoding.tokens_at_cut(object, 0)?;
            encoding.solver().not(none)?
        }
        _ => encoding.solver().bool_const(true),
    };
    let thread = ctp.threads.iter().find(|known| known.id == stuck.thread);
    let own = thread.into_iter().flat_map(|thread| thread.events.iter().copied());
    let last = own.rev().find(|&at| !ctp.event(at).silent);
    let fork = || thread.and_then(|thread| thread.forked_by).and_then(|fork| ctp.find(fork));
    let come = match last.or_else(fork) {
        Some(last) => encoding.inside(last),
        None => encoding.solver().bool_const(true),
    };
    encoding.solver().and(&[come, free])
}

/// Some thread stands before an assertion that does not hold, or before a fault.
fn goes_wrong(encoding: &mut Encoding<'_>) -> Result<Bool> {
    let ctp = encoding.ctp();
    let mut any = vec![];
    for at in (0..ctp.events.len()).map(EventIndex::new) {
        let event = ctp.event(at);
        let next = encoding.next(at)?;
        let fails = match &event.kind {
            Kind::Assert { condition, .. }
            | Kind::Require { condition, otherwise: Otherwise::Fault(_) | Otherwise::FarAddress } => {
                let holds = encoding.condition(*condition)?;
                encoding.solver().not(holds)?
            }
            Kind::Other(trace::EventKind::Fault { .. }) => encoding.solver().bool_const(true),
            kind => {
                let Some(access) = kind.access().filter(|_| !event.silent) else { continue };
                let mut faults = vec![encoding.uses_freed_at_cut(at)?];
                if let Some(hits) = access.hits {
                    let hits = encoding.condition(hits)?;
                    faults.push(encoding.solver().not(hits)?);
                }
                encoding.solver().or(&faults)?
            }
        };
        any.push(encoding.solver().and(&[next, fails])?);
    }
    encoding.solver().or(&any)
}
