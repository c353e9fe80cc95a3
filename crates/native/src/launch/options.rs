//! How a program is run.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Where a program's standard input comes from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Input {
    /// From where ours comes.
    #[default]
    Inherited,
    /// There is none.
    Nothing,
    /// From a file, from its beginning in every run.
    File(PathBuf),
}

/// Where a program's output goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Output {
    /// To where ours goes.
    #[default]
    Inherited,
    /// It is kept.
    Captured,
    /// Nowhere.
    Discarded,
}

/// How a program is run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// The command that starts it, if another program does: a test runner, a script. Its arguments are then that command's business.
    pub through: Vec<OsString>,
    /// What its environment has besides ours.
    pub environment: Vec<(OsString, OsString)>,
    /// Its directory, if it is another than ours.
    pub directory: Option<PathBuf>,
    /// Its standard input.
    pub input: Input,
    /// Its standard output and standard error.
    pub output: Output,
    /// It is ended after this time.
    pub timeout: Option<Duration>,
    /// From then on no more of its log is read.
    pub read_until: Option<Instant>,
    /// It is ended when it has so many bytes of memory.
    pub most_memory: Option<u64>,
    /// The log does not grow beyond this.
    pub most_log_bytes: u64,
    /// The run ends after so many events.
    pub most_events: u64,
    /// Waits may end without a reason.
    pub spurious: bool,
    /// Freed memory that each thread keeps from use, in bytes.
    pub quarantine: u64,
    /// Values for `__VERIFIER_nondet_*`.
    pub inputs: Vec<u64>,
    /// How often it is started.
    pub starts: Starts,
}

/// How often a program is started for its runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Starts {
    /// For the first run and for the second; that and all further ones are made by forking a process that stands before its first instruction, if
    /// that can be done ([`Unserved`](super::Unserved)).
    #[default]
    Twice,
    /// For each run.
    Always,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            arguments: vec![],
            through: vec![],
            environment: vec![],
            directory: None,
            input: Input::default(),
            output: Output::default(),
            timeout: None,
            read_until: None,
            most_memory: None,
            most_log_bytes: 2 << 30,
            most_events: u64::MAX,
            spurious: false,
            quarantine: 1 << 20,
            inputs: vec![],
            starts: Starts::default(),
        }
    }
}
