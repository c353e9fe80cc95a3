//! What is logged does not change what happens: events keep their numbers, and schedules their switches.

use crate::common;
use crate::common::machine;
use ir::GlobalId;
use subject::{Strategy, Subject as _};
use trace::{Event, Logging, Trace};

const SOURCE: &str = "int x, y; mutex m;
    thread T { lock(m); x = 1; if (y) x = 2; unlock(m); }
    thread U { y = 1; lock(m); x = 3; unlock(m); }";

fn record(logging: &Logging) -> Trace {
    machine(SOURCE).run(&Strategy::Random { seed: 5 }, logging).expect("it runs").trace
}

/// Whether an event that is no synchronisation is kept, by its place in the run.
type Keeps = fn(usize, &Event) -> bool;

#[test]
fn less_logging_keeps_a_part_of_the_same_run() {
    let all = record(&Logging::Everything);
    let numbers: Vec<u64> =
        all.events.iter().filter(|e| e.id.thread == all.threads[0].id).map(|e| e.id.n).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    let x = GlobalId(0);
    let cases: [(Logging, Keeps); 3] = [
        (Logging::Synchronisation, |_, _| false),
        (Logging::Globals(vec![x]), |_, event| {
            event.kind.access().is_some_and(|(_, at, ..)| at.allocation.0 == 0)
        }),
        (Logging::Window { from: 3, to: 7 }, |index, _| (3..7).contains(&index)),
    ];
    for (logging, keeps) in cases {
        let part = record(&logging);
        let expected: Vec<Event> = (all.events.iter().enumerate())
            .filter(|(index, event)| event.kind.is_synchronisation() || keeps(*index, event))
            .map(|(_, event)| event.clone())
            .collect();
        assert_eq!(part.events, expected, "{logging:?}");
        assert!(part.events.len() < all.events.len());
        assert_eq!((&part.switches, &part.outcome), (&all.switches, &all.outcome), "{logging:?}");
        assert_eq!(part.schedule(), all.schedule());
    }
}

#[test]
fn a_switch_names_those_who_could_have_run() {
    let trace = record(&Logging::Everything);
    let [t, u] = [trace.threads[0].id, trace.threads[1].id];
    assert_eq!(trace.switches[0].enabled, [t, u]);
    for switch in &trace.switches {
        assert!(switch.enabled.contains(&switch.thread));
    }
    // Somebody holds the lock and runs on while the other waits for it.
    assert!(trace.switches.iter().any(|switch| switch.enabled.len() == 1));
}

#[test]
fn a_run_stops_at_the_limit_of_events() {
    let options = machine::Options { max_events: 5, ..machine::Options::default() };
    let machine = common::machine_with(SOURCE, options);
    let trace = machine.run(&Strategy::RunToBlock, &Logging::Everything).expect("it runs").trace;
    assert_eq!(trace.events.len(), 5);
    assert_eq!(trace.outcome, trace::Outcome::LimitReached { events: 5 });
}
