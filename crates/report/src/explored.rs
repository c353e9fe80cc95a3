//! What a search says about all schedules of a program: the same fields and words for every strategy.

use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What a search says about a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// No schedule shows what was looked for.
    Safe,
    /// None that keeps to the bounds does.
    SafeUpToBounds,
    /// Some schedule does.
    Findings,
    /// None that was gone through does, and there may be others.
    #[default]
    Incomplete,
    /// None that was drawn does; nothing is said of others.
    NothingDrawn,
}

/// A state in which all threads have ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FinalState {
    /// Shared variables and observed locals, by name.
    pub values: BTreeMap<String, String>,
    /// Whether the formula of the final condition is true there, if there is one.
    pub condition: Option<bool>,
}

/// What a search went through, and what that says.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explored {
    /// How it searched, as `--strategy` names it.
    pub strategy: &'static str,
    /// What it says.
    pub verdict: Verdict,
    /// How many runs or schedules were gone through.
    pub runs: u64,
    /// How many, and what they stand for, in words.
    pub covered: String,
    /// What only such schedules were looked at that keep to it, in words that follow "safe up to".
    pub bounds: Vec<String>,
    /// Why something may have been missed.
    pub incomplete: Vec<String>,
    /// The states in which all threads have ended, where the strategy knows all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_states: Option<Vec<FinalState>>,
}

impl Explored {
    /// The verdict as lines of text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = match self.covered.is_empty() {
            true => String::new(),
            false => format!("{}\n", self.covered),
        };
        // Writing to a string cannot fail.
        for why in &self.incomplete {
            let _ = writeln!(text, "incomplete: {why}");
        }
        text.push_str(&self.safe());
        text
    }

    /// The line that says that the program is safe, if it is.
    #[must_use]
    pub fn safe(&self) -> String {
        match self.verdict {
            Verdict::Safe => {
                "safe: no schedule of this program shows any of what was looked for\n".to_owned()
            }
            Verdict::SafeUpToBounds => format!(
                "safe up to {}: no schedule that keeps to {} shows any of what was looked for\n",
                self.bounds.join(" and "),
                if self.bounds.len() == 1 && !self.bounds[0].ends_with('s') { "it" } else { "them" }
            ),
            _ => String::new(),
        }
    }
}
