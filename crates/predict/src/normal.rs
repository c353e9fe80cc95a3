//! What a program normally does: how clean runs end, to see whether the end of another run is unusual
//! (docs/design/witnesses.md, "Consequences").

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;
use subject::{Logging, Run, RunError, Strategy, Subject};
use trace::{Outcome, Trace};

/// How clean runs of a subject ended.
#[derive(Clone, Debug, Default)]
pub struct Normal {
    endings: BTreeSet<Ending>,
    /// The recorded run did not end by itself.
    endless: bool,
}

/// How a run ended, as far as somebody sees it who does not know of schedules.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Ending {
    /// Final values, or the exit status.
    values: BTreeMap<String, String>,
    /// The lines that it printed. Their order is that of the schedule, which may be any.
    lines: Vec<String>,
}

impl Normal {
    /// How the recorded run, once more, and some others end, in each of which a thread goes on until it blocks; who comes first is drawn.
    /// No other is begun after `until`, and none if the recorded run did not end.
    ///
    /// # Errors
    /// If the subject cannot be run.
    pub fn of(
        subject: &impl Subject,
        recorded: &Trace,
        runs: u64,
        until: Option<Instant>,
    ) -> Result<Normal, RunError> {
        let mut normal = Normal::default();
        if let Outcome::Truncated | Outcome::LimitReached { .. } = recorded.outcome {
            normal.endless = true;
            return Ok(normal);
        }
        // The recorded run itself may have printed to where nobody keeps it.
        let again = Strategy::follow(recorded.schedule());
        normal.add(&subject.run(&again, &Logging::Synchronisation)?);
        for seed in 0..runs {
            if until.is_some_and(|until| Instant::now() >= until) {
                break;
            }
            let strategy = Strategy::Pct { seed, depth: 1, length: 1 };
            normal.add(&subject.run(&strategy, &Logging::Synchronisation)?);
        }
        Ok(normal)
    }

    /// Takes note of how a run ended, if it went well.
    pub fn add(&mut self, run: &Run) {
        self.endings.extend(ending(run));
    }

    /// What a run did at its end that no clean one did, in words that follow "the program".
    #[must_use]
    pub fn difference(&self, run: &Run) -> Option<String> {
        match run.trace.outcome {
            Outcome::Truncated => {
                return (!self.endless).then(|| "does not end in time, or is killed".to_owned());
            }
            Outcome::LimitReached { .. } => {
                return (!self.endless).then(|| "goes on many times longer than it should".to_owned());
            }
            _ => {}
        }
        let ending = ending(run)?;
        if self.endings.is_empty() || self.endings.contains(&ending) {
            return None;
        }
        if let Some(values) = self.values(&ending) {
            return Some(format!("ends with {values}"));
        }
        // A run of which the output was not kept says nothing about it.
        let printed = self.endings.iter().any(|other| !other.lines.is_empty());
        let line =
            ending.lines.iter().find(|line| self.endings.iter().all(|other| !other.lines.contains(line)));
        match line {
            Some(line) => Some(format!("prints `{line}`")),
            None if printed && !self.endings.iter().any(|other| other.lines == ending.lines) => {
                Some(format!("prints {} lines", ending.lines.len()))
            }
            None => None,
        }
    }

    /// The values that no clean run has; if each of them is known but not all of them together, then all.
    fn values(&self, ending: &Ending) -> Option<String> {
        if self.endings.iter().any(|other| other.values == ending.values) {
            return None;
        }
        let known = |name: &String, value: &String| {
            self.endings.iter().any(|other| other.values.get(name) == Some(value))
        };
        let words = |(name, value): (&String, &String)| format!("{name} = {value}");
        let mut told: Vec<String> =
            ending.values.iter().filter(|(name, value)| !known(name, value)).map(words).collect();
        if told.is_empty() {
            told = ending.values.iter().map(words).collect();
        }
        Some(told.join(", "))
    }
}

fn ending(run: &Run) -> Option<Ending> {
    let values = match &run.trace.outcome {
        Outcome::Completed { state, .. } => state.iter().cloned().collect(),
        Outcome::Exited { status } => [("exit status".to_owned(), status.to_string())].into(),
        _ => return None,
    };
    let mut lines: Vec<String> =
        run.output.as_deref().unwrap_or_default().lines().map(str::to_owned).collect();
    lines.sort_unstable();
    Some(Ending { values, lines })
}
