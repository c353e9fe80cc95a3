//! `threadbare explore`: run a program under every schedule.

use crate::cli::{DEFAULT_LOOP_BOUND, ExploreArguments, Method, Search};
use crate::exit::Exit;
use crate::{load, output};
use anyhow::Context as _;
use machine::Machine;
use machine::oracle::{self, Answers, Question};
use std::path::Path;
use subject::Schedule;

pub fn explore(arguments: &ExploreArguments) -> anyhow::Result<Exit> {
    let machine =
        load::machine(&arguments.program, &arguments.options, machine::Options::default().max_events)?;
    let along = arguments.along.as_deref().map(load::whole_trace).transpose()?;
    if let (Some(along), Some(path)) = (&along, &arguments.along) {
        along.check_fits(machine.program()).with_context(|| path.display().to_string())?;
    }
    let Search::All = arguments.strategy;
    let question = Question {
        method: match arguments.method {
            Method::Stateful => oracle::Method::Stateful,
            Method::Stateless => oracle::Method::Stateless,
        },
        history: true,
        along: along.as_ref(),
        whole: false,
        max_steps: arguments.max_steps,
        max_states: arguments.max_states,
        max_memory: arguments.max_memory << 20,
    };
    let bar = output::spinner();
    let answers = oracle::ask_with_progress(&machine, &question, &mut |progress| {
        bar.set_message(format!(
            "exploring: {} events, {} states, {} findings",
            progress.steps, progress.states, progress.findings
        ));
        bar.tick();
    });
    bar.finish_and_clear();
    let sources = load::sources(machine.program(), output::color());
    let mut text = report::exploration(&machine, &answers, &sources, &replay_command(arguments));
    if let Some(path) = &arguments.along {
        text.push_str(&format!(
            "covered: only runs in which each thread keeps to its path in {}\n",
            path.display()
        ));
    }
    if let Some(directory) = &arguments.save {
        let saved = save(directory, &answers)?;
        let saved = if saved.is_empty() { "nothing".to_owned() } else { saved.join(", ") };
        text.push_str(&format!("saved in {}: {saved}\n", directory.display()));
    }
    output::print(&text)?;
    Ok(exit(&machine, &answers))
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
