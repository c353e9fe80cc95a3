//! The classics of concurrency in `examples/`, right and wrong ones: each says its verdict in its first line, and each strategy that proves or refutes
//! comes to it.

use crate::common::findings::Findings;
use crate::common::machine;
use claim::Property;
use explore::{Limits, Reduction, paths, prune, search};
use machine::Machine;
use machine::oracle::Walk;
use std::path::Path;
use subject::{Strategy, Subject as _};
use trace::{Logging, Trace};

/// What can go wrong, as the programs name it.
fn verdict(failures: bool, deadlocks: bool) -> &'static str {
    match (failures, deadlocks) {
        (false, false) => "safe",
        (true, _) => "assertion",
        (false, true) => "deadlock",
    }
}

fn by_dpor(machine: &Machine) -> &'static str {
    let mut walk = Walk::new(machine, false);
    // What is right there is proved by the others; enumeration would take too long.
    let limits = Limits { runs: 20_000, ..Limits::default() };
    let said =
        |walk: &Walk<'_>| verdict(!walk.answers().failures.is_empty(), !walk.answers().deadlocks.is_empty());
    search(&mut walk, Reduction::Optimal, limits, &mut |walk, _| said(walk) == "safe");
    said(&walk)
}

fn of(findings: &Findings) -> &'static str {
    verdict(!findings.failures.is_empty(), !findings.blocked.is_empty() || !findings.circles.is_empty())
}

fn by_pruning(machine: &Machine) -> &'static str {
    let mut findings = Findings::default();
    let properties = vec![Property::Assertion, Property::Deadlock];
    let explored = prune::explore(
        &mut Walk::new(machine, false),
        machine.program(),
        &prune::Options { properties, ..prune::Options::default() },
        &mut |walk| Ok(machine.run(&Strategy::follow(walk.schedule()), &Logging::Everything)?.trace),
        &mut |trace, _| {
            trace.into_iter().for_each(|trace| findings.add(machine.program(), trace));
            of(&findings) == "safe"
        },
    )
    .expect("it is explored");
    assert!(explored.incomplete.is_empty() && !findings.unknown, "{explored:?}");
    of(&findings)
}

fn by_paths(machine: &Machine) -> &'static str {
    let mut findings = Findings::default();
    let options = paths::Options::default();
    let mut each = |trace: &Trace, _| {
        findings.add(machine.program(), trace);
        of(&findings) == "safe"
    };
    let explored = paths::explore(machine, &options, &mut each).expect("it is explored");
    let said = of(&findings);
    assert!(said != "safe" || (explored.incomplete.is_empty() && explored.cut.is_empty()));
    said
}

#[test]
fn each_has_the_verdict_that_it_names() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/classics");
    let mut programs: Vec<_> = (std::fs::read_dir(directory).expect("there are examples"))
        .map(|entry| entry.expect("it is read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "tb"))
        .collect();
    programs.sort();
    assert!(programs.len() >= 14);
    for path in programs {
        let source = std::fs::read_to_string(&path).expect("it is read");
        let file = lang::parse(&source).unwrap_or_else(|errors| panic!("{}: {errors:?}", path.display()));
        let machine = machine(&file, false);
        let named =
            source.lines().next().and_then(|line| line.strip_prefix("// verdict: ")).expect("a verdict");
        let said = [by_dpor(&machine), by_pruning(&machine), by_paths(&machine)];
        println!("{}: {said:?}", path.display());
        assert_eq!(said, [named; 3], "{}: by dpor, by pruning, by paths", path.display());
    }
}
