//! The state of a run, and who runs next.
//!
//! One thread has the *baton*; all others sleep. Only its holder runs, so everything here is used by one thread at a time, without
//! locks or atomics. A thread that comes to a synchronisation function says what it wants ([`wait_for`]); if it has it, and
//! its turn is not over, it goes on at once. Otherwise the scheduler is asked, and the baton handed on.

use crate::clock::Clock;
use crate::log::Log;
use crate::page;
use crate::thread::{Life, Thread};
use crate::want::{Readiness, Want};
use crate::{io, sys};
use abi::note::{End, Step};
use abi::unit::Unit;
use abi::{Note, Plan};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicUsize, Ordering};
use ir::SiteId;
use subject::{Ready, Scheduler, Strategy};

/// An event of a thread that runs takes so many nanoseconds of virtual time: a thread that waits for the time while others spin
/// gets its turn.
const EVENT_TIME: u64 = 10;

/// After so many turns in which all only let each other go first, the time goes on to the next deadline.
const IDLE_TURNS: u32 = 64;

/// A thread that must not be preempted is asked again after so many events.
const UNWILLING_EVENTS: u64 = 1 << 12;

/// The state of the run.
pub struct Runtime {
    /// What the run is to do.
    pub plan: Plan<Strategy>,
    /// Who goes next.
    pub scheduler: Scheduler,
    /// All threads, by their numbers.
    pub threads: Vec<Box<Thread>>,
    /// The number of the one that has the baton.
    pub current: usize,
    /// The log.
    pub log: Log,
    /// The time.
    pub clock: Clock,
    /// The thread during whose block nobody else runs, and how many blocks are around it.
    pub exclusive: Option<(usize, u32)>,
    /// The run is over: nothing is scheduled and logged any more.
    pub over: bool,
    /// How often the baton was handed on.
    pub hand_overs: u64,
    /// Events of all threads, but for units that are not counted yet.
    total: u64,
    /// The events of the running thread's turn, and how many it had done before.
    turn: u64,
    turn_from: u64,
    last_site: u32,
    idle_turns: u32,
    departed: bool,
}

struct Global(UnsafeCell<Option<Runtime>>);

// SAFETY: only the baton's holder uses it, see `runtime`.
unsafe impl Sync for Global {}

static RUNTIME: Global = Global(UnsafeCell::new(None));

/// The thread pointer of the baton's holder; 0 without a plan.
static HOLDER: AtomicUsize = AtomicUsize::new(0);

/// Whether the caller has the baton. Without a plan nobody has it. Threads that the C library makes for itself never have it.
#[inline]
pub fn active() -> bool {
    HOLDER.load(Ordering::Relaxed) == sys::thread_pointer()
}

/// Whether this process follows a plan.
pub fn has_plan() -> bool {
    HOLDER.load(Ordering::Relaxed) != 0
}

/// The state of the run.
///
/// Called by the baton's holder only, and no reference is kept across [`wait_for`] and [`preempt`], in which others run.
#[inline]
pub fn runtime() -> &'static mut Runtime {
    // SAFETY: as the comment says, there is one user at a time.
    match unsafe { (*RUNTIME.0.get()).as_mut() } {
        Some(runtime) => runtime,
        None => sys::die("the runtime is used before it is started"),
    }
}

/// Starts the run: the caller becomes `main`, and gets the baton.
pub fn start(plan: Plan<Strategy>, log: Log) {
    let mut main = Thread::new(trace::ThreadId::MAIN, 0);
    main.pointer = sys::thread_pointer();
    // SAFETY: the function has no preconditions.
    main.handle = unsafe { libc::pthread_self() };
    let code = main.id.code();
    let mut runtime = Runtime {
        scheduler: Scheduler::new(&plan.strategy),
        plan,
        threads: vec![Box::new(main)],
        current: 0,
        log,
        clock: Clock::default(),
        exclusive: None,
        over: false,
        hand_overs: 0,
        total: 0,
        turn: 0,
        turn_from: 0,
        last_site: 0,
        idle_turns: 0,
        departed: false,
    };
    runtime.note(&Note::Thread { thread: code, parent: None, start: 0, stack: (0, 0) });
    let ready = runtime.ready();
    runtime.turn = runtime.scheduler.turn(&ready).events;
    runtime.note(&Note::Switch { to: code, done: 0, enabled: vec![code] });
    runtime.ask();
    HOLDER.store(runtime.threads[0].pointer, Ordering::Relaxed);
    // SAFETY: no other thread exists yet.
    unsafe { *RUNTIME.0.get() = Some(runtime) };
}

/// How a wait ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Got {
    /// With what was wanted.
    It,
    /// The time was over, or there was no reason (for a signal only).
    Nothing,
    /// Somebody asked to cancel the thread.
    Cancelled,
}

/// The running thread stands before its next event and wants this. Returns when it is its turn.
pub fn wait_for(want: Want) -> Got {
    let runtime = runtime();
    if runtime.over {
        return Got::It;
    }
    let me = runtime.current;
    // The usual case: the turn goes on.
    let free = runtime.exclusive.is_none() && !runtime.threads[me].cancel.requested;
    if free && runtime.turn_left() > 0 && runtime.has(me, &want) {
        return Got::It;
    }
    let thread = &mut runtime.threads[me];
    thread.site = page::call_site();
    thread.expired = false;
    thread.want = want;
    let stays = runtime.turn_left() > 0 || runtime.threads[me].unwilling > 0;
    if !(stays && runtime.readiness(me) == Readiness::Ready) {
        switch();
    }
    let runtime = self::runtime();
    let got = match () {
        () if runtime.is_cancelled(me) => Got::Cancelled,
        () if runtime.threads[me].expired => Got::Nothing,
        // A deadline that has passed ends the wait as well.
        () if !runtime.has_what_it_wants(me) && runtime.threads[me].want != Want::Others => Got::Nothing,
        () => Got::It,
    };
    runtime.threads[me].want = Want::Nothing;
    got
}

/// Asks the scheduler before the next event of instrumented code. Called when the cursor has reached the end.
pub fn preempt() {
    let runtime = runtime();
    let me = runtime.current;
    runtime.settle();
    runtime.stop_for_debugger();
    if runtime.over || (runtime.turn_left() > 0 || runtime.threads[me].unwilling > 0) {
        runtime.ask();
        return;
    }
    runtime.threads[me].want = Want::Nothing;
    runtime.threads[me].site = runtime.last_site;
    switch();
}

/// Finds out who runs next, and hands the baton on; returns when it is the caller's turn again.
pub fn switch() {
    let runtime = runtime();
    let me = runtime.current;
    let next = runtime.choose();
    if next != me {
        let ended = runtime.threads[me].life != Life::Alive;
        let site = page::call_site();
        let (from, to): (*const Thread, *const Thread) = (&*runtime.threads[me], &*runtime.threads[next]);
        runtime.hand_overs += 1;
        runtime.current = next;
        HOLDER.store(runtime.threads[next].pointer, Ordering::Relaxed);
        // SAFETY: threads are boxed and never removed. From here on the state belongs to the other thread.
        unsafe {
            (*to).give();
            if ended {
                return;
            }
            (*from).take();
        }
        page::set_call_site(site);
    }
    self::runtime().ask();
}

impl Runtime {
    /// The running thread.
    pub fn me(&mut self) -> &mut Thread {
        &mut self.threads[self.current]
    }

    /// The number of the thread that the C library knows by this handle.
    pub fn by_handle(&self, handle: libc::pthread_t) -> Option<usize> {
        // Handles of threads that are over may come again: the last one counts.
        self.threads.iter().rposition(|thread| thread.handle == handle && thread.life != Life::Joined)
    }

    /// An event of the running thread, which has happened.
    pub fn step(&mut self, step: Step) {
        let site = page::call_site();
        self.note(&Note::Step(site, step));
        self.last_site = site;
    }

    /// The events that the running thread has done.
    #[inline]
    pub fn done(&self) -> u64 {
        self.threads[self.current].done + self.log.unsettled()
    }

    /// Bytes were read or written.
    pub fn bytes(&mut self, site: u32, address: u64, content: &[u8]) {
        if self.over {
            return;
        }
        let bytes = content.len() as u64;
        if self.log.keeps_bytes(self.total + self.log.unsettled(), address, bytes) {
            self.note(&Note::Bytes { site, address, content: content.into() });
        } else {
            self.make_room();
            self.log.touch_range(self.current, address, bytes);
            self.log.unit(Unit { place: u64::from(site.max(1)), value: bytes });
        }
        self.last_site = site;
    }

    /// Memory was allocated or given back.
    pub fn allocation(&mut self, step: Step, address: u64, bytes: u64) {
        if self.over {
            return;
        }
        if self.log.keeps_allocation(address, bytes) {
            return self.step(step);
        }
        self.make_room();
        let site = page::call_site();
        // Site 0 would begin a note.
        self.log.unit(Unit { place: u64::from(site.max(1)), value: address });
        self.last_site = site;
    }

    /// Adds a note of the running thread: one more event, if it is one.
    pub fn note(&mut self, note: &Note) {
        if self.over {
            return;
        }
        self.make_room();
        let event = u64::from(note.is_event());
        let done = self.done() + event;
        if !self.log.note(done, note) {
            self.settle();
            self.log.write_large(done, note);
            self.me().done += event;
            self.total += event;
        }
        self.ask();
    }

    /// Makes room for a note.
    fn make_room(&mut self) {
        if !self.log.has_room() {
            self.settle();
        }
    }

    /// Settles what was added to the log.
    pub fn settle(&mut self) {
        let done = self.threads[self.current].done;
        let settled = self.log.settle(self.current, done, self.total);
        self.me().done += settled.events;
        self.total += settled.events;
        if let Some(last) = settled.last {
            self.last_site = last;
        }
        if self.total >= self.plan.most_events && !self.over {
            self.end(End::EventLimit);
            sys::exit_group(70);
        }
    }

    fn turn_left(&self) -> u64 {
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
    fn stop_for_debugger(&mut self) {
        if let Some((code, n)) = self.plan.stop_at
            && self.threads[self.current].id.code() == code
            && self.done() + 1 >= n
        {
            self.plan.stop_at = None;
            sys::say("threadbare: the next event is the one to stop at\n");
            // SAFETY: the function has no preconditions.
            unsafe { libc::raise(libc::SIGTRAP) };
        }
    }

    /// The threads that can go on, ordered by their names.
    fn ready(&self) -> Vec<Ready> {
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
    fn choose(&mut self) -> usize {
        self.settle();
        let used = self.done() - self.turn_from;
        self.clock.reach(self.clock.now() + used * EVENT_TIME);
        let last = (self.last_site != 0).then_some(SiteId(self.last_site));
        self.scheduler.ran(used, last);
        let ready = loop {
            let ready = self.ready();
            let idle = ready.iter().all(|ready| ready.reluctance > 1);
            if idle && io::wait_for_any(self, ready.is_empty()) {
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
        if self.has_what_it_wants(next) || self.is_cancelled(next) || want == Want::Others {
            return;
        }
        let deadline = want.deadline();
        if !matches!(want, Want::Time(_)) {
            let mut possible = vec![];
            possible.extend(deadline.map(|_| trace::Choice::Expire));
            possible.extend(
                (self.plan.spurious && matches!(want, Want::Signal(..))).then_some(trace::Choice::Spurious),
            );
            if possible.is_empty() {
                return;
            }
            let choice = self.scheduler.end_unsignalled(&possible);
            let (wake, choice) = match choice {
                trace::Choice::Spurious => (abi::note::Wake::Spurious, abi::note::Choice::Spurious),
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

    fn tell_departure(&mut self) {
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

    /// The run is over: writes the last notes.
    pub fn end(&mut self, end: End) {
        if self.over {
            return;
        }
        self.tell_departure();
        // Not `settle`, which may end the run.
        let settled = self.log.settle(self.current, self.threads[self.current].done, self.total);
        self.me().done += settled.events;
        self.over = true;
        let last = self.me().done;
        if let Some(ranges) = self.log.shared() {
            self.log.write_large(last, &Note::Shared(ranges));
        }
        let done = self.threads.iter().map(|thread| (thread.id.code(), thread.done)).collect();
        self.log.write_large(last, &Note::End { end, done, hand_overs: self.hand_overs });
        self.log.close();
    }

    /// In a child process: goes on alone, and without a log.
    pub fn become_child(&mut self) {
        self.settle();
        self.log.abandon();
        let me = self.current;
        for (number, thread) in self.threads.iter_mut().enumerate() {
            if number != me {
                thread.life = Life::Joined;
            }
        }
        self.scheduler = Scheduler::new(&Strategy::RunToBlock);
        self.plan.most_events = u64::MAX;
        self.plan.stop_at = None;
        self.turn_from = self.done();
        self.turn = u64::MAX;
        self.ask();
    }
}
