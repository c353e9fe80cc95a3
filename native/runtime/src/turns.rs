//! Turns: who runs next, for how long, and what the time is meanwhile.
//!
//! All threads that can go on are put before the scheduler. If none can, the time goes on to what ends a wait by itself, the world
//! outside is waited for, or the run ends in a deadlock.

use crate::runtime::Runtime;
use crate::thread::Life;
use crate::want::{Readiness, Want};
use crate::{io, page, sys};
use abi::Note;
use abi::note::End;
use ir::SiteId;
use schedule::{Choice, Ready};

/// An event of a thread that runs takes so many nanoseconds of virtual time: a thread that waits for the time while others spin
/// gets its turn.
const EVENT_TIME: u64 = 10;

/// After so many turns in which all only let each other go first, the time goes on to the next deadline.
const IDLE_TURNS: u32 = 64;

/// Timers go off so often in a row without letting anybody go on before that counts as a deadlock.
const TIMERS_IN_VAIN: u32 = 1000;

/// A thread that must not be preempted is asked again after so many events.
const UNWILLING_EVENTS: u64 = 1 << 12;

impl Runtime {
    /// The events that are left of the running thread's turn.
    #[inline]
    pub fn turn_left(&self) -> u64 {
        self.turn.saturating_sub(self.done() - self.turn_from)
    }

    /// Makes instrumented code ask at the end of the turn.
    pub fn ask(&self) {
        if self.over {
            return page::ask_after(u64::MAX);
        }
        let thread = &self.threads[self.current];
        let mut events = self.turn_left();
        if events == 0 && thread.unwilling > 0 {
            events = UNWILLING_EVENTS;
        }
        if let Some((code, n)) = self.plan.stop_at
            && thread.id.code() == code
        {
            events = events.min(n.saturating_sub(self.done() + 1));
        }
        page::ask_after(events);
    }

    /// Stops for a debugger if the event is next at which it wants to.
    pub fn stop_for_debugger(&mut self) {
        if let Some((code, n)) = self.plan.stop_at
            && self.threads[self.current].id.code() == code
            && self.done() + 1 >= n
        {
            self.plan.stop_at = None;
            sys::say("threadbare: the next event is the one to stop at\n");
            sys::kill_self(libc::SIGTRAP);
        }
    }

    /// The threads that can go on, ordered by their names.
    pub fn ready(&self) -> Vec<Ready> {
        let mut ready = Vec::with_capacity(self.threads.len());
        for (number, thread) in self.threads.iter().enumerate() {
            let reluctance = match self.readiness(number) {
                Readiness::Blocked => continue,
                Readiness::Ready => 0,
                Readiness::Reluctant(reluctance) => reluctance,
            };
            ready.push(Ready { thread: thread.id, site: SiteId(thread.site), visible: true, reluctance });
        }
        ready.sort_unstable_by_key(|ready| ready.thread);
        ready
    }

    /// Who runs next. Ends the process if nobody can.
    pub fn choose(&mut self) -> usize {
        self.settle();
        let used = self.done() - self.turn_from;
        self.clock.reach(self.clock.now() + used * EVENT_TIME);
        let last = (self.last_site != 0).then_some(SiteId(self.last_site));
        self.scheduler.ran(used, last);
        self.choices += 1;
        let mut in_vain = 0;
        let ready = loop {
            self.fire_timers();
            self.look_around();
            let ready = self.ready();
            let idle = ready.iter().all(|ready| ready.reluctance > 1);
            if idle && self.wait_outside(ready.is_empty() && self.next_timer().is_none()) {
                continue;
            }
            if idle && in_vain < TIMERS_IN_VAIN && self.pass_time_to_timer(&ready) {
                in_vain += 1;
                continue;
            }
            if ready.is_empty() {
                self.deadlock();
            }
            if !self.pass_idle_time(&ready) {
                break ready;
            }
        };
        let turn = self.scheduler.turn(&ready);
        self.tell_departure();
        // The scheduler answers with one of those that it was given.
        let next = self.threads.iter().rposition(|thread| thread.id == turn.thread).unwrap_or(self.current);
        self.settle_unsignalled(next);
        if next != self.current {
            // Whoever let others go first has done so now: of two threads that yield to each other each gets its turn.
            let me = self.current;
            if matches!(self.threads[me].want, Want::Others) {
                self.threads[me].want = Want::Nothing;
            }
            let enabled = ready.iter().map(|ready| ready.thread.code()).collect();
            let (to, done) = (turn.thread.code(), self.threads[next].done);
            self.note(&Note::Switch { to, done, enabled });
            // The note has the number of the thread that ran so far, and is not to be looked at with units of the next.
            self.settle();
        }
        self.turn = turn.events;
        self.turn_from = self.threads[next].done;
        next
    }

    /// Looks whether calls would not block any more, as often as is right.
    fn look_around(&mut self) {
        self.look(self.choices.is_multiple_of(io::SELDOM));
        if self.choices.is_multiple_of(io::SOMETIMES) {
            self.changed();
        }
        self.wait_for_followed();
    }

    /// If the next thing that happens by itself is that a timer goes off, it is the time for that.
    fn pass_time_to_timer(&mut self, ready: &[Ready]) -> bool {
        let deadlines = ready.iter().map(|ready| ready.reluctance.saturating_sub(2));
        let Some(at) = self.next_timer() else { return false };
        if deadlines.min().is_some_and(|deadline| deadline < at) {
            return false;
        }
        self.clock.reach(at);
        true
    }

    /// While all who can go on only let each other go first, the time goes on, in the end to the next deadline. True if that
    /// changed who can go on.
    fn pass_idle_time(&mut self, ready: &[Ready]) -> bool {
        if ready.iter().any(|ready| ready.reluctance != 1) && ready.iter().any(|ready| ready.reluctance == 0)
        {
            self.idle_turns = 0;
            return false;
        }
        self.clock.tick();
        self.idle_turns += 1;
        let deadlines = self.threads.iter().filter(|thread| thread.life == Life::Alive);
        let next =
            deadlines.filter_map(|thread| thread.want.deadline()).filter(|&at| at > self.clock.now()).min();
        if self.idle_turns < IDLE_TURNS || ready.iter().all(|ready| ready.reluctance > 1) {
            return false;
        }
        self.idle_turns = 0;
        match next {
            Some(at) => {
                self.clock.reach(at);
                true
            }
            None => false,
        }
    }

    /// A thread goes on though it has not what it wants: it is a choice of the schedule why.
    fn settle_unsignalled(&mut self, next: usize) {
        let want = self.threads[next].want.clone();
        let due = self.threads[next].signals.due;
        if self.has_what_it_wants(next) || self.is_cancelled(next) || due || matches!(want, Want::Others) {
            return;
        }
        let deadline = want.deadline();
        if !matches!(want, Want::Time(_)) {
            let mut possible = vec![];
            possible.extend(deadline.map(|_| Choice::Expire));
            possible
                .extend((self.plan.spurious && matches!(want, Want::Signal(..))).then_some(Choice::Spurious));
            if possible.is_empty() {
                return;
            }
            let choice = self.scheduler.end_unsignalled(&possible);
            let (wake, choice) = match choice {
                Choice::Spurious => (abi::note::Wake::Spurious, abi::note::Choice::Spurious),
                _ => (abi::note::Wake::Expired, abi::note::Choice::Expire),
            };
            self.note(&Note::Choice(choice));
            self.threads[next].expired = true;
            self.threads[next].wake = matches!(want, Want::Signal(..) | Want::Word(..)).then_some(wake);
            if wake == abi::note::Wake::Spurious {
                return;
            }
        }
        if let Some(deadline) = deadline {
            self.clock.reach(deadline);
        }
    }

    /// Tells, once, that the run departed from the schedule that it was to follow.
    pub fn tell_departure(&mut self) {
        if let Some(departure) = self.scheduler.departure()
            && !self.departed
        {
            self.departed = true;
            let bytes = postcard::to_stdvec(departure).unwrap_or_default();
            self.note(&Note::Departure(bytes));
        }
    }

    fn deadlock(&mut self) -> ! {
        let alive = (0..self.threads.len()).filter(|&number| self.threads[number].life == Life::Alive);
        let blocked = alive.map(|number| {
            let thread = &self.threads[number];
            (thread.id.code(), thread.site, self.waits_for(number))
        });
        let blocked = blocked.collect();
        self.end(End::Deadlock(blocked));
        sys::exit_group(70)
    }
}
