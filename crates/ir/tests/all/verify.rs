//! Each check of the verifier, with a small program that breaks exactly it.

use ir::{FunctionId, GlobalId, Operand, Program, parse, verify};

/// The errors of a program, as they are shown.
fn errors(program: &Program) -> Vec<String> {
    match verify(program) {
        Ok(()) => vec![],
        Err(errors) => errors.iter().map(ToString::to_string).collect(),
    }
}

fn read(text: &str) -> Program {
    parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A program with one function `$f` whose lines are these; it has values %0 (i32), %1 (ptr), %2 (i64), %3
/// (i1) and %4 (opaque8) as parameters.
fn program(body: &str) -> Program {
    read(&format!(
        "program \"p\"
         file !0 = \"p.tb\"
         shape #0 = int 4 signed
         global @x #0 = zero
         function $callee(%0 i32, %1 ptr) -> (i32) {{
         b0:
           return %0
         }}
         function $f(%0 i32, %1 ptr, %2 i64, %3 i1, %4 opaque8) -> (i32) {{
         b0:
           {body}
         }}"
    ))
}

/// The body breaks one thing, at its first line.
#[track_caller]
fn breaks(body: &str, message: &str) {
    let errors = errors(&program(body));
    assert_eq!(errors, [format!("function $f, block b0, instruction 0: {message}")], "{body}");
}

/// The block's end breaks one thing.
#[track_caller]
fn end_breaks(body: &str, message: &str) {
    assert_eq!(errors(&program(body)), [format!("function $f, block b0, its end: {message}")], "{body}");
}

/// One instruction, followed by a return.
#[track_caller]
fn instruction_breaks(instruction: &str, message: &str) {
    breaks(&format!("{instruction}\nreturn %0"), message);
}

#[test]
fn operand_types() {
    for (instruction, message) in [
        ("%5 = add i32 %0, %2", "operands of different types, i32 and i64"),
        ("%5 = add ptr %1, %1", "its operand is ptr, expected an integer"),
        ("%5 = add i64 %0, %0", "defines %5 as i64, expected i32"),
        ("%5 = cmp eq i1 %0, %2", "operands of different types, i32 and i64"),
        ("%5 = cmp eq i1 %4, %4", "compares opaque8, expected integers or addresses"),
        ("%5 = cmp eq i32 %0, %0", "defines %5 as i32, expected i1"),
        ("%5 = select i32 %0, %0, %0", "its condition is i32, expected i1"),
        ("%5 = select i32 %3, %0, %2", "operands of different types, i32 and i64"),
        ("%5 = select i64 %3, %0, %0", "defines %5 as i64, expected i32"),
        ("%5 = address ptr %2", "its base is i64, expected ptr"),
        ("%5 = address ptr %1 + %4 * 8", "its index is opaque8, expected an integer"),
        ("%5 = address ptr %1 + 1i128 * 8", "the index is i128, wider than an address"),
        ("%5 = address i64 %1", "defines %5 as i64, expected ptr"),
        ("%5 = load i32 %0", "its pointer is i32, expected ptr"),
        ("%5 = load i32 @x release", "the order of a load cannot be Release"),
        ("store %0, %2", "its pointer is i64, expected ptr"),
        ("store %0, @x acquire", "the order of a store cannot be Acquire"),
        ("%5 = rmw add i32 %0, %0 seq_cst", "its pointer is i32, expected ptr"),
        ("%5 = rmw add ptr @x, %1 seq_cst", "its operand is ptr, expected an integer"),
        ("%5 = rmw add i64 @x, %0 seq_cst", "defines %5 as i64, expected i32"),
        ("%5, %6 = cmpxchg (i32, i1) %0, %0, %0 seq_cst seq_cst", "its pointer is i32, expected ptr"),
        ("%5, %6 = cmpxchg (i32, i1) @x, %0, %2 seq_cst seq_cst", "operands of different types, i32 and i64"),
        (
            "%5, %6 = cmpxchg (opaque8, i1) @x, %4, %4 seq_cst seq_cst",
            "compares opaque8, expected an integer or an address",
        ),
        ("%5, %6 = cmpxchg (i32, i32) @x, %0, %0 seq_cst seq_cst", "defines %6 as i32, expected i1"),
        (
            "%5, %6 = cmpxchg (i32, i1) @x, %0, %0 seq_cst release",
            "the order of a failing compare-and-exchange cannot be Release",
        ),
        ("%5 = stack_alloc ptr #0, %1", "its count is ptr, expected an integer"),
        ("%5 = heap_alloc i64 #0, %0", "defines %5 as i64, expected ptr"),
        ("%5 = heap_alloc ptr #1, %0", "there is no shape #1"),
        ("free %2", "its pointer is i64, expected ptr"),
        ("memcpy %2, %1, %0", "its target is i64, expected ptr"),
        ("memmove %1, %2, %0", "its source is i64, expected ptr"),
        ("memcpy %1, %1, %1", "its number of bytes is ptr, expected an integer"),
        ("memset %2, 0i8, %0", "its target is i64, expected ptr"),
        ("memset %1, %0, %0", "its byte is i32, expected i8"),
        ("memset %1, 0i8, %1", "its number of bytes is ptr, expected an integer"),
        ("assert %0", "its condition is i32, expected i1"),
    ] {
        instruction_breaks(instruction, message);
    }
}

#[test]
fn casts() {
    let wider = "a narrower integer to a wider one";
    for (instruction, message) in [
        ("%5 = trunc i64 %0", "casts i32 to i64, expected a wider integer to a narrower one"),
        ("%5 = trunc i32 %0", "casts i32 to i32, expected a wider integer to a narrower one"),
        ("%5 = zext i8 %0", &format!("casts i32 to i8, expected {wider}")),
        ("%5 = sext ptr %0", &format!("casts i32 to ptr, expected {wider}")),
        ("%5 = ptrtoint i64 %2", "casts i64 to i64, expected an address to an integer"),
        ("%5 = inttoptr ptr %1", "casts ptr to ptr, expected an integer to an address"),
        (
            "%5 = reinterpret i32 %4",
            "casts opaque8 to i32, expected one type to another of the same size, one of them opaque",
        ),
        (
            "%5 = reinterpret ptr %2",
            "casts i64 to ptr, expected one type to another of the same size, one of them opaque",
        ),
    ] {
        instruction_breaks(instruction, message);
    }
}

#[test]
fn calls_and_threads() {
    for (instruction, message) in [
        ("%5 = call i32 $callee(%0)", "1 arguments for $callee, which has 2 parameters"),
        ("%5 = call i32 $callee(%0, %0)", "its argument 1 is i32, expected ptr"),
        ("%5 = call i64 $callee(%0, %1)", "defines %5 as i64, expected i32"),
        ("call $callee(%0, %1)", "defines 0 values, but $callee has 1 results"),
        ("%5, %6 = call (i32, i32) $callee(%0, %1)", "defines 2 values, expected 1"),
        ("%5 = call i32 indirect %0()", "its callee is i32, expected ptr"),
        ("%5, %6 = call (i32, i32) external \"e\"()", "defines 2 values, expected at most 1"),
        ("%5, %6 = opaque (i32, i32) \"o\"()", "defines 2 values, expected at most 1"),
        ("%5 = fork i64 $callee(%0)", "1 arguments for $callee, which has 2 parameters"),
        ("%5 = fork i32 $callee(%0, %1)", "defines %5 as i32, expected i64"),
    ] {
        instruction_breaks(instruction, message);
    }
    assert_eq!(errors(&program("%5 = fork i64 $callee(%0, %1)\nreturn %0")), [""; 0], "a result is dropped");
}

#[test]
fn synchronisation() {
    for (instruction, message) in [
        ("mutex_lock", "0 operands, expected 1"),
        ("mutex_lock @x, @x", "2 operands, expected 1"),
        ("wait @x, @x, @x", "3 operands, expected 1 or 2"),
        ("transaction_begin @x", "1 operands, expected 0"),
        ("signal %0", "its object is i32, expected ptr"),
        ("join %1", "its thread is ptr, expected i64"),
        ("mutex_trylock @x", "defines 0 values, expected 1"),
        ("%5 = try_acquire i64 @x", "defines %5 as i64, expected i32"),
        ("%5 = mutex_lock i32 @x", "defines 1 values, expected 0"),
    ] {
        instruction_breaks(instruction, message);
    }
}

#[test]
fn results_are_as_many_as_the_operation_gives() {
    for (instruction, message) in [
        ("add i32 %0, %0", "defines 0 values, expected 1"),
        ("load @x", "defines 0 values, expected 1"),
        ("%5 = cmpxchg i32 @x, %0, %0 seq_cst seq_cst", "defines 1 values, expected 2"),
        ("%5 = store i32 %0, @x", "defines 1 values, expected 0"),
        ("%5 = fence i32 seq_cst", "defines 1 values, expected 0"),
        ("%5 = assume i1 %3", "defines 1 values, expected 0"),
    ] {
        // Without a result there is no type in front of the operands.
        instruction_breaks(&instruction.replace("add i32 %0", "add %0"), message);
    }
}

#[test]
fn constants_values_and_positions_exist_and_fit() {
    instruction_breaks("%5 = add i8 0x100i8, 1i8", "the constant 0x100 does not fit into i8");
    instruction_breaks("free %9", "uses %9, which does not exist");
    instruction_breaks("free @x  !1:2:3", "the position names file 1, but there are 1");
    end_breaks("return %0  !1:2:3", "the position names file 1, but there are 1");
    let operands = [
        (Operand::Global(GlobalId(4)), "there is no global number 4"),
        (Operand::Function(FunctionId(4)), "there is no function number 4"),
    ];
    for (pointer, message) in operands {
        let mut program = program("free %1\nreturn %0");
        program.functions[1].blocks[0].instructions[0].op = ir::Op::Free { pointer };
        assert_eq!(errors(&program), [format!("function $f, block b0, instruction 0: {message}")]);
    }
    let mut callee = program("%5 = call i32 $callee(%0, %1)\nreturn %0");
    callee.functions[1].blocks[0].instructions[0].op =
        ir::Op::Call { callee: ir::Callee::Function(FunctionId(7)), arguments: vec![] };
    assert_eq!(errors(&callee), ["function $f, block b0, instruction 0: there is no function number 7"]);
}

#[test]
fn each_value_is_defined_once() {
    breaks("%0 = add i32 1i32, 1i32\nreturn %0", "defines %0 again");
    let twice = program("%5 = add i32 %0, %0\n%5 = add i32 %0, %0\nreturn %5");
    assert_eq!(errors(&twice), ["function $f, block b0, instruction 1: defines %5 again"]);
}

#[test]
fn terminators() {
    end_breaks("branch %0, b1, b1\nb1:\nreturn %0", "its condition is i32, expected i1");
    end_breaks("switch %1 [0: b1] b1\nb1:\nreturn %0", "switches on ptr, expected an integer");
    end_breaks("switch %0 [4294967296: b1] b1\nb1:\nreturn %0", "the case 4294967296 does not fit into i32");
    end_breaks("switch %0 [7: b1, 7: b1] b1\nb1:\nreturn %0", "the case 7 stands there twice");
    end_breaks("indirect_jump %0 [b1]\nb1:\nreturn %0", "its address is i32, expected ptr");
    end_breaks("return", "returns 0 values, but the function has 1 results");
    end_breaks("return %2", "its result 0 is i64, expected i32");
    end_breaks("jump b7", "there is no block b7");
    end_breaks(
        "%5 = invoke i64 $callee(%0, %1) to b1 unwind b1\nb1:\nreturn %0",
        "defines %5 as i64, expected i32",
    );
}
