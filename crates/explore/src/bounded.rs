//! Search with a bound on context switches.
//!
//! Reduction by sleep sets or source sets does not go together with such a bound: the one run of a class that they leave may have more
//! switches than others of the class, and then nothing is left of it (Coons, Musuvathi, McKinley: Bounded partial-order reduction, OOPSLA 2013).
//! What is left out here never needs more switches. A step with which a thread goes on after others have run, and which conflicts with nothing
//! that they did meanwhile, could as well have been made before the thread was left: the same run with at most as many switches, whose steps lie in
//! earlier stretches. So of each run that keeps to the bound there is one that is gone through. It has the same states behind it, and the same
//! conflicting steps in the same order.

use crate::dpor::{Limits, Statistics};
use crate::tree::Item;
use std::rc::Rc;
use subject::{Move, Steps};
use trace::ThreadId;

/// A bound on context switches, as far as a run has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stretches {
    /// At most so many switches.
    most: u32,
    /// Who runs.
    last: Option<ThreadId>,
    /// How many switches there were.
    made: u32,
}

impl Stretches {
    /// Before the first step.
    pub fn new(most: u32) -> Stretches {
        Stretches { most, last: None, made: 0 }
    }

    /// After a step of a thread.
    pub fn after(self, thread: ThreadId) -> Stretches {
        let switches = self.last.is_some_and(|last| last != thread);
        Stretches { last: Some(thread), made: self.made.saturating_add(u32::from(switches)), ..self }
    }

    /// Whether a step of a thread keeps to the bound.
    pub fn allow(self, thread: ThreadId) -> bool {
        self.after(thread).made <= self.most
    }

    /// Whether the bound has been left behind.
    pub fn is_beyond(self) -> bool {
        self.made > self.most
    }
}

/// Whether a step that its thread makes after others have run could have been made before they did. `before` are the steps so far.
pub fn could_have_come_earlier<'i>(item: &Item, before: impl DoubleEndedIterator<Item = &'i Item>) -> bool {
    for (others, earlier) in before.rev().enumerate() {
        if earlier.made.thread == item.made.thread {
            return others > 0;
        }
        if earlier.footprint.conflicts(&item.footprint) {
            return false;
        }
    }
    false
}

/// A point of the present run.
struct Frame {
    stretches: Stretches,
    /// What is still to be run from here, the next one last.
    left: Vec<Move>,
}

/// Runs a subject under all schedules with at most `most` context switches, up to the order of independent steps, or until a limit is reached. `progress`
/// is told after every run, and says whether to go on. What would need more switches is counted in `Statistics::beyond`.
pub fn search_bounded<S: Steps>(
    subject: &mut S,
    most: u32,
    limits: Limits,
    progress: &mut dyn FnMut(&S, &Statistics) -> bool,
) -> Statistics {
    let mut statistics = Statistics::default();
    let mut made: Vec<Item> = vec![];
    let mut frames: Vec<Frame> = vec![];
    let mut entered = Some(Stretches::new(most));
    loop {
        if let Some(stretches) = entered.take() {
            subject.look();
            let all = subject.moves();
            let ways = all.len();
            let mut left: Vec<Move> =
                all.into_iter().filter(|made| stretches.allow(made.thread)).rev().collect();
            // Few switches make schedules that are easy to read.
            left.sort_by_key(|made| Some(made.thread) == stretches.last);
            statistics.beyond += (ways - left.len()) as u64;
            if left.is_empty() {
                statistics.runs += 1;
                if ways == 0 {
                    subject.complete();
                }
            } else if subject.steps() >= limits.steps {
                statistics.cut += 1;
                left.clear();
            }
            let is_end = left.is_empty();
            frames.push(Frame { stretches, left });
            if is_end && (!progress(subject, &statistics) || statistics.runs >= limits.runs) {
                statistics.stopped = frames.iter().any(|frame| !frame.left.is_empty());
                break;
            }
        }
        let Some(frame) = frames.last_mut() else { break };
        let Some(next) = frame.left.pop() else {
            frames.pop();
            if frames.is_empty() {
                break;
            }
            made.pop();
            subject.back_to(frames.len() - 1);
            continue;
        };
        let stretches = frame.stretches.after(next.thread);
        let item = Item { made: next, footprint: Rc::new(subject.make(next)) };
        statistics.steps += 1;
        if could_have_come_earlier(&item, made.iter()) {
            subject.back_to(frames.len() - 1);
            continue;
        }
        made.push(item);
        entered = Some(stretches);
    }
    statistics
}
