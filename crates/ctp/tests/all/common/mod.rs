//! Recording runs of model programs, and running a concurrent trace program along another run of the same program.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "tests")]

use ctp::{Ctp, Event, EventIndex, ExprId, Kind, Options, ReadId};
use machine::Machine;
use subject::{Strategy as Who, Subject as _};
use trace::{EventKind, Logging, Trace};

pub fn machine(source: &str, spurious: bool) -> Machine {
    let lowering =
        lang::LowerOptions { name: "test.tb".into(), path: "test.tb".into(), ..Default::default() };
    let program = lang::compile(source, &lowering).unwrap_or_else(|errors| {
        panic!("{}", errors.iter().map(|e| lang::render(e, "test.tb", source, false)).collect::<String>())
    });
    Machine::new(program, machine::Options { spurious, ..Default::default() }).unwrap()
}

pub fn record(machine: &Machine, who: &Who) -> Trace {
    let run = machine.run(who, &Logging::Everything).unwrap();
    assert_eq!(run.departure, None);
    run.trace
}

pub fn strategies(seed: u64) -> [Who; 5] {
    [
        Who::RunToBlock,
        Who::RoundRobin { quantum: 1 + (seed % 3) as u32 },
        Who::Random { seed },
        Who::Random { seed: seed.wrapping_mul(31) },
        Who::Pct { seed, depth: 3, length: 20 },
    ]
}

pub fn build(machine: &Machine, trace: &Trace) -> Ctp {
    let ctp =
        Ctp::build(machine.program(), trace, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(ctp.rebuild.mismatches, 0, "first at {:?}", ctp.rebuild.first_mismatch);
    ctp
}

/// Runs a concurrent trace program in the order of another run, as long as that one keeps to its paths, and compares every
/// value, address and outcome. Gives how many events were compared.
pub fn follow(ctp: &Ctp, recorded: &Trace, other: &Trace) -> usize {
    let mut run = Run {
        ctp,
        memory: ctp.locations.iter().map(|l| l.initial.and_then(|i| ctp.expressions.constant(i))).collect(),
        reads: vec![None; ctp.reads.len()],
        other,
    };
    let mut compared = 0;
    for event in &other.events {
        let Some(known) = recorded.events.iter().find(|known| known.id == event.id) else { return compared };
        // What a step does whose recorded counterpart was a fault, nobody has seen.
        if known.kind != event.kind && matches!(known.kind, EventKind::Fault { .. }) {
            return compared;
        }
        let thread = ctp.threads.iter().find(|thread| thread.id == event.id.thread).unwrap();
        let own = thread.events.iter().filter(|&&index| ctp.event(index).id == event.id);
        for &index in own {
            if run.departs(index, event) {
                return compared;
            }
        }
        if known.site != event.site {
            panic!("{} leaves the path though all conditions hold: {event:?} was {known:?}", event.id);
        }
        compared += 1;
        if ctp.find(event.id).is_none() {
            run.check_private(event);
        }
        let outcome = |kind: &EventKind| match kind {
            EventKind::TryLock { acquired, .. } => Some(u64::from(acquired.is_some())),
            EventKind::TryAcquire { acquired, .. } => Some(u64::from(*acquired)),
            EventKind::TokenCount { value, .. } => Some(*value),
            EventKind::StopWaiting { .. } => Some(2),
            EventKind::WaitEnd { reason, .. } => Some(u64::from(*reason != trace::WakeReason::Expired)),
            _ => None,
        };
        if outcome(&known.kind) != outcome(&event.kind) {
            return compared;
        }
    }
    compared
}

struct Run<'r> {
    ctp: &'r Ctp,
    memory: Vec<Option<u128>>,
    reads: Vec<Option<u128>>,
    other: &'r Trace,
}

impl Run<'_> {
    fn value(&self, id: ExprId) -> Option<u128> {
        self.ctp.expressions.evaluate(id, |read: ReadId| self.reads[read.index()])
    }

    fn holds(&self, id: Option<ExprId>) -> bool {
        id.is_none_or(|id| self.value(id) == Some(1))
    }

    /// Does an event of the concurrent trace program; whether its thread leaves the recorded path there.
    fn departs(&mut self, index: EventIndex, real: &trace::Event) -> bool {
        let Event { silent, kind, .. } = self.ctp.event(index);
        if !silent && matches!(real.kind, EventKind::Fault { .. }) {
            return self.check_fault(kind, real);
        }
        match kind {
            Kind::Require { condition, .. } => {
                // Without it the thread cannot come to the recorded event.
                self.value(*condition) != Some(1)
            }
            Kind::Pin { holds, .. } => self.value(*holds) != Some(1),
            Kind::Assume { condition } => {
                assert_eq!(self.value(*condition), Some(1), "{real:?}");
                false
            }
            Kind::Assert { condition, .. } => {
                let EventKind::Assert { held } = real.kind else { panic!("{real:?}") };
                assert_eq!(self.value(*condition), Some(u128::from(held)), "{real:?}");
                !held
            }
            Kind::Branch { as_recorded, taken: recorded, .. } => {
                let EventKind::Branch { taken } = real.kind else { panic!("{real:?}") };
                assert_eq!(self.value(*as_recorded), Some(u128::from(taken == *recorded)), "{real:?}");
                taken != *recorded
            }
            Kind::Read(_) | Kind::Write(_) | Kind::Update(_) | Kind::CompareExchange { .. } => {
                self.access(kind, real)
            }
            Kind::Fence(_) | Kind::Other(_) => false,
        }
    }

    fn access(&mut self, kind: &Kind, real: &trace::Event) -> bool {
        let access = kind.access().unwrap();
        let (_, place, bytes, _) = real.kind.access().unwrap_or_else(|| panic!("{real:?} is no access"));
        assert!(self.holds(access.hits), "{real:?} hits something else than known: {access:?}");
        let address = self.other.allocations[place.allocation.0 as usize].address + place.offset;
        assert_eq!(self.value(access.address), Some(u128::from(address)), "{real:?}");
        assert_eq!(access.bytes, bytes);
        for target in &access.targets {
            for &read in &target.reads {
                let of = self.ctp.read(read);
                assert_eq!(of.when, target.when);
                let value = if self.holds(of.when) { self.memory[of.location.index()] } else { Some(0) };
                self.reads[read.index()] = value;
            }
            assert_eq!(self.holds(target.when), target.address == address);
        }
        let old = access.old.and_then(|old| self.value(old));
        let new = access.new.and_then(|new| self.value(new));
        let (seen, written, departs) = match real.kind {
            EventKind::Read { value, .. } => (Some(value), None, false),
            EventKind::Write { value, .. } => (None, Some(value), false),
            EventKind::Update { old, new, .. } => (Some(old), Some(new), false),
            EventKind::CompareExchange { old, new, success, .. } => {
                let Kind::CompareExchange { equal, success: recorded, .. } = kind else { panic!("{real:?}") };
                assert_eq!(self.value(*equal), Some(u128::from(success)), "{real:?}");
                (Some(old), Some(new), success != *recorded)
            }
            _ => (None, None, false),
        };
        if let Some(seen) = seen {
            assert_eq!(old, Some(u128::from(seen)), "{real:?}");
        }
        if let Some(written) = written {
            assert_eq!(new, Some(u128::from(written)), "{real:?}");
        }
        for write in access.targets.iter().flat_map(|target| &target.writes) {
            if self.holds(write.when) {
                self.memory[write.location.index()] = self.value(write.value);
            }
        }
        departs
    }

    /// A fault in the place of an event ends the run; one that follows from the address alone must be known.
    fn check_fault(&self, kind: &Kind, real: &trace::Event) -> bool {
        if let (Some(access), EventKind::Fault { kind: fault }) = (kind.access(), &real.kind)
            && *fault != trace::FaultKind::UseAfterFree
        {
            assert!(!self.holds(access.hits), "{real:?} though a target is hit");
            let expected: Vec<_> = access
                .faults
                .iter()
                .filter(|&&(_, when)| self.holds(Some(when)))
                .map(|&(kind, _)| kind)
                .collect();
            assert_eq!(expected, [*fault], "{real:?}");
        }
        true
    }

    /// What was left out must touch no location that was kept.
    fn check_private(&self, real: &trace::Event) {
        let Some((_, place, bytes, _)) = real.kind.access() else { return };
        let address = self.other.allocations[place.allocation.0 as usize].address + place.offset;
        for location in &self.ctp.locations {
            let apart = location.address + u64::from(location.bytes) <= address
                || address + bytes <= location.address;
            assert!(apart, "{real:?} was left out");
        }
    }
}
