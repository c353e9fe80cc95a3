//! The paper's own results (MM Fig. 1, 2, 5, 6).

use crate::common::compiled;
use check::{Checker, Options, Verdict};

const PROGRAM_1: &str = include_str!("../../../../examples/mm-fig1-program1.tb");
const PROGRAM_2: &str = include_str!("../../../../examples/mm-fig1-program2.tb");

/// A program of the paper with another question.
fn asking(source: &str, question: &str) -> ir::Program {
    let body = source.rsplit_once("exists").map_or(source, |(body, _)| body).trim_end_matches('~');
    compiled(&format!("{body}\n{question}"))
}

#[test]
fn program_1_with_r1_1_and_r2_0_is_illegal_because_of_reads_and_order() {
    let program = asking(PROGRAM_1, "exists (T1.r1 == 1 && T2.r2 == 0)");
    let (holds, verdict) = Checker::new(&program, Options::default()).condition().unwrap().unwrap();
    assert!(!holds);
    let Verdict::Forbidden(core) = verdict else { panic!("{verdict:?}") };
    let rules: Vec<&str> = core.rules.iter().map(|(name, _)| &**name).collect();
    insta::assert_snapshot!(format!("{rules:?}\n{:#?}", core.events));
}

#[test]
fn program_2_with_r1_1_and_r2_0_is_legal_with_the_papers_matrix_and_interleaving() {
    let program = asking(PROGRAM_2, "exists (T1.r1 == 1 && T2.r2 == 0)");
    let (holds, verdict) = Checker::new(&program, Options::default()).condition().unwrap().unwrap();
    assert!(holds);
    let Verdict::Allowed(execution) = verdict else { panic!("{verdict:?}") };
    let matrix = execution.matrix.as_ref().unwrap();
    // MM Fig. 5, row by row.
    let expected =
        ["0X111111", "X0111111", "00011000", "00001000", "00000000", "00111011", "00111001", "00111000"];
    assert_eq!(*matrix, expected);
    assert_eq!(execution.interleaving, Some(vec![1, 2, 6, 7, 8, 3, 4, 5]));
}

#[test]
fn program_2_with_r1_0_and_r2_1_is_illegal() {
    let program = asking(PROGRAM_2, "exists (T1.r1 == 0 && T2.r2 == 1)");
    let (holds, _) = Checker::new(&program, Options::default()).condition().unwrap().unwrap();
    assert!(!holds);
}

/// MM Fig. 6, its six lines, and what it says about the repair.
mod properties {
    use super::*;
    use check::atomicity::Kind;

    const FIGURE_2: &str = include_str!("../../../../examples/mm-fig2.tb");

    #[test]
    fn program_1_is_free_of_races_and_program_2_is_not() {
        let (first, second) = (compiled(PROGRAM_1), compiled(PROGRAM_2));
        assert!(Checker::new(&first, Options::default()).races().unwrap().is_empty());
        let races = Checker::new(&second, Options::default()).races().unwrap();
        let locations: Vec<&str> = races.iter().map(|race| &*race.location).collect();
        assert_eq!(locations, ["x", "y"]);
    }

    #[test]
    fn figure_2_is_free_of_races_but_not_atomic() {
        let program = compiled(FIGURE_2);
        let checker = Checker::new(&program, Options::default());
        assert!(checker.races().unwrap().is_empty());
        for kind in [Kind::Strong, Kind::Window, Kind::Serializable] {
            assert_eq!(checker.violations(kind).unwrap().len(), 2, "{kind:?}");
        }
    }

    #[test]
    fn one_lock_around_each_transaction_repairs_figure_2() {
        let one_lock =
            |body: &str| body.replace("Unlock l1;\n        r", "r").replace("Lock l1; balance", "balance");
        let program = compiled(&one_lock(FIGURE_2));
        let checker = Checker::new(&program, Options::default());
        for kind in [Kind::Strong, Kind::Window, Kind::Serializable] {
            assert!(checker.violations(kind).unwrap().is_empty(), "{kind:?}");
        }
    }
}
