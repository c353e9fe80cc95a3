//! Virtual time: it stands still while threads run, and goes on when somebody looks at a clock, yields, or waits for it.

/// One look at a clock, or one yield, takes this long.
const TICK: u64 = 1_000;

/// Where `CLOCK_REALTIME` begins: 14 November 2023, 22:13:20 UTC.
const REAL: u64 = 1_700_000_000_000_000_000;

/// Where all other clocks begin.
const OTHER: u64 = 1_000_000_000_000;

/// Nanoseconds of virtual time since the start.
#[derive(Default)]
pub struct Clock {
    now: u64,
}

/// Where a clock of the system begins.
fn origin(clock: libc::clockid_t) -> u64 {
    match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_TAI => REAL,
        _ => OTHER,
    }
}

/// Nanoseconds in a `timespec`; `None` if it is not well formed.
pub fn nanoseconds(time: libc::timespec) -> Option<u64> {
    if !(0..1_000_000_000).contains(&time.tv_nsec) {
        return None;
    }
    let seconds = u64::try_from(time.tv_sec.max(0)).ok()?;
    Some(seconds.saturating_mul(1_000_000_000).saturating_add(time.tv_nsec as u64))
}

/// Nanoseconds as a `timespec`.
pub fn timespec(nanoseconds: u64) -> libc::timespec {
    libc::timespec {
        tv_sec: (nanoseconds / 1_000_000_000) as i64,
        tv_nsec: (nanoseconds % 1_000_000_000) as i64,
    }
}

impl Clock {
    /// The time now.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// A little time passes.
    pub fn tick(&mut self) {
        self.now += TICK;
    }

    /// The time is at least this.
    pub fn reach(&mut self, at: u64) {
        self.now = self.now.max(at);
    }

    /// What a clock of the system shows.
    pub fn read(&mut self, clock: libc::clockid_t) -> u64 {
        self.tick();
        origin(clock) + self.now
    }

    /// When a clock of the system will show this.
    pub fn when(&self, clock: libc::clockid_t, shows: u64) -> u64 {
        shows.saturating_sub(origin(clock))
    }
}
