//! The verifier on flow of control and of values, and on tables, threads and the final condition.

use ir::{
    FunctionId, GlobalId, Initial, Program, RelocationTarget, ShapeId, ValueId, ValueInfo, parse, verify,
};

fn errors(program: &Program) -> Vec<String> {
    match verify(program) {
        Ok(()) => vec![],
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    }
}

fn read(text: &str) -> Program {
    parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The function's body breaks these things.
#[track_caller]
fn body(body: &str, expected: &[&str]) {
    let text = format!(
        "program \"p\"
         function $callee() -> (i32) {{
         b0:
           return 0i32
         }}
         function $f(%0 i1) -> (i32) {{
         b0:
           {body}
         }}"
    );
    assert_eq!(errors(&read(&text)), expected, "{body}");
}

/// A program of these lines breaks one thing.
#[track_caller]
fn lines(lines: &str, expected: &str) {
    assert_eq!(errors(&read(&format!("program \"p\"\n{lines}"))), [expected], "{lines}");
}

const NOT_DEFINED: &str = "which is not defined on every way here";

#[test]
fn a_definition_dominates_its_uses() {
    body(
        "%1 = add i32 %2, 1i32\n%2 = add i32 1i32, 1i32\nreturn %1",
        &[&format!("function $f, block b0, instruction 0: uses %2, {NOT_DEFINED}")],
    );
    body(
        "%1 = add i32 %1, 1i32\nreturn %1",
        &[&format!("function $f, block b0, instruction 0: uses %1, {NOT_DEFINED}")],
    );
    body(
        "branch %0, b1, b2\nb1:\n%1 = add i32 1i32, 1i32\njump b2\nb2:\nreturn %1",
        &[&format!("function $f, block b2, its end: uses %1, {NOT_DEFINED}")],
    );
    body("branch %0, b1, b2\nb1:\n%1 = add i32 1i32, 1i32\nreturn %1\nb2:\nreturn 0i32", &[]);
    // In a loop, the value of the round before is no definition.
    body(
        "jump b1\nb1:\n%1 = add i32 %2, 1i32\n%2 = add i32 1i32, 1i32\nbranch %0, b1, b2\nb2:\nreturn %2",
        &[&format!("function $f, block b1, instruction 0: uses %2, {NOT_DEFINED}")],
    );
    // What is never reached may use anything.
    body("return 1i32\nb1:\n%1 = add i32 %2, 1i32\n%2 = add i32 %1, 1i32\nreturn %1", &[]);
}

#[test]
fn the_result_of_an_invoke_exists_on_the_normal_way_only() {
    let invoke = "%1 = invoke i32 $callee() to b1 unwind b2\n";
    body(&format!("{invoke}b1:\nreturn %1\nb2:\nresume"), &[]);
    body(
        &format!("{invoke}b1:\nreturn 0i32\nb2:\nreturn %1"),
        &[&format!("function $f, block b2, its end: uses %1, {NOT_DEFINED}")],
    );
    // Into b1 from elsewhere too.
    body(
        "branch %0, b3, b1\nb1:\nreturn %1\nb2:\nresume\nb3:\n%1 = invoke i32 $callee() to b1 unwind b2",
        &[&format!("function $f, block b1, its end: uses %1, {NOT_DEFINED}")],
    );
    body(
        "branch %0, b3, b1\nb1:\n%2 = phi i32 [b0: 0i32, b3: %1]\nreturn %2\nb2:\nresume\nb3:\n%1 = invoke i32 $callee() to b1 unwind b2",
        &[],
    );
    body(
        "branch %0, b3, b2\nb1:\nreturn 0i32\nb2:\n%2 = phi i32 [b0: 0i32, b3: %1]\nreturn %2\nb3:\n%1 = invoke i32 $callee() to b1 unwind b2",
        &["function $f, block b2, instruction 0: uses %1 for b3, where it is not defined on every way"],
    );
}

#[test]
fn phis_have_one_value_for_each_predecessor() {
    let diamond =
        |phi: &str| format!("branch %0, b1, b2\nb1:\njump b3\nb2:\njump b3\nb3:\n{phi}\nreturn 0i32");
    body(&diamond("%1 = phi i32 [b1: 1i32, b2: 2i32]"), &[]);
    let first = "function $f, block b3, instruction 0: ";
    body(
        &diamond("%1 = phi i32 [b1: 1i32]"),
        &[&format!("{first}a phi of 1 values in a block with 2 predecessors")],
    );
    body(&diamond("%1 = phi i32 [b1: 1i32, b1: 1i32]"), &[&format!("{first}the phi has two values for b1")]);
    body(
        &diamond("%1 = phi i32 [b1: 1i32, b9: 1i32]"),
        &[&format!("{first}the phi has a value for b9, which does not go here")],
    );
    body(&diamond("%1 = phi i32 [b1: 1i32, b2: %0]"), &[&format!("{first}its value is i1, expected i32")]);
    body(
        &diamond("%1 = phi i32 [b1: 1i32, b2: %1]"),
        &[&format!("{first}uses %1 for b2, where it is not defined on every way")],
    );
    body(
        &diamond("%1 = add i32 1i32, 1i32\n%2 = phi i32 [b1: 1i32, b2: 2i32]"),
        &[
            "function $f, block b3, instruction 1: a phi after other instructions; phis stand at the head of their block",
        ],
    );
    // Both ways of a branch to one block are one predecessor.
    body("branch %0, b1, b1\nb1:\n%1 = phi i32 [b0: 1i32]\nreturn %1", &[]);
    body("jump b1\nb1:\n%1 = phi i32 [b0: 1i32, b1: %1]\nbranch %0, b1, b2\nb2:\nreturn %1", &[]);
}

#[test]
fn the_entry_has_no_predecessors_and_exists() {
    body("jump b0", &["function $f, block b0: it is the entry, but b0 goes to it"]);
    lines("function $f() {\n}", "function $f: it has no blocks");
}

#[test]
fn all_values_are_defined() {
    lines("function $f() {\nundefined %0 i32\nb0:\nreturn\n}", "function $f: nothing defines %0");
    let mut program = read("program \"p\"\nfunction $f() {\nb0:\nreturn\n}");
    program.functions[0].parameters.push(ir::Parameter { value: ValueId(3) });
    assert_eq!(errors(&program), ["function $f: defines %3, but the function has 0 values"]);
    program.functions[0].values = vec![ValueInfo { ty: ir::Type::Ptr, name: None, pointee: None }; 4];
    assert_eq!(errors(&program).len(), 3);
}

#[test]
fn shapes() {
    lines("shape #0 = int 3 signed", "shape #0: an integer of 3 bytes; there are 1, 2, 4, 8 and 16");
    lines("shape #0 = float 3", "shape #0: a float of 3 bytes; there are 2, 4, 8, 10 and 16");
    lines("shape #0 = array 2 #0", "shape #0: its part #0 is not a shape before it");
    lines(
        "shape #0 = record \"r\" 4 {0: #1 \"f\"}\nshape #1 = int 4 signed",
        "shape #0: its part #1 is not a shape before it",
    );
    lines("shape #0 = pointer #1", "shape #0: there is no shape #1");
    assert!(verify(&read("program \"p\"\nshape #0 = pointer #0")).is_ok());
    let deep: String = (1..1000).map(|n| format!("shape #{n} = array 2 #{}\n", n - 1)).collect();
    let expected = "arrays and records are nested more than 200 deep";
    let found = errors(&read(&format!("program \"p\"\nshape #0 = mutex\n{deep}")));
    assert_eq!(found[0], format!("shape #201: {expected}"));
}

#[test]
fn globals() {
    lines("global @x #3 = zero", "global @x: there is no shape #3");
    let int = "shape #0 = int 4 signed\nshape #1 = array 4 #0\n";
    lines(
        &format!("{int}global @x #0 = zero !0:1:1"),
        "global @x: the position names file 0, but there are 0",
    );
    lines(
        &format!("{int}global @x #0 = bytes \"0000000000\""),
        "global @x: 5 bytes of initial content, but its shape has 4",
    );
    lines(
        &format!("{int}global @x #1 = bytes \"0000000000000000\" [1: @x]"),
        "global @x: the address at offset 1 is not inside its 8 bytes",
    );
    lines(
        &format!("{int}global @x #1 = mutex 0"),
        "global @x: holds a mutex, but its shape is neither that nor an array of it",
    );
    lines(
        "shape #0 = barrier\nglobal @b #0 = barrier 0",
        "global @b: a barrier for 0 threads; there must be at least 1",
    );
    lines("shape #0 = cond\nglobal @c #0 = cond 1", "global @c: a cond has no count, but it is given 1");
    let mut program = read(&format!("program \"p\"\n{int}global @x #1 = bytes \"0000000000000000\" [0: @x]"));
    assert_eq!(errors(&program), [""; 0]);
    if let Initial::Bytes { relocations, .. } = &mut program.globals[0].initial {
        relocations[0].target = RelocationTarget::Global(GlobalId(5));
    }
    assert_eq!(errors(&program), ["global @x: there is no global number 5"]);
    if let Initial::Bytes { relocations, .. } = &mut program.globals[0].initial {
        relocations[0].target = RelocationTarget::Function(FunctionId(5));
    }
    assert_eq!(errors(&program), ["global @x: there is no function number 5"]);
}

const FUNCTIONS: &str = "shape #0 = int 4 signed
    global @x #0 = zero
    function $t() -> (i32, i64) {
    b0:
      return 1i32, 2i64
    }
    function $parameter(%0 i32) {
    b0:
      return
    }
    function $condition(%0 i32) -> (i1) {
    b0:
      %1 = call i1 $inner(%0)
      return %1
    }
    function $inner(%0 i32) -> (i1) {
    b0:
      %1 = load i32 @x
      %2 = cmp eq i1 %0, %1
      return %2
    }\n";

#[test]
fn threads() {
    let threads = |text: &str, expected: &str| lines(&format!("{FUNCTIONS}{text}"), expected);
    threads(
        "thread a = $parameter",
        "thread a: runs $parameter, which has 1 parameters; nothing gives them values",
    );
    threads("thread a = $t\nthread a = $t", "thread a: another thread has this name");
    threads(
        "thread a = $t main\nthread b = $t main",
        "thread b: is a main thread, and so is a; there can be one",
    );
    let mut program = read(&format!("program \"p\"\n{FUNCTIONS}thread a = $t"));
    program.threads[0].function = FunctionId(9);
    assert_eq!(errors(&program), ["thread a: there is no function number 9"]);
}

#[test]
fn final_conditions() {
    let condition = |text: &str| errors(&read(&format!("program \"p\"\n{FUNCTIONS}thread a = $t\n{text}")));
    assert_eq!(condition("final exists $condition(0:0) \"c\""), [""; 0]);
    for (text, expected) in [
        ("$condition()", "observes 0 locals, but $condition has 1 parameters"),
        ("$condition(0:0, 0:0)", "observes 2 locals, but $condition has 1 parameters"),
        ("$condition(1:0)", "observes thread number 1, but there are 1"),
        ("$condition(0:2)", "observes result 2 of thread a, but it has 2"),
        ("$condition(0:1)", "observes result 1 of thread a, i64, as %0, i32"),
        ("$parameter(0:0)", "$parameter gives (), expected (i1)"),
        ("$t()", "$t gives (i32, i64), expected (i1)"),
    ] {
        assert_eq!(
            condition(&format!("final exists {text} \"c\"")),
            [format!("final condition: {expected}")]
        );
    }
    let mut program = read(&format!("program \"p\"\n{FUNCTIONS}final exists $condition() \"c\""));
    program.final_condition.as_mut().unwrap().function = FunctionId(9);
    assert_eq!(errors(&program), ["final condition: there is no function number 9"]);
}

#[test]
fn a_final_condition_has_no_effects() {
    for (effect, words) in [
        ("store 1i32, @x", "writes memory"),
        ("%3 = rmw add i32 @x, 1i32 seq_cst", "writes memory"),
        ("memset @x, 0i8, 4i64", "writes memory"),
        ("%3 = heap_alloc ptr #0, 1i64", "allocates memory or gives it back"),
        ("mutex_lock @x", "synchronises"),
        ("fence seq_cst", "synchronises"),
        ("%3 = fork i64 $t()", "synchronises"),
        ("assert true", "asserts or assumes"),
        ("call external \"puts\"()", "calls code that is not part of the program"),
        ("call indirect @x()", "calls through an address"),
        ("opaque memory \"asm\"()", "may change memory in an unknown way"),
    ] {
        let functions = FUNCTIONS.replace("return %2", &format!("{effect}\nreturn %2"));
        lines(
            &format!("{functions}thread a = $t\nfinal exists $condition(0:0) \"c\""),
            &format!("final condition: evaluates $inner, which {words}"),
        );
    }
}

#[test]
fn the_list_of_errors_ends_somewhere() {
    let mut program = read("program \"p\"\nglobal @x #0 = zero");
    program.globals = vec![program.globals[0].clone(); 1000];
    program.globals.iter_mut().for_each(|global| global.shape = ShapeId(7));
    assert_eq!(errors(&program).len(), 200);
}
