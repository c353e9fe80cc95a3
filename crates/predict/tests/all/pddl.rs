//! Another planner on the same problems: pyperplan, which `make setup-test` installs into `target/tools/pyperplan`. `PYPERPLAN` names another
//! directory that has it. It and our planner agree on whether there is a plan, and our checker accepts its plans.

use crate::common::dense::dense;
use crate::common::programs::programs;
use crate::common::{build, machine, machine_of, record, run};
use claim::{Answer, Candidate, Property};
use plan::pddl::Domain;
use plan::{Data, Goal, Limits, Outcome, Outside, Problem, Until};
use predict::planning::{Options, Planning};
use predict::{Wanted, candidates};
use proptest::strategy::{Strategy as _, ValueTree as _};
use std::path::PathBuf;
use std::process::Command;
use subject::Strategy as Who;
use trace::Outcome as Ended;

/// Where pyperplan is: `make setup-test` puts it there.
fn pyperplan() -> PathBuf {
    let known = std::env::var_os("PYPERPLAN").map(PathBuf::from);
    let place = known.unwrap_or_else(|| {
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools/pyperplan"))
    });
    let planner = place.join("pyperplan/planner.py");
    assert!(planner.exists(), "{} is needed for this test: `make setup-test` installs it", planner.display());
    place
}

/// One process for all problems: starting Python takes longer than planning.
const DRIVER: &str = "
import logging, sys
from pyperplan import planner
logging.disable(logging.CRITICAL)
for n in range(int(sys.argv[2])):
    at = f'{sys.argv[1]}/{n}-'
    plan = planner.search_plan(at + 'domain.pddl', at + 'problem.pddl', planner.SEARCHES['gbf'], planner.HEURISTICS['hff'])
    with open(at + 'plan', 'w') as out:
        out.write('none' if plan is None else ''.join(op.name + '\\n' for op in plan))
";

#[test]
fn another_planner_agrees_on_two_hundred_problems() {
    const PROBLEMS: usize = 400;
    let place = pyperplan();
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (plain, synchronised) = (programs(), dense());
    let mut problems: Vec<Problem> = vec![];
    for seed in 0.. {
        let file = match seed % 2 {
            0 => plain.new_tree(&mut runner).expect("a program").current(),
            _ => {
                let source = synchronised.new_tree(&mut runner).expect("a program").current();
                lang::parse(&source).expect("it parses")
            }
        };
        let machine = machine_of(&file);
        let trace = run(&machine, seed);
        if matches!(trace.outcome, Ended::Fault { .. }) {
            continue;
        }
        let ctp = build(&machine, &trace);
        let properties = vec![Property::Atomicity, Property::Race];
        let all = candidates(&ctp, &Wanted { properties, per_place: 2 }).all;
        // Not too many of one program.
        for candidate in all.iter().filter(|one| !matches!(one, Candidate::UnorderedRace { .. })).take(6) {
            let goal = Goal::of(candidate, Until::Between).expect("an order of events");
            let problem = Problem::new(&ctp, &goal, Data::Writers);
            if !problem.is_hopeless && !problem.is_plan(&[]) {
                problems.push(problem);
            }
        }
        if problems.len() >= PROBLEMS {
            break;
        }
    }
    let directory = tempfile::tempdir().expect("a directory");
    let domains: Vec<Domain<'_>> = problems
        .iter()
        .map(|problem| {
            Domain::new(problem, "random", |meaning| format!("{meaning:?}")).expect("it can be written")
        })
        .collect();
    for (n, domain) in domains.iter().enumerate() {
        let file = |name: &str| directory.path().join(format!("{n}-{name}.pddl"));
        std::fs::write(file("domain"), domain.domain()).expect("it is written");
        std::fs::write(file("problem"), domain.problem()).expect("it is written");
    }
    let output = Command::new("python3")
        .args(["-c", DRIVER])
        .arg(directory.path())
        .arg(problems.len().to_string())
        .env("PYTHONPATH", place)
        .output()
        .expect("python3 runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (mut with, mut without) = (0, 0);
    for (n, (problem, domain)) in problems.iter().zip(&domains).enumerate() {
        let said = std::fs::read_to_string(directory.path().join(format!("{n}-plan"))).expect("an answer");
        let (own, _) = problem.solve(Limits::default());
        if said == "none" {
            without += 1;
            assert_eq!(own, Outcome::None, "problem {n}: pyperplan finds no plan\n{}", domain.domain());
        } else {
            with += 1;
            let plan = domain.read(&said).expect("its plan can be read");
            assert!(problem.is_plan(&plan), "problem {n}: not a plan:\n{said}\n{}", domain.domain());
            assert!(matches!(own, Outcome::Plan(_)), "problem {n}: pyperplan finds\n{said}");
        }
    }
    println!("{with} with a plan, {without} without");
    assert!(with >= 100 && without >= 30, "{with} with a plan, {without} without");
}

/// PLAN §4.4 with the command that a user would give: the plan is the paper's, and the checker accepts what follows from it.
#[test]
fn a_planner_that_is_a_command_solves_the_papers_example() {
    let place = pyperplan();
    let command = format!("env PYTHONPATH='{}' python3 -m pyperplan -s gbf -H hff", place.display());
    let machine = machine(include_str!("../../../../examples/plan-fig1a.tb"));
    let trace = record(&machine, &Who::RunToBlock);
    let ctp = build(&machine, &trace);
    let wanted = Wanted { properties: vec![Property::Atomicity], ..Wanted::default() };
    let all = candidates(&ctp, &wanted).all;
    let planner = Outside::new(&command).expect("a command");
    let goal = Goal::of(&all[0], Until::Between).expect("three accesses");
    let problem = Problem::new(&ctp, &goal, Data::Writers);
    let Outcome::Plan(plan) = planner.solve(&problem).expect("it answers") else { panic!("there is a plan") };
    let order: Vec<String> = problem.witness(&plan).order.iter().map(ToString::to_string).collect();
    assert_eq!(order.len(), 4, "Ac1,1 Ac1,2 Ac2,1 Ac2,2: {order:?}");
    let options = Options { planner: Some(planner), ..Options::default() };
    let engine = Planning::plan(machine.program(), &trace, &ctp, options);
    let answers = engine.answer_all(&all, &mut |_| {});
    assert!(matches!(&answers[..], [Answer::Feasible(_)]), "{answers:?}");
}

#[test]
fn a_planner_that_fails_is_no_proof() {
    let machine = machine(include_str!("../../../../examples/plan-fig1a.tb"));
    let trace = record(&machine, &Who::RunToBlock);
    let ctp = build(&machine, &trace);
    let wanted = Wanted { properties: vec![Property::Atomicity], ..Wanted::default() };
    let all = candidates(&ctp, &wanted).all;
    let problem =
        Problem::new(&ctp, &Goal::of(&all[0], Until::Between).expect("three accesses"), Data::Writers);
    let said = |command: &str| {
        let outcome = Outside::new(command).expect("a command").solve(&problem);
        outcome.map_err(|error| error.to_string())
    };
    assert_eq!(said("true"), Ok(Outcome::None), "it says that there is no plan, as far as one can tell");
    assert_eq!(said("sh -c 'echo no memory >&2; exit 1'").unwrap_err(), "`sh` failed: no memory");
    assert_eq!(
        said("printf '(ac_1_1_coupled_init)\\n(ac_9_9)\\n'").unwrap_err(),
        "its plan cannot be read: line 2 of the plan: there is no action `ac_9_9`"
    );
    assert_eq!(said("printf '(ac_1_1_coupled_init)\\n'").unwrap_err(), "what it gives is not a plan");
    assert!(said("/no/such/planner").unwrap_err().starts_with("`/no/such/planner` could not be run: "));
}
