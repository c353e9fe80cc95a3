//! Random well-formed programs, for property tests here and in the crates above.
//!
//! Programs are composed of strategies over syntax trees, so they shrink by structure: fewer threads, fewer
//! statements, smaller constants. Every name comes from one fixed environment, and what a program
//! uses of it is declared at the end; so whatever shrinking removes, the rest stays well-formed. Locks, waits and
//! loops come as pieces that usually fit together: most programs end, some deadlock or fault, as they should.

mod assemble;
mod build;
mod cost;
mod environment;
mod expression;
mod piece;
mod testing;

pub use cost::events;
pub use testing::{config, edited, lowered};

use crate::ast::File;
use proptest::prelude::*;
use std::ops::RangeInclusive;

/// What programs may contain. Each switch is one group of the language.
#[derive(Clone, Debug)]
pub struct Config {
    /// How many threads.
    pub threads: RangeInclusive<usize>,
    /// How many pieces each thread is made of; most are one statement, a critical section is one piece.
    pub pieces: RangeInclusive<usize>,
    /// No run has more events than this, as [`events`] counts them; pieces that are too much are left out.
    pub max_events: usize,
    /// Mutexes: sections, nested sections, trylock.
    pub locks: bool,
    /// Recursive mutexes.
    pub recursive_locks: bool,
    /// Rwlocks.
    pub rwlocks: bool,
    /// Condition variables.
    pub conditions: bool,
    /// Timed waits; they need `conditions`.
    pub timed_waits: bool,
    /// Semaphores.
    pub semaphores: bool,
    /// Barriers.
    pub barriers: bool,
    /// A main thread that forks and joins the others.
    pub forks: bool,
    /// Atomic variables, compare-and-swap, fetch-and-add, fences.
    pub atomics: bool,
    /// Memory orders other than seq_cst; they need `atomics`.
    pub orders: bool,
    /// Arrays with constant and computed indices.
    pub arrays: bool,
    /// Pointers to shared variables.
    pub pointers: bool,
    /// Heap memory.
    pub heap: bool,
    /// Variables of other widths than 32 bits.
    pub widths: bool,
    /// `atomic { }`
    pub transactions: bool,
    /// Branches.
    pub branches: bool,
    /// Loops, with a bound of at most 3.
    pub loops: bool,
    /// Calls of functions.
    pub calls: bool,
    /// `assert`
    pub asserts: bool,
    /// `assume`
    pub assumes: bool,
    /// Division, which can fault.
    pub division: bool,
    /// Labels.
    pub labels: bool,
    /// A final condition.
    pub final_condition: bool,
}

impl Default for Config {
    /// Everything: 2 or 3 threads of 2 to 6 pieces.
    fn default() -> Config {
        Config {
            threads: 2..=3,
            pieces: 2..=6,
            max_events: 40,
            locks: true,
            recursive_locks: true,
            rwlocks: true,
            conditions: true,
            timed_waits: true,
            semaphores: true,
            barriers: true,
            forks: true,
            atomics: true,
            orders: true,
            arrays: true,
            pointers: true,
            heap: true,
            widths: true,
            transactions: true,
            branches: true,
            loops: true,
            calls: true,
            asserts: true,
            assumes: true,
            division: true,
            labels: true,
            final_condition: true,
        }
    }
}

impl Config {
    /// Everything, but so small that all interleavings can be enumerated one by one.
    #[must_use]
    pub fn tiny() -> Config {
        Config { pieces: 1..=4, max_events: 18, ..Config::default() }
    }

    /// This configuration with all but one of its groups turned off, for each of them; the first has none.
    fn focused(&self) -> Vec<Config> {
        let base = Config {
            threads: self.threads.clone(),
            pieces: self.pieces.clone(),
            max_events: self.max_events,
            branches: self.branches,
            asserts: self.asserts,
            labels: self.labels,
            final_condition: self.final_condition,
            ..Config::plain()
        };
        let focus = |change: fn(&mut Config, &Config)| {
            let mut config = base.clone();
            change(&mut config, self);
            config
        };
        let groups = [
            (true, focus(|_, _| {})),
            (self.locks, focus(|c, _| c.locks = true)),
            (self.recursive_locks, focus(|c, _| c.recursive_locks = true)),
            (self.rwlocks, focus(|c, _| c.rwlocks = true)),
            (self.conditions, focus(|c, from| (c.conditions, c.timed_waits) = (true, from.timed_waits))),
            (self.semaphores, focus(|c, _| c.semaphores = true)),
            (self.barriers, focus(|c, _| c.barriers = true)),
            (self.forks, focus(|c, _| c.forks = true)),
            (self.atomics, focus(|c, from| (c.atomics, c.orders) = (true, from.orders))),
            (self.arrays, focus(|c, from| (c.arrays, c.pointers) = (true, from.pointers))),
            (self.heap, focus(|c, from| (c.heap, c.pointers) = (true, from.pointers))),
            (self.widths, focus(|c, from| (c.widths, c.division) = (true, from.division))),
            (self.transactions, focus(|c, _| c.transactions = true)),
            (self.loops, focus(|c, from| (c.loops, c.calls) = (true, from.calls))),
            (self.assumes, focus(|c, _| c.assumes = true)),
        ];
        groups.into_iter().filter(|(on, _)| *on).map(|(_, config)| config).collect()
    }

    /// Reads, writes and branches of plain shared variables, and nothing else: turn on what is to be tested.
    #[must_use]
    pub fn plain() -> Config {
        Config {
            threads: 2..=3,
            pieces: 1..=4,
            max_events: 16,
            locks: false,
            recursive_locks: false,
            rwlocks: false,
            conditions: false,
            timed_waits: false,
            semaphores: false,
            barriers: false,
            forks: false,
            atomics: false,
            orders: false,
            arrays: false,
            pointers: false,
            heap: false,
            widths: false,
            transactions: false,
            branches: true,
            loops: false,
            calls: false,
            asserts: false,
            assumes: false,
            division: false,
            labels: false,
            final_condition: false,
        }
    }
}

/// Programs as syntax trees. [`print`](crate::print) makes source text of them.
///
/// Half of the programs use everything that the configuration allows; the others use one group of it beside
/// plain accesses, so that few things meet often (swarm testing: A. Groce et al., ISSTA 2012).
pub fn program(config: &Config) -> impl Strategy<Value = File> + use<> {
    let mut alternatives: Vec<(u32, BoxedStrategy<File>)> =
        config.focused().iter().map(|focused| (1, within(focused))).collect();
    alternatives.push((alternatives.len() as u32, within(config)));
    proptest::strategy::Union::new_weighted(alternatives)
}

/// Programs that may use all that a configuration allows.
fn within(config: &Config) -> BoxedStrategy<File> {
    let config = config.clone();
    let bodies = prop::collection::vec(piece::pieces(&config, config.pieces.clone()), config.threads.clone());
    let forked = if config.forks {
        prop::option::weighted(0.3, assemble::forking()).boxed()
    } else {
        Just(None).boxed()
    };
    let question = if config.final_condition {
        prop::option::weighted(0.4, assemble::question()).boxed()
    } else {
        Just(None).boxed()
    };
    (bodies, forked, question)
        .prop_map(move |(bodies, forked, question)| {
            assemble::program(&config, bodies, forked.as_ref(), question.as_ref())
        })
        .boxed()
}

/// Programs as source text, in canonical form.
pub fn source(config: &Config) -> impl Strategy<Value = String> + use<> {
    program(config).prop_map(|file| crate::print(&file))
}
