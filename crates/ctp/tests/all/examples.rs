//! Every example, recorded under several strategies: it is rebuilt without a mismatch, and the concurrent trace program of
//! each run gives the values of every other run as long as that one keeps to the same paths.

use crate::common::{build, follow, machine, record, strategies};

#[test]
fn every_run_of_every_example_is_rebuilt_and_foretells_the_others() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut compared = 0;
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "tb") {
            continue;
        }
        let machine = machine(&std::fs::read_to_string(&path).unwrap(), false);
        let runs: Vec<_> = (0..4).flat_map(strategies).map(|who| record(&machine, &who)).collect();
        for recorded in &runs[..6] {
            let ctp = build(&machine, recorded);
            assert!(ctp.rebuild.pins.is_empty(), "{path:?}: {:?}", ctp.rebuild.pins);
            // An assertion that fails is where a run leaves its path.
            assert!(follow(&ctp, recorded, recorded) + 1 >= recorded.events.len(), "{path:?}");
            compared += runs.iter().map(|other| follow(&ctp, recorded, other)).sum::<usize>();
        }
    }
    assert!(compared > 10_000, "only {compared} events were compared");
}

#[test]
fn a_counter_leads_no_further_than_there_are_writes() {
    // The buffer has more elements than an address may have targets.
    let source = "int buffer[256], length;
        fn writer(int what) {
            int i;
            while (i < 8) bound 8 { int at = length; buffer[at] = what; length = at + 1; i++; }
        }
        main { fork writer(1); fork writer(2); }";
    let machine = machine(source, false);
    let runs: Vec<_> = (0..8).flat_map(strategies).map(|who| record(&machine, &who)).collect();
    let ctp = build(&machine, &runs[0]);
    assert!(ctp.rebuild.pins.is_empty(), "{:?}", ctp.rebuild.pins);
    for other in &runs {
        assert_eq!(follow(&ctp, &runs[0], other), other.events.len());
    }
}

#[test]
#[ignore = "a measurement: cargo test --release -p threadbare-ctp --test all -- examples:: --ignored --nocapture"]
fn a_million_events_take_seconds() {
    let source = "mutex m; int x, y, a[4], sum;
        thread T { int i = 0; while (i < 70000) bound 70001 {
            lock(m); x = x + 1; a[i & 3] = x; unlock(m); i = i + 1; } }
        thread U { int i = 0; while (i < 70000) bound 70001 {
            lock(m); int k = x; if (k > 5) sum = sum + y; if (i > 69000) y = a[k & 3]; unlock(m); i = i + 1; } }";
    let machine = machine(source, false);
    for who in [subject::Strategy::RunToBlock, subject::Strategy::Random { seed: 1 }] {
        let trace = record(&machine, &who);
        let start = std::time::Instant::now();
        let ctp = build(&machine, &trace);
        println!(
            "{} events, {} kept, {} expressions, {} locations, {} rounds: {:?}",
            trace.events.len(),
            ctp.events.len(),
            ctp.expressions.len(),
            ctp.locations.len(),
            ctp.rebuild.rounds,
            start.elapsed()
        );
    }
}
