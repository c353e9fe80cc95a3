//! `threadbare explore --strategy random` and `pct`: many runs under drawn schedules, of model programs and of compiled ones.

use crate::cli::{ExploreArguments, Search};
use crate::exit::Exit;
use crate::load::Kind;
use crate::store::Invocation;
use crate::{compiled, load, output};
use anyhow::{Context as _, bail};
use explore::{Found, Sampled};
use std::fmt::Write as _;
use subject::{Run, Schedule, Strategy, Subject};
use trace::{Logging, Outcome, ThreadId, Trace};

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
    if load::kind(&arguments.program) == Kind::Model {
        if !arguments.arguments.is_empty() {
            bail!("{}: a model program takes no arguments", arguments.program.display());
        }
        let machine = load::machine(&arguments.program, &arguments.options, MOST_EVENTS)?;
        let replay = load::replay_of_model(&arguments.program, arguments.options.loop_bound);
        return sample_subject(arguments, &machine, &replay, &|trace, thread| trace.thread_name(thread));
    }
    let (program, _built, replay) =
        compiled::silent(&arguments.program, &arguments.process, &arguments.arguments)?;
    // Names of threads may have spaces there.
    sample_subject(arguments, &program, &replay, &|_, thread| thread.to_string())
}

/// What a thread is called in a schedule on the command line.
type Name<'a> = &'a dyn Fn(&Trace, ThreadId) -> String;

/// Runs a subject as often as it is asked for, and tells what went wrong.
fn sample_subject(
    arguments: &ExploreArguments,
    subject: &impl Subject,
    replay: &Invocation,
    name: Name<'_>,
) -> anyhow::Result<Exit> {
    let runs = arguments.predict.runs.map_or(DEFAULT_RUNS, u64::from);
    let seeds = (0..runs).map(|run| arguments.seed.wrapping_add(run));
    let length = match arguments.strategy {
        Search::Pct => {
            let first = subject.run(&Strategy::RunToBlock, &Logging::Everything)?;
            let visible = first.trace.events.iter().filter(|event| event.kind.may_be_visible()).count();
            (visible as u64).max(1)
        }
        _ => 0,
    };
    let strategies = seeds.map(|seed| match arguments.strategy {
        Search::Pct => Strategy::Pct { seed, depth: arguments.depth, length },
        _ => Strategy::Random { seed },
    });
    let breaks = |run: &Run| report::violates(&run.trace, subject.program());
    let bar = output::spinner();
    let sampled = explore::sample(subject, strategies, &breaks, &mut |sampled| {
        bar.set_message(format!("{} runs, {} findings", sampled.runs, sampled.wrong.len()));
        bar.tick();
        true
    })?;
    bar.finish_and_clear();
    let sources = load::sources(subject.program(), output::color());
    let mut text = String::new();
    for (at, found) in sampled.wrong.values().enumerate() {
        let trace = &found.run.trace;
        text.push_str(report::outcome(trace, &sources).trim_end());
        text.push('\n');
        if matches!(trace.outcome, Outcome::Completed { .. }) {
            text.push_str("   = the final condition does not hold\n");
        }
        let _ = writeln!(text, "   = seen in {} of {} runs", found.times, sampled.runs);
        let _ = writeln!(text, "   = {}\n", how_to_see(found, name, replay, at + 1));
    }
    if let Some(directory) = &arguments.predict.save {
        save(directory, &sampled)?;
        let _ = writeln!(text, "schedules saved in {}", directory.display());
    }
    text.push_str(&coverage(arguments, &sampled, length));
    output::print(&text)?;
    let seen_nothing = sampled.cut == sampled.runs;
    Ok(match () {
        () if !sampled.wrong.is_empty() => Exit::Findings,
        () if seen_nothing => Exit::Limit,
        () => Exit::Clean,
    })
}

fn how_to_see(found: &Found, name: Name<'_>, replay: &Invocation, number: usize) -> String {
    let schedule = Schedule::of(&found.run.trace);
    let (before, behind) = replay.text();
    match schedule.segments.len() {
        0..=MOST_STEPS => {
            let short = schedule.to_short(|thread| name(&found.run.trace, thread));
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
        super::record::save_schedule(&path, &Schedule::of(trace), trace)?;
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
    let _ = match arguments.strategy {
        Search::Pct => writeln!(
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
