//! Subjects that can be walked step by step, and taken back to an earlier point of their run.

use crate::{Footprint, Schedule};
use trace::{BlockedThread, Choice, EventId, ThreadId};

/// One way on: a thread's next visible event, with the invisible ones behind it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Move {
    /// Who.
    pub thread: ThreadId,
    /// What settles the event, if it leaves something open.
    pub choice: Option<Choice>,
}

/// A run of a subject that is built step by step.
pub trait Steps {
    /// How many steps it has.
    fn steps(&self) -> usize;

    /// Takes back all steps but the first `steps`.
    fn back_to(&mut self, steps: usize);

    /// Every way on from here, ordered by thread; empty at the end of a run.
    fn moves(&self) -> Vec<Move>;

    /// Makes one of [`moves`](Steps::moves), and says what it touched.
    fn make(&mut self, made: Move) -> Footprint;

    /// Tells which moves will probably be made next, for a subject that can make several at once.
    fn expect(&mut self, _moves: Vec<Move>) {}

    /// The steps that will be made from now on are about those of a schedule.
    fn expect_about(&mut self, _schedule: Schedule) {}

    /// The last event of the last step.
    fn last(&self) -> Option<EventId>;

    /// Every way on of `thread`, with what it would touch, after the first `steps` steps and then `moves`; empty if one of these is not
    /// possible. The run stays as it is.
    fn ways_after(&self, steps: usize, moves: &[Move], thread: ThreadId) -> Vec<(Move, Footprint)>;

    /// `thread` can stand before step `step` of the run together with that step's own thread, after the first `step` steps and then
    /// `moves`: takes note of it if that is a race. The run stays as it is.
    fn meet(&mut self, step: usize, moves: &[Move], thread: ThreadId);

    /// Takes note of races between what threads stand before now.
    fn look(&mut self);

    /// The threads that something keeps from going on.
    fn blocked(&self) -> Vec<BlockedThread>;

    /// At the end of a run: what each thread that has not ended would do next if nothing kept it.
    fn pending(&self) -> Vec<(ThreadId, Footprint)>;

    /// The run has come to its end: takes note of what it has shown.
    fn complete(&mut self);
}
