//! `threadbare explore`: run a program under every schedule.

use crate::cli::{ExploreArguments, Method, Search};
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
    let mut text = report::exploration(&machine, &answers, &sources);
    if let Some(directory) = &arguments.save {
        let saved = save(directory, &answers)?;
        let plural = if saved == 1 { "" } else { "s" };
        text.push_str(&format!("saved {saved} schedule{plural} in {}\n", directory.display()));
    }
    output::print(&text)?;
    Ok(exit(&machine, &answers))
}

fn exit(machine: &Machine, answers: &Answers) -> Exit {
    let condition = machine.program().final_condition.as_ref();
    let broken = condition.is_some_and(|condition| answers.condition(condition.quantifier) == Some(false));
    match (broken || answers.findings() > 0, answers.limit) {
        (true, _) => Exit::Findings,
        (false, Some(_)) => Exit::Limit,
        (false, None) => Exit::Clean,
    }
}

/// Writes the schedule of each finding; gives their number.
fn save(directory: &Path, answers: &Answers) -> anyhow::Result<usize> {
    std::fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let groups: [(&str, Vec<&Schedule>); 5] = [
        ("failure", answers.failures.values().collect()),
        ("deadlock", answers.deadlocks.values().collect()),
        ("race", answers.co_enabled.values().collect()),
        ("unordered", answers.unordered.values().collect()),
        ("atomicity", answers.triples.values().collect()),
    ];
    let mut saved = 0;
    for (kind, schedules) in groups {
        for (at, schedule) in schedules.into_iter().enumerate() {
            let name = |thread| answers.threads.get(&thread).cloned();
            let path = directory.join(format!("{kind}-{}.schedule", at + 1));
            output::write_file(&path, schedule.to_text(name).as_bytes())?;
            saved += 1;
        }
    }
    Ok(saved)
}
