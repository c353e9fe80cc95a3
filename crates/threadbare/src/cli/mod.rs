//! The flags; their doc comments are the help texts, the man page and the completions.

mod check;
mod explore;
mod predict;
mod record;

pub use check::{AtomicityName, CheckArguments, CheckFormat, RacesOf};
pub use explore::{ExploreArguments, Method, Reduction, Search};
pub use predict::{
    AtomicName, CtpArguments, CtpCommand, CtpShowArguments, EngineName, ExportArguments, ExportCommand,
    ExportPddlArguments, ExportTraceArguments, Format, FormatName, ModeName, ModelName, PredictArguments,
    PredictOptions, PropertyName, RunArguments,
};
pub use record::{DEFAULT_CFLAGS, LogName, ProcessOptions, RecordArguments, RecordOptions, StrategyName};

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Finds the concurrency bugs that other schedules of a run can show.
///
/// Exit codes: 0 nothing found and the stated coverage reached; 1 findings; 2 wrong use or bad input; 3 a limit was
/// hit and nothing was found up to it; 4 the program misbehaved in the recorded run itself.
#[derive(Parser, Debug)]
#[command(name = "threadbare", version, propagate_version = true)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Run a program once, and find what other schedules of that run can do wrong
    ///
    /// The run is recorded, bugs are predicted from it, and the program is run again for each of them. The output of a
    /// compiled program goes where it always goes, in the first run; what Threadbare says about it goes to standard error
    Run(RunArguments),
    /// Run a program once and record it, without looking further
    Record(RecordArguments),
    /// Find what other schedules of a recorded run can do wrong
    Predict(PredictArguments),
    /// Run a program again under a recorded schedule
    Replay(ReplayArguments),
    /// List what runs have found and `.threadbare` has kept
    List,
    /// Show again what a run has found
    Show(ShowRunArguments),
    /// Throw away what runs have found
    Clean(CleanArguments),
    /// Run a program under every schedule and report what can happen
    Explore(ExploreArguments),
    /// Decide a small program under a memory model: all outcomes, whether one is allowed and why not, races, atomic blocks
    Check(CheckArguments),
    /// Compile C for Threadbare: takes the arguments of gcc and clang (`CC="threadbare cc" make`)
    Cc(CompileArguments),
    /// Compile C++ for Threadbare: takes the arguments of g++ and clang++ (`CXX="threadbare c++" make`)
    #[command(name = "c++")]
    Cxx(CompileArguments),
    /// Check whether this machine has what compiled programs need
    Doctor,
    /// Format model programs
    Fmt(FmtArguments),
    /// Look into traces
    Trace(TraceArguments),
    /// Look into concurrent trace programs: what prediction makes of a trace
    Ctp(CtpArguments),
    /// Write what is asked of a recorded run for other tools
    Export(ExportArguments),
    /// Answer an SMT-LIB 2 script: Booleans, bit-vectors, and integers that are only ordered by `<`
    Solve(SolveArguments),
    /// Print the program IR of a model program or of a binary
    Ir(IrArguments),
    /// Print shell completions
    Completions(CompletionsArguments),
    /// Write man pages into a directory
    Man(ManArguments),
}

/// How often a loop may go round that has no bound of its own.
pub const DEFAULT_LOOP_BOUND: u32 = 1000;

/// How a program is read and run.
#[derive(Args, Debug)]
pub struct ProgramOptions {
    /// How often a loop without a bound of its own may go round
    #[arg(long, value_name = "N", default_value_t = DEFAULT_LOOP_BOUND, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub loop_bound: u32,
    /// Let waits on condition variables end without a signal
    #[arg(long)]
    pub spurious: bool,
}

/// `threadbare replay`
#[derive(Args, Debug)]
pub struct ReplayArguments {
    /// A model program (.tb), a binary that `threadbare cc` or `threadbare c++` built, or a source file in C or C++; or what `threadbare
    /// list` shows: the id of a run, `bank-9f3c/2` for its second finding
    pub program: PathBuf,
    /// A schedule file, a trace, or a schedule in short form: 'T1:3 T2:5' lets T1 run to its 3rd event, then T2 to its 5th. A run that was
    /// kept has its own
    pub schedule: Option<PathBuf>,
    /// Write the trace of the replay to this file
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// For compiled programs: hand over to a debugger, which stops before the last event of the schedule
    /// (--debugger 'gdb --args')
    #[arg(long, value_name = "COMMAND", num_args = 0..=1, default_missing_value = "gdb --args")]
    pub debugger: Option<String>,
    /// The program is started by the command behind `--`; what stands in its place is the schedule
    #[arg(long, conflicts_with = "schedule")]
    pub command: bool,
    /// The arguments of a compiled program
    #[arg(last = true, value_name = "ARGUMENT")]
    pub arguments: Vec<std::ffi::OsString>,
    #[command(flatten)]
    pub process: ProcessOptions,
    /// How often a loop without a bound of its own may go round; as in the recorded run
    #[arg(long, value_name = "N", default_value_t = DEFAULT_LOOP_BOUND, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub loop_bound: u32,
}

/// `threadbare show`
#[derive(Args, Debug)]
pub struct ShowRunArguments {
    /// The id of a run, as `threadbare list` shows it
    pub id: String,
}

/// `threadbare clean`
#[derive(Args, Debug)]
pub struct CleanArguments {
    /// The ids of runs; all of them if there are none
    pub ids: Vec<String>,
}

/// `threadbare cc` and `threadbare c++`
#[derive(Args, Debug)]
pub struct CompileArguments {
    /// As for the compiler, which is clang 22 with Threadbare's plugin; --help is the compiler's too
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    pub arguments: Vec<std::ffi::OsString>,
}

/// `threadbare fmt`
#[derive(Args, Debug)]
pub struct FmtArguments {
    /// Model programs (.tb); `-` is standard input, formatted to standard output
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Change nothing, and fail if a file is not formatted
    #[arg(long)]
    pub check: bool,
}

/// `threadbare trace`
#[derive(Args, Debug)]
pub struct TraceArguments {
    /// What to do with it.
    #[command(subcommand)]
    pub command: TraceCommand,
}

/// The subcommands of `threadbare trace`.
#[derive(Subcommand, Debug)]
pub enum TraceCommand {
    /// Print a trace in columns, one per thread
    Show(ShowArguments),
}

/// `threadbare trace show`
#[derive(Args, Debug)]
pub struct ShowArguments {
    /// A trace
    pub trace: PathBuf,
    /// The program that was run, if it is not where it was
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// First event to show, counted from 1
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub from: u64,
    /// Most events to show
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub limit: u64,
    /// The loop bound that the recorded run had
    #[arg(long, value_name = "N", default_value_t = DEFAULT_LOOP_BOUND, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub loop_bound: u32,
}

/// `threadbare solve`
#[derive(Args, Debug)]
pub struct SolveArguments {
    /// A script (.smt2)
    pub script: PathBuf,
    /// Print the model after each `sat`
    #[arg(long)]
    pub model: bool,
    /// Give up on a question after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: Option<u64>,
}

/// `threadbare ir`
#[derive(Args, Debug)]
pub struct IrArguments {
    /// A model program (.tb), a binary of `threadbare cc`, or program IR as text (.ir), which is checked
    pub program: PathBuf,
    #[command(flatten)]
    pub options: ProgramOptions,
}

/// `threadbare completions`
#[derive(Args, Debug)]
pub struct CompletionsArguments {
    /// For which shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// `threadbare man`
#[derive(Args, Debug)]
pub struct ManArguments {
    /// Where to write them
    pub directory: PathBuf,
}
