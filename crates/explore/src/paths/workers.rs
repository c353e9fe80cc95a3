//! The search for further combinations, by many workers.
//!
//! Each worker takes a run and asks the solver about it until nothing new departs from it. What all have found lies in one place. A prefix is run only if
//! the question that gave it knew all combinations that are there by then; else it is asked again, with those. So no combination is run twice, however many ask, and
//! which combinations there are depends on the program alone. Runs are cheap beside questions, and are made one after the other.

use super::{Explored, Options, Seen, following, is_compiled, outside};
use crate::Error;
use crate::question::{Question, Said, Sought};
use crate::traced::Sites;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use subject::{Strategy, Subject};
use trace::Trace;

/// What all workers share.
struct Shared<'e> {
    explored: Explored,
    seen: Vec<Arc<Seen>>,
    /// The first run that nobody has taken.
    next: usize,
    /// So many are at work, and may find more.
    busy: usize,
    /// It is over: somebody has had enough, or a limit is reached.
    stop: bool,
    error: Option<Error>,
    each: &'e mut (dyn FnMut(&Trace, usize) -> bool + Send),
}

struct Search<'s, 'e, S> {
    subject: &'s S,
    options: &'s Options,
    sites: Sites<'s>,
    shared: Mutex<Shared<'e>>,
    changed: Condvar,
}

/// Goes on from these runs until there are no others.
pub fn search<S: Subject + Sync>(
    subject: &S,
    options: &Options,
    explored: Explored,
    seen: Vec<Arc<Seen>>,
    each: &mut (dyn FnMut(&Trace, usize) -> bool + Send),
) -> Result<Explored, Error> {
    let shared = Shared { explored, seen, next: 0, busy: 0, stop: false, error: None, each };
    let program = subject.program();
    let sites = Sites::new(program, options.spins || is_compiled(program));
    let search = Search { subject, options, sites, shared: Mutex::new(shared), changed: Condvar::new() };
    std::thread::scope(|scope| {
        for _ in 1..options.workers {
            scope.spawn(|| search.work());
        }
        search.work();
    });
    let shared = search.shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    match shared.error {
        Some(error) => Err(error),
        None => Ok(shared.explored),
    }
}

impl<'e, S: Subject + Sync> Search<'_, 'e, S> {
    fn shared(&self) -> MutexGuard<'_, Shared<'e>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes runs until there are no more, and nobody is at work who could find some.
    fn work(&self) {
        while let Some(run) = self.take() {
            let asked = self.ask_about(&run);
            let mut shared = self.shared();
            shared.busy -= 1;
            if let Err(error) = asked {
                shared.error.get_or_insert(error);
                shared.stop = true;
            }
            drop(shared);
            self.changed.notify_all();
        }
    }

    fn take(&self) -> Option<Arc<Seen>> {
        let mut shared = self.shared();
        loop {
            if shared.stop {
                return None;
            }
            if let Some(run) = shared.seen.get(shared.next).cloned() {
                shared.next += 1;
                shared.busy += 1;
                return Some(run);
            }
            if shared.busy == 0 {
                return None;
            }
            shared = self.changed.wait(shared).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Finds all combinations that depart first from a run.
    fn ask_about(&self, run: &Seen) -> Result<(), Error> {
        let program = self.subject.program();
        if is_compiled(program) {
            let outside = outside::outside(program, &run.trace);
            self.shared().explored.incomplete.extend(outside);
        }
        let ctp = run.ctp(program, &self.sites)?;
        let Options { limits, switches, .. } = *self.options;
        let mut question = Question::new(program, &ctp, &run.paths, limits, switches, Sought::Combination)?;
        let mut known = 0;
        loop {
            let news: Vec<Arc<Seen>> = {
                let shared = self.shared();
                if shared.stop {
                    return Ok(());
                }
                shared.seen[known..].to_vec()
            };
            known += news.len();
            for new in news {
                question.exclude(&new.paths)?;
            }
            match question.ask(&[])? {
                Said::Nothing => return Ok(()),
                Said::Unknown(why) => {
                    self.shared().explored.incomplete.insert(why);
                    return Ok(());
                }
                Said::Another(witness) => {
                    self.run_if_new(following(program, witness.schedule()), known)?;
                    self.changed.notify_all();
                }
            }
        }
    }

    /// Runs along a prefix that begins none of the first `known` combinations, if there are no others by now.
    fn run_if_new(&self, strategy: Strategy, known: usize) -> Result<(), Error> {
        let mut guard = self.shared();
        let shared = &mut *guard;
        if shared.stop || shared.seen.len() > known {
            return Ok(());
        }
        if shared.explored.runs.len() as u64 >= self.options.runs {
            let why = format!("the limit of {} runs was reached", self.options.runs);
            shared.explored.incomplete.insert(why);
            shared.stop = true;
            return Ok(());
        }
        let exhausted = self.subject.exhaust(&strategy)?;
        for run in &exhausted.runs {
            if let Some(departure) = &run.departure {
                let name = |thread| run.trace.thread_name(thread);
                let why = format!("a run left its schedule: {}", departure.words(&name));
                shared.explored.incomplete.insert(why);
            }
        }
        let new = Seen::of(self.subject.program(), &exhausted)?;
        // The same prefix would come again.
        if shared.seen.iter().any(|known| known.paths.is(&new.paths)) {
            shared.explored.duplicates += 1;
            shared.explored.incomplete.insert("a combination was run twice: a fault of ours".to_owned());
            shared.stop = true;
            return Ok(());
        }
        // With this one, and those that are being asked about.
        let left = shared.seen.len() + 1 - shared.next + shared.busy;
        let Shared { explored, seen, each, .. } = shared;
        shared.stop |= !explored.take(exhausted, new, seen, &mut |run| each(run, left));
        Ok(())
    }
}
