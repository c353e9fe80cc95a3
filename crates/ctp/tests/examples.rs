//! Every example, recorded under several strategies: it is rebuilt without a mismatch, and the concurrent trace program of
//! each run gives the values of every other run as long as that one keeps to the same paths.

mod common;

use common::{build, follow, machine, record, strategies};

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
