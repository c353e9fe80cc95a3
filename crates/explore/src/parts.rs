//! A search divided into parts: many workers can do them, in any order, and what is done need not be done again.
//!
//! A part is all that begins with the same steps. At the points that lie in such a beginning every way on is a part of its own, so that nothing has to
//! be added there later, as a search otherwise does when it looks back; what another part stands for sleeps. So no two complete runs are equivalent,
//! as in one search, and which parts there are depends on the program alone, not on who does them.

use crate::dpor::{self, Limits, Reduction, Statistics};
use crate::tree::Item;
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use subject::{Footprint, Move, Steps};

/// Points with one way on make parts longer and not more; after so many for each part that is wanted it is enough.
const MOST_POINTS: usize = 16;

/// A part of a search: all runs that begin with these steps, but for those that another part stands for.
#[derive(Clone, Debug, Default)]
pub struct Part {
    steps: Vec<Move>,
    sleep: Vec<(Move, Footprint)>,
}

/// Divides a search into about so many parts, in the order in which one search would come to them. The subject is at its beginning.
pub fn parts<S: Steps>(subject: &mut S, wanted: usize) -> Vec<Part> {
    // With whether it may be divided.
    let mut parts = vec![(Part::default(), true)];
    for _ in 0..wanted.saturating_mul(MOST_POINTS) {
        let open = parts.iter().enumerate().filter(|(_, (_, open))| *open);
        let Some(at) = open.min_by_key(|(_, (part, _))| part.steps.len()).map(|(at, _)| at) else { break };
        if parts.len() >= wanted {
            break;
        }
        match divide(subject, &parts[at].0) {
            None => parts[at].1 = false,
            Some(divided) => _ = parts.splice(at..=at, divided.into_iter().map(|part| (part, true))),
        }
        subject.back_to(0);
    }
    parts.into_iter().map(|(part, _)| part).collect()
}

/// The parts of a part, by its next step; `None` if it has none.
fn divide<S: Steps>(subject: &mut S, part: &Part) -> Option<Vec<Part>> {
    subject.expect(part.steps.clone());
    part.steps.iter().for_each(|&made| _ = subject.make(made));
    let moves = subject.moves();
    if moves.is_empty() {
        return None;
    }
    let mut asleep: Vec<Item> = part.sleep.iter().map(item).collect();
    let mut parts = vec![];
    for made in moves {
        if asleep.iter().any(|item| item.made == made) {
            continue;
        }
        let step = Item { made, footprint: Rc::new(subject.make(made)) };
        subject.back_to(part.steps.len());
        let sleep = asleep.iter().filter(|asleep| !asleep.conflicts(&step));
        let sleep = sleep.map(|item| (item.made, (*item.footprint).clone())).collect();
        let steps = part.steps.iter().copied().chain([made]).collect();
        parts.push(Part { steps, sleep });
        asleep.push(step);
    }
    Some(parts)
}

fn item((made, footprint): &(Move, Footprint)) -> Item {
    Item { made: *made, footprint: Rc::new(footprint.clone()) }
}

/// Does one part of a search, as [`dpor::search`] does all of it. The subject is at its beginning.
pub fn search_part<S: Steps>(
    subject: &mut S,
    part: &Part,
    reduction: Reduction,
    limits: Limits,
    progress: &mut dyn FnMut(&S, &Statistics) -> bool,
) -> Statistics {
    let foreign = part.sleep.iter().map(item).collect();
    dpor::search_behind(subject, &part.steps, foreign, reduction, limits, progress)
}

/// Does all work, by so many workers, each of whom takes the next that nobody has. `done` is told of what is done. The results are in the order of
/// the work.
pub fn by_workers<T: Send>(
    work: usize,
    workers: usize,
    one: &(impl Fn(usize) -> T + Sync),
    done: &mut (dyn FnMut(usize, &T) + Send),
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let results: Mutex<(Vec<Option<T>>, _)> = Mutex::new(((0..work).map(|_| None).collect(), done));
    std::thread::scope(|scope| {
        for _ in 0..workers.clamp(1, work.max(1)) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= work {
                        break;
                    }
                    let result = one(at);
                    // A worker that panics takes all others along.
                    let mut results = results.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    (results.1)(at, &result);
                    results.0[at] = Some(result);
                }
            });
        }
    });
    let (results, _) = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    results.into_iter().flatten().collect()
}
