//! Each kind of fault is noticed, at its place.

use crate::common::machine;
use subject::{Strategy, Subject as _};
use trace::{FaultKind, Logging, Outcome};

/// Runs a program and gives the fault that ends it, with its line.
fn fault(source: &str) -> (FaultKind, u32) {
    let machine = machine(source);
    let run = machine.run(&Strategy::RunToBlock, &Logging::Everything).expect("it runs");
    let Outcome::Fault { site, kind, .. } = run.trace.outcome else {
        panic!("no fault, but {:?}", run.trace.outcome)
    };
    let (position, _) = machine.sites().source(machine.program(), site);
    (kind, position.map_or(0, |p| p.line))
}

#[test]
fn memory_faults_are_noticed_where_they_happen() {
    let cases = [
        ("int *p = null;\nthread T {\n int r;\n r = *p;\n}", FaultKind::NullAccess, 4),
        ("int *p = null;\nthread T {\n p[3] = 1;\n}", FaultKind::NullAccess, 3),
        ("int a[2]; int i = 2;\nthread T {\n a[i] = 1;\n}", FaultKind::OutOfBounds, 3),
        ("int a[2]; int i = -1;\nthread T {\n a[i] = 1;\n}", FaultKind::OutOfBounds, 3),
        ("int a[2]; int b[2]; int i = 2147483647;\nthread T {\n a[i] = 1;\n}", FaultKind::OutOfBounds, 3),
        ("thread T {\n int *p = alloc(int, 2);\n p[2] = 1;\n}", FaultKind::OutOfBounds, 3),
        // Far enough to reach another variable if addresses were plain numbers.
        ("int a[2]; int b[2]; i64 i = 0x4_0000_0000;\nthread T {\n a[i] = 7;\n}", FaultKind::OutOfBounds, 3),
        ("int *p = null; i64 i = -1;\nthread T {\n p[i] = 7;\n}", FaultKind::NullAccess, 3),
        ("thread T {\n int *p = alloc(int);\n free(p);\n *p = 1;\n}", FaultKind::UseAfterFree, 4),
        ("thread T {\n int *p = alloc(int);\n free(p);\n free(p);\n}", FaultKind::DoubleFree, 4),
        ("int x;\nthread T {\n free(&x);\n}", FaultKind::InvalidFree, 3),
        ("thread T {\n int *p = alloc(int, 2);\n free(p + 1);\n}", FaultKind::InvalidFree, 3),
        ("int n = -1;\nthread T {\n int *p = alloc(int, n);\n}", FaultKind::AllocationTooLarge, 3),
    ];
    for (source, kind, line) in cases {
        assert_eq!(fault(source), (kind, line), "{source}");
    }
}

#[test]
fn freeing_null_is_no_fault() {
    let machine = machine("thread T { int *p = null; free(p); }");
    let run = machine.run(&Strategy::RunToBlock, &Logging::Everything).expect("it runs");
    assert!(matches!(run.trace.outcome, Outcome::Completed { .. }));
}

#[test]
fn division_by_zero_is_noticed_where_it_happens() {
    for operator in ["/", "%"] {
        for declaration in ["int", "u8", "i64", "u64"] {
            let source =
                format!("{declaration} x = 1, y = 0;\nthread T {{\n int r;\n r = x {operator} y;\n}}");
            assert_eq!(fault(&source), (FaultKind::DivisionByZero, 4), "{source}");
        }
    }
}

#[test]
fn wrong_use_of_locks_is_noticed() {
    let cases = [
        ("mutex m;\nthread T {\n unlock(m);\n}", FaultKind::UnlockOfUnlocked, 3),
        ("mutex m;\nthread T {\n lock(m);\n unlock(m);\n unlock(m);\n}", FaultKind::UnlockOfUnlocked, 5),
        ("mutex m;\nthread T { lock(m); }\nthread U {\n unlock(m);\n}", FaultKind::UnlockByNonOwner, 4),
        ("rwlock m;\nthread T {\n unlock(m);\n}", FaultKind::UnlockOfUnlocked, 3),
        ("rwlock m;\nthread T { rdlock(m); }\nthread U {\n unlock(m);\n}", FaultKind::UnlockByNonOwner, 4),
        ("mutex m; cond c;\nthread T {\n wait(c, m);\n}", FaultKind::WaitWithoutMutex, 3),
        ("mutex m[2]; int i = 2;\nthread T {\n lock(m[i]);\n}", FaultKind::OutOfBounds, 3),
    ];
    for (source, kind, line) in cases {
        assert_eq!(fault(source), (kind, line), "{source}");
    }
}
