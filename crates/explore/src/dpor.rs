//! One run for each class of equivalent schedules: dynamic partial order reduction with sleep sets and wake-up trees.
//!
//! Two steps conflict if their order may make a difference ([`subject::Footprint`]). After each complete run every pair of conflicting
//! steps that could have come the other way round is found, and a sequence that makes them so is put into the wake-up tree of the
//! point before the first of the two, unless it leads to something that is known already (a sleeping step can come first in it).

use crate::run::{Reversal, Run};
use crate::tree::{Item, Tree, can_come_first, is_first};
use std::rc::Rc;
use subject::{Footprint, Move, Steps};

/// How much is left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduction {
    /// Wake-up trees: exactly one run for each class.
    Optimal,
    /// Source sets: at least one run for each class. Some runs are begun in vain and given up (`Statistics::given_up`).
    Source,
}

/// When to stop.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// After so many runs.
    pub runs: u64,
    /// A run is cut after so many steps.
    pub steps: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { runs: u64::MAX, steps: 1_000_000 }
    }
}

/// What a search did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Complete runs.
    pub runs: u64,
    /// Runs that were given up because all that they could still show was known.
    pub given_up: u64,
    /// Steps that were made.
    pub steps: u64,
    /// Runs that were cut at the limit of steps.
    pub cut: u64,
    /// Ways on that were left out because they need another context switch, which would be one too many.
    pub beyond: u64,
    /// The limit of runs was reached before the end.
    pub stopped: bool,
}

/// A point of the present run.
struct Frame {
    /// What has been run from here, and what is known to lead only to what is known.
    sleep: Vec<Item>,
    /// What is known because it is a part of the search that somebody else does. Whoever does it does not look back to here, so these say less than
    /// what sleeps: not that all is known before which they can come, only what begins with them.
    foreign: Vec<Item>,
    /// What is still to be run from here.
    tree: Tree,
    /// Nothing has been run from here yet, and nobody has said what should.
    fresh: bool,
    /// What is being run from here.
    current: Option<Item>,
}

/// Runs a subject until every class of schedules has been run, or a limit is reached. `progress` is told after every run, and says whether
/// to go on.
pub fn search<S: Steps>(
    subject: &mut S,
    reduction: Reduction,
    limits: Limits,
    progress: &mut dyn FnMut(&S, &Statistics) -> bool,
) -> Statistics {
    search_behind(subject, &[], vec![], reduction, limits, progress)
}

/// The same, for what begins with these steps; what begins with one of `foreign` behind them is somebody else's.
pub(crate) fn search_behind<S: Steps>(
    subject: &mut S,
    begin: &[Move],
    foreign: Vec<Item>,
    reduction: Reduction,
    limits: Limits,
    progress: &mut dyn FnMut(&S, &Statistics) -> bool,
) -> Statistics {
    let mut search = Search {
        subject,
        reduction,
        limits,
        run: Run::default(),
        frames: vec![],
        first: begin.len(),
        statistics: Statistics::default(),
    };
    search.frames.push(Frame {
        sleep: vec![],
        foreign: vec![],
        tree: Tree::default(),
        fresh: true,
        current: None,
    });
    search.subject.expect(begin.to_vec());
    for &made in begin {
        search.make(made, Tree::default());
    }
    if let Some(frame) = search.frames.last_mut() {
        frame.foreign = foreign;
    }
    search.all(progress)
}

struct Search<'s, S> {
    subject: &'s mut S,
    reduction: Reduction,
    limits: Limits,
    run: Run,
    frames: Vec<Frame>,
    /// The points before this one are not gone back to, and what could be run from them is somebody else's.
    first: usize,
    statistics: Statistics,
}

impl<S: Steps> Search<'_, S> {
    fn all(mut self, progress: &mut dyn FnMut(&S, &Statistics) -> bool) -> Statistics {
        let mut first_new = 0;
        while let Some(frame) = self.frames.last_mut() {
            if frame.fresh {
                frame.fresh = false;
                let runs = self.statistics.runs;
                self.begin(first_new);
                if self.statistics.runs > runs {
                    first_new = self.run.len();
                    if !progress(self.subject, &self.statistics) || self.statistics.runs >= self.limits.runs {
                        self.statistics.stopped = self.frames.iter().any(|frame| !frame.tree.is_empty());
                        break;
                    }
                }
            }
            let Some(frame) = self.frames.last_mut() else { break };
            match frame.tree.next() {
                Some(branch) => {
                    self.subject.expect(branch.first_way());
                    self.make(branch.item.made, branch.then);
                }
                None if self.frames.len() <= self.first + 1 => break,
                None => {
                    self.frames.pop();
                    first_new = first_new.min(self.frames.len().saturating_sub(1));
                    self.back();
                }
            }
        }
        self.statistics
    }

    /// Says what is to be run from a point at which nobody has said it yet; if nothing is, the run is complete.
    fn begin(&mut self, first_new: usize) {
        let moves = self.subject.moves();
        if moves.is_empty() {
            self.statistics.runs += 1;
            self.subject.complete();
            self.look_back(first_new);
            return;
        }
        if self.subject.steps() >= self.limits.steps {
            self.statistics.cut += 1;
            return;
        }
        let Some(frame) = self.frames.last() else { return };
        let asleep = |made: &Move| frame.sleep.iter().chain(&frame.foreign).any(|item| item.made == *made);
        let last =
            self.frames.iter().rev().find_map(|frame| frame.current.as_ref()).map(|item| item.made.thread);
        let awake: Vec<Move> = moves.into_iter().filter(|made| !asleep(made)).collect();
        // Few switches make schedules that are easy to read.
        let same = awake.iter().find(|made| Some(made.thread) == last);
        let Some(thread) = same.or(awake.first()).map(|made| made.thread) else {
            self.statistics.given_up += 1;
            // What follows from here is known, but not in which other orders its beginning can come.
            self.look_back(first_new);
            return;
        };
        let ways = match awake.iter().filter(|made| made.thread == thread).collect::<Vec<_>>()[..] {
            // What it touches is of interest only as long as it waits in the tree, beside others.
            [&made] => vec![(made, Footprint::default())],
            _ => self.subject.ways_after(self.subject.steps(), &[], thread),
        };
        let Some(frame) = self.frames.last_mut() else { return };
        let ways = ways.into_iter().filter(|(made, _)| awake.contains(made));
        ways.for_each(|(made, footprint)| {
            frame.tree.insert(vec![Item { made, footprint: Rc::new(footprint) }]);
        });
    }

    fn make(&mut self, made: Move, then: Tree) {
        if !self.subject.moves().contains(&made) {
            return;
        }
        let footprint = Rc::new(self.subject.make(made));
        self.statistics.steps += 1;
        self.run.push(made, Rc::clone(&footprint));
        let item = Item { made, footprint };
        let Some(frame) = self.frames.last_mut() else { return };
        let beside = |all: &[Item]| all.iter().filter(|one| !one.conflicts(&item)).cloned().collect();
        let (sleep, foreign) = (beside(&frame.sleep), beside(&frame.foreign));
        frame.current = Some(item);
        let fresh = then.is_empty();
        self.frames.push(Frame { sleep, foreign, tree: then, fresh, current: None });
    }

    /// Comes back to the last point: what was run from there has been seen.
    fn back(&mut self) {
        let Some(frame) = self.frames.last_mut() else { return };
        self.run.pop();
        frame.sleep.extend(frame.current.take());
        self.subject.back_to(self.frames.len() - 1);
    }

    /// Finds what could have come in another order, and says where it is to be run. Pairs of steps that an earlier run has too were looked
    /// at then.
    fn look_back(&mut self, first_new: usize) {
        let mut reversals = self.run.reversals(self.subject, first_new);
        reversals.extend(self.run.reversals_of_pending(self.subject));
        for Reversal { step, sequence } in reversals.into_iter().filter(|one| one.step >= self.first) {
            let frame = &mut self.frames[step];
            let is_known =
                |known: fn(&Item, &[Item]) -> bool| frame.sleep.iter().any(|item| known(item, &sequence));
            if frame.foreign.iter().any(|item| is_first(item, &sequence)) {
                continue;
            }
            match self.reduction {
                Reduction::Optimal if !is_known(can_come_first) => frame.tree.insert(sequence),
                Reduction::Source if !is_known(is_first) => frame.tree.insert_first(&sequence),
                _ => {}
            }
        }
    }
}
