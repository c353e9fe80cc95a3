//! Running and replaying compiled programs: what `record`, `run`, `predict` and `replay` do when they are not given a model program.
//!
//! The program's output is its own, on standard output and standard error; what is said about it goes to standard error. `record` makes a
//! run and tells of it, `run` predicts from it, `replay` follows a schedule; here is how a program is built, opened and run again.

mod about;
mod record;
mod replay;
mod run;

pub use record::record;
pub use replay::replay;
pub use run::{predict, run};

use crate::cli::{DEFAULT_CFLAGS, ProcessOptions};
use crate::load;
use crate::load::Kind;
use crate::store::Invocation;
use anyhow::{Context as _, bail};
use native::cc::Language;
use native::launch::{Input, Options, Output};
use native::{Compiled, Toolchain};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use subject::{Logging, Strategy};

/// A run that is to show a finding is ended after this time at the earliest.
const LEAST_TIMEOUT: Duration = Duration::from_secs(10);

/// Of the time that is left, a run that is to show a finding takes so much at most, unless that is next to nothing.
const SHARE_OF_ONE_RUN: f64 = 0.2;
const LEAST_OF_ALL: Duration = Duration::from_millis(200);

/// From now on nobody sees what the program prints, but it is kept; and it does not take much longer than it took once, nor much of
/// the time that is left.
fn quiet(program: &mut Compiled, process: &ProcessOptions, took: Duration, until: Option<Instant>) {
    let options = program.options().clone();
    let usual = process.timeout.map_or(LEAST_TIMEOUT.max(20 * took), Duration::from_secs);
    let most = until.map_or(Duration::MAX, |until| share(until, SHARE_OF_ONE_RUN));
    let timeout = Some(usual.min(most.max(LEAST_OF_ALL)));
    program.set_options(Options { output: Output::Captured, timeout, read_until: None, ..options });
}

/// A share of the time that is left.
fn share(until: Instant, part: f64) -> Duration {
    until.saturating_duration_since(Instant::now()).mul_f64(part)
}

/// How a program is run again.
fn replay_of(name: &str, through: bool, process: &ProcessOptions, arguments: &[OsString]) -> Invocation {
    let mut before: Vec<OsString> = match through {
        true => vec!["--command".into()],
        false => vec![name.into()],
    };
    if process.cflags != DEFAULT_CFLAGS {
        before.push(format!("--cflags={}", process.cflags).into());
    }
    if let Some(path) = &process.stdin {
        before.extend(["--stdin".into(), path.into()]);
    }
    if !process.inputs.is_empty() {
        let inputs: Vec<String> = process.inputs.iter().map(ToString::to_string).collect();
        before.push(format!("--inputs={}", inputs.join(",")).into());
    }
    let mut behind: Vec<OsString> = vec![];
    if !arguments.is_empty() {
        behind.push("--".into());
        behind.extend_from_slice(arguments);
    }
    Invocation::new(before, behind)
}

/// A compiled program that is run many times, and nobody sees what it prints; and how it is run again.
pub fn silent(
    program: &Path,
    process: &ProcessOptions,
    arguments: &[OsString],
) -> anyhow::Result<(Compiled, Built, Invocation)> {
    let built = build(&[program.to_owned()], &process.cflags)?;
    let mut options = options(process, arguments, true);
    options.most_log_bytes = options.most_log_bytes.min(MOST_LOG_OF_MANY);
    let mut compiled = open(&built, options)?;
    quiet(&mut compiled, process, Duration::ZERO, None);
    let replay = replay_of(&built.name, false, process, arguments);
    Ok((compiled, built, replay))
}

/// How two runs under the same strategy differ, if they do: then something else than the schedule decides what a program does.
pub fn difference_of_two_runs(program: &Compiled) -> anyhow::Result<Option<String>> {
    let run = || program.record(&Strategy::RunToBlock, &Logging::Everything);
    Ok(about::difference(&run()?, &run()?, program))
}

/// Why a program that is run many times is started for each of them, as a note for who waits.
pub fn about_starts(program: &Compiled) -> String {
    let note = |why| format!("note: each run starts the program anew, which takes longer: {why}\n");
    program.unserved().map(note).unwrap_or_default()
}

/// A binary, and the directory that it is in if we have built it.
pub struct Built {
    binary: PathBuf,
    /// What it is called.
    name: String,
    _directory: Option<tempfile::TempDir>,
}

/// The binary that is meant: itself, or made of source files.
fn build(programs: &[PathBuf], flags: &str) -> anyhow::Result<Built> {
    if let [binary] = programs
        && load::kind(binary) == Kind::Binary
    {
        return Ok(Built { binary: binary.clone(), name: binary.display().to_string(), _directory: None });
    }
    let mut language = Language::C;
    for program in programs {
        match load::kind(program) {
            Kind::Source(Language::C) => {}
            Kind::Source(Language::Cxx) => language = Language::Cxx,
            Kind::Binary | Kind::Model => bail!(
                "{}: several programs can only be source files in C or C++, which make one program",
                program.display()
            ),
        }
        // The compiler would say so too, but not as one clear message.
        std::fs::metadata(program).with_context(|| format!("cannot read {}", program.display()))?;
    }
    let directory =
        tempfile::Builder::new().prefix("threadbare-").tempdir().context("cannot make a directory")?;
    let binary = directory.path().join("program");
    let mut words: Vec<OsString> = vec!["-pthread".into()];
    words.extend(flags.split_whitespace().map(OsString::from));
    words.extend(programs.iter().map(OsString::from));
    words.extend(["-o".into(), binary.clone().into_os_string()]);
    let mut command = native::cc::command(language, &Toolchain::find(), &words)?;
    let compiler = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("cannot run {compiler}"))?;
    if !status.success() {
        bail!("{} could not be compiled", programs[0].display());
    }
    Ok(Built { binary, name: programs[0].display().to_string(), _directory: Some(directory) })
}

/// The program that a command starts, and the command.
fn started_by(command: &[OsString]) -> anyhow::Result<(Built, Vec<OsString>)> {
    let binary = native::launch::started_by(command)?;
    let name = binary.display().to_string();
    Ok((Built { binary, name, _directory: None }, command.to_vec()))
}

/// The program IR of a source file that is compiled as `run` does it unless told otherwise.
pub fn program_of_source(path: &Path) -> anyhow::Result<ir::Program> {
    let built = build(&[path.to_owned()], DEFAULT_CFLAGS)?;
    Ok(native::read_program(&built.binary).with_context(|| built.name.clone())?.program)
}

fn open(built: &Built, options: Options) -> anyhow::Result<Compiled> {
    let program = Compiled::open(&built.binary, options).with_context(|| built.name.clone())?;
    Ok(program.named(&built.name))
}

/// Of a program that is run many times each run has at most so many bytes of log: what has more is too long to be run so often, or has no end.
const MOST_LOG_OF_MANY: u64 = 16 << 20;

/// Opens anew what our standard input is.
const STANDARD_INPUT: &str = "/proc/self/fd/0";

fn options(process: &ProcessOptions, arguments: &[OsString], several_runs: bool) -> Options {
    Options {
        arguments: arguments.to_vec(),
        input: match &process.stdin {
            Some(path) => Input::File(path.clone()),
            // The first run would take all there is, unless it is a file, which each run can read from its beginning.
            None if several_runs => match std::fs::metadata(STANDARD_INPUT) {
                Ok(about) if about.is_file() => Input::File(PathBuf::from(STANDARD_INPUT)),
                _ => Input::Nothing,
            },
            None => Input::Inherited,
        },
        timeout: process.timeout.map(Duration::from_secs),
        most_memory: process.max_memory.map(|mib| mib << 20),
        most_log_bytes: process.max_log << 20,
        inputs: process.inputs.iter().map(|&input| input as u64).collect(),
        ..Options::default()
    }
}
