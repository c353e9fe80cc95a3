//! `threadbare explore --strategy paths`: one run for each combination of thread paths, and prediction from each.

use super::record;
use crate::cli::{ExploreArguments, Format};
use crate::exit::Exit;
use crate::prediction::{self, More, Predicted, Sink};
use crate::{load, output};
use anyhow::bail;
use explore::paths::{self, Explored};
use std::fmt::Write as _;
use std::time::Duration;

/// Runs of model programs end after so many events.
const MOST_EVENTS: u64 = 1_000_000;

pub fn paths(arguments: &ExploreArguments) -> anyhow::Result<Exit> {
    if arguments.along.is_some() {
        bail!("--along goes with --strategy all only");
    }
    if arguments.options.spurious {
        bail!("--strategy paths does not know waits that end without a reason; --strategy dpor does");
    }
    let machine = load::machine(&arguments.program, &arguments.options, MOST_EVENTS)?;
    let mut options = prediction::options(&arguments.predict)?;
    options.wanted.per_place = usize::MAX;
    let bar = output::spinner();
    let mut runs = 0;
    let limits = predict::Limits {
        time: Some(Duration::from_secs(arguments.predict.solve_time)),
        ..predict::Limits::default()
    };
    let search = paths::Options { runs: arguments.max_runs, limits };
    let mut explored = paths::explore(&machine, &search, &mut |_| {
        runs += 1;
        bar.set_message(format!("exploring: {runs} combinations of paths"));
        bar.tick();
        true
    })?;
    bar.finish_and_clear();
    let Some((first, more)) = explored.runs.split_first_mut() else { bail!("the program was not run") };
    let predicted = Predicted {
        subject: &machine,
        trace: first,
        replay: load::replay_of_model(&arguments.program, arguments.options.loop_bound),
        thread: &|thread| first.thread_name(thread),
        sink: Sink::Output,
        confirm: true,
        options,
    };
    let recorded = match report::violates(first, predicted.subject.program()) {
        true => Exit::Misbehaved,
        false => record::exit(&first.outcome),
    };
    let told = prediction::tell_all(&predicted, recorded, More::Runs(more), &arguments.predict)?;
    let complete = told.complete && explored.incomplete.is_empty();
    let exit = match told.exit {
        Exit::Misbehaved => Exit::Findings,
        Exit::Clean if !complete => Exit::Limit,
        other => other,
    };
    let mut verdict = verdict(&explored, exit, told.complete);
    if machine.program().final_condition.is_some() {
        verdict.push_str(
            "note: whether the final condition holds was looked at in these runs only; --strategy dpor looks at all schedules\n",
        );
    }
    match arguments.predict.format {
        Format::Text => output::print(&verdict)?,
        _ => output::say(&verdict),
    }
    Ok(exit)
}

/// What the runs say about all schedules.
fn verdict(explored: &Explored, exit: Exit, decided: bool) -> String {
    let runs = explored.runs.len();
    let plural = if runs == 1 { "" } else { "s" };
    let mut text = format!("{runs} run{plural}, one for each combination of ways that the threads go\n");
    if exit == Exit::Clean {
        text.push_str(match explored.bounded {
            false => "safe: no schedule of this program shows any of what was looked for\n",
            true => "safe up to the bounds of its loops: no schedule that keeps to them shows any of what was looked for\n",
        });
        return text;
    }
    for why in &explored.incomplete {
        let _ = writeln!(text, "incomplete: {why}; other ways from there were not gone");
    }
    if !decided {
        text.push_str("incomplete: of some candidates it is not known whether they are feasible\n");
    }
    text
}
