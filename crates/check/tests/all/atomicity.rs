//! Random programs: which atomic blocks can be broken into, by each kind of intruder, as told by a judge that looks at every schedule of the
//! machine with plain loops. `PROPTEST_CASES` sets how many.

use crate::common::{compiled, machine};
use check::atomicity::Kind;
use check::{Checker, Options};
use ir::{Position, SiteIndex};
use lang::ast::File;
use lang::random::{self, Config, config, lowered};
use machine::Machine;
use machine::oracle::Walk;
use proptest::prelude::*;
use std::collections::BTreeSet;
use subject::{Steps as _, Strategy as Who, Subject as _};
use trace::{Event, EventKind, Logging, Trace};

/// All maximal schedules as traces; `None` if there are too many.
fn traces(machine: &Machine, most: usize) -> Option<Vec<Trace>> {
    fn go(walk: &mut Walk<'_>, steps: usize, found: &mut Vec<subject::Schedule>, most: usize) -> bool {
        let moves = walk.moves();
        if moves.is_empty() {
            found.push(walk.schedule());
            return found.len() <= most;
        }
        for made in moves {
            walk.make(made);
            let go_on = go(walk, steps + 1, found, most);
            walk.back_to(steps);
            if !go_on {
                return false;
            }
        }
        true
    }
    let mut found = vec![];
    if !go(&mut Walk::new(machine, false), 0, &mut found, most) {
        return None;
    }
    let run = |schedule| machine.run(&Who::follow(schedule), &Logging::Everything).ok().map(|run| run.trace);
    found.into_iter().map(run).collect()
}

/// An operation of a trace: its thread, what it accesses and whether it writes.
struct Operation<'t> {
    event: &'t Event,
    block: Option<usize>,
    access: Option<(trace::Location, bool)>,
}

fn is_operation(kind: &EventKind) -> bool {
    !matches!(
        kind,
        EventKind::Branch { .. }
            | EventKind::Fence { .. }
            | EventKind::TransactionBegin
            | EventKind::TransactionEnd
            | EventKind::Alloc { .. }
            | EventKind::Assert { .. }
            | EventKind::Assume
            | EventKind::Fault { .. }
            | EventKind::End
    )
}

/// The places of the blocks that a trace breaks into.
fn broken(machine: &Machine, trace: &Trace, kind: Kind) -> BTreeSet<Option<Position>> {
    let sites = SiteIndex::new(machine.program());
    let mut places: Vec<Option<Position>> = vec![];
    let mut open: std::collections::BTreeMap<trace::ThreadId, (usize, u32)> = Default::default();
    let mut operations: Vec<Operation<'_>> = vec![];
    for event in &trace.events {
        let thread = event.id.thread;
        match event.kind {
            EventKind::TransactionBegin => match open.get_mut(&thread) {
                Some((_, depth)) => *depth += 1,
                None => {
                    open.insert(thread, (places.len(), 1));
                    places.push(sites.source(machine.program(), event.site).0);
                }
            },
            EventKind::TransactionEnd => {
                if let Some((_, depth)) = open.get_mut(&thread) {
                    *depth -= 1;
                    if *depth == 0 {
                        open.remove(&thread);
                    }
                }
            }
            _ => {}
        }
        if is_operation(&event.kind) {
            let access = event.kind.access().map(|(kind, location, ..)| (location, kind.writes()));
            operations.push(Operation { event, block: open.get(&thread).map(|(block, _)| *block), access });
        }
    }
    let mut broken = BTreeSet::new();
    for (block, &place) in places.iter().enumerate() {
        let own: Vec<usize> = (0..operations.len()).filter(|&i| operations[i].block == Some(block)).collect();
        let (Some(&first), Some(&last)) = (own.first(), own.last()) else { continue };
        let thread = operations[first].event.id.thread;
        let others: Vec<usize> =
            (0..operations.len()).filter(|&k| operations[k].event.id.thread != thread).collect();
        let conflict = |a: usize, b: usize| {
            a < b
                && operations[a]
                    .access
                    .zip(operations[b].access)
                    .is_some_and(|((x, w), (y, v))| x == y && (w || v))
        };
        let violated = match kind {
            Kind::Strong => others.iter().any(|&k| first < k && k < last),
            Kind::Window => others.iter().any(|&k| {
                let touched =
                    |location| own.iter().any(|&e| operations[e].access.is_some_and(|(l, _)| l == location));
                first < k && k < last && operations[k].access.is_some_and(|(location, _)| touched(location))
            }),
            Kind::Serializable => {
                let mut reached: BTreeSet<usize> = BTreeSet::new();
                for &k in &others {
                    let from_block = own.iter().any(|&a| conflict(a, k));
                    let from_others = reached.iter().any(|&a| {
                        conflict(a, k) || operations[a].event.id.thread == operations[k].event.id.thread
                    });
                    if from_block || from_others {
                        reached.insert(k);
                    }
                }
                reached.iter().any(|&k| own.iter().any(|&b| conflict(k, b)))
            }
        };
        if violated {
            broken.insert(place);
        }
    }
    broken
}

fn compare(file: &File) {
    let program = lowered(file);
    let source = lang::print(file);
    let machine = machine(program.clone(), false);
    let Some(traces) = traces(&machine, 3_000) else { return };
    let checker = Checker::new(&program, Options::default());
    for kind in [Kind::Strong, Kind::Window, Kind::Serializable] {
        let expected: BTreeSet<_> = traces.iter().flat_map(|trace| broken(&machine, trace, kind)).collect();
        let found = checker.violations(kind).unwrap_or_else(|e| panic!("{e}\n{source}"));
        let found: BTreeSet<_> = found.iter().map(|violation| violation.position).collect();
        assert_eq!(found, expected, "{kind:?}\n{source}");
    }
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn blocks_are_broken_into_as_the_schedules_show(
        file in random::program(&Config {
            transactions: true, locks: true, branches: true, atomics: true, forks: true, max_events: 14, ..Config::plain()
        })
    ) {
        compare(&file);
    }
}

#[test]
fn a_block_whose_first_operation_is_not_executed_is_not_missed() {
    let program = compiled(
        "int x, y, z;
         thread T1 { atomic { if (z == 1) x = 7; y = 1; y = 2; } }
         thread T2 { y = 3; }",
    );
    let found = Checker::new(&program, Options::default()).violations(Kind::Serializable).unwrap();
    assert_eq!(found.len(), 1);
}
