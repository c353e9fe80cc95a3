//! The state of a run, and what is noted of it.
//!
//! Only the thread that has the *baton* runs, so everything here is used by one thread at a time, without locks or atomics.

use crate::affinity::Processors;
use crate::calls::file::Inherited;
use crate::clock::Clock;
use crate::library::Held;
use crate::log::{Kept, Log, fill};
use crate::page;
use crate::pids::Pids;
use crate::signals;
use crate::sys;
use crate::thread::{Life, Thread};
use crate::timers::Timer;
use abi::note::{End, Step};
use abi::unit::Unit;
use abi::{Note, Plan};
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicUsize, Ordering};
use schedule::{Scheduler, Strategy, ThreadId};

/// The state of the run.
pub struct Runtime {
    /// What the run is to do.
    pub plan: Plan<Strategy>,
    /// Who goes next.
    pub scheduler: Scheduler,
    /// All threads, by their numbers. Others than the baton's holder look at their own while the table grows.
    #[allow(clippy::vec_box, reason = "threads must stay where they are")]
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
    /// How often something was done that files may show.
    pub changes: u64,
    /// Signals of the whole process.
    pub signals: signals::Process,
    /// Timers, and how many were made.
    pub timers: Vec<Timer>,
    pub timers_made: usize,
    /// Where memory begins that the program mapped by itself.
    pub mapped: Vec<u64>,
    /// The processors that the process may use.
    pub processors: Processors,
    /// Locks of the C library that are held.
    pub library: Vec<Held>,
    /// Programs and libraries with instrumented modules: start and end.
    pub objects: Vec<(usize, usize)>,
    /// The files that the process was started with.
    pub inherited: Inherited,
    /// Numbers of processes.
    pub pids: Pids,
    /// The number of the child that is being forked.
    pub forking: libc::pid_t,
    /// This is a child of the process that the run is of.
    pub is_child: bool,
    /// Events of all threads, but for those that are not settled yet.
    pub total: u64,
    /// The events of the running thread's turn, and how many it had done before.
    pub turn: u64,
    pub turn_from: u64,
    /// Where the last event was.
    pub last_site: u32,
    /// Turns in a row in which all only let each other go first.
    pub idle_turns: u32,
    /// How often it was chosen who runs next.
    pub choices: u64,
    /// It was told that the run departed from its schedule.
    pub departed: bool,
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

/// Lets the thread with this thread pointer be the baton's holder.
pub fn hand_to(pointer: usize) {
    HOLDER.store(pointer, Ordering::Relaxed);
}

/// Whether this process follows a plan.
pub fn has_plan() -> bool {
    HOLDER.load(Ordering::Relaxed) != 0
}

/// The state of the run.
///
/// Called by the baton's holder only, and no reference is kept across `wait_for` and `preempt` (`baton`), in which others run.
#[inline]
pub fn runtime() -> &'static mut Runtime {
    // SAFETY: as the comment says, there is one user at a time.
    match unsafe { (*RUNTIME.0.get()).as_mut() } {
        Some(runtime) => runtime,
        None => sys::die("the runtime is used before it is started"),
    }
}

/// Starts the run: the caller becomes `main`, and gets the baton.
pub fn start(plan: Plan<Strategy>, log: Log, processors: Processors, inherited: Inherited) {
    let mut main = Thread::new(ThreadId::MAIN, 0);
    main.pointer = sys::thread_pointer();
    // SAFETY: the function has no preconditions.
    main.handle = unsafe { libc::pthread_self() };
    main.kernels_number = sys::process();
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
        changes: 0,
        signals: signals::Process::new(),
        timers: vec![],
        timers_made: 0,
        mapped: vec![],
        processors,
        library: vec![],
        objects: vec![],
        inherited,
        pids: Pids::new(),
        forking: 0,
        is_child: false,
        total: 0,
        turn: 0,
        turn_from: 0,
        last_site: 0,
        idle_turns: 0,
        choices: 0,
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
    #[inline]
    pub fn bytes(&mut self, site: u32, address: u64, content: &[u8]) {
        if self.over {
            return;
        }
        let bytes = content.len() as u64;
        let is_kept = match &mut self.log.kept {
            Kept::Sharedness(shadow) => {
                shadow.touch_range(self.current, address, bytes);
                false
            }
            _ => self.log.keeps_bytes(self.total + self.log.unsettled(), address, bytes),
        };
        match is_kept {
            true => self.note_bytes(site, address, content),
            false => {
                self.make_room();
                self.log.unit(Unit { place: u64::from(site.max(1)), value: bytes });
            }
        }
        self.last_site = site;
    }

    /// Memory was allocated or given back.
    pub fn allocation(&mut self, step: Step, address: u64, bytes: u64) {
        if self.over {
            return;
        }
        let site = page::call_site();
        let unit = match (&self.log.kept, &step) {
            (Kept::Everything(_), Step::Alloc { .. }) => Unit::allocated(site, address, bytes),
            (Kept::Everything(_), _) => Unit::freed(site, address),
            // Site 0 would begin a note.
            _ if !self.log.keeps_allocation(address, bytes) => {
                Some(Unit { place: u64::from(site.max(1)), value: address })
            }
            _ => None,
        };
        let Some(unit) = unit else { return self.step(step) };
        self.make_room();
        self.log.unit(unit);
        self.last_site = site;
    }

    /// Adds a note about bytes that were read or written.
    #[inline(never)]
    fn note_bytes(&mut self, site: u32, address: u64, content: &[u8]) {
        self.make_room();
        let done = self.done() + 1;
        if self.log.note_bytes(done, site, address, content) {
            return self.ask();
        }
        self.note(&match fill(content) {
            Some((byte, count)) => Note::Fill { site, address, byte, count },
            None => Note::Bytes { site, address, content: content.into() },
        });
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
            // The cursor stands elsewhere now, and so does the end of the turn.
            self.ask();
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

    /// The run is over: writes the last notes.
    pub fn end(&mut self, end: End) {
        if self.over {
            return;
        }
        self.tell_departure();
        self.over = true;
        self.write_end(end);
        self.log.close();
    }

    /// Writes the last notes, unless what is tried now does not end the run. Gives what is to be taken back then.
    pub fn end_for_now(&mut self, end: End) -> u64 {
        if self.over {
            return 0;
        }
        self.tell_departure();
        self.settle();
        let before = self.log.written();
        self.write_end(end);
        before
    }

    /// The run goes on after all.
    pub fn take_back_end(&mut self, before: u64) {
        if !self.over {
            self.log.cut(before);
            self.ask();
        }
    }

    fn write_end(&mut self, end: End) {
        // Not `settle`, which may end the run.
        let settled = self.log.settle(self.current, self.threads[self.current].done, self.total);
        self.me().done += settled.events;
        self.total += settled.events;
        let last = self.me().done;
        if let Some(ranges) = self.log.shared() {
            self.log.write_large(last, &Note::Shared(ranges));
        }
        let done = self.threads.iter().map(|thread| (thread.id.code(), thread.done)).collect();
        self.log.write_large(last, &Note::End { end, done, hand_overs: self.hand_overs });
    }

    /// In a child process: goes on alone, and without a log. All was settled before it was forked.
    pub fn become_child(&mut self) {
        self.log.abandon();
        let me = self.current;
        for (number, thread) in self.threads.iter_mut().enumerate() {
            if number != me {
                thread.life = Life::Joined;
            }
        }
        self.me().kernels_number = sys::process();
        self.me().unwilling = 0;
        self.is_child = true;
        self.timers.clear();
        self.forget_signals();
        self.scheduler = Scheduler::new(&Strategy::RunToBlock);
        self.plan.most_events = u64::MAX;
        self.plan.stop_at = None;
        self.turn_from = self.done();
        self.turn = u64::MAX;
        self.ask();
    }
}
