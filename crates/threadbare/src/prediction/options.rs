//! What the flags ask for, in the words of `predict`.

use crate::cli::{AtomicName, EngineName, ModeName, ModelName, PredictOptions, PropertyName};
use crate::load;
use anyhow::Context as _;
use claim::Property;
use plan::Outside;
use predict::{Engines, Interrupter, Mode, Model, Options, Wanted};
use std::path::Path;
use std::time::{Duration, Instant};

/// What is asked for; before anything is run, so that nothing is run in vain.
pub fn options(arguments: &PredictOptions) -> anyhow::Result<Options> {
    let mut wanted = Wanted::default();
    if !arguments.only.is_empty() {
        wanted.properties = arguments.only.iter().map(|name| property(*name)).collect();
    }
    let engine = predict::symbolic::Options {
        mode: match arguments.mode {
            ModeName::Prefixes => Mode::Prefixes,
            ModeName::Full => Mode::Full,
        },
        model: match arguments.model {
            ModelName::Program => Model::Program,
            ModelName::Cam => Model::Cam,
            ModelName::Causal => Model::Causal,
        },
        explain: arguments.why_not,
        switches: arguments.switches,
        total_time: None,
        interrupter: Interrupter::default(),
        limits: predict::Limits {
            time: Some(Duration::from_secs(arguments.solve_time)),
            conflicts: arguments.solve_conflicts,
            memory: arguments.solve_memory.map(|mib| (mib as usize) << 20),
        },
    };
    let mut patterns = vec![];
    for argument in &arguments.pattern {
        let path = Path::new(argument);
        let text = match argument.contains(':') && !path.exists() {
            true => argument.clone(),
            false => load::text(path)?,
        };
        patterns.extend(predict::pattern::parse(&text).with_context(|| format!("--pattern {argument}"))?);
    }
    let ctp = ctp::Options { atomic: atomic(arguments.atomic), ..Default::default() };
    // The budget is for everything from now on.
    let until = arguments.budget.map(|budget| Instant::now() + budget);
    let engines = match arguments.engine {
        EngineName::Symbolic => Engines::Symbolic,
        EngineName::Plan => Engines::Plan,
        EngineName::Lockset => Engines::Lockset,
        EngineName::Sync => Engines::Sync,
        EngineName::All => Engines::All,
    };
    let planner = arguments.planner.as_deref().map(Outside::new).transpose().context("--planner")?;
    if planner.is_some() && !matches!(engines, Engines::Plan | Engines::All) {
        anyhow::bail!("--planner is for the engine `plan`: say --engine plan, or --engine all");
    }
    Ok(Options { wanted, ctp, engines, engine, planner, patterns, until })
}

/// What counts as atomic.
pub fn atomic(name: AtomicName) -> ctp::Atomic {
    match name {
        AtomicName::Marked => ctp::Atomic::Marked,
        AtomicName::Locks => ctp::Atomic::Locks,
        AtomicName::Functions => ctp::Atomic::Functions,
    }
}

fn property(name: PropertyName) -> Property {
    match name {
        PropertyName::Atomicity => Property::Atomicity,
        PropertyName::Race => Property::Race,
        PropertyName::Assert => Property::Assertion,
        PropertyName::Deadlock => Property::Deadlock,
        PropertyName::Wakeup => Property::Wakeup,
        PropertyName::Pattern => Property::Pattern,
    }
}
