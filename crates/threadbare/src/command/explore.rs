//! `threadbare explore`: run a program under every schedule.

use super::runs;
use super::shown::{self, Shown};
use crate::cli::{ExploreArguments, Format, Method, Search};
use crate::exit::Exit;
use crate::load::Kind;
use crate::output::Spinner;
use crate::{load, output};
use anyhow::{Context as _, bail};
use machine::Machine;
use machine::oracle::{self, Answers, FinalState, Question};
use report::Explored;
use std::path::{Path, PathBuf};
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
        (Search::Dpor, Kind::Binary | Kind::Source(_)) => return super::classes::classes(arguments),
        (Search::Prune, Kind::Binary | Kind::Source(_)) => {
            return super::prune::prune_of_compiled(arguments);
        }
        (Search::All, Kind::Binary | Kind::Source(_)) => bail!(
            "{}: only model programs (.tb) have states that can be looked at; for compiled ones there are --strategy dpor, prune, paths, random and pct",
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
    if arguments.dot.is_some() && arguments.strategy == Search::All {
        bail!("--dot is for strategies that make runs; `all` goes through states");
    }
    if arguments.along.is_some() && arguments.strategy != Search::All {
        bail!("--along goes with --strategy all only");
    }
    let along = arguments.along.as_deref().map(load::whole_trace).transpose()?;
    if let (Some(along), Some(path)) = (&along, &arguments.along) {
        along.check_fits(machine.program()).with_context(|| path.display().to_string())?;
    }
    if arguments.resume && arguments.strategy == Search::All {
        bail!("--resume is for --strategy dpor, prune and paths");
    }
    let answers = match arguments.strategy {
        Search::All => enumerate(&machine, arguments, along.as_ref()),
        _ => super::dpor::reduce(&machine, arguments)?,
    };
    let is_text = arguments.predict.format == Format::Text;
    let sources = load::sources(machine.program(), is_text && output::color());
    let mut exit = exit(&machine, &answers);
    let explored = explored(arguments, &answers, exit);
    let naming = runs::naming(arguments);
    if shown::is_wanted(&arguments.predict) {
        let clean_runs = arguments.predict.clean_runs;
        let shown = Shown { subject: &machine, sources: &sources, naming: &naming, clean_runs };
        let new = shown.tell(&arguments.predict, shown.answers(&answers)?, &explored)?;
        if exit == Exit::Findings && new == 0 {
            exit = Exit::Clean;
        }
    }
    let mut text = String::new();
    if is_text {
        let location = |at| machine.location_name(at);
        text = report::exploration(&answers, &sources, &location, &naming.replay.text().0);
        if let Some(path) = &arguments.along {
            text.push_str(&format!(
                "covered: only runs in which each thread keeps to its path in {}\n",
                path.display()
            ));
        }
        text.push_str(&explored.safe());
    }
    if let Some(directory) = &arguments.predict.save {
        let saved = save(directory, &answers)?;
        let saved = if saved.is_empty() { "nothing".to_owned() } else { saved.join(", ") };
        text.push_str(&format!("saved in {}: {saved}\n", directory.display()));
    }
    match is_text {
        true => output::print(&text)?,
        false => output::say(&text),
    }
    Ok(exit)
}

/// What the answers say about all schedules.
fn explored(arguments: &ExploreArguments, answers: &Answers, exit: Exit) -> Explored {
    let mut bounds = runs::bounds(answers.switches, !answers.bounds.is_empty());
    bounds.extend(answers.cyclic.then(|| "schedules that end".to_owned()));
    let along = |path: &PathBuf| format!("the paths of {}", path.display());
    bounds.extend(arguments.along.as_ref().map(along));
    let runs = u64::try_from(answers.schedules.total()).unwrap_or(u64::MAX);
    let covered = match answers.one_of_each_class {
        true => format!(
            "{}; each stands for all schedules that differ from it only in the order of independent steps",
            runs::count(runs, "run")
        ),
        false => runs::count(runs, "schedule"),
    };
    let mut incomplete: Vec<String> = report::incomplete(answers).into_iter().collect();
    if !answers.exhausted.is_empty() {
        incomplete.push("some schedules need more than the machine goes along with".to_owned());
    }
    let state = |state: &FinalState| report::FinalState {
        values: state.values.iter().cloned().collect(),
        condition: state.condition,
    };
    Explored {
        strategy: runs::name(arguments.strategy),
        verdict: runs::verdict(exit, &bounds),
        runs,
        covered,
        bounds,
        incomplete,
        final_states: Some(answers.final_states.keys().map(state).collect()),
    }
}

/// Goes through all schedules.
fn enumerate(machine: &Machine, arguments: &ExploreArguments, along: Option<&Trace>) -> Answers {
    let bar = Spinner::start();
    let question = Question {
        method: match arguments.method {
            Method::Stateful => oracle::Method::Stateful,
            Method::Stateless => oracle::Method::Stateless,
        },
        history: true,
        along,
        whole: false,
        same_values: false,
        switches: arguments.predict.switches,
        max_steps: arguments.max_steps,
        max_states: arguments.max_states,
        max_memory: arguments.max_state_memory << 20,
    };
    let answers = oracle::ask_with_progress(machine, &question, &mut |progress| {
        bar.tell(|| {
            format!(
                "exploring: {} events, {} states, {} findings",
                progress.steps, progress.states, progress.findings
            )
        });
    });
    bar.end();
    answers
}

fn exit(machine: &Machine, answers: &Answers) -> Exit {
    let condition = machine.program().final_condition.as_ref();
    let broken = condition.is_some_and(|condition| answers.condition(condition.quantifier) == Some(false));
    let counts = answers.schedules;
    // Bounds are part of the question. What lies before a switch too many was looked at; where loops are bounded something must be left of the answer.
    let seen_nothing = counts.cut > 0 && counts.total() == counts.cut && answers.switches.is_none();
    match () {
        () if broken || answers.findings() > 0 => Exit::Findings,
        () if answers.limit.is_some() || !answers.exhausted.is_empty() || seen_nothing => Exit::Limit,
        () => Exit::Clean,
    }
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
