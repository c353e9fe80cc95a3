//! What strategies mean: the state of a strategy during one run.
//!
//! A subject asks [`Scheduler::pick`] before every event, with all threads that can go on, and
//! [`Scheduler::wake`] when a signal has several waiters. One that is too fast to ask before every event asks for whole
//! turns ([`Scheduler::turn`]). The draws come from SplitMix64 (Steele, Lea, Flood, OOPSLA
//! 2014), written out here because a seed must mean the same schedule in every version.

use crate::turn::LONGEST_RANDOM_TURN;
use crate::{Choice, Schedule, Segment, Strategy, ThreadId};
use ir::SiteId;
use serde::{Deserialize, Serialize};

/// A thread that can go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ready {
    /// Which.
    pub thread: ThreadId,
    /// The instruction of its next event.
    pub site: SiteId,
    /// Whether another thread could notice that event.
    pub visible: bool,
    /// 0, unless it can go on only because a wait that nobody signalled may end (by expiry or without a reason), or because
    /// it would rather let others go. Strategies take it only when nobody less reluctant can go on.
    pub reluctance: u64,
}

/// The first difference between a run and the schedule that it was to follow.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Departure {
    /// The thread whose turn it was could not go on.
    NotEnabled {
        /// Index of the segment.
        segment: usize,
        /// Whose turn it was.
        thread: ThreadId,
        /// Which of its events was to be reached.
        until: u64,
        /// Which of its events was the last.
        done: u64,
    },
    /// The thread reached its event, but at another instruction.
    OtherInstruction {
        /// Index of the segment.
        segment: usize,
        /// Whose event.
        thread: ThreadId,
        /// Which.
        n: u64,
        /// The instruction in the schedule.
        expected: SiteId,
        /// The instruction in the run.
        found: SiteId,
    },
    /// The schedule has come to its end, but not all of its choices.
    UnusedChoice {
        /// Index of the choice.
        choice: usize,
    },
    /// The next choice of the schedule does not fit.
    OtherChoice {
        /// Index of the choice.
        choice: usize,
        /// What the schedule has there, if anything.
        expected: Option<Choice>,
    },
}

impl Departure {
    /// What happened, with the threads' names.
    #[must_use]
    pub fn words(&self, name: &dyn Fn(ThreadId) -> String) -> String {
        match self {
            Departure::NotEnabled { segment, thread, until, done } => format!(
                "step {}: {} was to run until its event {until}, but could not go on after event {done}",
                segment + 1,
                name(*thread)
            ),
            Departure::OtherInstruction { segment, thread, n, expected, found } => format!(
                "step {}: event {n} of {} was to be instruction {}, but is {}",
                segment + 1,
                name(*thread),
                expected.0,
                found.0
            ),
            Departure::OtherChoice { choice, expected: Some(expected) } => {
                let what = match expected {
                    Choice::Wake(thread) => format!("to wake {}", name(*thread)),
                    Choice::Expire => "that a wait expires".to_owned(),
                    Choice::Spurious => "that a wait ends without a reason".to_owned(),
                };
                format!("its choice {}, {what}, is not possible here", choice + 1)
            }
            Departure::OtherChoice { choice, expected: None } => {
                format!("the run needs a choice {} that the schedule does not have", choice + 1)
            }
            Departure::UnusedChoice { choice } => {
                format!("its choice {} was never asked for", choice + 1)
            }
        }
    }
}

/// The state of a strategy during one run.
#[derive(Clone, Debug)]
pub struct Scheduler {
    pub(crate) policy: Policy,
    /// Following ends for good at the schedule's end or at the first difference.
    pub(crate) follow: Option<Follow>,
    pub(crate) departure: Option<Departure>,
    pub(crate) current: Option<ThreadId>,
}

#[derive(Clone, Debug)]
pub(crate) enum Policy {
    /// `tired`: the running thread has had its turn to the end without blocking.
    RunToBlock {
        tired: bool,
    },
    RoundRobin {
        quantum: u32,
        left: u32,
    },
    /// `longest`: turns have at most two to the power of this many events.
    Random {
        random: SplitMix64,
        longest: u64,
    },
    Pct {
        random: SplitMix64,
        priorities: Vec<(ThreadId, u64)>,
        changes: Vec<u64>,
        visible_events: u64,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Follow {
    pub(crate) schedule: Schedule,
    pub(crate) segment: usize,
    pub(crate) choice: usize,
    pub(crate) done: Vec<(ThreadId, u64)>,
}

impl Scheduler {
    /// The state before a run.
    #[must_use]
    pub fn new(strategy: &Strategy) -> Scheduler {
        let (policy, follow) = match strategy {
            Strategy::Follow { schedule, then } => {
                let inner = Scheduler::new(then);
                (
                    inner.policy,
                    Some(Follow { schedule: schedule.clone(), segment: 0, choice: 0, done: vec![] }),
                )
            }
            Strategy::RunToBlock => (Policy::RunToBlock { tired: false }, None),
            Strategy::RoundRobin { quantum } => {
                (Policy::RoundRobin { quantum: (*quantum).max(1), left: (*quantum).max(1) }, None)
            }
            Strategy::Random { seed } => {
                // Not drawn from `random`: whoever is asked event by event has nothing of it.
                let mut bound = SplitMix64(!*seed);
                let mut draw = || bound.below(LONGEST_RANDOM_TURN + 1);
                let longest = draw().min(draw());
                (Policy::Random { random: SplitMix64(*seed), longest }, None)
            }
            Strategy::Pct { seed, depth, length } => {
                let mut random = SplitMix64(*seed);
                let mut changes: Vec<u64> = (1..*depth).map(|_| 1 + random.below((*length).max(1))).collect();
                changes.sort_unstable();
                (Policy::Pct { random, priorities: vec![], changes, visible_events: 0 }, None)
            }
        };
        Scheduler { policy, follow, departure: None, current: None }
    }

    /// The first difference from the schedule that was to be followed, if there was one.
    #[must_use]
    pub fn departure(&self) -> Option<&Departure> {
        self.departure.as_ref()
    }

    /// Whether there is more to follow of a schedule.
    #[must_use]
    pub fn is_following(&self) -> bool {
        self.follow.as_ref().is_some_and(|follow| {
            let left = follow.schedule.segments.get(follow.segment..).unwrap_or_default();
            left.iter().any(|segment| follow.done(segment.thread) < segment.until)
        })
    }

    /// Who runs next; `ready` is not empty and ordered by thread.
    pub fn pick(&mut self, ready: &[Ready]) -> ThreadId {
        let picked = match self.pick_followed(ready) {
            Some(thread) => thread,
            None => self.pick_by_policy(ready),
        };
        self.current = Some(picked);
        picked
    }

    /// Whom a signal wakes; `waiters` has at least two entries and is ordered by thread.
    pub fn wake(&mut self, waiters: &[ThreadId]) -> ThreadId {
        let fits = |choice| matches!(choice, Choice::Wake(thread) if waiters.contains(&thread));
        if let Some(Choice::Wake(thread)) = self.next_choice(fits) {
            return thread;
        }
        match &mut self.policy {
            Policy::Random { random, .. } | Policy::Pct { random, .. } => {
                waiters[random.below(waiters.len() as u64) as usize]
            }
            _ => waiters[0],
        }
    }

    /// How a wait ends that nobody signalled; `possible` is not empty.
    pub fn end_unsignalled(&mut self, possible: &[Choice]) -> Choice {
        self.next_choice(|choice| possible.contains(&choice)).unwrap_or(possible[0])
    }

    fn next_choice(&mut self, fits: impl Fn(Choice) -> bool) -> Option<Choice> {
        let follow = self.follow.as_mut()?;
        let next = follow.schedule.choices.get(follow.choice).copied();
        if let Some(choice) = next
            && fits(choice)
        {
            follow.choice += 1;
            return Some(choice);
        }
        let departure = Departure::OtherChoice { choice: follow.choice, expected: next };
        self.depart(departure);
        None
    }

    pub(crate) fn depart(&mut self, departure: Departure) {
        self.departure = Some(departure);
        self.follow = None;
    }

    fn pick_followed(&mut self, ready: &[Ready]) -> Option<ThreadId> {
        let (index, segment, next) = self.followed(ready)?;
        let follow = self.follow.as_mut()?;
        let thread = segment.thread;
        if let Some(expected) = segment.site
            && follow.done(thread) + 1 == segment.until
            && next.site != expected
        {
            let (n, found) = (segment.until, next.site);
            self.depart(Departure::OtherInstruction { segment: index, thread, n, expected, found });
            return None;
        }
        follow.count(thread, 1);
        Some(thread)
    }

    /// The segment that is to be followed now, with its number and its thread; `None` when following is over.
    pub(crate) fn followed(&mut self, ready: &[Ready]) -> Option<(usize, Segment, Ready)> {
        let follow = self.follow.as_mut()?;
        let (index, segment) = loop {
            let Some(&segment) = follow.schedule.segments.get(follow.segment) else {
                let choice = follow.choice;
                if choice < follow.schedule.choices.len() {
                    self.departure = Some(Departure::UnusedChoice { choice });
                }
                self.follow = None;
                return None;
            };
            if follow.done(segment.thread) < segment.until {
                break (follow.segment, segment);
            }
            follow.segment += 1;
        };
        let thread = segment.thread;
        let Some(next) = ready.iter().find(|ready| ready.thread == thread) else {
            let done = follow.done(thread);
            self.depart(Departure::NotEnabled { segment: index, thread, until: segment.until, done });
            return None;
        };
        Some((index, segment, *next))
    }

    fn pick_by_policy(&mut self, ready: &[Ready]) -> ThreadId {
        let current = self.current.and_then(|thread| ready.iter().find(|ready| ready.thread == thread));
        // No other thread can notice the next event: a switch before it changes nothing.
        if let Some(current) = current
            && !current.visible
        {
            return current.thread;
        }
        let willing = willing(ready);
        let current = current.map(|ready| ready.thread).filter(|thread| willing.contains(thread));
        match &mut self.policy {
            Policy::RunToBlock { .. } => current.unwrap_or(willing[0]),
            Policy::RoundRobin { quantum, left } => {
                if let Some(current) = current
                    && *left > 0
                {
                    *left -= 1;
                    return current;
                }
                *left = *quantum - 1;
                next_after(self.current, &willing)
            }
            Policy::Random { random, .. } => willing[random.below(willing.len() as u64) as usize],
            Policy::Pct { random, priorities, changes, visible_events } => {
                draw_priorities(random, priorities, changes.len(), &willing);
                *visible_events += 1;
                while let Some(at) = changes.iter().position(|&at| at == *visible_events) {
                    changes[at] = 0;
                    let running = highest(priorities, &willing);
                    if let Some(entry) = priorities.iter_mut().find(|(thread, _)| *thread == running) {
                        entry.1 = (changes.len() - at) as u64;
                    }
                }
                highest(priorities, &willing)
            }
        }
    }
}

/// The threads that are least reluctant to go on.
pub(crate) fn willing(ready: &[Ready]) -> Vec<ThreadId> {
    let least = ready.iter().map(|ready| ready.reluctance).min();
    ready.iter().filter(|ready| Some(ready.reluctance) == least).map(|ready| ready.thread).collect()
}

/// Whose turn it is after `current`; `willing` is not empty.
pub(crate) fn next_after(current: Option<ThreadId>, willing: &[ThreadId]) -> ThreadId {
    let next = current.and_then(|current| willing.iter().copied().find(|&thread| thread > current));
    next.unwrap_or(willing[0])
}

/// Gives the threads that have no priority yet one, above all those that change points give: these are below `changes`.
pub(crate) fn draw_priorities(
    random: &mut SplitMix64,
    priorities: &mut Vec<(ThreadId, u64)>,
    changes: usize,
    willing: &[ThreadId],
) {
    for &thread in willing {
        if !priorities.iter().any(|&(known, _)| known == thread) {
            priorities.push((thread, changes as u64 + 1 + (random.next() >> 8)));
        }
    }
}

/// The thread with the highest priority; `willing` is not empty.
pub(crate) fn highest(priorities: &[(ThreadId, u64)], willing: &[ThreadId]) -> ThreadId {
    let known = priorities.iter().filter(|(thread, _)| willing.contains(thread));
    known.max_by_key(|&&(_, priority)| priority).map_or(willing[0], |&(thread, _)| thread)
}

impl Follow {
    /// How many events a thread has done. Following starts with the run, so counting them is enough.
    pub(crate) fn done(&self, thread: ThreadId) -> u64 {
        self.done.iter().find(|(known, _)| *known == thread).map_or(0, |&(_, done)| done)
    }

    pub(crate) fn count(&mut self, thread: ThreadId, events: u64) {
        match self.done.iter_mut().find(|(known, _)| *known == thread) {
            Some((_, done)) => *done += events,
            None => self.done.push((thread, events)),
        }
    }
}

/// Numbers that look drawn, the same for the same seed everywhere.
#[derive(Clone, Debug)]
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not 0; the bias of at most `bound / 2^64` does no harm here.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(n: u64) -> ThreadId {
        ThreadId::MAIN.child(n).unwrap()
    }

    /// Threads that can always go on, each standing at the instruction with its number.
    fn ready(threads: &[u64]) -> Vec<Ready> {
        let one =
            |&n: &u64| Ready { thread: thread(n), site: SiteId(n as u32), visible: true, reluctance: 0 };
        threads.iter().map(one).collect()
    }

    fn picks(strategy: &Strategy, ready: &[Ready], count: usize) -> Vec<ThreadId> {
        let mut scheduler = Scheduler::new(strategy);
        (0..count).map(|_| scheduler.pick(ready)).collect()
    }

    #[test]
    fn run_to_block_stays_until_the_thread_cannot_go_on() {
        let mut scheduler = Scheduler::new(&Strategy::RunToBlock);
        assert_eq!(scheduler.pick(&ready(&[1, 2])), thread(1));
        assert_eq!(scheduler.pick(&ready(&[0, 1, 2])), thread(1));
        assert_eq!(scheduler.pick(&ready(&[0, 2])), thread(0));
    }

    #[test]
    fn round_robin_gives_each_its_turn() {
        let strategy = Strategy::RoundRobin { quantum: 2 };
        let expected = [0, 0, 1, 1, 2, 2, 0, 0].map(thread);
        assert_eq!(picks(&strategy, &ready(&[0, 1, 2]), 8), expected);
    }

    #[test]
    fn random_depends_on_the_seed_alone_and_takes_everybody() {
        let of = |seed| picks(&Strategy::Random { seed }, &ready(&[0, 1, 2]), 60);
        assert_eq!(of(7), of(7));
        assert_ne!(of(7), of(8));
        assert!((0..3).all(|n| of(7).contains(&thread(n))));
    }

    #[test]
    fn pct_changes_thread_at_most_once_per_level_of_depth() {
        for seed in 0..200 {
            for depth in 1..5 {
                let picks = picks(&Strategy::Pct { seed, depth, length: 30 }, &ready(&[0, 1, 2]), 30);
                let changes = picks.windows(2).filter(|pair| pair[0] != pair[1]).count();
                assert!(changes < depth as usize, "{changes} changes at depth {depth}");
            }
        }
        let first: std::collections::BTreeSet<_> = (0..50)
            .map(|seed| picks(&Strategy::Pct { seed, depth: 1, length: 1 }, &ready(&[0, 1, 2]), 1)[0])
            .collect();
        assert_eq!(first.len(), 3, "priorities are drawn");
    }

    #[test]
    fn nobody_switches_before_an_invisible_event_or_to_a_reluctant_thread() {
        let mut both = ready(&[0, 1]);
        both[0].visible = false;
        let mut scheduler = Scheduler::new(&Strategy::Random { seed: 3 });
        while scheduler.pick(&ready(&[0, 1])) != thread(0) {}
        assert!((0..20).all(|_| scheduler.pick(&both) == thread(0)));
        both[0] = Ready { visible: true, reluctance: 1, ..both[0] };
        assert!((0..20).all(|_| scheduler.pick(&both) == thread(1)));
        assert_eq!(scheduler.pick(&both[..1]), thread(0), "but it goes on when nobody else can");
    }

    #[test]
    fn following_reports_the_first_difference_and_goes_on() {
        let follow = |segments: Vec<Segment>, choices: Vec<Choice>| {
            Scheduler::new(&Strategy::follow(Schedule { segments, choices, ..Schedule::default() }))
        };
        let segment = |n, until, site| Segment { thread: thread(n), until, site };
        let mut fine = follow(vec![segment(1, 2, Some(SiteId(1))), segment(0, 1, None)], vec![]);
        let picked: Vec<_> = (0..4).map(|_| fine.pick(&ready(&[0, 1]))).collect();
        assert_eq!(picked, [1, 1, 0, 0].map(thread));
        assert_eq!(fine.departure(), None);

        let mut blocked = follow(vec![segment(2, 1, None)], vec![]);
        assert_eq!(blocked.pick(&ready(&[0, 1])), thread(0));
        let departure = Departure::NotEnabled { segment: 0, thread: thread(2), until: 1, done: 0 };
        assert_eq!(blocked.departure(), Some(&departure));

        let mut elsewhere = follow(vec![segment(1, 1, Some(SiteId(9)))], vec![]);
        elsewhere.pick(&ready(&[0, 1]));
        assert!(matches!(elsewhere.departure(), Some(Departure::OtherInstruction { n: 1, .. })));

        let mut choosing = follow(vec![segment(0, 9, None)], vec![Choice::Wake(thread(2)), Choice::Expire]);
        assert_eq!(choosing.wake(&[thread(1), thread(2)]), thread(2));
        assert_eq!(choosing.wake(&[thread(1), thread(2)]), thread(1));
        let departure = Departure::OtherChoice { choice: 1, expected: Some(Choice::Expire) };
        assert_eq!(choosing.departure(), Some(&departure));
    }
}
