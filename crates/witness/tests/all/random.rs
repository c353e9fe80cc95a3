//! Random programs: what the oracle sees along a run is accepted; what is accepted the machine can do. `PROPTEST_CASES` sets how many.

use crate::common::{check, check_prefix, claims, itself, record, to_schedule};
use claim::Witness;
use lang::random::{self, Config};
use machine::{Machine, Options};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use subject::{Strategy as Who, Subject as _};
use trace::Logging;

fn config() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(60);
    let persistence = FileFailurePersistence::WithSource("regressions");
    ProptestConfig {
        cases,
        max_shrink_iters: 20_000,
        failure_persistence: Some(Box::new(persistence)),
        ..ProptestConfig::default()
    }
}

fn machine(file: &lang::ast::File, spurious: bool) -> Machine {
    let checked = lang::check(file).expect("random programs are well formed");
    let options =
        lang::LowerOptions { name: "random.tb".into(), path: "random.tb".into(), ..Default::default() };
    let program = lang::lower(&checked, &options);
    Machine::new(program, Options { spurious, ..Options::default() }).expect("random programs run")
}

/// A witness with one thing wrong with it, perhaps.
fn damaged(witness: &Witness, how: u8, at: usize) -> Witness {
    let mut witness = witness.clone();
    let n = witness.order.len().max(1);
    match how % 3 {
        0 if n > 1 => witness.order.swap(at % (n - 1), at % (n - 1) + 1),
        1 => drop(witness.order.remove(at % n)),
        _ => witness.order[at % n].n += 1,
    }
    witness
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_run_is_accepted_and_what_is_accepted_can_be_run(
        file in random::program(&Config::default()), seed in any::<u64>(), spurious in prop::bool::weighted(0.1),
        damages in prop::collection::vec((any::<u8>(), any::<usize>()), 8),
    ) {
        let machine = machine(&file, spurious);
        for who in [Who::RunToBlock, Who::Random { seed }, Who::RoundRobin { quantum: 1 }] {
            let trace = record(&machine, &who);
            let whole = itself(&trace);
            prop_assert_eq!(check_prefix(&machine, &trace, &whole), Ok(()));
            if whole.order.is_empty() {
                continue;
            }
            for &(how, at) in &damages {
                let damaged = damaged(&whole, how, at);
                if check_prefix(&machine, &trace, &damaged).is_ok() {
                    let follow = Who::follow(to_schedule(&damaged));
                    let run = machine.run(&follow, &Logging::Everything).expect("it runs");
                    prop_assert_eq!(run.departure, None, "{:?}", damaged);
                }
            }
        }
    }

    #[test]
    fn what_the_oracle_sees_along_a_run_is_accepted(
        file in random::program(&Config::tiny()), seed in any::<u64>(),
    ) {
        let machine = machine(&file, false);
        let trace = record(&machine, &Who::Random { seed });
        for (candidate, witness) in claims(&machine, &trace).unwrap_or_default() {
            let answer = check(&machine, &trace, &candidate, &witness);
            prop_assert_eq!(answer, Ok(()), "{:?} {:?}", candidate, witness);
        }
    }
}
