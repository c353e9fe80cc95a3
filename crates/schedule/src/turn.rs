//! Turns: strategies for subjects that run too fast to be asked before every event.
//!
//! A compiled program does hundreds of millions of events a second. It asks who runs next and for how many events at most,
//! lets that thread run, and tells how far it came: to the end of its turn, or to where it could not go on. Following a
//! schedule means the same as event by event. The other strategies mean the same in spirit, not draw by draw: every
//! event counts here, since which ones others could notice is known only after the run.

use crate::scheduler::{Policy, Ready, Scheduler, draw_priorities, highest, next_after, willing};
use crate::{Departure, ThreadId};
use ir::SiteId;

/// A thread that runs to block gets so many events before others have their turn all the same: it may be spinning.
const PATIENCE: u64 = 1 << 18;

/// Turns of random length have at most two to the power of this many events. Each seed has its own bound below it, rather
/// small than large, so that some runs switch all the time and others seldom; within a run short turns are as frequent as long ones.
pub(crate) const LONGEST_RANDOM_TURN: u64 = 12;

/// Who runs next, and for how long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Turn {
    /// Who.
    pub thread: ThreadId,
    /// For how many events at most; at least one.
    pub events: u64,
}

impl Scheduler {
    /// Whose turn it is; `ready` is not empty and ordered by thread. [`Scheduler::ran`] must tell what came of it before
    /// the next question.
    pub fn turn(&mut self, ready: &[Ready]) -> Turn {
        let turn = match self.followed(ready) {
            Some((_, segment, _)) => {
                let done = self.follow.as_ref().map_or(0, |follow| follow.done(segment.thread));
                Turn { thread: segment.thread, events: segment.until - done }
            }
            None => self.turn_by_policy(ready),
        };
        self.current = Some(turn.thread);
        turn
    }

    /// The thread whose turn it was did so many events, the last one at `last`, if that is known.
    pub fn ran(&mut self, events: u64, last: Option<SiteId>) {
        let Some(current) = self.current else { return };
        match &mut self.policy {
            Policy::RunToBlock { tired } => *tired = events >= PATIENCE,
            Policy::RoundRobin { left, .. } => {
                *left = left.saturating_sub(u32::try_from(events).unwrap_or(u32::MAX));
            }
            Policy::Random { .. } => {}
            Policy::Pct { priorities, changes, visible_events, .. } => {
                *visible_events += events;
                for at in 0..changes.len() {
                    if changes[at] != 0 && changes[at] <= *visible_events {
                        changes[at] = 0;
                        if let Some(entry) = priorities.iter_mut().find(|(thread, _)| *thread == current) {
                            entry.1 = (changes.len() - at) as u64;
                        }
                    }
                }
                // It may be spinning, for what somebody with a lower priority has to do.
                if events >= PATIENCE {
                    priorities.retain(|(thread, _)| *thread != current);
                    priorities.insert(0, (current, 0));
                }
            }
        }
        let Some(follow) = self.follow.as_mut() else { return };
        follow.count(current, events);
        let segment = follow.segment;
        let Some(followed) = follow.schedule.segments.get(segment) else { return };
        if followed.thread == current
            && follow.done(current) == followed.until
            && let (Some(expected), Some(found)) = (followed.site, last)
            && expected != found
        {
            let n = followed.until;
            self.depart(Departure::OtherInstruction { segment, thread: current, n, expected, found });
        }
    }

    /// The thread that the schedule wants to go on, if one is followed.
    #[must_use]
    pub fn wanted(&self) -> Option<ThreadId> {
        let follow = self.follow.as_ref()?;
        let left = follow.schedule.segments.get(follow.segment..)?;
        left.iter().find(|segment| follow.done(segment.thread) < segment.until).map(|segment| segment.thread)
    }

    fn turn_by_policy(&mut self, ready: &[Ready]) -> Turn {
        let willing = willing(ready);
        let current = self.current.filter(|thread| willing.contains(thread));
        match &mut self.policy {
            Policy::RunToBlock { tired } => {
                let thread = match (current, *tired) {
                    (Some(current), false) => current,
                    _ => next_after(self.current, &willing),
                };
                *tired = false;
                Turn { thread, events: PATIENCE }
            }
            Policy::RoundRobin { quantum, left } => {
                let thread = match current {
                    Some(current) if *left > 0 => current,
                    _ => {
                        *left = *quantum;
                        next_after(self.current, &willing)
                    }
                };
                Turn { thread, events: u64::from(*left) }
            }
            Policy::Random { random, longest } => {
                let thread = willing[random.below(willing.len() as u64) as usize];
                let longest = 1 << random.below(*longest + 1);
                Turn { thread, events: 1 + random.below(longest) }
            }
            Policy::Pct { random, priorities, changes, visible_events } => {
                draw_priorities(random, priorities, changes.len(), &willing);
                let thread = highest(priorities, &willing);
                let left = changes.iter().filter(|&&at| at > *visible_events).map(|at| at - *visible_events);
                Turn { thread, events: left.min().unwrap_or(PATIENCE) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Schedule, Segment, Strategy};

    fn thread(n: u64) -> ThreadId {
        ThreadId::MAIN.child(n).unwrap()
    }

    fn ready(threads: &[u64]) -> Vec<Ready> {
        let one = |&n: &u64| Ready { thread: thread(n), site: SiteId(0), visible: true, reluctance: 0 };
        threads.iter().map(one).collect()
    }

    #[test]
    fn following_gives_each_segment_as_one_turn_and_checks_its_last_site() {
        let segment = |n, until, site| Segment { thread: thread(n), until, site };
        let segments =
            vec![segment(0, 5, Some(SiteId(9))), segment(1, 2, None), segment(0, 7, Some(SiteId(8)))];
        let mut scheduler = Scheduler::new(&Strategy::follow(Schedule { segments, ..Schedule::default() }));
        let both = ready(&[0, 1]);
        assert_eq!(scheduler.wanted(), Some(thread(0)));
        assert_eq!(scheduler.turn(&both), Turn { thread: thread(0), events: 5 });
        scheduler.ran(3, Some(SiteId(1)));
        assert_eq!(
            scheduler.turn(&both),
            Turn { thread: thread(0), events: 2 },
            "it goes on where it stopped"
        );
        scheduler.ran(2, Some(SiteId(9)));
        assert_eq!(scheduler.wanted(), Some(thread(1)), "the first segment is done");
        assert_eq!(scheduler.turn(&both), Turn { thread: thread(1), events: 2 });
        scheduler.ran(2, None);
        scheduler.turn(&both);
        assert_eq!(scheduler.departure(), None);
        scheduler.ran(2, Some(SiteId(4)));
        let expected = Departure::OtherInstruction {
            segment: 2,
            thread: thread(0),
            n: 7,
            expected: SiteId(8),
            found: SiteId(4),
        };
        assert_eq!(scheduler.departure(), Some(&expected));
    }

    #[test]
    fn a_thread_that_never_blocks_lets_others_go_in_the_end() {
        let mut scheduler = Scheduler::new(&Strategy::RunToBlock);
        let both = ready(&[0, 1]);
        let first = scheduler.turn(&both);
        scheduler.ran(10, None);
        assert_eq!(scheduler.turn(&both).thread, first.thread);
        scheduler.ran(first.events, None);
        assert_ne!(scheduler.turn(&both).thread, first.thread);
    }

    #[test]
    fn round_robin_takes_the_rest_of_its_turn_after_an_interruption() {
        let mut scheduler = Scheduler::new(&Strategy::RoundRobin { quantum: 4 });
        let both = ready(&[0, 1]);
        assert_eq!(scheduler.turn(&both), Turn { thread: thread(0), events: 4 });
        scheduler.ran(3, None);
        assert_eq!(scheduler.turn(&both), Turn { thread: thread(0), events: 1 });
        scheduler.ran(1, None);
        assert_eq!(scheduler.turn(&both), Turn { thread: thread(1), events: 4 });
    }

    #[test]
    fn pct_ends_a_turn_at_its_change_points_and_lowers_the_running_thread() {
        let mut scheduler = Scheduler::new(&Strategy::Pct { seed: 5, depth: 2, length: 100 });
        let both = ready(&[0, 1]);
        let first = scheduler.turn(&both);
        assert!(first.events <= 100);
        scheduler.ran(first.events, None);
        let second = scheduler.turn(&both);
        assert_ne!(second.thread, first.thread);
        scheduler.ran(second.events - 1, None);
        assert_eq!(scheduler.turn(&both).thread, second.thread, "there is one change point only");
    }

    #[test]
    fn pct_lets_everybody_go_before_threads_that_never_block() {
        let mut scheduler = Scheduler::new(&Strategy::Pct { seed: 5, depth: 1, length: 100 });
        let all = ready(&[0, 1, 2]);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..6 {
            let turn = scheduler.turn(&all);
            seen.insert(turn.thread);
            scheduler.ran(turn.events, None);
        }
        assert_eq!(seen.len(), 3);
    }

    #[test]
    fn random_turns_are_short_and_long_and_everybody_has_some() {
        let mut longest = std::collections::BTreeSet::new();
        for seed in 0..100 {
            let mut scheduler = Scheduler::new(&Strategy::Random { seed });
            let turns: Vec<Turn> = (0..200).map(|_| scheduler.turn(&ready(&[0, 1, 2]))).collect();
            assert!((0..3).all(|n| turns.iter().any(|turn| turn.thread == thread(n))));
            assert!(turns.iter().any(|turn| turn.events == 1));
            longest.extend(turns.iter().map(|turn| turn.events.ilog2()).max());
        }
        assert!(longest.contains(&0) && longest.iter().any(|&power| power > 8), "{longest:?}");
    }
}
