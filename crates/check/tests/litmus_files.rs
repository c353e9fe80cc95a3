//! Litmus tests in herd's format: what is read, and what is refused where.

mod common;

use check::cat::Model;
use check::{Checker, Options, litmus};

fn allowed(source: &str, model: &str) -> bool {
    let program = litmus::program(source, "test.litmus").unwrap_or_else(|errors| panic!("{errors:?}"));
    let model = Model::shipped(model).expect("the tests' own input is fine");
    Checker::new(&program, Options::default())
        .under(&model)
        .condition_verdict()
        .expect("the tests' own input is fine")
        .expect("the tests' own input is fine")
}

const SB: &str = "X86 SB
\"Fre PodWR Fre PodWR\"
Cycle=Fre PodWR Fre PodWR
{ x=0; y=0; }
 P0          | P1          ;
 MOV [x],$1  | MOV [y],$1  ;
 MOV EAX,[y] | MOV EAX,[x] ;
exists (0:EAX=0 /\\ 1:EAX=0)
";

const MP: &str = "C MP+rel+acq
{}
P0 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_relaxed);
  atomic_store_explicit(y, 1, memory_order_release);
}
P1 (atomic_int* x, atomic_int* y) {
  int r0 = atomic_load_explicit(y, memory_order_acquire);
  int r1 = 7;
  if (r0 == 1) {
    r1 = atomic_load_explicit(x, memory_order_relaxed);
  } else { r1 = 2; }
}
exists (1:r0=1 /\\ 1:r1=0)
";

#[test]
fn x86_tests_are_read() {
    assert!(allowed(SB, "tso") && !allowed(SB, "sc"));
    let fenced = SB.replace(" MOV EAX,[y]", " MFENCE | MFENCE ;\n MOV EAX,[y]");
    assert!(!allowed(&fenced, "tso"));
    let exchanged = SB.replace("MOV [x],$1 ", "XCHG [x],EBX").replace("MOV [y],$1 ", "XCHG [y],EBX");
    let exchanged = exchanged.replace("{ x=0; y=0; }", "{ 0:EBX=1; 1:EBX=1; }");
    assert!(!allowed(&exchanged, "tso"));
}

#[test]
fn c_tests_are_read() {
    assert!(!allowed(MP, "rc11"));
    assert!(allowed(&MP.replace("memory_order_release", "memory_order_relaxed"), "rc11"));
}

#[test]
fn events_stand_where_the_test_has_them() {
    let program = litmus::program(MP, "test.litmus").unwrap();
    let lines: Vec<u32> = program
        .functions
        .iter()
        .flat_map(|f| &f.blocks)
        .flat_map(|b| &b.instructions)
        .filter(|i| matches!(i.op, ir::Op::Load { .. } | ir::Op::Store { .. }))
        .filter_map(|i| i.position.map(|p| p.line))
        .collect();
    assert!(lines.starts_with(&[4, 5, 8, 11]), "{lines:?}");
}

#[test]
fn what_is_not_understood_is_refused_at_its_place() {
    let cases = [
        (SB.replace("MOV EAX,[y]", "CLFLUSH [y]"), 7, "the instruction `CLFLUSH` is not known"),
        (SB.replace("MOV EAX,[y]", "MOV EAX,y"), 7, "`y` is no register"),
        (SB.replace("X86", "AArch64"), 1, "litmus tests for `AArch64` are not read"),
        (SB.replace("exists", "maybe"), 8, "`maybe` is not known"),
        (MP.replace("atomic_load_explicit(y", "atomic_peek(y"), 8, "the function `atomic_peek` is not known"),
        (MP.replace("memory_order_acquire", "memory_order_lax"), 8, "is no memory order"),
        (MP.replace("if (r0 == 1)", "while (r0 == 1)"), 10, "`while` is not supported"),
        (MP.replace("int r1 = 7;", "int r1 = x;"), 9, "`x` is a pointer"),
        (MP.replace("{}", "{"), 3, "expected"),
    ];
    for (source, line, message) in cases {
        let errors = litmus::program(&source, "test.litmus").expect_err(message);
        assert!(errors[0].message.contains(message) && errors[0].span.line == line, "{:?}", errors[0]);
    }
}
