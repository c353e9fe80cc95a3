//! Limits, interruption and reasons: what is not decided says so, and why something is infeasible is said in terms of the trace.

use crate::common::{build, machine, record};
use claim::{Answer, Because, Candidate, Property, Unknown};
use ctp::Ctp;
use machine::Machine;
use predict::{Interrupter, Limits, Symbolic, Wanted, candidates, symbolic};
use std::time::{Duration, Instant};
use subject::Strategy;

const LOST_UPDATES: &str = "int x; mutex m;
    thread A { atomic { int r = x; x = r + 1; } }
    thread B { atomic { int r = x; x = r + 2; } }";

fn answers(ctp: &Ctp, machine: &Machine, options: symbolic::Options) -> Vec<Answer> {
    let all = candidates(ctp, &Wanted::default()).all;
    assert!(all.len() > 2);
    let mut engine = Symbolic::new(machine.program(), ctp, &all, options).expect("it is encoded");
    all.iter().map(|candidate| engine.answer(candidate).expect("it is decided")).collect()
}

#[test]
fn an_interrupt_leaves_the_answers_that_were_given_and_makes_all_others_unknown() {
    let machine = machine(LOST_UPDATES);
    let ctp = build(&machine, &record(&machine, &Strategy::RunToBlock));
    let all = candidates(&ctp, &Wanted::default()).all;
    let interrupter = Interrupter::default();
    let options = symbolic::Options { interrupter: interrupter.clone(), ..symbolic::Options::default() };
    let mut engine = Symbolic::new(machine.program(), &ctp, &all, options).expect("it is encoded");
    assert!(matches!(engine.answer(&all[0]), Ok(Answer::Feasible(_))));
    interrupter.interrupt();
    for candidate in &all[1..] {
        assert_eq!(engine.answer(candidate), Ok(Answer::Unknown(Unknown::Interrupted)));
    }
    let deadlocks = engine.deadlocks(10).expect("they are enumerated");
    assert!(matches!(&deadlocks[..], [(_, Answer::Unknown(Unknown::Interrupted))]));
    interrupter.clear();
    assert!(matches!(engine.answer(&all[0]), Ok(Answer::Feasible(_))));
}

#[test]
fn when_all_time_is_over_every_candidate_is_unknown() {
    let machine = machine(LOST_UPDATES);
    let ctp = build(&machine, &record(&machine, &Strategy::RunToBlock));
    let total_time = Some(Duration::ZERO);
    let options = symbolic::Options { total_time, ..symbolic::Options::default() };
    for answer in answers(&ctp, &machine, options) {
        assert_eq!(answer, Answer::Unknown(Unknown::Time(Duration::ZERO)));
    }
}

#[test]
fn without_time_for_a_trace_it_says_how_many_events_it_left_out() {
    let machine = machine(LOST_UPDATES);
    let trace = record(&machine, &Strategy::RunToBlock);
    let options = predict::Options { until: Some(Instant::now()), ..predict::Options::default() };
    let prediction = predict::predict(machine.program(), &trace, &options, &mut |_| {}).expect("it ends");
    assert_eq!(prediction.coverage.events_left_out, trace.events.len() as u64);
    assert!(!prediction.coverage.is_complete());
    let until = Some(Instant::now() + Duration::from_secs(1_000));
    let options = predict::Options { until, ..predict::Options::default() };
    let prediction = predict::predict(machine.program(), &trace, &options, &mut |_| {}).expect("it ends");
    assert_eq!((prediction.coverage.events_left_out, prediction.findings.is_empty()), (0, false));
}

#[test]
fn a_limit_on_one_question_is_named_in_its_answer() {
    let machine = machine(LOST_UPDATES);
    let ctp = build(&machine, &record(&machine, &Strategy::RunToBlock));
    let limits = Limits { memory: Some(1), ..Limits::default() };
    let options = symbolic::Options { limits, ..symbolic::Options::default() };
    let all = answers(&ctp, &machine, options);
    assert!(all.contains(&Answer::Unknown(Unknown::Memory(1))), "{all:?}");
}

/// Why the triples of a program are infeasible: each reason with the label of its statement.
fn reasons(source: &str, strategy: &Strategy) -> Vec<String> {
    let machine = machine(source);
    let ctp = build(&machine, &record(&machine, strategy));
    let wanted = Wanted { properties: vec![Property::Atomicity], ..Wanted::default() };
    let all = candidates(&ctp, &wanted).all;
    let options = symbolic::Options { explain: true, ..symbolic::Options::default() };
    let mut engine = Symbolic::new(machine.program(), &ctp, &all, options).expect("it is encoded");
    let label = |event: trace::EventId| {
        let site = ctp.event(ctp.find(event).expect("it is in the trace")).site;
        machine.sites().source(machine.program(), site).1.unwrap_or("?").to_owned()
    };
    let word = |because: &Because| match because {
        Because::Branch(event) => format!("branch {}", label(*event)),
        Because::Lock(event) => format!("lock {}", label(*event)),
        Because::Wait(event) => format!("wait {}", label(*event)),
        Because::Fork(event) => format!("fork {}", label(*event)),
        Because::Join(event) => format!("join {}", label(*event)),
        Because::Independent { first, second } => {
            format!("no difference {} {}", label(*first), label(*second))
        }
        Because::Semaphore(event) => format!("semaphore {}", label(*event)),
        other => format!("{other:?}"),
    };
    let mut words = vec![];
    for candidate in all {
        let Candidate::Atomicity { between, .. } = candidate else { continue };
        let Answer::Infeasible(because) = engine.answer(&candidate).expect("it is decided") else { continue };
        let because: Vec<String> = because.iter().map(word).collect();
        words.push(format!("{}: {}", label(between), because.join(", ")));
    }
    words.sort();
    words.dedup();
    words
}

#[test]
fn av_fig1_is_infeasible_because_of_its_branch_and_of_its_wait() {
    let fig1a = include_str!("../../../../examples/av-fig1a.tb");
    let fig1b = include_str!("../../../../examples/av-fig1b.tb");
    assert_eq!(reasons(fig1a, &Strategy::RunToBlock), ["t5: branch t4"]);
    assert_eq!(reasons(fig1b, &Strategy::RoundRobin { quantum: 1 }), ["t5: wait t4"]);
}

#[test]
fn reasons_name_locks_semaphores_forks_and_joins_and_no_more_than_is_needed() {
    // The inner lock and the other semaphore have nothing to do with it.
    let locks = "int x; mutex m, n;
        thread A { a: lock(m); lock(n); unlock(n); atomic { int r = x; x = r + 1; } unlock(m); }
        thread B { b: lock(m); f: x = 9; unlock(m); lock(n); unlock(n); }";
    assert_eq!(reasons(locks, &Strategy::RunToBlock), ["f: lock a, lock b"]);
    let tokens = "int x; semaphore s, t = 1;
        thread A { acquire(t); atomic { int r = x; x = r + 1; } release(s); release(t); }
        thread B { b: acquire(s); f: x = 9; }";
    assert_eq!(reasons(tokens, &Strategy::RunToBlock), ["f: semaphore b"]);
    let forks = "int x;
        fn child() { atomic { int r = x; x = r + 1; } }
        main { f: x = 7; a: thread t = fork child(); b: join(t); g: x = 2; }";
    assert_eq!(reasons(forks, &Strategy::RunToBlock), ["f: fork a", "g: join b"]);
    // Whoever comes first, x is 5 then.
    let same = "int x; thread A { atomic { d: x = 5; e: x = 5; } } thread B { f: x = 5; }";
    assert_eq!(reasons(same, &Strategy::RunToBlock), ["f: no difference d f, no difference f e"]);
}

#[test]
fn one_core_discards_many_candidates() {
    let source = "int x; semaphore s;
        thread A { atomic { int i; while (i < 8) bound 8 { x = x + 1; i++; } } release(s); }
        thread B { acquire(s); int i; while (i < 8) bound 8 { x = 100 + i; i++; } }";
    let machine = machine(source);
    let ctp = build(&machine, &record(&machine, &Strategy::RunToBlock));
    let wanted = Wanted { properties: vec![Property::Atomicity], per_place: usize::MAX };
    let all = candidates(&ctp, &wanted).all;
    assert!(all.len() > 500);
    let mut engine =
        Symbolic::new(machine.program(), &ctp, &all, symbolic::Options::default()).expect("it is encoded");
    for candidate in &all {
        assert!(matches!(engine.answer(candidate), Ok(Answer::Infeasible(_))));
    }
    assert!(engine.asked() < all.len() / 10, "{} of {}", engine.asked(), all.len());
}

#[test]
fn the_locations_of_a_place_share_its_room() {
    let source = "int a[4];
        fn clerk() { int i; while (i < 4) bound 4 { atomic { int r = a[i]; a[i] = r + 1; } i++; } }
        main { fork clerk(); fork clerk(); fork clerk(); fork clerk(); }";
    let machine = machine(source);
    let ctp = build(&machine, &record(&machine, &Strategy::RunToBlock));
    for property in [Property::Atomicity, Property::Race] {
        let found = candidates(&ctp, &Wanted { properties: vec![property], per_place: 16 });
        assert!(found.left_out > 0);
        let first = |candidate: &Candidate| ctp.find(candidate.events()[0]).expect("it is an event");
        let accesses = found.all.iter().filter_map(|one| ctp.event(first(one)).kind.access());
        let elements: std::collections::BTreeSet<_> =
            accesses.map(|access| access.targets[0].place).collect();
        assert_eq!(elements.len(), 4, "{property:?}: {elements:?}");
    }
}
