//! Properties of random programs. `PROPTEST_CASES` sets how many; `make random` runs the full count.

use lang::ast::File;
use lang::random::{self, Config};
use machine::oracle::{self, Answers, Method, Point, Question};
use machine::{Machine, Options};
use proptest::prelude::*;
use proptest::test_runner::{TestCaseResult, TestRunner};
use std::cell::Cell;
use std::collections::BTreeSet;
use subject::{Schedule, Strategy as Who, Subject as _};
use trace::{FaultKind, Logging, Outcome, Trace};

fn machine(file: &File, spurious: bool) -> Machine {
    Machine::new(random::lowered(file), Options { spurious, ..Options::default() })
        .expect("random programs run")
}

fn record(machine: &Machine, who: &Who) -> Trace {
    let run = machine.run(who, &Logging::Everything).expect("it runs");
    assert_eq!(run.departure, None);
    run.trace
}

fn strategies(seed: u64) -> [Who; 5] {
    [
        Who::RunToBlock,
        Who::RoundRobin { quantum: 1 + (seed % 3) as u32 },
        Who::Random { seed },
        Who::Random { seed: seed.wrapping_mul(31) },
        Who::Pct { seed, depth: 3, length: 20 },
    ]
}

fn ask(machine: &Machine, method: Method, history: bool, along: Option<&Trace>) -> Answers {
    // Programs that are too large to go through are left to those that are not.
    let question =
        Question { method, history, along, max_steps: 200_000, max_states: 20_000, ..Question::default() };
    oracle::ask(machine, &question)
}

/// A schedule of the oracle, followed by the machine.
fn follow(machine: &Machine, schedule: &Schedule) -> Trace {
    record(machine, &Who::follow(schedule.clone()))
}

fn check_schedules(machine: &Machine, answers: &Answers) {
    for (state, schedule) in &answers.final_states {
        let Outcome::Completed { state: values, condition } = follow(machine, schedule).outcome else {
            panic!("no final state")
        };
        assert_eq!((&values, condition), (&state.values, state.condition));
    }
    for (failure, schedule) in &answers.failures {
        match follow(machine, schedule).outcome {
            Outcome::AssertionFailed { event, site } => {
                assert_eq!((event.thread, site, None), (failure.at.thread, failure.at.site, failure.fault));
            }
            Outcome::Fault { event, site, kind } => {
                assert_eq!(
                    (event.thread, site, Some(kind)),
                    (failure.at.thread, failure.at.site, failure.fault)
                );
            }
            other => panic!("{failure:?} was {other:?}"),
        }
    }
    for (blocked, schedule) in &answers.deadlocks {
        if let Outcome::Deadlock { blocked: seen } = follow(machine, schedule).outcome {
            assert!(blocked.iter().all(|thread| seen.contains(thread)));
        }
    }
    for schedule in
        answers.co_enabled.values().chain(answers.unordered.values()).chain(answers.triples.values())
    {
        follow(machine, schedule);
    }
}

/// Whether what a single run did is among the answers.
fn is_among(answers: &Answers, trace: &Trace) -> bool {
    match &trace.outcome {
        Outcome::Completed { state, .. } => answers.final_states.keys().any(|known| known.values == *state),
        Outcome::AssertionFailed { event, site } => {
            answers.failures.keys().any(|f| (f.at.thread, f.at.site, f.fault) == (event.thread, *site, None))
        }
        Outcome::Fault { site, kind: FaultKind::MachineLimit, .. } => answers.exhausted.contains_key(site),
        Outcome::Fault { event, site, kind } => answers
            .failures
            .keys()
            .any(|f| (f.at.thread, f.at.site, f.fault) == (event.thread, *site, Some(*kind))),
        Outcome::Deadlock { blocked } => {
            answers.deadlocks.keys().any(|known| known.iter().all(|thread| blocked.contains(thread)))
        }
        Outcome::BoundExceeded { site, .. } => answers.bounds.contains_key(site),
        Outcome::Discarded { .. } => answers.schedules.discarded > 0,
        Outcome::LimitReached { .. } | Outcome::Exited { .. } | Outcome::Truncated => false,
    }
}

fn without_numbers<T: Copy + Ord>(points: impl Iterator<Item = T>, strip: impl Fn(T) -> T) -> BTreeSet<T> {
    points.map(strip).collect()
}

fn strip(point: Point) -> Point {
    Point { n: None, ..point }
}

proptest! {
    #![proptest_config(random::config(60))]

    #[test]
    fn the_text_form_of_the_ir_gives_the_program_back(file in random::program(&Config::default())) {
        let program = random::lowered(&file);
        prop_assert!(ir::verify(&program).is_ok());
        prop_assert_eq!(ir::parse(&ir::print(&program)).expect("printed programs parse"), program);
    }

    #[test]
    fn a_recorded_schedule_gives_the_identical_trace(
        file in random::program(&Config::default()), seed in any::<u64>(), spurious in any::<bool>(),
    ) {
        let machine = machine(&file, spurious);
        for who in strategies(seed) {
            let trace = record(&machine, &who);
            let text = trace.schedule().to_string();
            let mut again = record(&machine, &Who::follow(text.parse().expect("printed schedules parse")));
            // How it came about is the only difference.
            again.origin.strategy.clone_from(&trace.origin.strategy);
            prop_assert_eq!(trace, again);
        }
    }

    #[test]
    fn the_beginning_of_a_run_is_a_run(
        file in random::program(&Config::default()), seed in any::<u64>(), share in 0.0..1.0,
    ) {
        let machine = machine(&file, false);
        for who in strategies(seed) {
            let trace = record(&machine, &who);
            let events = (trace.events.len() as f64 * share) as usize;
            let beginning = trace.beginning(events);
            prop_assert_eq!(&beginning.events[..], &trace.events[..events]);
            let again = record(&machine, &Who::follow(beginning.schedule()));
            prop_assert_eq!(&again.events[..events], &beginning.events[..]);
            for info in &beginning.threads {
                prop_assert!(info.forked_by.is_none_or(|fork| beginning.events.iter().any(|e| e.id == fork)));
            }
        }
    }
}

/// Programs that are too large to go through are left to those that are not; how many is counted.
#[derive(Default)]
struct Tally {
    compared: Cell<u32>,
    left: Cell<u32>,
}

impl Tally {
    /// Takes note of a comparison; says whether it can be made.
    fn can(&self, compare: bool) -> bool {
        let count = if compare { &self.compared } else { &self.left };
        count.set(count.get() + 1);
        compare
    }

    /// A test that compares little says little.
    fn is_enough(&self, what: &str) {
        let (compared, left) = (self.compared.get(), self.left.get());
        println!("{what}: {compared} compared, {left} too large");
        assert!(left * 4 <= compared, "{what}: only {compared} were compared, {left} were too large");
    }
}

/// As `proptest!` does it, for a test that counts.
fn for_random<S: proptest::strategy::Strategy>(
    test: &'static str,
    inputs: &S,
    holds: impl Fn(S::Value) -> TestCaseResult,
) {
    let config = random::config(60);
    let named = ProptestConfig { test_name: Some(test), source_file: Some(file!()), ..config };
    if let Err(error) = TestRunner::new(named).run(inputs, holds) {
        panic!("{error}");
    }
}

#[test]
fn the_two_enumerations_agree_and_contain_every_run() {
    let (stateful_ones, both) = (Tally::default(), Tally::default());
    let inputs = (random::program(&Config::tiny()), any::<u64>(), prop::bool::weighted(0.1));
    for_random("the_two_enumerations", &inputs, |(file, seed, spurious)| {
        let machine = machine(&file, spurious);
        for history in [false, true] {
            let stateful = ask(&machine, Method::Stateful, history, None);
            if !stateful_ones.can(stateful.limit.is_none()) {
                continue;
            }
            let stateless = ask(&machine, Method::Stateless, history, None);
            if both.can(stateless.limit.is_none() && !stateful.cyclic) {
                prop_assert_eq!(stateful.seen(), stateless.seen());
                prop_assert_eq!(stateful.schedules, stateless.schedules);
            }
            check_schedules(&machine, &stateful);
            for who in strategies(seed) {
                let trace = record(&machine, &who);
                prop_assert!(is_among(&stateful, &trace), "{:?} is not among the answers", trace.outcome);
            }
        }
        Ok(())
    });
    stateful_ones.is_enough("all states");
    both.is_enough("all states and all schedules");
}

#[test]
fn along_a_trace_the_enumerations_agree_and_see_a_part_of_the_whole() {
    let tally = Tally::default();
    let inputs = (random::program(&Config::tiny()), any::<u64>());
    for_random("along_a_trace", &inputs, |(file, seed)| {
        let machine = machine(&file, false);
        let trace = record(&machine, &Who::Random { seed });
        let along = ask(&machine, Method::Stateful, true, Some(&trace));
        let stateless = ask(&machine, Method::Stateless, true, Some(&trace));
        let whole = ask(&machine, Method::Stateful, true, None);
        if !tally.can(along.limit.is_none() && stateless.limit.is_none() && whole.limit.is_none()) {
            return Ok(());
        }
        prop_assert_eq!(along.seen(), stateless.seen());
        prop_assert_eq!(along.schedules, stateless.schedules);
        let race = |r: oracle::Race| oracle::Race { first: strip(r.first), second: strip(r.second) };
        let triple = |t: oracle::Triple| oracle::Triple {
            before: strip(t.before),
            between: strip(t.between),
            after: strip(t.after),
        };
        let failure = |f: oracle::Failure| oracle::Failure { at: strip(f.at), ..f };
        prop_assert!(
            without_numbers(along.triples.keys().copied(), triple)
                .iter()
                .all(|t| whole.triples.contains_key(t))
        );
        prop_assert!(
            without_numbers(along.unordered.keys().copied(), race)
                .iter()
                .all(|r| whole.unordered.contains_key(r))
        );
        prop_assert!(
            without_numbers(along.co_enabled.keys().copied(), race)
                .iter()
                .all(|r| whole.co_enabled.contains_key(r))
        );
        prop_assert!(
            without_numbers(along.failures.keys().copied(), failure)
                .iter()
                .all(|f| whole.failures.contains_key(f))
        );
        prop_assert!(along.final_states.keys().all(|state| whole.final_states.contains_key(state)));
        // The recorded run itself is one of those along it.
        if let Outcome::Completed { state, .. } = &trace.outcome {
            prop_assert!(along.final_states.keys().any(|known| known.values == *state));
        }
        Ok(())
    });
    tally.is_enough("all schedules along a trace");
}

/// The properties above would hold trivially for dull programs: of 400, enough must show each kind of thing.
#[test]
fn random_programs_are_interesting() {
    use proptest::strategy::ValueTree as _;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = random::program(&Config::tiny());
    let mut seen = std::collections::BTreeMap::<&str, u32>::new();
    for _ in 0..400 {
        let file = strategy.new_tree(&mut runner).expect("a program").current();
        let answers = ask(&machine(&file, false), Method::Stateful, true, None);
        let shows = [
            ("a limit", answers.limit.is_some()),
            ("several final states", answers.final_states.len() > 1),
            ("a failure", !answers.failures.is_empty()),
            ("a deadlock", !answers.deadlocks.is_empty()),
            ("a co-enabled race", !answers.co_enabled.is_empty()),
            ("an unordered race only", answers.unordered.keys().any(|r| !answers.co_enabled.contains_key(r))),
            ("a triple", !answers.triples.is_empty()),
            ("a discarded run", answers.schedules.discarded > 0),
            ("more than 100 schedules", answers.schedules.total() > 100),
        ];
        for (what, shown) in shows {
            *seen.entry(what).or_default() += u32::from(shown);
        }
    }
    println!("{seen:#?}");
    assert!(seen["a limit"] < 40, "{seen:?}");
    for (what, count) in seen {
        assert!(what == "a limit" || count >= 8, "only {count} of 400 show {what}");
    }
}
