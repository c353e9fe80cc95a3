//! Random programs: each run is rebuilt without a mismatch and foretells the values of every other run as long as that one
//! keeps to its paths. `PROPTEST_CASES` sets how many.

use crate::common::{build, follow, record, strategies};
use lang::random::{self, Config};
use machine::{Machine, Options};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

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

proptest! {
    #![proptest_config(config())]

    #[test]
    fn each_run_is_rebuilt_and_foretells_the_others(
        file in random::program(&Config::default()), seed in any::<u64>(), spurious in prop::bool::weighted(0.1),
    ) {
        let checked = lang::check(&file).expect("random programs are well formed");
        let options = lang::LowerOptions { name: "random.tb".into(), path: "random.tb".into(), ..Default::default() };
        let program = lang::lower(&checked, &options);
        let machine = Machine::new(program, Options { spurious, ..Options::default() }).expect("random programs run");
        let runs: Vec<_> =
            strategies(seed).into_iter().chain(strategies(!seed)).map(|who| record(&machine, &who)).collect();
        for recorded in &runs {
            let ctp = build(&machine, recorded);
            for other in &runs {
                follow(&ctp, recorded, other);
            }
        }
    }
}
