//! Plans of other planners. There is no standard for how they are written; three forms are common, and all are read:
//!
//! ```text
//! (ac_1_1)                      Fast Downward, pyperplan: one action on a line
//! step    0: AC_1_1             FF: numbered, the first with a word before it
//! 0.0010: (AC_1_1) [0.0010]     temporal planners: with times
//! ```
//!
//! Everything else that a planner prints is skipped: comments (`;`), and lines that are none of these.

use super::Domain;
use crate::search::Action;

/// What is wrong with a plan.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PlanError {
    /// An action that the domain does not have.
    #[error("line {line} of the plan: there is no action `{name}`")]
    Unknown {
        /// Counted from 1.
        line: usize,
        /// What it says.
        name: String,
    },
    /// There is nothing that looks like an action.
    #[error("there is no action in it")]
    Empty,
}

impl Domain<'_> {
    /// The plan that a planner has written. Whether it is one, [`Problem::is_plan`](crate::Problem::is_plan) says.
    ///
    /// # Errors
    /// If it has an action that is not in the domain, or none at all.
    pub fn read(&self, text: &str) -> Result<Vec<Action>, PlanError> {
        let mut plan = vec![];
        for (n, line) in text.lines().enumerate() {
            let Some(name) = action(line) else { continue };
            match self.actions.get(&name.to_lowercase()) {
                Some(&action) => plan.push(action),
                None => {
                    return Err(PlanError::Unknown { line: n + 1, name: name.chars().take(80).collect() });
                }
            }
        }
        if plan.is_empty() { Err(PlanError::Empty) } else { Ok(plan) }
    }
}

/// The action on a line, if there is one.
fn action(line: &str) -> Option<&str> {
    let line = line.split(';').next().unwrap_or_default().trim();
    let line = line.strip_prefix("step").map_or(line, str::trim_start);
    let numbered = line.split_once(':').filter(|(number, _)| number.trim().parse::<f64>().is_ok());
    let (rest, is_numbered) = match numbered {
        Some((_, rest)) => (rest.trim_start(), true),
        None => (line, false),
    };
    match rest.strip_prefix('(') {
        Some(inner) => {
            let (inner, behind) = inner.split_once(')')?;
            // Behind it there may be how long it takes.
            let is_action = behind.trim().is_empty() || behind.trim_start().starts_with('[');
            inner.split_whitespace().next().filter(|_| is_action)
        }
        None if is_numbered => rest.split_whitespace().next(),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::action;

    #[test]
    fn the_usual_forms_are_read_and_chatter_is_not() {
        assert_eq!(action("(ac_1_1 )"), Some("ac_1_1"));
        assert_eq!(action("step    0: AC_1_1"), Some("AC_1_1"));
        assert_eq!(action("        1: AC_2_1_COUPLED_INIT"), Some("AC_2_1_COUPLED_INIT"));
        assert_eq!(action("0.0010: (ac_1_1) [0.0010]"), Some("ac_1_1"));
        for chatter in [
            "; cost = 4 (unit cost)",
            "ff: found legal plan as follows",
            "",
            "(",
            "time spent: 0.00 s",
            "Plan length: 4",
        ] {
            assert_eq!(action(chatter), None, "{chatter}");
        }
    }
}
