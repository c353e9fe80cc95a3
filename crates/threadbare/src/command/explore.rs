//! `threadbare explore`: run a program under every schedule.

use crate::cli::{DEFAULT_LOOP_BOUND, ExploreArguments, Method, Reduction, Search};
use crate::exit::Exit;
use crate::load::Kind;
use crate::{load, output};
use anyhow::{Context as _, bail};
use indicatif::ProgressBar;
use machine::Machine;
use machine::oracle::{self, Answers, LimitReached, Question, Walk};
use std::path::Path;
use subject::Schedule;
use trace::Trace;

pub fn explore(arguments: &ExploreArguments) -> anyhow::Result<Exit> {
    match (arguments.strategy, load::kind(&arguments.program)) {
        (Search::Random | Search::Pct, _) => return super::sample::sample(arguments),
        (_, Kind::Model) if !arguments.arguments.is_empty() => {
            bail!("{}: a model program takes no arguments", arguments.program.display())
        }
        (_, Kind::Model) => {}
        (Search::Paths, Kind::Binary | Kind::Source(_)) => {
            return super::paths::paths_of_compiled(arguments);
        }
        (_, Kind::Binary | Kind::Source(_)) => bail!(
            "{}: only model programs (.tb) can be gone through step by step; for compiled ones there are --strategy paths, random and pct",
            arguments.program.display()
        ),
    }
    let machine =
        load::machine(&arguments.program, &arguments.options, machine::Options::default().max_events)?;
    match arguments.strategy {
        Search::Paths => return super::paths::paths(arguments),
        Search::Prune => return super::prune::prune(arguments),
        _ => {}
    }
    if arguments.along.is_some() && arguments.strategy != Search::All {
        bail!("--along goes with --strategy all only");
    }
    let along = arguments.along.as_deref().map(load::whole_trace).transpose()?;
    if let (Some(along), Some(path)) = (&along, &arguments.along) {
        along.check_fits(machine.program()).with_context(|| path.display().to_string())?;
    }
    let bar = output::spinner();
    let answers = match arguments.strategy {
        Search::All => enumerate(&machine, arguments, along.as_ref(), &bar),
        _ => reduce(&machine, arguments, &bar),
    };
    bar.finish_and_clear();
    let sources = load::sources(machine.program(), output::color());
    let mut text = report::exploration(&machine, &answers, &sources, &replay_command(arguments));
    if let Some(path) = &arguments.along {
        text.push_str(&format!(
            "covered: only runs in which each thread keeps to its path in {}\n",
            path.display()
        ));
    }
    if let Some(directory) = &arguments.predict.save {
        let saved = save(directory, &answers)?;
        let saved = if saved.is_empty() { "nothing".to_owned() } else { saved.join(", ") };
        text.push_str(&format!("saved in {}: {saved}\n", directory.display()));
    }
    output::print(&text)?;
    Ok(exit(&machine, &answers))
}

/// Goes through all schedules.
fn enumerate(
    machine: &Machine,
    arguments: &ExploreArguments,
    along: Option<&Trace>,
    bar: &ProgressBar,
) -> Answers {
    let question = Question {
        method: match arguments.method {
            Method::Stateful => oracle::Method::Stateful,
            Method::Stateless => oracle::Method::Stateless,
        },
        history: true,
        along,
        whole: false,
        same_values: false,
        max_steps: arguments.max_steps,
        max_states: arguments.max_states,
        max_memory: arguments.max_state_memory << 20,
    };
    oracle::ask_with_progress(machine, &question, &mut |progress| {
        bar.set_message(format!(
            "exploring: {} events, {} states, {} findings",
            progress.steps, progress.states, progress.findings
        ));
        bar.tick();
    })
}

/// Goes through one schedule of each class of equivalent ones.
fn reduce(machine: &Machine, arguments: &ExploreArguments, bar: &ProgressBar) -> Answers {
    let reduction = match arguments.reduction {
        Reduction::Optimal => explore::Reduction::Optimal,
        Reduction::Source => explore::Reduction::Source,
    };
    let mut walk = Walk::new(machine, true);
    let mut limit = None;
    let limits = explore::Limits { runs: arguments.max_runs, ..explore::Limits::default() };
    let statistics = explore::search(&mut walk, reduction, limits, &mut |walk, statistics| {
        if statistics.runs.is_multiple_of(1024) {
            let findings = walk.answers().findings();
            bar.set_message(format!("exploring: {} runs, {findings} findings", statistics.runs));
            bar.tick();
        }
        let is_too_long = statistics.steps >= arguments.max_steps;
        if is_too_long {
            limit = Some(LimitReached::Steps(arguments.max_steps));
        }
        !is_too_long
    });
    if statistics.stopped && limit.is_none() {
        limit = Some(LimitReached::Runs(arguments.max_runs));
    }
    if statistics.cut > 0 && limit.is_none() {
        limit = Some(LimitReached::RunLength(limits.steps as u64));
    }
    walk.into_answers(limit)
}

fn exit(machine: &Machine, answers: &Answers) -> Exit {
    let condition = machine.program().final_condition.as_ref();
    let broken = condition.is_some_and(|condition| answers.condition(condition.quantifier) == Some(false));
    let counts = answers.schedules;
    // Loop bounds are part of the question, unless nothing is left of the answer.
    let seen_nothing = counts.cut > 0 && counts.total() == counts.cut;
    match () {
        () if broken || answers.findings() > 0 => Exit::Findings,
        () if answers.limit.is_some() || !answers.exhausted.is_empty() || seen_nothing => Exit::Limit,
        () => Exit::Clean,
    }
}

/// The command that runs the program again, up to the schedule.
fn replay_command(arguments: &ExploreArguments) -> String {
    let bound = match arguments.options.loop_bound {
        DEFAULT_LOOP_BOUND => String::new(),
        bound => format!(" --loop-bound {bound}"),
    };
    format!("threadbare replay{bound} {}", output::shell_word(&arguments.program))
}

/// Writes the schedule of each finding; gives the names of the files.
fn save(directory: &Path, answers: &Answers) -> anyhow::Result<Vec<String>> {
    std::fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let unordered_only = answers.unordered.iter().filter(|(race, _)| !answers.co_enabled.contains_key(race));
    let groups: [(&str, Vec<&Schedule>); 5] = [
        ("failure", answers.failures.values().collect()),
        ("deadlock", answers.deadlocks.values().collect()),
        ("race", answers.co_enabled.values().collect()),
        ("unordered", unordered_only.map(|(_, schedule)| schedule).collect()),
        ("atomicity", answers.triples.values().collect()),
    ];
    let mut saved = vec![];
    for (kind, schedules) in groups {
        for (at, schedule) in schedules.into_iter().enumerate() {
            let name = |thread| answers.threads.get(&thread).cloned();
            let file = format!("{kind}-{}.schedule", at + 1);
            output::write_file(&directory.join(&file), schedule.to_text(name).as_bytes())?;
            saved.push(file);
        }
    }
    Ok(saved)
}
