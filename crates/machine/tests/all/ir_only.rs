//! What program IR has and the model language has not: stack memory, copies and fills, switches, calls through addresses,
//! exclusive blocks; and what the machine refuses.

use crate::common::Seen;
use machine::oracle::{LimitReached, Method, Question};
use machine::{LoadError, Machine, Options};

fn load(text: &str) -> Result<Machine, LoadError> {
    Machine::new(ir::parse(text).expect("the text is a program"), Options::default())
}

fn explore(text: &str) -> Seen {
    Seen::of(&load(text).expect("the machine runs it"))
}

#[test]
fn stack_memory_lives_as_long_as_its_function() {
    let program = |use_after: &str| {
        format!(
            r#"program "p"
shape #0 = int 4 signed
shape #1 = pointer #0
global @x #0 = zero
global @leaked #1 = zero
function $inner() {{
b0:
  %0 = stack_alloc ptr #0, 1i32
  store 7i32, %0
  %1 = load i32 %0
  store %1, @x
  store %0, @leaked
  return
}}
function $T() {{
b0:
  call $inner()
  call $inner()
  %0 = load ptr @leaked
  {use_after}
  return
}}
thread T = $T
"#
        )
    };
    let seen = explore(&program("store null, @leaked"));
    assert_eq!(seen.finals, ["x=7 leaked=null"]);
    assert_eq!(explore(&program("store 1i32, %0")).failures, ["T ?: use after free"]);
}

#[test]
fn a_copy_is_a_read_and_a_write_and_others_may_come_between() {
    let seen = explore(
        r#"program "p"
shape #0 = int 4 signed
shape #1 = array 2 #0
global @from #1 = bytes "0100000002000000" []
global @to #1 = zero
function $T() {
b0:
  memcpy @to, @from, 8i64
  return
}
function $U() {
b0:
  store 9i32, @from
  memset @to, 0i8, 4i64
  return
}
thread T = $T
thread U = $U
"#,
    );
    assert_eq!(seen.finals, ["from={9, 2} to={0, 2}", "from={9, 2} to={1, 2}", "from={9, 2} to={9, 2}"]);
    assert_eq!(seen.co_enabled.len(), 2, "{:?}", seen.co_enabled);
}

#[test]
fn a_copy_or_fill_that_does_not_fit_is_a_fault() {
    let program = |line: &str| {
        format!(
            "program \"p\"\nshape #0 = int 4 signed\nglobal @a #0 = zero\nglobal @b #0 = zero\n\
             function $T() {{\nb0:\n  {line}\n  return\n}}\nthread T = $T\n"
        )
    };
    for line in
        ["memcpy @a, @b, 5i64", "memset @a, 0i8, 5i64", "memset @a, 0i8, -1i64", "memcpy @a, @b, -1i64"]
    {
        assert_eq!(explore(&program(line)).failures, ["T ?: access out of bounds"], "{line}");
    }
}

#[test]
fn a_switch_goes_where_its_value_leads() {
    let program = |value: i32| {
        format!(
            r#"program "p"
shape #0 = int 4 signed
global @x #0 = zero
function $T() {{
b0:
  %0 = add i32 {value}i32, 0i32
  switch %0 [1: b1, 4294967294: b2] b3
b1:
  store 10i32, @x
  jump b3
b2:
  store 20i32, @x
  jump b3
b3:
  %1 = phi i32 [b0: 1i32, b1: 2i32, b2: 3i32]
  %2 = rmw add i32 @x, %1 seq_cst
  return
}}
thread T = $T
"#
        )
    };
    assert_eq!(explore(&program(1)).finals, ["x=12"]);
    assert_eq!(explore(&program(-2)).finals, ["x=23"]);
    assert_eq!(explore(&program(5)).finals, ["x=1"]);
}

#[test]
fn calls_and_forks_go_through_addresses_that_are_functions_and_no_others() {
    let program = |callee: &str| {
        format!(
            r#"program "p"
shape #0 = int 4 signed
shape #1 = pointer
global @x #0 = zero
global @f #1 = zero
function $add(%0 i32) -> (i32) {{
b0:
  %1 = add i32 %0, 1i32
  return %1
}}
function $T() {{
b0:
  store {callee}, @f
  %0 = load ptr @f
  %1 = call i32 indirect %0(41i32)
  store %1, @x
  %2 = fork i64 indirect %0(1i32)
  join %2
  return
}}
thread T = $T
"#
        )
    };
    let seen = explore(&program("$add"));
    assert_eq!((seen.failures.len(), seen.finals.len()), (0, 1));
    assert!(seen.finals[0].starts_with("x=42"), "{:?}", seen.finals);
    for callee in ["@x", "null", "$T"] {
        assert_eq!(explore(&program(callee)).failures, ["T ?: call of something that is no such function"]);
    }
}

#[test]
fn nobody_runs_beside_an_exclusive_block() {
    let seen = explore(
        r#"program "p"
shape #0 = int 4 signed
global @x #0 = zero
function $T() {
b0:
  exclusive_begin
  %0 = load i32 @x
  %1 = add i32 %0, 1i32
  store %1, @x
  exclusive_end
  return
}
thread T = $T
thread U = $T
"#,
    );
    assert_eq!(seen.finals, ["x=2"]);
    assert_eq!((seen.co_enabled, seen.deadlocks), (vec![], vec![]));
}

#[test]
fn what_never_ends_silently_is_stopped_and_what_never_ends_is_said_to() {
    let silent =
        explore("program \"p\"\nfunction $T() {\nb0:\n  jump b1\nb1:\n  jump b1\n}\nthread T = $T\n");
    assert_eq!((silent.failures, silent.schedules.cut), (vec![], 1));
    let recursive = explore("program \"p\"\nfunction $T() {\nb0:\n  call $T()\n  return\n}\nthread T = $T\n");
    assert_eq!((recursive.failures, recursive.schedules.cut), (vec![], 1));
    let spinning = load(
        "program \"p\"\nshape #0 = int 4 signed\nglobal @x #0 = zero\nfunction $T() {\nb0:\n  jump b1\nb1:\n  \
         %0 = load i32 @x\n  %1 = cmp eq i1 %0, 0i32\n  branch %1, b1, b2\nb2:\n  return\n}\nthread T = $T\n",
    )
    .expect("the machine runs it");
    // With a history every round is another state, and a stateless walk never comes to an end.
    for method in [Method::Stateful, Method::Stateless] {
        let question = Question { method, max_memory: 10 << 20, ..Question::default() };
        let answers = machine::oracle::ask(&spinning, &question);
        assert!(!answers.cyclic);
        assert_eq!(answers.limit, Some(LimitReached::Memory(10 << 20)));
    }
    let question = Question { history: false, ..Question::default() };
    let answers = machine::oracle::ask(&spinning, &question);
    assert!(answers.cyclic && answers.limit.is_none());
    assert_eq!(answers.schedules.total(), 0);
}

#[test]
fn what_belongs_to_compiled_code_only_is_refused_by_name() {
    let refused = |line: &str| {
        let text = format!("program \"p\"\nfunction $T() {{\nb0:\n  {line}\n  return\n}}\nthread T = $T\n");
        match load(&text) {
            Err(LoadError::Unsupported(why)) => why.to_string(),
            other => panic!("{line}: {other:?}"),
        }
    };
    assert_eq!(
        refused("%0 = call i32 external \"rand\"()"),
        "the machine does not run calls of external functions (`rand`) (in function `T`)"
    );
    assert!(refused("%0 = opaque opaque8 \"fadd\"()").contains("opaque operations (`fadd`)"));
    assert!(refused("%0 = add i128 1i128, 2i128").contains("wider than 64 bits"));
}
