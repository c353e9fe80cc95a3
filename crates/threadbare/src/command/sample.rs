//! `threadbare explore --strategy random` and `pct`: many runs under drawn schedules, of model programs and of compiled ones.

use super::runs::{self, Naming};
use super::shown::{self, Shown};
use super::tree::Tree;
use crate::cli::{ExploreArguments, Format, Search};
use crate::exit::Exit;
use crate::load::Kind;
use crate::output::Spinner;
use crate::{compiled, load, output};
use anyhow::{Context as _, bail};
use explore::{Found, Sampled};
use report::{Explored, Sources, Verdict};
use std::fmt::Write as _;
use subject::{Run, Strategy, Subject};
use trace::{Logging, Outcome, Trace};

/// Schedules with more steps than this are not shown on one line.
const MOST_STEPS: usize = 24;
/// How many runs are made unless it is said.
const DEFAULT_RUNS: u64 = 1000;
/// Runs of model programs end after so many events.
const MOST_EVENTS: u64 = 1_000_000;

pub fn sample(arguments: &ExploreArguments) -> anyhow::Result<Exit> {
    if arguments.along.is_some() {
        bail!("--along goes with --strategy all only");
    }
    if arguments.resume {
        bail!("--resume is for --strategy dpor, prune and paths; drawn schedules go on with --seed N");
    }
    if load::kind(&arguments.program) == Kind::Model {
        if !arguments.arguments.is_empty() {
            bail!("{}: a model program takes no arguments", arguments.program.display());
        }
        let machine = load::machine(&arguments.program, &arguments.options, MOST_EVENTS)?;
        return sample_subject(arguments, &machine, &runs::naming(arguments));
    }
    let (program, _built, replay) =
        compiled::silent(&arguments.program, &arguments.process, &arguments.arguments)?;
    // Names of threads may have spaces there.
    sample_subject(arguments, &program, &Naming { replay, thread: &|_, thread| thread.to_string() })
}

/// Runs a subject as often as it is asked for, and tells what went wrong.
fn sample_subject(
    arguments: &ExploreArguments,
    subject: &impl Subject,
    naming: &Naming<'_>,
) -> anyhow::Result<Exit> {
    let runs = arguments.predict.runs.map_or(DEFAULT_RUNS, u64::from);
    let seeds = (0..runs).map(|run| arguments.seed.wrapping_add(run));
    let switches = arguments.predict.switches;
    let first = match (arguments.strategy, switches) {
        (Search::Random, None) => None,
        _ => Some(subject.run(&Strategy::RunToBlock, &Logging::Everything)?.trace),
    };
    let visible =
        |trace: &Trace| trace.events.iter().filter(|event| event.kind.may_be_visible()).count() as u64;
    let length = first.as_ref().map_or(1, |first| visible(first).max(1));
    let strategies = seeds.map(|seed| match (arguments.strategy, switches, &first) {
        (Search::Pct, ..) => Strategy::Pct { seed, depth: arguments.depth, length },
        (_, Some(most), Some(first)) => explore::draw(seed, most, first),
        _ => Strategy::Random { seed },
    });
    let breaks = |run: &Run| report::violates(&run.trace, subject.program());
    let mut tree = Tree::wanted(arguments, subject.program());
    let bar = Spinner::start();
    let sampled = explore::sample(subject, strategies, switches, &breaks, &mut |run, sampled| {
        if let Some(tree) = &mut tree {
            tree.add_trace(&run.trace);
        }
        bar.tell(|| format!("{} runs, {} findings", sampled.runs, sampled.wrong.len()));
        true
    })?;
    bar.end();
    if let Some(tree) = tree {
        tree.write()?;
    }
    let is_text = arguments.predict.format == Format::Text;
    let sources = load::sources(subject.program(), is_text && output::color());
    let seen_nothing = sampled.cut + sampled.beyond == sampled.runs;
    let mut exit = match () {
        () if !sampled.wrong.is_empty() => Exit::Findings,
        () if seen_nothing => Exit::Limit,
        () => Exit::Clean,
    };
    let coverage = coverage(arguments, &sampled, length);
    if shown::is_wanted(&arguments.predict) {
        let shown = Shown { subject, sources: &sources, naming, clean_runs: 0 };
        let mut findings = vec![];
        for found in sampled.wrong.values() {
            // A drawn run was not recorded with all its events.
            let strategy = Strategy::follow(found.run.trace.schedule());
            report::gather(&mut findings, shown.run(&subject.run(&strategy, &Logging::Everything)?));
        }
        let new =
            shown.tell(&arguments.predict, findings, &explored(arguments, &sampled, exit, &coverage))?;
        if exit == Exit::Findings && new == 0 {
            exit = Exit::Clean;
        }
    }
    let mut text = String::new();
    if let Some(directory) = &arguments.predict.save {
        save(directory, &sampled)?;
        let _ = writeln!(text, "schedules saved in {}", directory.display());
    }
    if !is_text {
        output::say(&text);
        return Ok(exit);
    }
    let told: String = (sampled.wrong.values().enumerate())
        .map(|(at, found)| tell(found, at + 1, &sampled, &sources, naming))
        .collect();
    output::print(&format!("{told}{text}{coverage}"))?;
    Ok(exit)
}

/// One thing that went wrong, and how to see it.
fn tell(
    found: &Found,
    number: usize,
    sampled: &Sampled,
    sources: &Sources<'_>,
    naming: &Naming<'_>,
) -> String {
    let trace = &found.run.trace;
    let mut text = format!("{}\n", report::outcome(trace, sources).trim_end());
    if matches!(trace.outcome, Outcome::Completed { .. }) {
        text.push_str("   = the final condition does not hold\n");
    }
    // Writing to a string cannot fail.
    let _ = writeln!(text, "   = seen in {} of {} runs", found.times, sampled.runs);
    let _ = writeln!(text, "   = {}\n", how_to_see(found, naming, number));
    text
}

/// What the runs say about all schedules.
fn explored(arguments: &ExploreArguments, sampled: &Sampled, exit: Exit, coverage: &str) -> Explored {
    Explored {
        strategy: runs::name(arguments.strategy),
        verdict: match exit {
            Exit::Clean => Verdict::NothingDrawn,
            other => runs::verdict(other, &[]),
        },
        runs: sampled.runs,
        covered: coverage.trim_end().to_owned(),
        bounds: runs::bounds(arguments.predict.switches, false),
        ..Explored::default()
    }
}

fn how_to_see(found: &Found, naming: &Naming<'_>, number: usize) -> String {
    let schedule = found.run.trace.schedule();
    let (before, behind) = naming.replay.text();
    match schedule.segments.len() {
        0..=MOST_STEPS => {
            let short = schedule.to_short(|thread| (naming.thread)(&found.run.trace, thread));
            format!("to see it: {before} '{short}'{behind}")
        }
        steps => format!(
            "a schedule of {steps} steps shows it; --save DIR writes it to DIR/{number}.schedule for `threadbare replay`"
        ),
    }
}

fn save(directory: &std::path::Path, sampled: &Sampled) -> anyhow::Result<()> {
    std::fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    for (at, found) in sampled.wrong.values().enumerate() {
        let trace = &found.run.trace;
        let path = directory.join(format!("{}.schedule", at + 1));
        super::record::save_schedule(&path, &trace.schedule(), trace)?;
    }
    Ok(())
}

/// What the runs say about the others.
fn coverage(arguments: &ExploreArguments, sampled: &Sampled, length: u64) -> String {
    let last = arguments.seed.wrapping_add(sampled.runs.saturating_sub(1));
    let mut text = format!(
        "{} runs under drawn schedules (seeds {} to {last}), {} of them different; {}\n",
        sampled.runs,
        arguments.seed,
        sampled.schedules,
        match sampled.wrong.len() {
            0 => "none failed".to_owned(),
            1 => "1 kind of failure".to_owned(),
            kinds => format!("{kinds} kinds of failure"),
        }
    );
    if sampled.cut > 0 {
        let _ = writeln!(text, "{} runs did not come to the program's end", sampled.cut);
    }
    if let Some(most) = arguments.predict.switches {
        let most = runs::count(u64::from(most), "context switch");
        let _ = writeln!(
            text,
            "bounded: {} runs had more than {most}; what they show does not count",
            sampled.beyond
        );
    }
    let _ = match arguments.strategy {
        Search::Pct if arguments.predict.switches.is_none() => writeln!(
            text,
            "covered: a bug that needs {} orderings between threads shows in one of these runs with a probability of {:.3} at least \
             ({} threads, runs of at most {length} visible events)",
            arguments.depth,
            explore::least_probability(sampled.runs, sampled.threads, length, arguments.depth),
            sampled.threads
        ),
        _ => writeln!(text, "covered: these runs only; of other schedules nothing is known"),
    };
    text
}
