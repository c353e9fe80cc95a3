//! A compiled program as a subject.

use crate::launch::{self, Asked, Finished, LaunchError, LogFile, Options, Stopped, Unserved};
use crate::linked::LinkedModule;
use crate::log::{self, Reading};
use crate::servers::Servers;
use crate::{Linked, NativeError, read_program};
use ir::{GlobalId, Program};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::OnceLock;
use subject::{Run, RunError, Schedule, Strategy, Subject};
use trace::{Logging, Origin};

/// A compiled program with its arguments, ready to run.
pub struct Compiled {
    path: PathBuf,
    name: String,
    linked: Linked,
    fingerprint: u64,
    options: Options,
    /// Where its globals lie, once somebody has asked: the same in every run.
    globals: OnceLock<Vec<(GlobalId, u64, u64)>>,
    servers: Servers,
}

/// Of what a program prints nobody reads more than this.
const MOST_READ: usize = 1 << 20;

/// Why a compiled program did not run.
#[derive(Debug, thiserror::Error)]
pub enum CompiledError {
    /// It could not be run as a subject.
    #[error(transparent)]
    Run(#[from] RunError),
    /// It could not be started.
    #[error(transparent)]
    Launch(#[from] LaunchError),
}

/// A run of a compiled program, with what a [`Run`] does not say.
pub struct Recorded {
    /// The trace, and where it departed from its schedule.
    pub run: Run,
    /// What else the log said; its trace has gone into `run`.
    pub about: About,
    /// How the process ended.
    pub status: ExitStatus,
    /// Why we ended it.
    pub stopped: Option<Stopped>,
    /// What it wrote, if that was kept.
    pub output: Option<(Vec<u8>, Vec<u8>)>,
    /// The log itself.
    pub log: LogFile,
}

/// What a log says besides the trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct About {
    /// The run was recorded to its end.
    pub ended: bool,
    /// The log reached its limit: so many of the trace's events come before, and behind that some are missing.
    pub full: Option<usize>,
    /// There was no time to read more of the log.
    pub unread: bool,
    /// Memory that more than one thread touched, if that was asked.
    pub shared: Vec<(u64, u64)>,
    /// What came from outside: which function, and a hash of it.
    pub inputs: Vec<(String, u64)>,
    /// How often the baton was handed on.
    pub hand_overs: u64,
    /// How many events there were, logged or not.
    pub events: u64,
    /// Units of instrumented libraries whose program is not at hand.
    pub foreign_units: u64,
    /// Where the log stopped making sense, in words.
    pub damage: Option<String>,
}

impl Recorded {
    /// How the process ended, in words.
    #[must_use]
    pub fn ending(&self) -> String {
        launch::words(self.status)
    }
}

impl Compiled {
    /// Reads a binary that was built with `threadbare cc`.
    ///
    /// # Errors
    /// If it cannot be read, or was not built so.
    pub fn open(path: &Path, options: Options) -> Result<Compiled, NativeError> {
        let linked = read_program(path)?;
        let fingerprint = linked.program.fingerprint();
        Ok(Compiled {
            path: path.to_owned(),
            name: path.display().to_string(),
            linked,
            fingerprint,
            options,
            globals: OnceLock::new(),
            servers: Servers::default(),
        })
    }

    /// The same program under another name, in messages and in traces.
    #[must_use]
    pub fn named(self, name: &str) -> Compiled {
        Compiled { name: name.to_owned(), ..self }
    }

    /// The program, and how the numbers of the log lead to it.
    #[must_use]
    pub fn linked(&self) -> &Linked {
        &self.linked
    }

    /// How it is run.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Why each of its runs needs a process of its own, if that is known.
    #[must_use]
    pub fn unserved(&self) -> Option<Unserved> {
        self.servers.unserved()
    }

    /// The same program, run in another way.
    pub fn set_options(&mut self, options: Options) {
        self.options = options;
    }

    /// Runs it once; for [`Logging::Shared`] twice.
    ///
    /// # Errors
    /// If it could not be run at all.
    pub fn record(&self, strategy: &Strategy, logging: &Logging) -> Result<Recorded, CompiledError> {
        self.check_schedule(strategy)?;
        let Logging::Shared = logging else {
            let kept = self.kept(logging)?;
            return self.once(strategy, logging, kept, &self.options);
        };
        let first =
            self.once(strategy, &Logging::Synchronisation, abi::plan::Logging::Sharedness, &self.options)?;
        let schedule = first.run.trace.schedule();
        let again = Strategy::Follow { schedule, then: Box::new(strategy.clone()) };
        let ranges = abi::plan::Logging::Ranges(first.about.shared.clone());
        // The first run has shown what it prints.
        let quiet = Options { output: quieter(self.options.output), ..self.options.clone() };
        let mut second = self.once(&again, logging, ranges, &quiet)?;
        second.run.trace.origin.strategy = strategy.to_string();
        second.run.departure = first.run.departure.or(second.run.departure);
        second.about.shared = first.about.shared;
        second.output = first.output;
        Ok(second)
    }

    /// Becomes a debugger in which the program follows a schedule and stops before an event.
    ///
    /// # Errors
    /// If the schedule is another program's, or the debugger cannot be started; does not come back otherwise.
    pub fn debug(
        &self,
        schedule: Schedule,
        stop_at: (trace::ThreadId, u64),
        debugger: &[OsString],
    ) -> Result<std::convert::Infallible, CompiledError> {
        let strategy = Strategy::follow(schedule);
        self.check_schedule(&strategy)?;
        let stop_at = (stop_at.0.code(), stop_at.1);
        let strategy = launch::for_log(&self.linked, &strategy);
        let asked = Asked { strategy, logging: abi::plan::Logging::Schedule, modules: self.modules() };
        Err(launch::debug(&self.path, &self.options, asked, stop_at, debugger).into())
    }

    fn check_schedule(&self, strategy: &Strategy) -> Result<(), RunError> {
        match strategy {
            Strategy::Follow { schedule, .. } => match schedule.fingerprint {
                Some(schedule) if schedule != self.fingerprint => {
                    Err(RunError::OtherProgram { schedule, subject: self.fingerprint })
                }
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn modules(&self) -> Vec<abi::plan::Module> {
        let modules = self.linked.modules.iter();
        modules.map(|&LinkedModule { id, first, sites, .. }| abi::plan::Module { id, first, sites }).collect()
    }

    /// What the runtime is to keep.
    fn kept(&self, logging: &Logging) -> Result<abi::plan::Logging, CompiledError> {
        Ok(match logging {
            Logging::Everything | Logging::WithoutValues => abi::plan::Logging::Everything,
            Logging::Synchronisation | Logging::Shared => abi::plan::Logging::Sharedness,
            Logging::Window { from, to } => abi::plan::Logging::Window { from: *from, to: *to },
            Logging::Globals(globals) => {
                let all = self.global_addresses()?.iter();
                let mut ranges: Vec<(u64, u64)> = all
                    .filter(|(global, ..)| globals.contains(global))
                    .map(|&(_, address, bytes)| (address, address.saturating_add(bytes)))
                    .collect();
                ranges.sort_unstable();
                abi::plan::Logging::Ranges(ranges)
            }
        })
    }

    /// Where the globals lie: told by a run that ends before its first event.
    fn global_addresses(&self) -> Result<&[(GlobalId, u64, u64)], CompiledError> {
        if let Some(known) = self.globals.get() {
            return Ok(known);
        }
        let options = Options {
            most_events: 1,
            input: launch::Input::Nothing,
            output: launch::Output::Discarded,
            ..self.options.clone()
        };
        let kept = abi::plan::Logging::Schedule;
        let asked = Asked { strategy: Strategy::RunToBlock, logging: kept, modules: self.modules() };
        let finished = launch::run(&self.path, &options, asked)?;
        let reading =
            log::read(&self.linked, finished.log.bytes(), self.origin("", &Logging::Synchronisation), None);
        Ok(self.globals.get_or_init(|| reading.globals))
    }

    fn origin(&self, strategy: &str, logging: &Logging) -> Origin {
        Origin {
            subject: self.name.clone(),
            fingerprint: self.fingerprint,
            strategy: strategy.to_owned(),
            logging: logging.clone(),
        }
    }

    fn once(
        &self,
        strategy: &Strategy,
        logging: &Logging,
        kept: abi::plan::Logging,
        options: &Options,
    ) -> Result<Recorded, CompiledError> {
        let in_log = launch::for_log(&self.linked, strategy);
        let asked = Asked { strategy: in_log, logging: kept, modules: self.modules() };
        let Finished { status, stopped, output, log } = self.servers.run(&self.path, options, asked)?;
        let Reading {
            trace,
            departure,
            ended,
            full,
            unread,
            unsupported,
            shared,
            inputs,
            globals,
            hand_overs,
            events,
            foreign_units,
            damage,
        } = log::read(
            &self.linked,
            log.bytes(),
            self.origin(&strategy.to_string(), logging),
            options.read_until,
        );
        if let Some(what) = unsupported {
            return Err(RunError::NotRun(format!("{}: {what}", self.name)).into());
        }
        let _ = self.globals.set(globals);
        self.servers.look_at(&trace);
        let damage = damage.map(|damage| damage.to_string());
        let about = About { ended, full, unread, shared, inputs, hand_overs, events, foreign_units, damage };
        let run = Run { trace, departure, output: output.as_ref().map(words) };
        Ok(Recorded { run, about, status, stopped, output, log })
    }
}

/// What a program printed, standard output first, as far as somebody would read it.
fn words((out, err): &(Vec<u8>, Vec<u8>)) -> String {
    let part = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(MOST_READ)]).into_owned();
    let (out, err) = (part(out), part(err));
    match out.is_empty() || out.ends_with('\n') {
        true => out + &err,
        false => format!("{out}\n{err}"),
    }
}

fn quieter(output: launch::Output) -> launch::Output {
    match output {
        launch::Output::Captured => launch::Output::Captured,
        launch::Output::Inherited | launch::Output::Discarded => launch::Output::Discarded,
    }
}

impl Subject for Compiled {
    fn name(&self) -> &str {
        &self.name
    }

    fn program(&self) -> &Program {
        &self.linked.program
    }

    fn run(&self, strategy: &Strategy, logging: &Logging) -> Result<Run, RunError> {
        match self.record(strategy, logging) {
            Ok(recorded) => Ok(recorded.run),
            Err(CompiledError::Run(error)) => Err(error),
            Err(CompiledError::Launch(error)) => Err(RunError::NotRun(error.to_string())),
        }
    }
}
