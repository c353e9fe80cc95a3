//! Flags of exploration.

use super::{PredictOptions, ProcessOptions, ProgramOptions};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// How schedules are searched.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Search {
    /// Every schedule, without reduction
    All,
    /// One schedule of each class of equivalent ones: those that differ only in the order of steps that have nothing to do with
    /// each other
    Dpor,
    /// Runs from which prediction decides about all their schedules; what can show nothing else than a run did is left out
    Prune,
    /// One run for each combination of ways that the threads can go; prediction from each decides about all its schedules
    Paths,
    /// Schedules that are drawn: before each step every thread is as likely to be next
    Random,
    /// Schedules that are drawn: random priorities, few changes (probabilistic concurrency testing)
    Pct,
}

/// How `dpor` recognises equivalent schedules.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduction {
    /// Wake-up trees: exactly one run of each class
    Optimal,
    /// Source sets: less to remember, but some runs are begun in vain
    Source,
}

/// How the enumeration of all schedules works.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Go on from each state only once: the faster one
    Stateful,
    /// Go through every interleaving one by one: needs little memory, and checks the other
    Stateless,
}

/// `threadbare explore`
#[derive(Args, Debug)]
pub struct ExploreArguments {
    /// A model program (.tb); for all strategies but `all` also a binary that `threadbare cc` or `threadbare c++` built, or a source file in C or C++
    pub program: PathBuf,
    /// The arguments of a compiled program
    #[arg(last = true, value_name = "ARGUMENT")]
    pub arguments: Vec<std::ffi::OsString>,
    /// How schedules are searched
    #[arg(long, value_enum, default_value_t = Search::All)]
    pub strategy: Search,
    /// With `all`: whether to remember states
    #[arg(long, value_enum, default_value_t = Method::Stateful)]
    pub method: Method,
    /// With `dpor`: how schedules are recognised as equivalent
    #[arg(long, value_enum, default_value_t = Reduction::Optimal)]
    pub reduction: Reduction,
    /// With `all`: only runs in which each thread does what it did in this trace, up to the first branch that goes another way
    #[arg(long, value_name = "TRACE")]
    pub along: Option<PathBuf>,
    /// With `random` and `pct`: where the draws start
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// With `pct`: how many orderings between threads a bug may need
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub depth: u32,
    /// With `all` and `dpor`: stop after so many events
    #[arg(long, value_name = "N", default_value_t = ExploreArguments::MOST_STEPS, value_parser = clap::value_parser!(u64).range(1..))]
    pub max_steps: u64,
    /// With `dpor`, `prune` and `paths`: stop after so many runs
    #[arg(long, value_name = "N", default_value_t = ExploreArguments::MOST_RUNS, value_parser = clap::value_parser!(u64).range(1..))]
    pub max_runs: u64,
    /// With `all`: stop after so many states
    #[arg(long, value_name = "N", default_value_t = 2_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub max_states: u64,
    /// With `all`: stop at about so much memory, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 2048, value_parser = clap::value_parser!(u64).range(1..=1_048_576))]
    pub max_state_memory: u64,
    /// How many workers search at once, with `dpor`, `prune` and `paths`, and predict from runs; one for each core, unless given. What is found does not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub workers: Option<u32>,
    /// With `dpor`, `prune` and `paths`: go on with the search that was interrupted by Ctrl-C
    #[arg(long)]
    pub resume: bool,
    /// With all but `all`: write the runs as a tree for Graphviz
    #[arg(long, value_name = "FILE")]
    pub dot: Option<PathBuf>,
    #[command(flatten)]
    pub predict: PredictOptions,
    #[command(flatten)]
    pub process: ProcessOptions,
    #[command(flatten)]
    pub options: ProgramOptions,
}

impl ExploreArguments {
    /// So many events are stepped through, unless it is said.
    pub const MOST_STEPS: u64 = 100_000_000;
    /// So many runs are made, unless it is said.
    pub const MOST_RUNS: u64 = 100_000_000;
}
