//! Fuzz target: reading what other planners print. On the stable toolchain bolero replays `__fuzz__/plan/corpus` and then makes random inputs.

use crate::common::{build, machine, record};
use claim::Property;
use plan::pddl::Domain;
use plan::{Data, Goal, Problem, Until};
use predict::{Wanted, candidates};
use std::time::Duration;
use subject::Strategy as Who;

/// Words that plans are made of: inputs that begin with an odd byte choose from them.
const WORDS: [&str; 16] = [
    "(ac_1_1_coupled_init)",
    "(ac_1_2)",
    "(ac_2_1_coupled_1_2)",
    "(AC_2_2)",
    "(ac_1_3",
    ")",
    "step",
    "0:",
    "1.5:",
    "AC_1_2",
    "[1.0]",
    ";",
    "\n",
    "\n",
    "nan:",
    "(",
];

fn problem() -> Problem {
    let machine = machine(include_str!("../../../../examples/plan-fig1a.tb"));
    let trace = record(&machine, &Who::RunToBlock);
    let ctp = build(&machine, &trace);
    let wanted = Wanted { properties: vec![Property::Atomicity], ..Wanted::default() };
    let all = candidates(&ctp, &wanted).all;
    Problem::new(&ctp, &Goal::of(&all[0], Until::Between).expect("three accesses"), Data::Writers)
}

#[test]
fn any_text_is_read_or_refused() {
    let problem = problem();
    let domain = Domain::new(&problem, "fuzz", |meaning| format!("{meaning:?}")).expect("it can be written");
    let target = |text: &str| {
        if let Ok(plan) = domain.read(text) {
            // Whatever it is, asking whether it is a plan does no harm.
            let is_plan = problem.is_plan(&plan);
            assert!(!is_plan || problem.witness(&plan).order.len() == plan.len());
        }
    };
    bolero::check!(name = "plan")
        .with_max_len(256)
        .with_iterations(50_000)
        .with_test_time(Duration::from_secs(2))
        .for_each(|input: &[u8]| match input.split_first() {
            Some((first, rest)) if first % 2 == 1 => {
                let words: Vec<&str> =
                    rest.iter().map(|&byte| WORDS[usize::from(byte) % WORDS.len()]).collect();
                target(&words.join(" "));
            }
            _ => target(&String::from_utf8_lossy(input)),
        });
}

#[test]
fn the_papers_plan_is_one_in_each_form() {
    let problem = problem();
    let domain = Domain::new(&problem, "fuzz", |meaning| format!("{meaning:?}")).expect("it can be written");
    for text in [include_str!("__fuzz__/plan/corpus/lines"), include_str!("__fuzz__/plan/corpus/numbered")] {
        assert!(problem.is_plan(&domain.read(text).expect("it can be read")), "{text}");
    }
}
