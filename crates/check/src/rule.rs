//! The rules of MM App. A, by their names, and the rules of ours for what its language does not have.

use std::fmt;

/// A rule that can be switched off.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Rule {
    /// A.1: events of a thread are ordered as in the program; threads begin after their fork.
    ProgramOrder,
    /// A.2: a read takes the value of the last write before it.
    GlobalReadValue,
    /// A.2: a local has the value that it was last given.
    LocalReadValue,
    /// A.2: the way through the program is the one that branches took.
    ControlReadValue,
    /// A.3: what is written and what branches decide is what the thread computes.
    Computation,
    /// A.4: sections of one lock exclude each other.
    MutualExclusion,
    /// Ours: a semaphore's acquire takes a token.
    Tokens,
    /// Ours: a wait ends when it was signalled or has expired.
    Signals,
    /// Ours: nobody leaves a barrier before all of the round have come.
    Barriers,
    /// Ours: a join waits for the end of the thread.
    Joins,
    /// A.5: of two events one is before the other.
    WeakTotalOrder,
    /// A.5: before is transitive.
    TransitiveOrder,
    /// A.5: no two events are before each other.
    AsymmetricOrder,
}

impl Rule {
    /// All of them, as the paper lists them.
    pub const ALL: [Rule; 13] = [
        Rule::ProgramOrder,
        Rule::GlobalReadValue,
        Rule::LocalReadValue,
        Rule::ControlReadValue,
        Rule::Computation,
        Rule::MutualExclusion,
        Rule::Tokens,
        Rule::Signals,
        Rule::Barriers,
        Rule::Joins,
        Rule::WeakTotalOrder,
        Rule::TransitiveOrder,
        Rule::AsymmetricOrder,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Rule::ProgramOrder => "requireProgramOrder",
            Rule::GlobalReadValue => "globalReadValue",
            Rule::LocalReadValue => "localReadValue",
            Rule::ControlReadValue => "controlReadValue",
            Rule::Computation => "requireComputation",
            Rule::MutualExclusion => "requireMutualExclusion",
            Rule::Tokens => "requireTokens",
            Rule::Signals => "requireSignals",
            Rule::Barriers => "requireBarriers",
            Rule::Joins => "requireJoins",
            Rule::WeakTotalOrder => "requireWeakTotalOrder",
            Rule::TransitiveOrder => "requireTransitiveOrder",
            Rule::AsymmetricOrder => "requireAsymmetricOrder",
        }
    }

    /// What it says, in words.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Rule::ProgramOrder => "events of a thread come in the order of the program",
            Rule::GlobalReadValue => "a read takes the value of the last write before it",
            Rule::LocalReadValue => "a local has the value that it was last given",
            Rule::ControlReadValue => "a thread goes the way that its branches decide",
            Rule::Computation => "what is written and decided is what the thread computes",
            Rule::MutualExclusion => "sections of one lock exclude each other",
            Rule::Tokens => "an acquire takes a token of the semaphore",
            Rule::Signals => "a wait ends when it is signalled",
            Rule::Barriers => "nobody leaves a barrier before all have come",
            Rule::Joins => "a join waits for the end of the thread",
            Rule::WeakTotalOrder => "of two events one is before the other",
            Rule::TransitiveOrder => "what is before something is before all that follows it",
            Rule::AsymmetricOrder => "no two events are before each other",
        }
    }

    /// The rules with this name; `requireReadValue` stands for all three of its parts, as in the paper.
    #[must_use]
    pub fn named(name: &str) -> Vec<Rule> {
        match name {
            "requireReadValue" => vec![Rule::GlobalReadValue, Rule::LocalReadValue, Rule::ControlReadValue],
            _ => Rule::ALL.into_iter().filter(|rule| rule.name() == name).collect(),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
