//! Flags of recording: what is run and under which strategy.

use super::ProgramOptions;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Who goes next.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum StrategyName {
    /// A thread runs until it blocks or ends
    RunToBlock,
    /// Threads take turns
    RoundRobin,
    /// A thread is drawn before each visible event
    Random,
    /// Probabilistic concurrency testing: random priorities, few changes
    Pct,
}

/// What a trace of a compiled program keeps.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogName {
    /// Every event
    Everything,
    /// Synchronisation, and accesses of memory that threads share; takes two runs
    Shared,
    /// Synchronisation only
    Sync,
}

/// What the compiler gets besides the sources, unless something else is given.
pub const DEFAULT_CFLAGS: &str = "-O1";

/// How a compiled program is run. Model programs have none of this.
#[derive(Args, Debug)]
pub struct ProcessOptions {
    /// For C and C++ source files: what the compiler gets besides them
    #[arg(long, value_name = "FLAGS", default_value = DEFAULT_CFLAGS, allow_hyphen_values = true)]
    pub cflags: String,
    /// The program's standard input. Without it a program that is run once has ours, and one that is run several times has none
    #[arg(long, value_name = "FILE")]
    pub stdin: Option<PathBuf>,
    /// End the program after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: Option<u64>,
    /// End the program when it has so much memory, in MiB
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1_048_576))]
    pub max_memory: Option<u64>,
    /// Let the log grow to so many MiB
    #[arg(long, value_name = "MIB", default_value_t = 2048, value_parser = clap::value_parser!(u64).range(1..=1_048_576))]
    pub max_log: u64,
    /// Values for __VERIFIER_nondet_*, in the order of the calls; 0 behind them
    #[arg(long, value_name = "N,…", value_delimiter = ',', allow_negative_numbers = true)]
    pub inputs: Vec<i64>,
}

/// What is run, under which strategy, and what is kept of it.
#[derive(Args, Debug)]
pub struct RecordOptions {
    /// A model program (.tb), a binary that `threadbare cc` or `threadbare c++` built, or source files in C or C++
    #[arg(required_unless_present = "arguments", value_name = "PROGRAM")]
    pub programs: Vec<PathBuf>,
    /// The arguments of a compiled program; without a program, a command that starts one (`threadbare run -- ctest -R flaky`)
    #[arg(last = true, value_name = "ARGUMENT")]
    pub arguments: Vec<std::ffi::OsString>,
    /// Who goes next
    #[arg(long, value_enum, default_value_t = StrategyName::RunToBlock)]
    pub strategy: StrategyName,
    /// Where the draws of random and pct start
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Visible events per turn of round-robin
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub quantum: u32,
    /// How many orderings between threads a bug may need for pct to find it
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub depth: u32,
    /// Follow this schedule first: a file, a trace, or a short form as `replay` takes it
    #[arg(long, value_name = "SCHEDULE", conflicts_with = "strategy")]
    pub schedule: Option<PathBuf>,
    /// Write the trace to this file
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write the schedule of the run to this file
    #[arg(long, value_name = "FILE")]
    pub save_schedule: Option<PathBuf>,
    /// Stop the run after so many events; 10,000,000 for model programs, no limit for compiled ones, unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_events: Option<u64>,
    /// Run each schedule twice, and name the first difference
    #[arg(long)]
    pub self_check: bool,
    #[command(flatten)]
    pub process: ProcessOptions,
    #[command(flatten)]
    pub options: ProgramOptions,
}

/// `threadbare record`
#[derive(Args, Debug)]
pub struct RecordArguments {
    #[command(flatten)]
    pub record: RecordOptions,
    /// For compiled programs: rebuild what the log leaves out, and say how much of it is exact
    #[arg(long)]
    pub stats: bool,
    /// For compiled programs: what the trace keeps
    #[arg(long, value_enum, default_value_t = LogName::Everything)]
    pub log: LogName,
}
