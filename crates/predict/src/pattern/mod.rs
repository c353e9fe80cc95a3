//! Patterns of the user (docs/design/candidates.md, "Patterns"; PLAN §4.2): events of several threads and
//! variables in an order that is given in part.
//!
//! ```text
//! pattern torn-update
//!     first: $a write account.balance
//!     other: $b read account.balance
//!     last:  $a write account.owner
//!     order first < other < last
//! ```
//!
//! Besides, or in place of an order, a goal may stand in temporal logic over "this event has happened" (`goal.rs`).
//!
//! [`parse`] reads them, and `bind` finds the tuples of recorded events that fit: candidates as any others. `docs/patterns.md` has
//! the language.

mod bind;
mod goal;
mod parse;

pub(crate) use bind::bind;
pub use parse::parse;

use claim::Formula;

/// A pattern as it was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PatternText {
    /// What it is called.
    pub name: String,
    /// Its events.
    pub events: Vec<EventText>,
    /// Pairs of indices into `events`: the first is before the second.
    pub order: Vec<(usize, usize)>,
    /// What else holds of the run, over indices into `events`.
    pub goal: Option<Formula<usize>>,
}

impl PatternText {
    fn new(name: &str) -> PatternText {
        PatternText { name: name.to_owned(), events: vec![], order: vec![], goal: None }
    }

    /// The index of an event.
    fn event(&self, name: &str) -> Result<usize, String> {
        let found = self.events.iter().position(|event| event.name == name);
        found.ok_or_else(|| format!("there is no event `{name}` above"))
    }
}

/// One event of a pattern: a thread does something to something, somewhere.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EventText {
    /// What the pattern calls it.
    pub name: String,
    /// Who does it.
    pub thread: Who,
    /// What is done.
    pub action: Action,
    /// To what, as reports name it; `*` stands for any characters.
    pub what: Option<String>,
    /// On which line of the source.
    pub line: Option<u32>,
}

/// The thread of an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Who {
    /// The one of this name.
    Named(String),
    /// Some thread, the same wherever the pattern has this variable, and another than those of other variables.
    Variable(String),
    /// Any.
    Any,
}

/// What an event does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Reads, be it as part of an update.
    Read,
    /// Writes, be it as part of an update.
    Write,
    /// Reads or writes.
    Access,
    /// Takes a lock.
    Lock,
    /// Gives a lock back.
    Unlock,
    /// Begins to wait on a condition variable.
    Wait,
    /// Signals or broadcasts.
    Signal,
    /// Takes a token of a semaphore.
    Acquire,
    /// Gives a token of a semaphore back.
    Release,
    /// Gives memory back.
    Free,
}

/// The actions by their names.
const ACTIONS: [(&str, Action); 10] = [
    ("read", Action::Read),
    ("write", Action::Write),
    ("access", Action::Access),
    ("lock", Action::Lock),
    ("unlock", Action::Unlock),
    ("wait", Action::Wait),
    ("signal", Action::Signal),
    ("acquire", Action::Acquire),
    ("release", Action::Release),
    ("free", Action::Free),
];

/// What is wrong with a pattern.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PatternError {
    /// It is not written as patterns are.
    #[error("line {line} of the pattern: {message}")]
    Syntax {
        /// Which line, counted from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
    /// It speaks of something that the recorded run does not have.
    #[error("the pattern `{pattern}`: {message}")]
    Unknown {
        /// Which.
        pattern: String,
        /// What it speaks of.
        message: String,
    },
}
