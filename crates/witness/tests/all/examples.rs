//! Every example: the recorded run is accepted as its own witness, and so is everything that the oracle sees along it.

use crate::common::{check, check_prefix, claims, itself, machine, record};
use std::collections::BTreeMap;
use subject::Strategy as Who;

#[test]
fn what_the_oracle_sees_in_every_example_is_accepted() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "tb") {
            continue;
        }
        let machine = machine(&std::fs::read_to_string(&path).unwrap(), false);
        for who in [Who::RunToBlock, Who::Random { seed: 1 }, Who::Random { seed: 2 }] {
            let trace = record(&machine, &who);
            assert_eq!(check_prefix(&machine, &trace, &itself(&trace)), Ok(()), "{path:?} {who}");
            for (candidate, witness) in claims(&machine, &trace).unwrap_or_default() {
                let answer = check(&machine, &trace, &candidate, &witness);
                assert_eq!(answer, Ok(()), "{path:?} {who}: {candidate:?} {witness:?}");
                *seen.entry(format!("{:?}", candidate.property())).or_default() += 1;
            }
        }
    }
    assert_eq!(seen.len(), 4, "{seen:?}");
}
