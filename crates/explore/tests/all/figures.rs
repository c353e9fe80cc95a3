//! PRUNE's running example (Fig. 1 to 5).

use crate::common::findings::Findings;
use crate::common::machine;
use claim::Property;
use ctp::{Ctp, Phantoms};
use explore::prune::{Options, explore};
use ir::analysis::Branches;
use machine::oracle::Walk;
use rustc_hash::FxHashSet;
use subject::{Strategy, Subject as _};
use trace::Logging;

fn example() -> machine::Machine {
    let source = include_str!("../../../../examples/prune-fig1.tb");
    machine(&lang::parse(source).expect("it parses"), false)
}

/// PRUNE Fig. 5: each thread has a phantom edge, for what it may write on the way that it did not take.
#[test]
fn the_abstraction_has_a_phantom_edge_for_each_branch() {
    let machine = example();
    let trace = machine.run(&Strategy::RunToBlock, &Logging::Everything).expect("it runs").trace;
    let (branches, refused) = (Branches::new(machine.program()), FxHashSet::default());
    let phantoms = Phantoms { branches: &branches, refused: &refused };
    let options = ctp::Options::default();
    let ctp = Ctp::build_abstraction(machine.program(), &trace, &options, phantoms).expect("the trace fits");
    let written: Vec<Vec<&str>> = (ctp.phantoms.iter())
        .map(|phantom| {
            let writes = phantom.accesses.iter().filter(|access| access.writes);
            let mut names: Vec<&str> =
                writes.map(|access| &*machine.program().global(access.global).name).collect();
            names.dedup();
            names
        })
        .collect();
    assert_eq!(written, [["x"], ["y"]]);
    assert!(!ctp.guards.is_empty(), "what the recorded ways do is guarded");
    // The plain concurrent trace program has the branches themselves.
    let plain = Ctp::build(machine.program(), &trace, &options).expect("the trace fits");
    assert!(plain.phantoms.is_empty() && plain.guards.is_empty());
}

/// PRUNE §5.4: the assertion fails in another concurrent trace program than that of the first run, and that
/// is found.
#[test]
fn the_assertion_is_found_to_fail() {
    let machine = example();
    let mut findings = Findings::default();
    let explored = explore(
        &mut Walk::new(&machine, false),
        machine.program(),
        &Options { properties: vec![Property::Assertion], ..Options::default() },
        &mut |walk| Ok(machine.run(&Strategy::follow(walk.schedule()), &Logging::Everything)?.trace),
        &mut |trace, _| {
            trace.into_iter().for_each(|trace| findings.add(machine.program(), trace));
            true
        },
    )
    .expect("it is explored");
    assert_eq!(findings.failures.len(), 1);
    assert!(explored.pruned > 0 && explored.phantoms > 0, "{explored:?}");
}
