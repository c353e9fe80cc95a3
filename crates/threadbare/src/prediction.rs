//! From a recorded run to a report: what `run` and `predict` share, for every kind of subject.

use crate::cli::{AtomicName, Format, ModeName, ModelName, PredictOptions, PropertyName};
use crate::exit::Exit;
use crate::{load, output};
use anyhow::Context as _;
use claim::{Answer, Candidate, Finding, Property, Unknown};
use predict::{Interrupter, Mode, Model, Normal, Options, PredictError, Prediction, Wanted};
use report::{Description, Report, Telling};
use std::path::Path;
use std::time::Duration;
use subject::{Schedule, Subject};
use trace::{ThreadId, Trace};

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
    /// The command that runs it again, up to the schedule, and what comes behind.
    pub replay: (String, String),
    /// How a thread is written in a schedule on the command line.
    pub thread: &'a dyn Fn(ThreadId) -> String,
    /// Where the report goes.
    pub sink: Sink,
    /// Whether the subject is to be run again.
    pub confirm: bool,
    /// How to predict.
    pub options: Options,
}

/// Tells of a recorded run that failed by itself, in the formats for programs; people read of it as of any run.
pub fn tell_failure<S: Subject>(
    predicted: &Predicted<'_, S>,
    arguments: &PredictOptions,
) -> anyhow::Result<()> {
    let sources = load::sources(predicted.subject.program(), false);
    let telling = predicted.telling(&sources);
    let finding = predict::recorded_failure(predicted.trace);
    let schedule = Schedule::of(predicted.trace);
    let report = Report {
        subject: predicted.subject.name().to_owned(),
        recorded: report::summary(predicted.trace),
        findings: finding.iter().map(|one| report::describe(one, schedule.clone(), &telling)).collect(),
        ..Report::default()
    };
    match arguments.format {
        Format::Text => Ok(()),
        Format::Json => output::print(&report::json(&report, &sources)),
        Format::Sarif => output::print(&report::sarif(&report, &sources)),
    }
}

impl<S> Predicted<'_, S> {
    fn telling<'t>(&'t self, sources: &'t report::Sources<'t>) -> Telling<'t> {
        Telling { sources, recorded: self.trace, replay: self.replay.clone(), thread: self.thread }
    }
}

/// Predicts, confirms and reports.
pub fn tell<S: Subject>(predicted: &Predicted<'_, S>, arguments: &PredictOptions) -> anyhow::Result<Exit> {
    let program = predicted.subject.program();
    let mut prediction = predict(predicted, arguments)?;
    for run in prediction.findings.iter_mut().filter_map(|finding| finding.run.as_mut()) {
        run.shorten_thread_names();
    }
    let color = match (predicted.sink, arguments.format) {
        (Sink::Error, Format::Text) => output::error_color(),
        _ => output::color(),
    };
    let sources = load::sources(program, color);
    let telling = predicted.telling(&sources);
    let report = report(predicted, &prediction, &telling, arguments.all);
    if let Some(directory) = &arguments.save {
        save(directory, &report.findings, predicted.trace)?;
    }
    let text = match arguments.format {
        Format::Text => text(&report, &prediction, &telling, arguments),
        Format::Json => report::json(&report, &sources),
        Format::Sarif => report::sarif(&report, &sources),
    };
    match (predicted.sink, arguments.format) {
        (Sink::Error, Format::Text) => output::say(&text),
        _ => output::print(&text)?,
    }
    Ok(exit(&report, &prediction))
}

fn predict<S: Subject>(
    predicted: &Predicted<'_, S>,
    arguments: &PredictOptions,
) -> anyhow::Result<Prediction> {
    interrupt_by_key(&predicted.options.engine.interrupter);
    let bar = output::spinner();
    let mut progress = |progress: predict::Progress| {
        bar.set_message(format!(
            "predicting: {} of {} candidates, {} feasible",
            progress.decided, progress.candidates, progress.feasible
        ));
        bar.tick();
    };
    let prediction = if predicted.confirm {
        let normal = Normal::of(predicted.subject, predicted.trace, arguments.clean_runs)?;
        predict::predict_and_confirm(
            predicted.subject,
            predicted.trace,
            &predicted.options,
            &normal,
            &mut progress,
        )
    } else {
        predict::predict(predicted.subject.program(), predicted.trace, &predicted.options, &mut progress)
    };
    bar.finish_and_clear();
    let name = predicted.subject.name();
    // A model program has its threads from the start; a compiled one only by running.
    let compiled = predicted.subject.program().threads.is_empty();
    prediction.map_err(|error| match &error {
        PredictError::Trace(misfit) if compiled && misfit.is_off_path() => {
            anyhow::Error::new(error).context(format!("{name}: {OTHER_CODE}"))
        }
        _ => anyhow::Error::new(error).context(name.to_owned()),
    })
}

/// What may be wrong if a compiled program's code does not lead along its trace.
const OTHER_CODE: &str = "the run went other ways than the program's code leads. Was each of its files built with \
    `threadbare cc` or `threadbare c++`? Of an inline function that a plain file has too, the linker may have taken that copy";

/// The first Ctrl-C ends the search, and what was found so far is told; the second ends everything.
fn interrupt_by_key(interrupter: &Interrupter) {
    let interrupter = interrupter.clone();
    let handler = move || {
        if interrupter.is_set() {
            std::process::exit(130);
        }
        interrupter.interrupt();
    };
    // Without a handler a Ctrl-C ends the process, as it always does.
    let _ = ctrlc::set_handler(handler);
}

/// What is asked for; before anything is run, so that nothing is run in vain.
pub fn options(arguments: &PredictOptions) -> anyhow::Result<Options> {
    let mut wanted = Wanted { per_place: arguments.per_place as usize, ..Wanted::default() };
    if !arguments.only.is_empty() {
        wanted.properties = arguments.only.iter().map(|name| property(*name)).collect();
    }
    let engine = predict::symbolic::Options {
        mode: match arguments.mode {
            ModeName::Prefixes => Mode::Prefixes,
            ModeName::Full => Mode::Full,
        },
        model: match arguments.model {
            ModelName::Program => Model::Program,
            ModelName::Cam => Model::Cam,
            ModelName::Causal => Model::Causal,
        },
        explain: arguments.why_not,
        switches: arguments.switches,
        total_time: arguments.budget,
        interrupter: Interrupter::default(),
        limits: predict::Limits {
            time: Some(Duration::from_secs(arguments.solve_time)),
            conflicts: arguments.solve_conflicts,
            memory: arguments.solve_memory.map(|mib| (mib as usize) << 20),
        },
    };
    let mut patterns = vec![];
    for argument in &arguments.pattern {
        let path = Path::new(argument);
        let text = match argument.contains(':') && !path.exists() {
            true => argument.clone(),
            false => load::text(path)?,
        };
        patterns.extend(predict::pattern::parse(&text).with_context(|| format!("--pattern {argument}"))?);
    }
    let ctp = ctp::Options { atomic: atomic(arguments.atomic), ..Default::default() };
    Ok(Options { wanted, ctp, engine, patterns })
}

/// What counts as atomic.
pub fn atomic(name: AtomicName) -> ctp::Atomic {
    match name {
        AtomicName::Marked => ctp::Atomic::Marked,
        AtomicName::Locks => ctp::Atomic::Locks,
        AtomicName::Functions => ctp::Atomic::Functions,
    }
}

fn property(name: PropertyName) -> Property {
    match name {
        PropertyName::Atomicity => Property::Atomicity,
        PropertyName::Race => Property::Race,
        PropertyName::Assert => Property::Assertion,
        PropertyName::Deadlock => Property::Deadlock,
        PropertyName::Pattern => Property::Pattern,
    }
}

fn report<S: Subject>(
    predicted: &Predicted<'_, S>,
    prediction: &Prediction,
    telling: &Telling<'_>,
    all: bool,
) -> Report {
    let fingerprint = predicted.trace.origin.fingerprint;
    let describe = |finding: &Finding| {
        let schedule = Schedule { fingerprint: Some(fingerprint), ..predict::schedule(&finding.witness) };
        report::describe(finding, schedule, telling)
    };
    // Nobody reads noise: what only looks as if it were meant to be one step counts when somebody would notice.
    let is_finding = |finding: &&Finding| all || !finding.is_inferred() || finding.consequence.is_visible();
    let (findings, silent): (Vec<&Finding>, Vec<&Finding>) = prediction.findings.iter().partition(is_finding);
    Report {
        subject: predicted.subject.name().to_owned(),
        recorded: report::summary(predicted.trace),
        findings: findings.into_iter().map(describe).collect(),
        silent: silent.into_iter().map(describe).collect(),
        coverage: prediction.coverage.clone(),
        unknown: Report::reasons(&prediction.answers),
        statistics: prediction.statistics.clone(),
    }
}

fn text(
    report: &Report,
    prediction: &Prediction,
    telling: &Telling<'_>,
    arguments: &PredictOptions,
) -> String {
    let mut text = report::prediction(report, telling.sources, output::width());
    if arguments.why_not {
        text.push('\n');
        text.push_str(&report::why_not(&prediction.answers, telling));
    }
    if arguments.stats {
        text.push('\n');
        text.push_str(&report::prediction_statistics(&report.statistics));
    }
    text
}

fn exit(report: &Report, prediction: &Prediction) -> Exit {
    let is_limit = |(_, answer): &(Candidate, Answer)| {
        matches!(
            answer,
            Answer::Unknown(
                Unknown::Time(_)
                    | Unknown::Conflicts(_)
                    | Unknown::Memory(_)
                    | Unknown::Interrupted
                    | Unknown::Window(_)
            )
        )
    };
    let interrupted = |(_, answer): &(Candidate, Answer)| *answer == Answer::Unknown(Unknown::Interrupted);
    match () {
        () if prediction.answers.iter().any(interrupted) => Exit::Limit,
        () if !report.findings.is_empty() => Exit::Findings,
        () if prediction.answers.iter().any(is_limit) => Exit::Limit,
        () => Exit::Clean,
    }
}

/// Writes the schedule of each finding.
fn save(directory: &Path, findings: &[Description], trace: &Trace) -> anyhow::Result<()> {
    std::fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    for (at, finding) in findings.iter().enumerate() {
        let name = finding.kind.words().0.replace(' ', "-");
        let text = finding.schedule.to_text(|thread| Some(trace.thread_name(thread)));
        output::write_file(&directory.join(format!("{}-{name}.schedule", at + 1)), text.as_bytes())?;
    }
    Ok(())
}
