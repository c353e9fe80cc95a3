//! Where a program was ended by a signal is told by its line, also if nothing was logged near it.

use ir::SiteIndex;
use subject::Strategy;
use suite::{Build, Program, build, open};
use trace::{FaultKind, Logging, Outcome};

/// The line of the fault that ends a program.
fn fault(source: &str, level: &'static str) -> (FaultKind, Option<u32>) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("fault.c");
    std::fs::write(&path, source).expect("it can be written");
    let program = Program::in_c(path);
    let built = build(&program, &Build::at(level));
    let compiled = open(&built.path);
    let run = compiled.record(&Strategy::RunToBlock, &Logging::Everything).expect("it runs").run;
    let Outcome::Fault { site, kind, .. } = run.trace.outcome else { panic!("{:?}", run.trace.outcome) };
    let code = subject::Subject::program(&compiled);
    (kind, SiteIndex::new(code).source(code, site).0.map(|at| at.line))
}

/// Between the last event and the division lies only what no other thread can see.
#[test]
fn a_division_is_named_though_its_operands_are_in_memory_that_nobody_else_sees() {
    let source = "#include <stdlib.h>
int main(int count, char **words) {
    int parts[4];
    long sum = count;
    for (int i = 0; i < 4; i++)
        parts[(i + count) % 4] = 3 * count - i;
    for (int i = 0; i < 4; i++) {
        sum += 1;
        sum += 100 / parts[(i + count) % 4];
    }
    return (int)sum;
}
";
    for level in ["-O0", "-O2"] {
        assert_eq!(fault(source, level), (FaultKind::ArithmeticError, Some(9)), "{level}");
    }
}
