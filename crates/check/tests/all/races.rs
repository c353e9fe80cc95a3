//! Random programs: `check` finds the races that the oracle finds by going through all schedules, instruction by instruction, in time and
//! among the graphs that the model `sc` allows; and what other models change. `PROPTEST_CASES` sets how many.

use crate::common::{compiled, machine};
use check::cat::Model;
use check::{Checker, Options, Race};
use ir::SiteId;
use lang::ast::File;
use lang::random::{self, Config, config, lowered};
use machine::oracle::{self, Question};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn compare(file: &File, spurious: bool) {
    let program = lowered(file);
    let source = lang::print(file);
    let machine = machine(program.clone(), spurious);
    let question = Question { max_steps: 200_000, max_states: 20_000, ..Question::default() };
    let answers = oracle::ask(&machine, &question);
    if answers.limit.is_some() || !answers.exhausted.is_empty() {
        return;
    }
    let expected: BTreeSet<_> = answers
        .unordered
        .keys()
        .map(|race| (race.first.site.min(race.second.site), race.first.site.max(race.second.site)))
        .collect();
    let checker = Checker::new(&program, Options { spurious, ..Options::default() });
    let found = checker.races().unwrap_or_else(|e| panic!("{e}\n{source}"));
    assert_eq!(sites(&found), expected, "{source}");
    let sc = Model::shipped("sc").expect("it is there");
    let found = checker.under(&sc).races_of_model().unwrap_or_else(|e| panic!("{e}\n{source}"));
    // A plain write ends a release sequence in C11, while the oracle, like ThreadSanitizer, knows of none: what a variable passes on survives
    // it. That makes a difference only where this write is in a race itself, so such a variable may have more of them.
    let (known, more): (Vec<Race>, Vec<Race>) =
        found.into_iter().partition(|race| sites(std::slice::from_ref(race)).is_subset(&expected));
    assert_eq!(sites(&known), expected, "among graphs:\n{source}");
    for race in more {
        let is_raced = known.iter().any(|other| other.location == race.location);
        assert!(is_raced, "only among graphs: {race:?}\n{source}");
    }
}

fn sites(races: &[Race]) -> BTreeSet<(SiteId, SiteId)> {
    let sites = races.iter().filter_map(|race| race.first.site.zip(race.second.site));
    sites.map(|(a, b)| (a.min(b), a.max(b))).collect()
}

/// The variables that are raced for under a model.
fn raced(source: &str, model: &Model) -> Vec<String> {
    let program = compiled(source);
    let races = Checker::new(&program, Options::default()).under(model).races_of_model();
    races.expect("the program is small").into_iter().map(|race| race.location).collect()
}

fn raced_in(source: &str, model: &str) -> Vec<String> {
    raced(source, &Model::shipped(model).expect("it is there"))
}

/// Only one of the two reads 0 if accesses are in one order, so only one writes d.
const ONE_OF_TWO: &str = "int x, y, d;
    thread A { store(x, 1, relaxed); if (load(y, relaxed) == 0) d = 1; }
    thread B { store(y, 1, relaxed); if (load(x, relaxed) == 0) d = 2; }";

#[test]
fn weak_models_race_where_sequential_consistency_does_not() {
    let program = compiled(ONE_OF_TWO);
    assert!(Checker::new(&program, Options::default()).races().unwrap().is_empty());
    assert_eq!(raced_in(ONE_OF_TWO, "sc"), [""; 0]);
    for model in ["tso", "pso", "rc11", "pram"] {
        assert_eq!(raced_in(ONE_OF_TWO, model), ["d"], "{model}");
    }
    // With seq_cst accesses it is as under sequential consistency.
    let strong = ONE_OF_TWO.replace(", relaxed", "");
    for model in ["tso", "pso", "rc11"] {
        assert_eq!(raced_in(&strong, model), [""; 0], "{model}");
    }
}

#[test]
fn a_stronger_model_has_fewer_races() {
    let flag = "int d, f;
        thread A { d = 1; store(f, 1, relaxed); }
        thread B { if (load(f, relaxed)) d = 2; }";
    assert_eq!(raced_in(flag, "sc"), ["d"]);
    let alone = Model::parse("alone.cat", "empty rfe as alone", &mut |_| None).unwrap();
    assert_eq!(raced(flag, &alone), [""; 0]);
}

#[test]
fn release_sequences_fences_and_locks_order_under_every_model() {
    let through_update = "int d, f;
        thread A { d = 1; store(f, 1, release); }
        thread B { fetch_add(f, 1, relaxed); }
        thread C { if (load(f, acquire) == 2) d = 2; }";
    let through_fences = "int d, f;
        thread A { d = 1; fence(release); store(f, 1, relaxed); }
        thread B { if (load(f, relaxed)) { fence(acquire); d = 2; } }";
    let locked = "int d; mutex m;
        thread A { lock(m); d = 1; unlock(m); }
        thread B { lock(m); d = 2; unlock(m); }";
    let through_threads = "int d;
        fn inner() { d = 2; }
        fn outer() { thread t = fork inner(); join(t); }
        main { d = 1; thread t = fork outer(); join(t); d = 3; }";
    for source in [through_update, through_fences, locked, through_threads] {
        for model in ["sc", "tso", "pso", "coherence", "causal", "rc11"] {
            assert_eq!(raced_in(source, model), [""; 0], "{model}: {source}");
        }
    }
    // Without the release nothing passes it on.
    assert_eq!(raced_in(&through_update.replace("release", "relaxed"), "sc"), ["d"]);
    assert_eq!(raced_in(&through_fences.replace("fence(acquire); ", ""), "sc"), ["d"]);
}

#[test]
fn giving_memory_back_races_with_its_use() {
    let source = "int *p;
        fn user() { *p = 1; }
        main { p = alloc(int, 1); fork user(); free(p); }";
    assert_eq!(raced_in(source, "sc").len(), 1);
    assert_eq!(raced_in(&source.replace("fork user();", "thread t = fork user(); join(t);"), "sc"), [""; 0]);
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn check_finds_the_races_that_the_oracle_finds(
        file in random::program(&Config { max_events: 24, ..Config::default() }), spurious in prop::bool::weighted(0.2)
    ) {
        compare(&file, spurious);
    }
}
