//! From recorded runs to a report: what `run` and `predict` share, for every kind of subject.

mod known;
mod look;
mod options;
mod show;

pub use known::Known;
pub use look::interrupter;
pub use options::{atomic, options};
pub use show::formatted;

use crate::cli::PredictOptions;
use crate::exit::Exit;
use crate::output;
use crate::store::Invocation;
use look::{Looked, failure, look};
use predict::Options;
use report::Explored;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use subject::{Strategy, Subject};
use trace::{Logging, ThreadId, Trace};

/// Where the report goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sink {
    /// To standard output.
    Output,
    /// To standard error, because standard output is the program's; what programs read goes to standard output all the same.
    Error,
}

/// What is predicted from, and how it is spoken of.
pub struct Predicted<'a, S> {
    /// What was run.
    pub subject: &'a S,
    /// The recorded run.
    pub trace: &'a Trace,
    /// How it is run again, if there is a program.
    pub replay: Option<Invocation>,
    /// How a thread is written in a schedule on the command line.
    pub thread: &'a (dyn Fn(ThreadId) -> String + Sync),
    /// Where the report goes.
    pub sink: Sink,
    /// Whether the subject is to be run again.
    pub confirm: bool,
    /// How to predict.
    pub options: Options,
}

/// What is predicted from besides the recorded run.
pub enum More<'t> {
    /// Runs as they are asked for, whose schedules are drawn with the seeds from this one on.
    Drawn(u64),
    /// These runs, of which so many are looked at at once.
    Runs(&'t [Trace], usize),
}

/// Predicts from the recorded run, and from more runs if they are asked for, confirms and reports. `recorded` is what the recorded run
/// itself means for the exit code; other runs draw their schedules with the seeds from `seed` on.
pub fn tell<S: Subject + Sync>(
    predicted: &Predicted<'_, S>,
    recorded: Exit,
    seed: u64,
    arguments: &PredictOptions,
) -> anyhow::Result<Exit> {
    let mut told = look_at_all(predicted, recorded, More::Drawn(seed + 1), arguments)?;
    told.show(predicted, arguments)?;
    Ok(told.exit)
}

/// What came of it, before it is shown.
pub struct Told {
    looked: Looked,
    about_known: String,
    /// What it means for the exit code.
    pub exit: Exit,
    /// Every candidate was generated and decided.
    pub complete: bool,
}

impl Told {
    /// Shows it; with what a search says, if it was one.
    pub fn show<S: Subject + Sync>(
        &mut self,
        predicted: &Predicted<'_, S>,
        arguments: &PredictOptions,
    ) -> anyhow::Result<()> {
        show::show(predicted, &self.looked, &self.about_known, arguments)
    }

    /// Adds what a search says of all schedules.
    pub fn explored(&mut self, explored: Explored) {
        self.looked.report.explored = Some(explored);
    }
}

/// Predicts from the recorded run and from more runs of any kind, and confirms.
pub fn look_at_all<S: Subject + Sync>(
    predicted: &Predicted<'_, S>,
    recorded: Exit,
    more: More<'_>,
    arguments: &PredictOptions,
) -> anyhow::Result<Told> {
    let written = [arguments.html.as_deref(), arguments.perfetto.as_deref(), arguments.save.as_deref()];
    output::check_distinct(&[Path::new(predicted.subject.name())], &written)?;
    let known = Known::read(arguments.suppressions.as_deref(), arguments.baseline.as_deref())?;
    let sources = show::sources(predicted, arguments);
    let mut all = match recorded {
        Exit::Clean | Exit::Limit => look(predicted, &sources, arguments)?,
        // The bug is here already: nothing has to be predicted to see it.
        _ => failure(predicted, &sources),
    };
    let one_more = |trace: &Trace| -> anyhow::Result<Looked> {
        let another = Predicted {
            subject: predicted.subject,
            trace,
            replay: predicted.replay.clone(),
            thread: predicted.thread,
            sink: predicted.sink,
            confirm: predicted.confirm,
            options: predicted.options.clone(),
        };
        match predict::recorded_failure(another.trace).is_some() {
            true => Ok(failure(&another, &sources)),
            false => look(&another, &sources, arguments),
        }
    };
    let until = predicted.options.until;
    let is_over = || until.is_some_and(|until| Instant::now() >= until);
    match more {
        More::Drawn(first) => {
            let length = predicted.trace.events.len() as u64;
            for (n, seed) in (first..).take(arguments.runs() as usize - 1).enumerate() {
                if is_over() || all.interrupted {
                    all.runs_left_out += 1;
                    continue;
                }
                let strategy = Strategy::nth(n as u64, seed, length);
                let mut trace = predicted.subject.run(&strategy, &Logging::Everything)?.trace;
                trace.shorten_thread_names();
                all.merge(one_more(&trace)?);
            }
        }
        More::Runs(traces, workers) => {
            let stop = AtomicBool::new(all.interrupted);
            let one = |at: usize| {
                if is_over() || stop.load(Ordering::Relaxed) {
                    return None;
                }
                let looked = one_more(&traces[at]);
                let interrupted = looked.as_ref().is_ok_and(|looked| looked.interrupted);
                stop.fetch_or(interrupted, Ordering::Relaxed);
                Some(looked)
            };
            // Put together in the order of the runs, whoever looked at them and when.
            for looked in explore::by_workers(traces.len(), workers, &one, &mut |_, _| {}) {
                match looked {
                    Some(looked) => all.merge(looked?),
                    None => all.runs_left_out += 1,
                }
            }
        }
    }
    let about_known = known.take_out(&mut all.report);
    let complete = all.report.coverage.is_complete() && all.runs_left_out == 0;
    Ok(Told {
        exit: match (recorded, all.exit()) {
            (Exit::Clean, found) => found,
            // Of a run that was cut nobody knows how it goes on.
            (Exit::Limit, Exit::Clean) => Exit::Limit,
            (Exit::Limit, found) => found,
            (failed, _) => failed,
        },
        complete,
        looked: all,
        about_known,
    })
}
