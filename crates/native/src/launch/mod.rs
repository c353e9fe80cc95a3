//! Starting a compiled program under a plan, watching it, and keeping its log.
//!
//! The program runs as it would without us, in its own directory and with its own arguments, but for three things: the
//! environment names the plan, addresses are not randomised, and a watcher ends it when it takes too long or too much memory.

mod plan;
mod process;
mod tail;

pub use plan::for_log;
pub use process::words;

use abi::plan::{Logging, Module, Plan, VARIABLE};
use process::Limits;
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use subject::Strategy;
use tempfile::TempDir;

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
        }
    }
}

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

/// The log of a program that has run; it is removed with this.
pub struct LogFile {
    bytes: memmap2::Mmap,
    _directory: TempDir,
    _shared: Option<TempDir>,
}

impl LogFile {
    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// A plan, and the files that it needs.
struct Prepared {
    directory: TempDir,
    /// A directory in memory, if the log is there.
    shared: Option<TempDir>,
    plan: PathBuf,
    taken: PathBuf,
    log: PathBuf,
}

/// Directories that are in memory.
const SHARED_MEMORY: &str = "/dev/shm";

fn prepare(
    options: &Options,
    strategy: Strategy,
    logging: Logging,
    modules: Vec<Module>,
    stop_at: Option<(u64, u64)>,
) -> std::io::Result<Prepared> {
    let directory = tempfile::Builder::new().prefix("threadbare-").tempdir()?;
    // A log of everything may be large; others are small, and their directory needs not be in memory.
    let shared = match process::has_room(Path::new(SHARED_MEMORY), options.most_log_bytes) {
        true => tempfile::Builder::new().prefix("threadbare-").tempdir_in(SHARED_MEMORY).ok(),
        false => None,
    };
    let path = |name: &str| directory.path().join(name);
    let (plan, taken) = (path("plan"), path("taken"));
    let log = shared.as_ref().map_or(directory.path(), TempDir::path).join("log");
    File::create(&log)?;
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let content = Plan {
        version: abi::VERSION,
        taken: text(&taken),
        log: text(&log),
        strategy,
        logging,
        modules,
        most_bytes: options.most_log_bytes,
        most_events: options.most_events,
        spurious: options.spurious,
        quarantine: options.quarantine,
        inputs: options.inputs.clone(),
        stop_at,
    };
    let bytes = postcard::to_stdvec(&content).map_err(std::io::Error::other)?;
    std::fs::write(&plan, bytes)?;
    Ok(Prepared { directory, shared, plan, taken, log })
}

/// Runs a program to its end.
///
/// # Errors
/// If it cannot be started, or does not follow the plan.
pub fn run(
    program: &Path,
    options: &Options,
    strategy: Strategy,
    logging: Logging,
    modules: Vec<Module>,
) -> Result<Finished, LaunchError> {
    let prepared = prepare(options, strategy, logging, modules, None).map_err(LaunchError::Files)?;
    let mut command = start(program, options);
    command.env(VARIABLE, &prepared.plan);
    command.envs(options.environment.iter().map(|(name, value)| (name, value)));
    if let Some(directory) = &options.directory {
        command.current_dir(directory);
    }
    let files = redirect(&mut command, options, prepared.directory.path()).map_err(LaunchError::Files)?;
    let output = files.as_ref().map(|(out, err)| (vec![out.clone(), err.clone()], MOST_OUTPUT));
    let limits = Limits { timeout: options.timeout, most_memory: options.most_memory, output };
    let (status, stopped) = process::run(command, &limits).map_err(|error| match error {
        process::Failure::Personality(error) => LaunchError::Personality(error.to_string()),
        process::Failure::Start(source) => LaunchError::Start { path: program.to_owned(), source },
    })?;
    if !prepared.taken.exists() {
        let how = process::words(status);
        return Err(LaunchError::PlanNotTaken { path: program.to_owned(), how });
    }
    let output = files
        .map(|(out, err)| (std::fs::read(out).unwrap_or_default(), std::fs::read(err).unwrap_or_default()));
    tail::complete(&prepared.log).map_err(LaunchError::Files)?;
    let bytes = map(&prepared.log).map_err(LaunchError::Files)?;
    let log = LogFile { bytes, _directory: prepared.directory, _shared: prepared.shared };
    Ok(Finished { status, stopped, output, log })
}

/// Becomes a debugger that starts the program under a plan, which stops it before an event. Comes back only if that fails.
///
/// # Errors
/// If the debugger cannot be started.
pub fn debug(
    program: &Path,
    options: &Options,
    strategy: Strategy,
    modules: Vec<Module>,
    stop_at: (u64, u64),
    debugger: &[OsString],
) -> LaunchError {
    let prepared = match prepare(options, strategy, Logging::Schedule, modules, Some(stop_at)) {
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
    let prepared = prepare(&options, Strategy::RunToBlock, Logging::Schedule, vec![], None);
    let prepared = prepared.map_err(LaunchError::Files)?;
    let name = PathBuf::from(through.first().cloned().unwrap_or_default());
    let mut command = start(&name, &options);
    command.env(VARIABLE, &prepared.plan);
    redirect(&mut command, &options, prepared.directory.path()).map_err(LaunchError::Files)?;
    let limits = Limits { timeout: None, most_memory: None, output: None };
    let (status, _) = process::run(command, &limits).map_err(|error| match error {
        process::Failure::Personality(error) => LaunchError::Personality(error.to_string()),
        process::Failure::Start(source) => LaunchError::Start { path: name.clone(), source },
    })?;
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

/// Connects the program's input and output; gives the files that its output is kept in.
fn redirect(
    command: &mut Command,
    options: &Options,
    directory: &Path,
) -> std::io::Result<Option<(PathBuf, PathBuf)>> {
    match &options.input {
        Input::Inherited => {}
        Input::Nothing => {
            command.stdin(Stdio::null());
        }
        Input::File(path) => {
            let opened = File::open(path);
            let named = |error: std::io::Error| {
                std::io::Error::new(error.kind(), format!("{}: {error}", path.display()))
            };
            command.stdin(opened.map_err(named)?);
        }
    }
    match options.output {
        Output::Inherited => Ok(None),
        Output::Discarded => {
            command.stdout(Stdio::null()).stderr(Stdio::null());
            Ok(None)
        }
        Output::Captured => {
            let (out, err) = (directory.join("stdout"), directory.join("stderr"));
            command.stdout(File::create(&out)?).stderr(File::create(&err)?);
            Ok(Some((out, err)))
        }
    }
}

/// Maps a log.
fn map(path: &Path) -> std::io::Result<memmap2::Mmap> {
    let file = File::open(path)?;
    // SAFETY: the file is in a directory of our own, and its writer has ended. Processes that it has started and that still run
    // have no plan to write to it.
    #[allow(unsafe_code)]
    let map = unsafe { memmap2::Mmap::map(&file) }?;
    Ok(map)
}
