//! Running and replaying compiled programs: what `run` and `replay` do when they are not given a model program.
//!
//! The program's output is its own, on standard output and standard error; what is said about it goes to standard error.

use crate::cli::{
    DEFAULT_CFLAGS, Format, LogName, PredictArguments, ProcessOptions, RecordArguments, RecordOptions,
    ReplayArguments, RunArguments, StrategyName,
};
use crate::command::record::{exit, save_schedule, strategy};
use crate::command::replay::MOST_ROWS;
use crate::exit::Exit;
use crate::load::{Followed, Kind};
use crate::prediction::{self, Predicted, Sink};
use crate::store::Invocation;
use crate::{load, output};
use anyhow::{Context as _, bail};
use native::cc::Language;
use native::launch::{Input, Options, Output, Stopped};
use native::{Compiled, Recorded, Toolchain};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use subject::{Schedule, Strategy, Subject as _};
use trace::{Logging, Outcome, Trace};

/// A run that is to show a finding is ended after this time at the earliest.
const LEAST_TIMEOUT: Duration = Duration::from_secs(10);

/// Of the time that is given, so much at most goes to the recorded run, and so much until its log is read.
const SHARE_OF_RECORDING: f64 = 0.3;
const SHARE_OF_READING: f64 = 0.4;
/// Of the time that is left, a run that is to show a finding takes so much at most, unless that is next to nothing.
const SHARE_OF_ONE_RUN: f64 = 0.2;
const LEAST_OF_ALL: Duration = Duration::from_millis(200);

/// So many events of a run that does not end are looked at in a second of the time that is left, and so many if no time is given.
const EVENTS_PER_SECOND: f64 = 20_000.0;
const EVENTS_OF_A_BEGINNING: u64 = 300_000;
/// A program that does not end is ended so many events behind twice those that are looked at.
const FURTHER_EVENTS: u64 = 10_000;

/// `threadbare record` of a compiled program.
pub fn record(arguments: &RecordArguments) -> anyhow::Result<Exit> {
    let logging = match arguments.log {
        LogName::Everything => Logging::Everything,
        LogName::Shared => Logging::Shared,
        LogName::Sync => Logging::Synchronisation,
    };
    if arguments.stats && logging != Logging::Everything {
        bail!("--stats rebuilds what a log of everything leaves out; it needs --log everything");
    }
    let process = &arguments.record.process;
    let (program, _built, recorded, mut text, same) =
        record_once(&arguments.record, &logging, false, Output::Inherited, None)?;
    if arguments.stats {
        let statistics = native::rebuild::rebuild(program.linked(), recorded.log.bytes());
        text.push_str(&report::statistics(&statistics_report(&statistics, &program)));
    }
    output::say(&(about(&program, &recorded, process) + &text));
    Ok(if same { recorded_exit(&recorded) } else { Exit::Findings })
}

/// `threadbare run` of a compiled program.
pub fn run(arguments: &RunArguments) -> anyhow::Result<Exit> {
    let process = &arguments.record.process;
    let options = prediction::options(&arguments.predict)?;
    let (start, until) = (Instant::now(), options.until);
    let is_text = arguments.predict.format == Format::Text;
    // A report for programs has standard output for itself.
    let output = if is_text { Output::Inherited } else { Output::Captured };
    let (mut program, built, recorded, text, same) =
        record_once(&arguments.record, &Logging::Everything, true, output, until)?;
    let took = start.elapsed();
    if let Some((out, errors)) = &recorded.output {
        [out, errors].into_iter().for_each(|printed| output::say(&String::from_utf8_lossy(printed)));
    }
    output::say(&(about(&program, &recorded, process) + &text));
    let exit = if same { recorded_exit(&recorded) } else { Exit::Findings };
    quiet(&mut program, process, took, until);
    let is_too_long = recorded.stopped == Some(Stopped::Timeout) || recorded.about.unread;
    let full = recorded.about.full;
    let mut trace = match full {
        _ if is_too_long && arguments.record.strategy == StrategyName::RunToBlock => {
            beginning(&mut program, arguments.record.seed, until)?
        }
        Some(complete) => recorded.run.trace.beginning(complete),
        None => recorded.run.trace,
    };
    trace.shorten_thread_names();
    let predicted = Predicted {
        subject: &program,
        trace: &trace,
        replay: replay_of(
            &built.name,
            arguments.record.programs.is_empty(),
            process,
            &arguments.record.arguments,
        ),
        thread: &in_schedule,
        sink: Sink::Error,
        confirm: true,
        options,
    };
    // What the log does not have, nobody has looked at.
    let exit = if exit == Exit::Clean && full.is_some() { Exit::Limit } else { exit };
    if exit == Exit::BadInput
        || !same
        || (is_text && exit == Exit::Misbehaved && arguments.predict.runs() == 1)
    {
        // What is wrong has been said.
        return Ok(exit);
    }
    output::say("\n");
    prediction::tell(&predicted, exit, arguments.record.seed, &arguments.predict)
}

/// The beginning of another run of a program that does not end, or not soon: one in which all threads get on, and that is short enough to
/// be looked at. From now on the program goes on only a little longer than that.
fn beginning(program: &mut Compiled, seed: u64, until: Option<Instant>) -> anyhow::Result<Trace> {
    let most_events = until.map_or(EVENTS_OF_A_BEGINNING, |until| {
        let left = until.saturating_duration_since(Instant::now());
        (EVENTS_PER_SECOND * left.as_secs_f64()) as u64
    });
    let options = program.options().clone();
    program.set_options(Options { most_events, output: Output::Discarded, ..options.clone() });
    let trace = program.record(&Strategy::Random { seed }, &Logging::Everything)?.run.trace;
    program.set_options(Options { most_events: 2 * most_events + FURTHER_EVENTS, ..options });
    output::say(&format!("predicted from the beginning of another run: {}\n", report::summary(&trace)));
    Ok(trace)
}

/// `threadbare predict` from a trace of a compiled program.
pub fn predict(arguments: &PredictArguments, mut trace: Trace, path: &Path) -> anyhow::Result<Exit> {
    let asked = prediction::options(&arguments.predict)?;
    let built = build(&[path.to_owned()], &arguments.process.cflags)?;
    let options = options(&arguments.process, &arguments.arguments, true);
    let mut program = open(&built, options)?;
    trace.check_fits(program.program()).with_context(|| arguments.trace.display().to_string())?;
    if trace.origin.logging != Logging::Everything {
        bail!(
            "{}: prediction needs a trace of everything (`threadbare record -o`)",
            arguments.trace.display()
        );
    }
    quiet(&mut program, &arguments.process, Duration::ZERO, asked.until);
    trace.shorten_thread_names();
    let predicted = Predicted {
        subject: &program,
        trace: &trace,
        replay: replay_of(&built.name, false, &arguments.process, &arguments.arguments),
        thread: &in_schedule,
        sink: Sink::Error,
        confirm: !arguments.no_replay,
        options: asked,
    };
    prediction::tell(&predicted, Exit::Clean, 0, &arguments.predict)
}

/// Names of threads may have spaces; a schedule has them by their place in the tree of forks.
fn in_schedule(thread: trace::ThreadId) -> String {
    thread.to_string()
}

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

/// Runs a program as it is asked for, and writes what is to be written. Gives also what a second run showed, if one is asked for, in
/// words and whether it was the same.
fn record_once(
    arguments: &RecordOptions,
    logging: &Logging,
    more_runs: bool,
    output: Output,
    until: Option<Instant>,
) -> anyhow::Result<(Compiled, Built, Recorded, String, bool)> {
    let (built, through) = match arguments.programs.is_empty() {
        true => started_by(&arguments.arguments)?,
        false => (build(&arguments.programs, &arguments.process.cflags)?, vec![]),
    };
    let followed = arguments.schedule.as_deref().map(load::followed).transpose()?;
    let several = more_runs
        || arguments.self_check
        || *logging == Logging::Shared
        || arguments.strategy == StrategyName::Pct;
    let mut options = options(&arguments.process, &arguments.arguments, several);
    options.most_events = arguments.max_events.unwrap_or(u64::MAX);
    options.through = through;
    options.output = output;
    // A program that never ends, or a very long run, would leave no time for anything else.
    if let Some(until) = until {
        let most = share(until, SHARE_OF_RECORDING);
        options.timeout = Some(options.timeout.map_or(most, |given| given.min(most)));
        options.read_until = Some(Instant::now() + share(until, SHARE_OF_READING));
    }
    options.spurious = arguments.options.spurious || followed.as_ref().is_some_and(Followed::spurious);
    let mut program = open(&built, options)?;
    let strategy = match followed {
        Some(followed) => Strategy::follow(followed.compiled_schedule()?),
        None => strategy(arguments, || events(&mut program))?,
    };
    let recorded = program.record(&strategy, logging)?;
    let trace = &recorded.run.trace;
    if let Some(path) = &arguments.output {
        output::write_trace(path, trace)?;
    }
    if let Some(path) = &arguments.save_schedule {
        save_schedule(path, &Schedule::of(trace), trace)?;
    }
    let (mut text, mut same) = (String::new(), true);
    if arguments.self_check {
        let options = program.options().clone();
        quiet(&mut program, &arguments.process, Duration::ZERO, until);
        let again = program.record(&strategy, logging)?;
        program.set_options(options);
        let difference = difference(&recorded, &again, &program);
        same = difference.is_none();
        let _ = match difference {
            None => writeln!(text, "self-check: a second run under the same strategy is identical"),
            Some(difference) => {
                writeln!(text, "self-check: a second run under the same strategy differs: {difference}")
            }
        };
    }
    Ok((program, built, recorded, text, same))
}

/// What a run means for the exit code.
fn recorded_exit(recorded: &Recorded) -> Exit {
    match (&recorded.run.departure, recorded.stopped) {
        (Some(_), _) => Exit::BadInput,
        (None, Some(_)) => Exit::Limit,
        (None, None) => exit(&recorded.run.trace.outcome),
    }
}

/// `threadbare replay` of a compiled program.
pub fn replay(arguments: &ReplayArguments, followed: Followed) -> anyhow::Result<Exit> {
    let (built, through) = match arguments.command {
        true => started_by(&arguments.arguments)?,
        false => (build(std::slice::from_ref(&arguments.program), &arguments.process.cflags)?, vec![]),
    };
    let mut options = options(&arguments.process, &arguments.arguments, false);
    options.through = through;
    options.spurious = followed.spurious();
    let program = open(&built, options)?;
    let schedule = followed.compiled_schedule()?;
    if let Some(debugger) = &arguments.debugger {
        if arguments.command {
            bail!("--debugger needs the program itself: {}", built.name);
        }
        let Some(last) = schedule.segments.last() else { bail!("the schedule has no step to stop at") };
        let stop_at = (last.thread, last.until);
        let words: Vec<OsString> = debugger.split_whitespace().map(OsString::from).collect();
        let Err(error) = program.debug(schedule, stop_at, &words);
        return Err(error.into());
    }
    let steps = schedule.segments.len();
    let recorded = program.record(&Strategy::follow(schedule), &Logging::Everything)?;
    let trace = &recorded.run.trace;
    if let Some(path) = &arguments.output {
        output::write_trace(path, trace)?;
    }
    let mut text = String::new();
    if recorded.run.departure.is_none() {
        let plural = if steps == 1 { "" } else { "s" };
        let _ = writeln!(text, "followed the schedule to its end ({steps} step{plural})");
    }
    if trace.events.len() <= MOST_ROWS {
        let options = trace::ShowOptions { width: output::width(), ..trace::ShowOptions::default() };
        text.push_str(&trace::show_events(trace, Some(program.program()), &options));
        text.push('\n');
    }
    text.push_str(&about(&program, &recorded, &arguments.process));
    output::say(&text);
    Ok(match (&recorded.run.departure, recorded.stopped, exit(&trace.outcome)) {
        (Some(_), ..) => Exit::BadInput,
        (None, Some(_), _) => Exit::Limit,
        (None, None, Exit::Misbehaved) => Exit::Findings,
        (None, None, other) => other,
    })
}

/// A compiled program that is run many times, and nobody sees what it prints; and how it is run again.
pub fn silent(
    program: &Path,
    process: &ProcessOptions,
    arguments: &[OsString],
) -> anyhow::Result<(Compiled, Built, Invocation)> {
    let built = build(&[program.to_owned()], &process.cflags)?;
    let mut compiled = open(&built, options(process, arguments, true))?;
    quiet(&mut compiled, process, Duration::ZERO, None);
    let replay = replay_of(&built.name, false, process, arguments);
    Ok((compiled, built, replay))
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

/// How many events a run has: as many as this one, of which nobody wants to see the output.
fn events(program: &mut Compiled) -> anyhow::Result<u64> {
    let options = program.options().clone();
    program.set_options(Options { output: Output::Discarded, ..options.clone() });
    let first = program.record(&Strategy::RunToBlock, &Logging::Synchronisation);
    program.set_options(options);
    Ok(first?.about.events)
}

/// What is to be said about a run.
fn about(program: &Compiled, recorded: &Recorded, process: &ProcessOptions) -> String {
    let trace = &recorded.run.trace;
    let sources = load::sources(program.program(), output::error_color());
    let mut text = format!("{}\n", report::summary(trace));
    if let Some(departure) = &recorded.run.departure {
        let departure = departure.words(&|thread| trace.thread_name(thread));
        let _ = writeln!(text, "the run departs from the schedule: {departure}");
    }
    match (recorded.stopped, &trace.outcome) {
        (Some(Stopped::Timeout), _) => {
            let limit = program.options().timeout.unwrap_or_default();
            let is_given = process.timeout.is_some_and(|given| Duration::from_secs(given) == limit);
            let option = if is_given { "--timeout" } else { "a share of --budget" };
            let seconds = (limit.as_secs_f64() * 10.0).round() / 10.0;
            let _ = writeln!(text, "the program was ended after {seconds} seconds ({option})");
        }
        (Some(Stopped::Output), _) => text.push_str("the program was ended because it printed too much\n"),
        (Some(Stopped::Memory), _) => {
            let mib = process.max_memory.unwrap_or(0);
            let _ = writeln!(
                text,
                "the program was ended because it had more than {mib} MiB of memory (--max-memory)"
            );
        }
        (None, Outcome::Truncated) => {
            let _ = writeln!(
                text,
                "the program was killed, or became another one, before the run was complete: {}; the trace holds what came before",
                recorded.ending()
            );
        }
        (None, _) => {
            text.push_str(report::outcome(trace, &sources).trim_end());
            text.push('\n');
        }
    }
    if program.options().input == Input::Nothing && misses_input(recorded) {
        let _ = writeln!(
            text,
            "note: the program had no standard input, because it is run several times; --stdin FILE gives it one each time"
        );
    }
    if recorded.about.unread {
        text.push_str(
            "note: there was no time to read more of the log (--budget); the trace holds its beginning\n",
        );
    }
    if recorded.about.full.is_some() {
        let _ = writeln!(
            text,
            "note: the log reached its limit of {} MiB (--max-log); events behind that are missing",
            process.max_log
        );
    }
    if recorded.about.foreign_units > 0 {
        let _ = writeln!(
            text,
            "note: {} events of instrumented libraries are not in the trace, because only the program's own IR is read",
            recorded.about.foreign_units
        );
    }
    if let Some(damage) = &recorded.about.damage {
        let _ = writeln!(text, "note: {damage}; the program may have written into it");
    }
    text
}

/// Whether somebody wanted to give a program input, or it ended as programs do that had none.
fn misses_input(recorded: &Recorded) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    let piped = std::fs::metadata(STANDARD_INPUT).is_ok_and(|about| about.file_type().is_fifo());
    piped || matches!(recorded.run.trace.outcome, Outcome::Exited { status } if status != 0)
}

/// The first difference between two runs.
fn difference(one: &Recorded, other: &Recorded, program: &Compiled) -> Option<String> {
    let inputs = one.about.inputs.iter().zip(&other.about.inputs).position(|(one, other)| one != other);
    let found = trace::first_difference(&one.run.trace, &other.run.trace, Some(program.program()))?;
    Some(match inputs {
        Some(at) => format!(
            "{found}; before that, input {} ({}) was not the same, which nobody controls",
            at + 1,
            one.about.inputs[at].0
        ),
        None => found,
    })
}

/// The statistics with places in words.
fn statistics_report(statistics: &native::rebuild::Statistics, program: &Compiled) -> report::Rebuilt {
    let sources = load::sources(program.program(), false);
    report::Rebuilt {
        accesses: statistics.accesses,
        rebuilt: statistics.rebuilt,
        pinned: statistics.pinned.clone(),
        shared_branches: statistics.shared_branches,
        pinned_branches: statistics.pinned_branches.clone(),
        lost: statistics.lost.clone(),
        mismatches: statistics.mismatches,
        first_mismatches: (statistics.first_mismatches.iter())
            .map(|mismatch| {
                format!(
                    "{} at {} (event {}): computed {:#x}, recorded {:#x}",
                    mismatch.what,
                    sources.place(mismatch.site),
                    mismatch.event,
                    mismatch.rebuilt,
                    mismatch.recorded
                )
            })
            .collect(),
        external_writes: statistics.external_writes,
        first_external: (statistics.first_external.iter())
            .map(|write| {
                let by =
                    write.by.map(|(_, site)| format!(", probably by the call at {}", sources.place(site)));
                format!(
                    "noticed at {} (event {}){}",
                    sources.place(write.site),
                    write.read,
                    by.unwrap_or_default()
                )
            })
            .collect(),
    }
}
