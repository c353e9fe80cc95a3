//! What is said about a run.

use super::STANDARD_INPUT;
use crate::cli::ProcessOptions;
use crate::{load, output};
use native::launch::{Input, Stopped};
use native::{Compiled, Recorded};
use std::fmt::Write as _;
use std::time::Duration;
use subject::Subject as _;
use trace::Outcome;

/// What is to be said about a run.
pub fn about(program: &Compiled, recorded: &Recorded, process: &ProcessOptions) -> String {
    let trace = &recorded.run.trace;
    let sources = load::sources(program.program(), output::error_color());
    let mut text = format!("{}\n", report::summary(trace));
    if let Some(departure) = &recorded.run.departure {
        let departure = departure.words(&|thread| trace.thread_name(thread));
        let _ = writeln!(text, "the run departs from the schedule: {departure}");
    }
    match (recorded.stopped, &trace.outcome) {
        (Some(Stopped::Timeout), _) => {
            let limit = program.options().timeout.unwrap_or_default();
            let is_given = process.timeout.is_some_and(|given| Duration::from_secs(given) == limit);
            let option = if is_given { "--timeout" } else { "a share of --budget" };
            let seconds = (limit.as_secs_f64() * 10.0).round() / 10.0;
            let _ = writeln!(text, "the program was ended after {seconds} seconds ({option})");
        }
        (Some(Stopped::Output), _) => text.push_str("the program was ended because it printed too much\n"),
        (Some(Stopped::Memory), _) => {
            let mib = process.max_memory.unwrap_or(0);
            let _ = writeln!(
                text,
                "the program was ended because it had more than {mib} MiB of memory (--max-memory)"
            );
        }
        (None, Outcome::Truncated) => {
            let _ = writeln!(
                text,
                "the program was killed, or became another one, before the run was complete: {}; the trace holds what came before",
                recorded.ending()
            );
        }
        (None, _) => {
            text.push_str(report::outcome(trace, &sources).trim_end());
            text.push('\n');
        }
    }
    if program.options().input == Input::Nothing && misses_input(recorded) {
        let _ = writeln!(
            text,
            "note: the program had no standard input, because it is run several times; --stdin FILE gives it one each time"
        );
    }
    if recorded.about.unread {
        text.push_str(
            "note: there was no time to read more of the log (--budget); the trace holds its beginning\n",
        );
    }
    if recorded.about.full.is_some() {
        let _ = writeln!(
            text,
            "note: the log reached its limit of {} MiB (--max-log); events behind that are missing",
            process.max_log
        );
    }
    if recorded.about.foreign_units > 0 {
        let _ = writeln!(
            text,
            "note: {} events of instrumented libraries are not in the trace, because only the program's own IR is read",
            recorded.about.foreign_units
        );
    }
    if let Some(damage) = &recorded.about.damage {
        let _ = writeln!(text, "note: {damage}; the program may have written into it");
    }
    text
}

/// Whether somebody wanted to give a program input, or it ended as programs do that had none.
fn misses_input(recorded: &Recorded) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    let piped = std::fs::metadata(STANDARD_INPUT).is_ok_and(|about| about.file_type().is_fifo());
    piped || matches!(recorded.run.trace.outcome, Outcome::Exited { status } if status != 0)
}

/// The first difference between two runs.
pub fn difference(one: &Recorded, other: &Recorded, program: &Compiled) -> Option<String> {
    let inputs = one.about.inputs.iter().zip(&other.about.inputs).position(|(one, other)| one != other);
    let found = trace::first_difference(&one.run.trace, &other.run.trace, Some(program.program()))?;
    Some(match inputs {
        Some(at) => format!(
            "{found}; before that, input {} ({}) was not the same, which nobody controls",
            at + 1,
            one.about.inputs[at].0
        ),
        None => found,
    })
}

/// The statistics with places in words.
pub fn statistics_report(statistics: &native::rebuild::Statistics, program: &Compiled) -> report::Rebuilt {
    let sources = load::sources(program.program(), false);
    report::Rebuilt {
        accesses: statistics.accesses,
        rebuilt: statistics.rebuilt,
        pinned: statistics.pinned.clone(),
        shared_branches: statistics.shared_branches,
        pinned_branches: statistics.pinned_branches.clone(),
        lost: statistics.lost.clone(),
        mismatches: statistics.mismatches,
        first_mismatches: (statistics.first_mismatches.iter())
            .map(|mismatch| {
                format!(
                    "{} at {} (event {}): computed {:#x}, recorded {:#x}",
                    mismatch.what,
                    sources.place(mismatch.site),
                    mismatch.event,
                    mismatch.rebuilt,
                    mismatch.recorded
                )
            })
            .collect(),
        external_writes: statistics.external_writes,
        first_external: (statistics.first_external.iter())
            .map(|write| {
                let by =
                    write.by.map(|(_, site)| format!(", probably by the call at {}", sources.place(site)));
                format!(
                    "noticed at {} (event {}){}",
                    sources.place(write.site),
                    write.read,
                    by.unwrap_or_default()
                )
            })
            .collect(),
    }
}
