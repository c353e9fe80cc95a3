//! Starting a compiled program under a plan, watching it, and keeping its log.
//!
//! The program runs as it would without us, in its own directory and with its own arguments, but for three things: the
//! environment names the plan, addresses are not randomised, and a watcher ends it when it takes too long or too much memory.

mod files;
mod options;
mod plan;
mod process;
mod server;
mod tail;

pub use files::{Asked, LogFile};
pub use options::{Input, Options, Output, Starts};
pub use plan::for_log;
pub use process::words;
pub use server::{Lost, Server, Unserved};

use abi::plan::{Logging, Plan, VARIABLE};
use files::{Prepared, SHARED_MEMORY, Streams};
use process::Limits;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use subject::Strategy;
use tempfile::TempDir;

/// Why a program did not run.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// It cannot be started.
    #[error("{}: cannot be started: {source}{}", path.display(), advice(source))]
    Start {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Files of our own cannot be made.
    #[error("cannot make files for the run: {0}; TMPDIR names the directory for them")]
    Files(std::io::Error),
    /// Addresses stay random.
    #[error(
        "the system does not let address randomisation be switched off ({0}), without which no run can be repeated; in a \
         container, start it with `--security-opt seccomp=unconfined`"
    )]
    Personality(String),
    /// It ran, but our runtime did not.
    #[error(
        "{}: {how}, and Threadbare's runtime was not started in it; link it with `threadbare cc` or `threadbare c++` too, and \
         do not start it through a script",
        path.display()
    )]
    PlanNotTaken {
        /// Which.
        path: PathBuf,
        /// How it ended.
        how: String,
    },
    /// A command started no instrumented program.
    #[error(
        "{}: it started no program that was built with `threadbare cc` ({how}); build it with `CC=\"threadbare cc\"`, or name the program itself",
        command.display()
    )]
    NothingStarted {
        /// Which.
        command: PathBuf,
        /// How it ended.
        how: String,
    },
}

fn advice(error: &std::io::Error) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::PermissionDenied => " (is it executable? `chmod +x` makes it so)",
        _ => "",
    }
}

/// Why a program was ended by us.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stopped {
    /// It took too long.
    Timeout,
    /// It took too much memory.
    Memory,
    /// It printed too much.
    Output,
}

/// What a program may print if that is kept.
const MOST_OUTPUT: u64 = 64 << 20;

/// A program that has run.
pub struct Finished {
    /// How it ended.
    pub status: ExitStatus,
    /// Why we ended it.
    pub stopped: Option<Stopped>,
    /// What it wrote, if that was kept: standard output, standard error.
    pub output: Option<(Vec<u8>, Vec<u8>)>,
    /// Its log.
    pub log: LogFile,
}

/// Runs a program to its end, in a process of its own.
///
/// # Errors
/// If it cannot be started, or does not follow the plan.
pub fn run(program: &Path, options: &Options, asked: Asked) -> Result<Finished, LaunchError> {
    let prepared = Prepared::new(files::plan(options, asked)).map_err(LaunchError::Files)?;
    let (command, streams) = command(program, options, &prepared).map_err(LaunchError::Files)?;
    let (status, stopped) = process::run(command, &Limits::new(options, &streams))
        .map_err(|error| not_started(program, error))?;
    if !prepared.taken.exists() {
        let how = process::words(status);
        return Err(LaunchError::PlanNotTaken { path: program.to_owned(), how });
    }
    let output = streams.output();
    let log = prepared.into_log().map_err(LaunchError::Files)?;
    Ok(Finished { status, stopped, output, log })
}

/// The command that starts a program under a plan, connected to its input and output.
fn command(program: &Path, options: &Options, prepared: &Prepared) -> std::io::Result<(Command, Streams)> {
    let mut command = start(program, options);
    command.env(VARIABLE, &prepared.plan);
    command.envs(options.environment.iter().map(|(name, value)| (name, value)));
    if let Some(directory) = &options.directory {
        command.current_dir(directory);
    }
    let streams = Streams::connect(&mut command, options, prepared.directory.path())?;
    Ok((command, streams))
}

fn not_started(program: &Path, failure: process::Failure) -> LaunchError {
    match failure {
        process::Failure::Personality(error) => LaunchError::Personality(error.to_string()),
        process::Failure::Start(source) => LaunchError::Start { path: program.to_owned(), source },
    }
}

/// Becomes a debugger that starts the program under a plan, which stops it before an event. Comes back only if that fails.
///
/// # Errors
/// If the debugger cannot be started.
pub fn debug(
    program: &Path,
    options: &Options,
    asked: Asked,
    stop_at: (u64, u64),
    debugger: &[OsString],
) -> LaunchError {
    let prepared = match Prepared::new(Plan { stop_at: Some(stop_at), ..files::plan(options, asked) }) {
        Ok(prepared) => prepared,
        Err(error) => return LaunchError::Files(error),
    };
    let Some((first, rest)) = debugger.split_first() else {
        return LaunchError::Start {
            path: PathBuf::new(),
            source: std::io::Error::other("no debugger is named"),
        };
    };
    let mut command = Command::new(first);
    command.args(rest).arg(runnable(program)).args(&options.arguments).env(VARIABLE, &prepared.plan);
    if let Err(error) = process::without_randomisation() {
        return LaunchError::Personality(error.to_string());
    }
    // The debugger lives on with these files; there is nobody left to remove them.
    let _ = prepared.directory.keep();
    let _ = prepared.shared.map(TempDir::keep);
    LaunchError::Start { path: PathBuf::from(first), source: command.exec() }
}

/// Whether programs can be started at fixed addresses: what was found, or what to do.
pub(crate) fn fixed_addresses() -> Result<String, String> {
    match process::can_fix_addresses() {
        Ok(()) => Ok("address randomisation can be switched off".to_owned()),
        Err(error) => Err(LaunchError::Personality(error.to_string()).to_string()),
    }
}

/// Whether there is room for logs.
pub(crate) fn room() -> Result<String, String> {
    let wanted = Options::default().most_log_bytes;
    let temporary = std::env::temp_dir();
    match (process::room(Path::new(SHARED_MEMORY)), process::room(&temporary)) {
        (Some(memory), _) if memory >= wanted => Ok(format!("{} MiB in {SHARED_MEMORY}", memory >> 20)),
        (_, Some(disk)) if disk >= wanted => {
            Ok(format!("{} MiB in {}; {SHARED_MEMORY} would be faster", disk >> 20, temporary.display()))
        }
        (_, disk) => Err(format!(
            "{} has {} MiB, a log may need {}; TMPDIR names another directory, --max-log gives another limit",
            temporary.display(),
            disk.unwrap_or(0) >> 20,
            wanted >> 20
        )),
    }
}

/// The command that starts a program.
fn start(program: &Path, options: &Options) -> Command {
    match options.through.split_first() {
        Some((first, rest)) => {
            let mut command = Command::new(first);
            command.args(rest);
            command
        }
        None => {
            let mut command = Command::new(runnable(program));
            command.args(&options.arguments);
            command
        }
    }
}

/// The program that a command starts and that was built with `threadbare cc`: the first one. It is ended before its first event.
///
/// # Errors
/// If the command cannot be started, or starts no such program.
pub fn started_by(through: &[OsString]) -> Result<PathBuf, LaunchError> {
    let options = Options {
        through: through.to_vec(),
        input: Input::Nothing,
        output: Output::Discarded,
        most_events: 1,
        ..Options::default()
    };
    let asked = Asked { strategy: Strategy::RunToBlock, logging: Logging::Schedule, modules: vec![] };
    let prepared = Prepared::new(files::plan(&options, asked)).map_err(LaunchError::Files)?;
    let name = PathBuf::from(through.first().cloned().unwrap_or_default());
    let (command, streams) = command(&name, &options, &prepared).map_err(LaunchError::Files)?;
    let (status, _) =
        process::run(command, &Limits::new(&options, &streams)).map_err(|error| not_started(&name, error))?;
    let taken = std::fs::read(&prepared.taken).unwrap_or_default();
    match taken.is_empty() {
        true => Err(LaunchError::NothingStarted { command: name, how: process::words(status) }),
        false => Ok(PathBuf::from(OsString::from_vec(taken))),
    }
}

/// A path that means this file, and not a program of that name somewhere else.
fn runnable(program: &Path) -> PathBuf {
    match program.components().count() {
        1 if program.is_relative() => Path::new(".").join(program),
        _ => program.to_owned(),
    }
}
