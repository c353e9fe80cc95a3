//! Other planners (PLAN §5: "FF is used as a box and it is possible to use any other planner as well").
//!
//! A planner is a command. It gets the names of two files, the domain and the problem, and leaves its plan where planners do: beside the problem,
//! in `sas_plan`, in a file that it was told, or in what it prints. What it says is no more than a claim.

use crate::pddl::{Domain, PlanError, WriteError};
use crate::problem::Problem;
use crate::search::Outcome;
use std::path::Path;
use std::process::{Command, Stdio};

/// Another planner.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outside {
    words: Vec<String>,
}

/// Why another planner gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum OutsideError {
    /// There is no command.
    #[error("there is no command")]
    NoCommand,
    /// The problem cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// It could not be run.
    #[error("`{command}` could not be run: {error}")]
    NotRun {
        /// Its first word.
        command: String,
        /// Why.
        error: std::io::Error,
    },
    /// It ended with an error.
    #[error("`{command}` failed: {message}")]
    Failed {
        /// Its first word.
        command: String,
        /// What it said last.
        message: String,
    },
    /// Its plan cannot be read.
    #[error("its plan cannot be read: {0}")]
    Plan(#[from] PlanError),
    /// What it gives as a plan is none.
    #[error("what it gives is not a plan")]
    NotAPlan,
}

/// Exit codes with which planners say that there is no plan (Fast Downward's).
const NO_PLAN: [i32; 4] = [0, 10, 11, 12];

impl Outside {
    /// The planner that a command is: words, with quotes around those that have spaces. It will be run elsewhere, so words that name
    /// files here are made to name them from anywhere.
    ///
    /// # Errors
    /// If there is none.
    pub fn new(command: &str) -> Result<Outside, OutsideError> {
        let mut words: Vec<String> = vec![];
        let (mut word, mut quote): (Option<String>, Option<char>) = (None, None);
        for c in command.chars() {
            match (quote, c) {
                (None, '"' | '\'') => {
                    quote = Some(c);
                    word.get_or_insert_default();
                }
                (Some(open), c) if open == c => quote = None,
                (None, c) if c.is_whitespace() => words.extend(word.take()),
                (_, c) => word.get_or_insert_default().push(c),
            }
        }
        words.extend(word);
        for word in words.iter_mut().filter(|word| Path::new(word).is_file()) {
            if let Ok(path) = std::path::absolute(&*word) {
                *word = path.display().to_string();
            }
        }
        if words.is_empty() { Err(OutsideError::NoCommand) } else { Ok(Outside { words }) }
    }

    /// Has a problem solved.
    ///
    /// # Errors
    /// If that does not come to an answer.
    pub fn solve(&self, problem: &Problem) -> Result<Outcome, OutsideError> {
        if problem.is_hopeless {
            return Ok(Outcome::None);
        }
        if problem.is_too_large {
            return Ok(Outcome::Limit(0));
        }
        // An empty plan has no actions that could be read.
        if problem.is_goal(&problem.start()) {
            return Ok(Outcome::Plan(vec![]));
        }
        let domain = Domain::new(problem, "prediction", |meaning| format!("{meaning:?}"))?;
        let command = self.words[0].clone();
        let not_run = |error| OutsideError::NotRun { command: command.clone(), error };
        let directory = tempfile::tempdir().map_err(not_run)?;
        let file = |name: &str| directory.path().join(name);
        std::fs::write(file("domain.pddl"), domain.domain()).map_err(not_run)?;
        std::fs::write(file("problem.pddl"), domain.problem()).map_err(not_run)?;
        let output = self.command(directory.path()).output().map_err(not_run)?;
        let files = ["plan", "problem.pddl.soln", "sas_plan"].map(|name| std::fs::read(file(name)).ok());
        let found = files.into_iter().flatten().next();
        let text = String::from_utf8_lossy(found.as_deref().unwrap_or(&output.stdout)).into_owned();
        let plan = match domain.read(&text) {
            Ok(plan) => plan,
            Err(PlanError::Empty) if output.status.code().is_some_and(|code| NO_PLAN.contains(&code)) => {
                return Ok(Outcome::None);
            }
            Err(PlanError::Empty) => {
                let said = String::from_utf8_lossy(&output.stderr);
                let last = said.lines().rev().find(|line| !line.trim().is_empty());
                let message = last.map_or_else(|| output.status.to_string(), str::to_owned);
                return Err(OutsideError::Failed { command, message });
            }
            Err(error) => return Err(error.into()),
        };
        if problem.is_plan(&plan) { Ok(Outcome::Plan(plan)) } else { Err(OutsideError::NotAPlan) }
    }

    fn command(&self, directory: &Path) -> Command {
        let path = |name: &str| directory.join(name).display().to_string();
        let files = [("{domain}", "domain.pddl"), ("{problem}", "problem.pddl"), ("{plan}", "plan")];
        let filled = |word: &String| {
            files.iter().fold(word.clone(), |word, (name, file)| word.replace(name, &path(file)))
        };
        let mut command = Command::new(filled(&self.words[0]));
        command.args(self.words[1..].iter().map(filled));
        let says_where =
            self.words.iter().any(|word| word.contains("{domain}") || word.contains("{problem}"));
        if !says_where {
            command.args([path("domain.pddl"), path("problem.pddl")]);
        }
        command.current_dir(directory).stdin(Stdio::null());
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_cut_into_words() {
        let planner = Outside::new(" ff  -o '{domain}' \"a b\" x'y z'").unwrap();
        assert_eq!(planner.words, ["ff", "-o", "{domain}", "a b", "xy z"]);
        assert!(matches!(Outside::new("  "), Err(OutsideError::NoCommand)));
    }
}
