//! Reading programs, schedules and traces.

use crate::cli::{DEFAULT_LOOP_BOUND, ProgramOptions};
use crate::foreign_trace;
use crate::output::{Rendered, error_color};
use crate::store::Invocation;
use anyhow::{Context as _, bail};
use machine::{Machine, Options};
use report::Sources;
use std::path::{Path, PathBuf};
use subject::{Logging, Schedule, Strategy, Subject as _};
use trace::Trace;
use trace::file::{ReadTrace, TraceError};

/// Reads a text file.
pub fn text(path: &Path) -> anyhow::Result<String> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    String::from_utf8(bytes)
        .map_err(|_| anyhow::anyhow!("{} is not a text file (it is not UTF-8)", path.display()))
}

/// What a file is that holds a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A model program, program IR, or something else that those who read them will refuse.
    Model,
    /// C or C++.
    Source(native::cc::Language),
    /// A binary.
    Binary,
}

/// What a file is, by its name, or by how it begins.
pub fn kind(path: &Path) -> Kind {
    use std::io::Read as _;
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("tb" | "ir") => return Kind::Model,
        Some("c") => return Kind::Source(native::cc::Language::C),
        Some("cc" | "cpp" | "cxx" | "c++" | "C") => return Kind::Source(native::cc::Language::Cxx),
        _ => {}
    }
    let mut magic = [0; 4];
    let begins = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    if begins.is_ok() && magic == *b"\x7fELF" { Kind::Binary } else { Kind::Model }
}

/// Reads a program: a model program, the program IR in a binary or in what a source file is compiled to, or program IR in its text
/// form if the name ends in `.ir`.
pub fn program(path: &Path, options: &ProgramOptions) -> anyhow::Result<ir::Program> {
    let name = path.display().to_string();
    match kind(path) {
        Kind::Binary => return Ok(native::read_program(path).with_context(|| name)?.program),
        Kind::Source(_) => return crate::compiled::program_of_source(path),
        Kind::Model => {}
    }
    let extension = path.extension().and_then(|extension| extension.to_str());
    match extension {
        Some("tb") => {
            let source = text(path)?;
            let lowering =
                lang::LowerOptions { loop_bound: options.loop_bound, name: name.clone(), path: name.clone() };
            lang::compile(&source, &lowering).map_err(|errors| diagnostics(&errors, &name, &source))
        }
        Some("ir") => {
            let source = text(path)?;
            ir::parse(&source).map_err(|error| anyhow::anyhow!("{name}: {error}"))
        }
        _ if !path.exists() => {
            text(path)?;
            bail!("{name}: there is no such file")
        }
        _ => bail!(
            "{name}: not a program: model programs end in .tb (or in .ir for program IR as text), C and C++ in .c, .cc or \
             .cpp, and binaries are built with `threadbare cc`"
        ),
    }
}

/// The errors of a source text, rendered.
pub fn diagnostics(errors: &[lang::Diagnostic], path: &str, source: &str) -> anyhow::Error {
    let rendered: Vec<String> =
        errors.iter().map(|error| lang::render(error, path, source, error_color())).collect();
    let count = match errors.len() {
        1 => "1 error".to_owned(),
        n => format!("{n} errors"),
    };
    anyhow::Error::new(Rendered(format!("{}\n\nerror: {path}: {count}", rendered.join("\n\n"))))
}

/// Reads a program and makes it ready to run.
pub fn machine(path: &Path, options: &ProgramOptions, max_events: u64) -> anyhow::Result<Machine> {
    if kind(path) != Kind::Model {
        bail!(
            "{}: a compiled program cannot be explored exhaustively; model programs (.tb) can",
            path.display()
        );
    }
    let program = program(path, options)?;
    let options = Options { spurious: options.spurious, spins: true, max_events };
    Machine::new(program, options).with_context(|| path.display().to_string())
}

/// How a model program is run again.
pub fn replay_of_model(program: &Path, loop_bound: u32) -> Invocation {
    let mut before: Vec<std::ffi::OsString> = vec![];
    if loop_bound != DEFAULT_LOOP_BOUND {
        before.extend(["--loop-bound".into(), loop_bound.to_string().into()]);
    }
    before.push(program.as_os_str().to_owned());
    Invocation::new(before, vec![])
}

/// A program with the sources that can still be read.
pub fn sources(program: &ir::Program, color: bool) -> Sources<'_> {
    Sources::new(program, color, |path| std::fs::read_to_string(path).ok())
}

/// What a run is to follow.
pub enum Followed {
    /// A schedule file, or the schedule of a trace.
    File(Schedule),
    /// A short form: its threads are known only when the program is.
    Short(String),
}

/// Reads what a run is to follow: from a schedule file, from a trace, or a short form as it is.
pub fn followed(argument: &Path) -> anyhow::Result<Followed> {
    let short = argument.to_str().filter(|text| text.contains(':') && !argument.exists());
    if let Some(text) = short {
        return Ok(Followed::Short(text.to_owned()));
    }
    if !argument.exists() {
        bail!(
            "{}: there is no such file (a schedule in short form looks like 'T1:3 T2:5')",
            argument.display()
        );
    }
    match read_trace(argument) {
        Ok(read) => Ok(Followed::File(whole(read, argument)?.schedule())),
        Err(TraceError::NotATrace) => {
            let schedule = text(argument)?.parse().with_context(|| argument.display().to_string())?;
            Ok(Followed::File(schedule))
        }
        Err(error) => Err(named(error, argument)),
    }
}

fn read_trace(path: &Path) -> Result<ReadTrace, TraceError> {
    if path.is_dir() {
        let source = std::io::Error::from(std::io::ErrorKind::IsADirectory);
        return Err(TraceError::Io { path: path.to_owned(), source });
    }
    trace::file::read(path)
}

/// An error of a trace, with the name of its file.
fn named(error: TraceError, path: &Path) -> anyhow::Error {
    match error {
        TraceError::Io { .. } | TraceError::OnlyPartial { .. } => error.into(),
        other => anyhow::Error::new(other).context(path.display().to_string()),
    }
}

impl Followed {
    /// Whether it has waits that end without a reason.
    pub fn spurious(&self) -> bool {
        match self {
            Followed::File(schedule) => schedule.spurious,
            Followed::Short(text) => text.split_whitespace().any(|word| word == "spurious"),
        }
    }

    /// The schedule, for this machine.
    pub fn schedule(self, machine: &Machine) -> anyhow::Result<Schedule> {
        self.resolve(|name| machine.thread_named(name))
    }

    /// The schedule, for a program whose threads are named by their place in the tree of forks: `main`, `main.2`.
    pub fn compiled_schedule(self) -> anyhow::Result<Schedule> {
        self.resolve(|name| name.parse().ok())
    }

    fn resolve(self, thread: impl Fn(&str) -> Option<trace::ThreadId>) -> anyhow::Result<Schedule> {
        match self {
            Followed::File(schedule) => Ok(schedule),
            Followed::Short(text) => {
                Schedule::from_short(&text, thread).with_context(|| format!("the schedule `{text}`"))
            }
        }
    }
}

/// Reads a trace, as far as it can be read.
pub fn trace(path: &Path) -> anyhow::Result<ReadTrace> {
    read_trace(path).map_err(|error| named(error, path))
}

/// Reads a trace of which nothing may be missing.
pub fn whole_trace(path: &Path) -> anyhow::Result<Trace> {
    whole(trace(path)?, path)
}

fn whole(read: ReadTrace, path: &Path) -> anyhow::Result<Trace> {
    match read.note {
        None => Ok(read.trace),
        Some(note) => bail!("{} is not complete, and a whole trace is needed: {note}", path.display()),
    }
}

/// What was run and one run of it: a trace, with the program that it names unless another is given; or a model program, which is run once.
pub fn recorded(
    file: &Path,
    program: Option<&Path>,
    options: &ProgramOptions,
) -> anyhow::Result<(ir::Program, Trace)> {
    let is_model = kind(file) == Kind::Model
        && file.extension().is_some_and(|extension| extension == "tb" || extension == "ir");
    if is_model {
        let machine = machine(file, options, Options::default().max_events)?;
        let trace = machine.run(&Strategy::RunToBlock, &Logging::Everything)?.trace;
        return Ok((machine.program().clone(), trace));
    }
    if let Some(stand_in) = foreign_trace::stand_in(file, None)? {
        return Ok(stand_in.into_parts());
    }
    let trace = whole_trace(file)?;
    let path = program.map_or_else(|| PathBuf::from(&trace.origin.subject), Path::to_owned);
    let program = self::program(&path, options)?;
    trace.check_fits(&program).with_context(|| file.display().to_string())?;
    Ok((program, trace))
}
