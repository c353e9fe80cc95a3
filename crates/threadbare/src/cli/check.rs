//! Flags of checks under memory models.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// When an operation of another thread violates an atomic block.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtomicityName {
    /// Whenever it comes between those of the block
    Strong,
    /// If it touches a variable that the block touches
    Window,
    /// If the block could not have run in one piece to the same effect
    Serializable,
}

/// Among which executions data races are looked for.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum RacesOf {
    /// Those that are sequentially consistent
    Sc,
    /// Those that the model allows
    Model,
}

/// How answers are told.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum CheckFormat {
    /// For people
    Text,
    /// For programs
    Json,
}

/// `threadbare check`
#[derive(Args, Debug)]
pub struct CheckArguments {
    /// Model programs (.tb), litmus tests (.litmus), or directories of them; of several there is a table
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The memory model: sc, tso, pso, coherence, pram, causal, processor, rc11, or a file in the cat language
    #[arg(long, value_name = "NAME|FILE.cat", default_value = "sc")]
    pub model: String,
    /// Compare models: a table of verdicts, and an outcome that separates them (sc,tso,rc11)
    #[arg(long, value_name = "MODELS", value_delimiter = ',', conflicts_with_all = ["model", "without", "explain"])]
    pub compare: Vec<String>,
    /// Switch a rule of the model off
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub without: Vec<String>,
    /// Say which single rule changes the verdict when it is switched off
    #[arg(long)]
    pub explain: bool,
    /// Ask this instead of the program's own final condition: 'T1.r1 == 1 && T2.r2 == 0'
    #[arg(long, value_name = "CONDITION")]
    pub exists: Option<String>,
    /// Look for data races, in sequentially consistent executions or in those of the model
    #[arg(long, value_enum, value_name = "WHERE", num_args = 0..=1, require_equals = true, default_missing_value = "sc")]
    pub races: Option<RacesOf>,
    /// Look whether atomic blocks are atomic in sequentially consistent executions
    #[arg(long, value_enum, value_name = "KIND", num_args = 0..=1, require_equals = true, default_missing_value = "serializable")]
    pub atomicity: Option<AtomicityName>,
    /// How often a loop without a bound of its own is followed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub loop_bound: Option<u32>,
    /// Let waits on condition variables end without a signal
    #[arg(long)]
    pub spurious: bool,
    /// Stop after so many outcomes
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_outcomes: u32,
    /// Write the execution that the verdict shows as a graph for graphviz
    #[arg(long, value_name = "FILE")]
    pub dot: Option<PathBuf>,
    /// Write the execution that the verdict shows as a picture
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// How the answers are told
    #[arg(long, value_enum, default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
}
