//! Flags of prediction: what is looked for, how, and how it is told.

use super::{ProcessOptions, ProgramOptions, RecordOptions};
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// What is looked for.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum PropertyName {
    /// Interleavings of a block that no order of whole blocks gives
    Atomicity,
    /// Data races
    Race,
    /// Failing assertions and crashes
    Assert,
    /// Threads that wait for ever
    Deadlock,
    /// Threads that go on after a wait without a second look
    Wakeup,
    /// What --pattern asks for
    Pattern,
}

/// What counts as a block that is meant to be atomic, where the program marks none.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtomicName {
    /// Nothing
    Marked,
    /// The critical sections of one lock in one call of a function, from the first to the last
    Locks,
    /// Calls of functions, other than main and what threads run
    Functions,
}

/// How much of the program is looked at.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ModelName {
    /// All: values as the program computes them
    Program,
    /// No values, only control and synchronisation: reports too much, for comparison
    Cam,
    /// Reads keep their recorded values (the maximal causal model): misses bugs, for comparison
    Causal,
}

/// Who decides whether a candidate is feasible.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum EngineName {
    /// Constraints and a solver: finds all that the recorded thread paths allow
    Symbolic,
    /// A planner: runs in which every read sees the value that it saw
    Plan,
    /// Runs that locks allow, whatever the data: each is tried by running the program
    Lockset,
    /// Races and deadlocks of runs that take locks in the recorded order: sound and fast, for long runs
    Sync,
    /// All of them, the cheap ones first, each for what is still open
    All,
}

/// Which schedules count.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum ModeName {
    /// Those that run a part of the recorded events
    Prefixes,
    /// Only those that run all recorded events, for comparison
    Full,
}

/// How findings are told.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// For people
    Text,
    /// For programs: docs/findings.schema.json describes it
    Json,
    /// For code scanners: SARIF 2.1.0
    Sarif,
    /// For GitHub workflows: annotations at the lines of the source
    Github,
}

/// How to predict and how to tell it.
#[derive(Args, Debug)]
pub struct PredictOptions {
    /// Look only for these
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KINDS")]
    pub only: Vec<PropertyName>,
    /// Look also for this: a file with patterns, or a pattern itself (`a: T1 write x; b: T2 read x; order a < b`)
    #[arg(long, value_name = "PATTERN")]
    pub pattern: Vec<String>,
    /// What counts as atomic where the program marks no block
    #[arg(long, value_enum, default_value_t = AtomicName::Locks)]
    pub atomic: AtomicName,
    /// Who decides whether a candidate is feasible; docs/planning.md compares them
    #[arg(long, value_enum, default_value_t = EngineName::Symbolic)]
    pub engine: EngineName,
    /// For --engine plan: another planner, called with the files of the domain and of the problem in PDDL; `{domain}`, `{problem}` and
    /// `{plan}` in the command stand for the files if they belong elsewhere
    #[arg(long, value_name = "COMMAND")]
    pub planner: Option<String>,
    /// How much of the program is looked at
    #[arg(long, value_enum, default_value_t = ModelName::Program)]
    pub model: ModelName,
    /// Which schedules count
    #[arg(long, value_enum, default_value_t = ModeName::Prefixes)]
    pub mode: ModeName,
    /// Only schedules with at most so many context switches
    #[arg(long, value_name = "N")]
    pub switches: Option<u32>,
    /// Stop looking after so long (`90s`, `5m`, `1h`), and tell what was found up to then
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub budget: Option<Duration>,
    /// Make so many runs, each under another schedule, and predict from each of them; one, unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub runs: Option<u32>,
    /// Look at most at so many candidates at the same places in the source; 100 for runs of up to 20,000 events and 16 for longer ones,
    /// unless given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub per_place: Option<u32>,
    /// Give up on a candidate after so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    pub solve_time: u64,
    /// Give up on a candidate after so many conflicts of the solver
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub solve_conflicts: Option<u32>,
    /// Give up on a candidate when the solver has so much memory, in MiB
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    pub solve_memory: Option<u32>,
    /// How many clean runs the end of a failing run is compared with, besides the recorded one
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub clean_runs: u64,
    /// Show also what nobody would notice
    #[arg(long)]
    pub all: bool,
    /// Say of each candidate that is infeasible why it is
    #[arg(long)]
    pub why_not: bool,
    /// Print counts and times
    #[arg(long)]
    pub stats: bool,
    /// How findings are told
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Write the schedule of each finding into this directory
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,
    /// Do not keep what is found in `.threadbare`
    #[arg(long)]
    pub no_keep: bool,
    /// Findings that are known and wanted: lines with an id and the reason; `threadbare.suppressions` if that is there
    #[arg(long, value_name = "FILE")]
    pub suppressions: Option<PathBuf>,
    /// Fail only for findings that are not in this report (`--format json`)
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Write the report also as a page for a browser: one file with source, timelines and replay commands
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write the runs behind the findings also as a trace for Perfetto (ui.perfetto.dev) or chrome://tracing
    #[arg(long, value_name = "FILE")]
    pub perfetto: Option<PathBuf>,
}

impl PredictOptions {
    /// How many runs are made to predict from.
    pub fn runs(&self) -> u32 {
        self.runs.unwrap_or(1)
    }
}

/// `threadbare run`
#[derive(Args, Debug)]
pub struct RunArguments {
    #[command(flatten)]
    pub record: RecordOptions,
    #[command(flatten)]
    pub predict: PredictOptions,
}

/// Formats of traces of other tools.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum FormatName {
    /// RAPID's standard format: `T0|w(V1)|12`
    Std,
    /// RAPID's CSV: a column for each thread
    RapidCsv,
    /// A plain CSV: `thread,operation,object,place`
    Csv,
}

/// `threadbare predict`
#[derive(Args, Debug)]
pub struct PredictArguments {
    /// A trace of everything, as `threadbare record -o` writes it, or one of another tool (`.std`, `.csv`; see docs/other-traces.md)
    pub trace: PathBuf,
    /// The trace is one of another tool, in this format, whatever its name ends in
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub input_format: Option<FormatName>,
    /// The program that was run, if it is not where it was
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    /// Do not run the program again: findings are then predicted, not confirmed
    #[arg(long)]
    pub no_replay: bool,
    /// The arguments that a compiled program had
    #[arg(last = true, value_name = "ARGUMENT")]
    pub arguments: Vec<std::ffi::OsString>,
    #[command(flatten)]
    pub predict: PredictOptions,
    #[command(flatten)]
    pub process: ProcessOptions,
    #[command(flatten)]
    pub options: ProgramOptions,
}

/// `threadbare ctp`
#[derive(Args, Debug)]
pub struct CtpArguments {
    /// What to do with it.
    #[command(subcommand)]
    pub command: CtpCommand,
}

/// The subcommands of `threadbare ctp`.
#[derive(Subcommand, Debug)]
pub enum CtpCommand {
    /// Print it as guarded assignments, in CSSA form, and as a formula
    Show(CtpShowArguments),
}

/// `threadbare ctp show`
#[derive(Args, Debug)]
pub struct CtpShowArguments {
    /// A trace, or a model program, which is then run once
    pub file: PathBuf,
    /// The program that was run, if it is not where it was
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    /// What counts as atomic where the program marks no block
    #[arg(long, value_enum, default_value_t = AtomicName::Locks)]
    pub atomic: AtomicName,
    #[command(flatten)]
    pub options: ProgramOptions,
}

/// `threadbare export`
#[derive(Args, Debug)]
pub struct ExportArguments {
    /// What to write.
    #[command(subcommand)]
    pub command: ExportCommand,
}

/// The subcommands of `threadbare export`.
#[derive(Subcommand, Debug)]
pub enum ExportCommand {
    /// Write a candidate as a planning problem in PDDL: a domain and a problem
    Pddl(ExportPddlArguments),
    /// Write a run as a trace in RAPID's standard format
    Std(ExportTraceArguments),
    /// Write a run as a trace in RAPID's CSV format, with a column for each thread
    RapidCsv(ExportTraceArguments),
    /// Write a run as a trace in a plain CSV: thread, operation, object, place
    Csv(ExportTraceArguments),
}

/// `threadbare export std`, `rapid-csv`, `csv`
#[derive(Args, Debug)]
pub struct ExportTraceArguments {
    /// A trace, also one of another tool, or a model program, which is then run once
    pub file: PathBuf,
    /// Write it into this file; without it, it is printed
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The trace is one of another tool, in this format, whatever its name ends in
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub input_format: Option<FormatName>,
    /// The program that was run, if it is not where it was
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    #[command(flatten)]
    pub options: ProgramOptions,
}

/// `threadbare export pddl`
#[derive(Args, Debug)]
pub struct ExportPddlArguments {
    /// A trace, or a model program, which is then run once
    pub file: PathBuf,
    /// Which candidate, by its number; without it the candidates are listed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub candidate: Option<u64>,
    /// Write domain.pddl and problem.pddl into this directory; without it both are printed
    #[arg(short, long, value_name = "DIR", requires = "candidate")]
    pub output: Option<PathBuf>,
    /// The program that was run, if it is not where it was
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    /// What counts as atomic where the program marks no block
    #[arg(long, value_enum, default_value_t = AtomicName::Locks)]
    pub atomic: AtomicName,
    #[command(flatten)]
    pub options: ProgramOptions,
}

/// `90s`, `5m`, `1h`; a number alone is seconds.
fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.strip_suffix(['s', 'm', 'h']) {
        Some(number) => (number, &text[number.len()..]),
        None => (text, "s"),
    };
    let seconds: Option<u64> = number.parse().ok().filter(|&number| number > 0);
    let factor = if unit == "h" {
        3600
    } else if unit == "m" {
        60
    } else {
        1
    };
    let seconds = seconds.and_then(|seconds| seconds.checked_mul(factor));
    seconds.map(Duration::from_secs).ok_or_else(|| "expected a time such as 90s, 5m or 1h".to_owned())
}
