//! One recorded run: what it shows of others.

use super::Predicted;
use crate::cli::PredictOptions;
use crate::exit::Exit;
use crate::output::Spinner;
use crate::store::Invocation;
use claim::{Answer, Candidate, Finding, Unknown};
use predict::{Interrupter, Normal, PredictError, Prediction};
use report::{Description, Report, Sources, Telling};
use std::sync::OnceLock;
use std::time::Instant;
use subject::{Schedule, Subject};
use trace::Trace;

/// Of the time that is left, so much at most goes to clean runs.
const SHARE_OF_CLEAN_RUNS: f64 = 0.2;

/// Of a run with so few events many candidates of each place can be looked at: one place in the source may be about many objects.
const SHORT: usize = 20_000;
const MANY_PER_PLACE: usize = 100;

/// What was found from one run or several.
pub struct Looked {
    /// The findings, and what was covered.
    pub report: Report,
    /// Why candidates are infeasible, if that is asked for.
    pub why_not: String,
    /// The user has had enough.
    pub interrupted: bool,
    /// A limit was hit.
    limit: bool,
    /// Runs that were asked for and not made.
    pub runs_left_out: u64,
    /// The run that each schedule led to, if somebody wants to see them.
    pub shown: Vec<(Description, Trace)>,
}

impl Looked {
    /// Adds what another run showed; what is known already is not told twice.
    pub fn merge(&mut self, more: Looked) {
        self.report.merge(more.report);
        self.why_not.push_str(&more.why_not);
        self.interrupted |= more.interrupted;
        self.limit |= more.limit;
        self.shown.extend(more.shown);
    }

    /// What it means for the exit code.
    pub fn exit(&self) -> Exit {
        match () {
            () if self.interrupted => Exit::Limit,
            () if !self.report.findings.is_empty() => Exit::Findings,
            () if self.limit || self.runs_left_out > 0 => Exit::Limit,
            () => Exit::Clean,
        }
    }
}

impl<S> Predicted<'_, S> {
    fn telling<'t>(&'t self, sources: &'t Sources<'t>) -> Telling<'t> {
        Telling::new(sources, self.trace, self.replay.as_ref().map(Invocation::text), self.thread)
    }
}

/// A recorded run that failed by itself.
pub fn failure<S: Subject>(predicted: &Predicted<'_, S>, sources: &Sources<'_>) -> Looked {
    let telling = predicted.telling(sources);
    let finding = predict::recorded_failure(predicted.trace);
    let schedule = predicted.trace.schedule();
    let report = Report {
        subject: predicted.subject.name().to_owned(),
        recorded: vec![report::summary(predicted.trace)],
        findings: finding.iter().map(|one| report::describe(one, schedule.clone(), &telling)).collect(),
        ..Report::default()
    };
    Looked {
        report,
        why_not: String::new(),
        interrupted: false,
        limit: false,
        runs_left_out: 0,
        // It is the recorded run itself.
        shown: vec![],
    }
}

/// Predicts from a recorded run and confirms.
pub fn look<S: Subject>(
    predicted: &Predicted<'_, S>,
    sources: &Sources<'_>,
    arguments: &PredictOptions,
) -> anyhow::Result<Looked> {
    let mut prediction = predict(predicted, arguments)?;
    for run in prediction.findings.iter_mut().filter_map(|finding| finding.run.as_mut()) {
        run.shorten_thread_names();
    }
    let telling = predicted.telling(sources);
    let is = |wanted: fn(&Unknown) -> bool| {
        prediction.answers.iter().any(|(_, answer)| matches!(answer, Answer::Unknown(why) if wanted(why)))
    };
    Ok(Looked {
        why_not: match arguments.why_not {
            true => report::why_not(&prediction.answers, &telling),
            false => String::new(),
        },
        interrupted: is(|why| *why == Unknown::Interrupted),
        limit: prediction.coverage.events_left_out > 0
            || is(|why| {
                matches!(
                    why,
                    Unknown::Time(_)
                        | Unknown::Conflicts(_)
                        | Unknown::Memory(_)
                        | Unknown::States(_)
                        | Unknown::Planner(_)
                        | Unknown::Window(_)
                )
            }),
        runs_left_out: 0,
        report: report(predicted, &prediction, &telling, arguments.all),
        shown: match arguments.perfetto {
            Some(_) => shown(predicted, prediction, &telling),
            None => vec![],
        },
    })
}

fn predict<S: Subject>(
    predicted: &Predicted<'_, S>,
    arguments: &PredictOptions,
) -> anyhow::Result<Prediction> {
    let mut options = predicted.options.clone();
    options.wanted.per_place = match arguments.per_place {
        Some(given) => given as usize,
        None if predicted.trace.events.len() <= SHORT => MANY_PER_PLACE,
        None => options.wanted.per_place,
    };
    options.engine.interrupter = interrupter();
    let bar = Spinner::start();
    let mut progress = |progress: predict::Progress| {
        bar.tell(|| {
            format!(
                "predicting: {} of {} candidates, {} feasible",
                progress.decided, progress.candidates, progress.feasible
            )
        });
    };
    let (subject, trace) = (predicted.subject, predicted.trace);
    let prediction = if predicted.confirm {
        let now = Instant::now();
        let until = options
            .until
            .map(|until| now + until.saturating_duration_since(now).mul_f64(SHARE_OF_CLEAN_RUNS));
        let normal = Normal::of(subject, trace, arguments.clean_runs, until)?;
        predict::predict_and_confirm(subject, trace, &options, &normal, &mut progress)
    } else {
        predict::predict(subject.program(), trace, &options, &mut progress)
    };
    bar.end();
    // A model program has its threads from the start; a compiled one only by running.
    let compiled = subject.program().threads.is_empty();
    prediction.map_err(|error| match &error {
        PredictError::Trace(misfit) if compiled && misfit.is_off_path() => {
            anyhow::Error::new(error).context(format!("{}: {OTHER_CODE}", subject.name()))
        }
        _ => anyhow::Error::new(error).context(subject.name().to_owned()),
    })
}

/// What may be wrong if a compiled program's code does not lead along its trace.
const OTHER_CODE: &str = "the run went other ways than the program's code leads. Was each of its files built with \
    `threadbare cc` or `threadbare c++`? Of an inline function that a plain file has too, the linker may have taken that copy";

/// Is set by the first Ctrl-C, which ends the search, and what was found so far is told; the second ends everything. There is one for the whole process.
pub fn interrupter() -> Interrupter {
    static ONE: OnceLock<Interrupter> = OnceLock::new();
    let one = ONE.get_or_init(|| {
        let interrupter = Interrupter::default();
        let seen = interrupter.clone();
        let handler = move || {
            if seen.is_set() {
                std::process::exit(130);
            }
            seen.interrupt();
        };
        // Without a handler a Ctrl-C ends the process, as it always does.
        let _ = ctrlc::try_set_handler(handler);
        interrupter
    });
    one.clone()
}

/// The schedule that shows a finding of a run; empty for a long trace that has no program, of whose witnesses only the end is written out.
fn schedule<S>(predicted: &Predicted<'_, S>, finding: &Finding) -> Schedule {
    let fingerprint = Some(predicted.trace.origin.fingerprint);
    if finding.witness.recorded.is_some() {
        return Schedule { fingerprint, ..Schedule::default() };
    }
    Schedule { fingerprint, ..finding.witness.schedule() }
}

/// The runs that showed the findings, each with what is told of it.
fn shown<S>(
    predicted: &Predicted<'_, S>,
    prediction: Prediction,
    telling: &Telling<'_>,
) -> Vec<(Description, Trace)> {
    let runs = prediction.findings.into_iter().filter_map(|mut finding| {
        let described = report::describe(&finding, schedule(predicted, &finding), telling);
        Some((described, *finding.run.take()?))
    });
    runs.collect()
}

fn report<S: Subject>(
    predicted: &Predicted<'_, S>,
    prediction: &Prediction,
    telling: &Telling<'_>,
    all: bool,
) -> Report {
    let describe = |finding: &Finding| report::describe(finding, schedule(predicted, finding), telling);
    // Nobody reads noise: what only looks as if it were meant to be one step counts when somebody would notice.
    let is_finding = |finding: &&Finding| all || !finding.is_inferred() || finding.consequence.is_visible();
    let (findings, silent): (Vec<&Finding>, Vec<&Finding>) = prediction.findings.iter().partition(is_finding);
    let answers: &[(Candidate, Answer)] = &prediction.answers;
    let gathered = |all: Vec<&Finding>| {
        let mut gathered = vec![];
        report::gather(&mut gathered, all.into_iter().map(describe));
        gathered
    };
    Report {
        subject: predicted.subject.name().to_owned(),
        recorded: vec![report::summary(predicted.trace)],
        findings: gathered(findings),
        silent: gathered(silent),
        coverage: prediction.coverage.clone(),
        unknown: Report::reasons(answers),
        statistics: prediction.statistics.clone(),
        explored: None,
    }
}
