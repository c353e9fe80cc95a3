//! Integers wider than the machine's: functions on 128 bits and on odd widths give the same by the IR's own arithmetic
//! (`ir::eval`) as natively.

use crate::common;

use crate::common::random_c::Random;
use ir::{BlockId, CastKind, Function, Op, Operand, Terminator, eval};
use std::collections::HashMap;
use std::fmt::Write;
use std::process::Command;

const FUNCTIONS: usize = 60;
const TYPES: [&str; 8] = ["u128", "i128", "u64", "i64", "u32", "_BitInt(37)", "unsigned _BitInt(100)", "i16"];

/// A random expression without undefined behaviour.
fn expression(random: &mut Random, depth: u32) -> String {
    if depth == 0 {
        return match random.below(5) {
            0 => format!("((u128){}UL << {})", random.below(u64::MAX), random.below(64)),
            1 => format!("(i128)-{}", random.below(1000)),
            n => ["a", "b", "c"][n as usize - 2].to_owned(),
        };
    }
    let (a, b) = (expression(random, depth - 1), expression(random, depth - 1));
    let ty = TYPES[random.below(TYPES.len() as u64) as usize];
    let op = |random: &mut Random, ops: &[&'static str]| ops[random.below(ops.len() as u64) as usize];
    match random.below(12) {
        0..3 => format!("(({a}) {} ({b}))", op(random, &["+", "-", "*", "&", "|", "^"])),
        3 => format!("((u128)({a}) {} ((u128)({b}) | 1))", op(random, &["/", "%"])),
        4 => format!("((i128)({a}) {} ((({b}) & 0xffff) | 1))", op(random, &["/", "%"])),
        5 => format!("(({ty})({a}) {} (int)(({b}) & 15))", op(random, &["<<", ">>"])),
        6 => format!("({}({a}) >> (int)(({b}) & 127))", op(random, &["(u128)", "(i128)"])),
        7 => format!(
            "(({a}) {} ({b}) ? ({ty})({a}) : ({ty})7)",
            op(random, &["<", "<=", ">", ">=", "==", "!="])
        ),
        8..10 => format!("(({ty})({a}))"),
        10 => {
            let (op, ty) = (op(random, &["add", "sub", "mul"]), op(random, &["u64", "i64", "u32", "i16"]));
            format!("({{ {ty} o; int t = __builtin_{op}_overflow(({ty})({a}), ({ty})({b}), &o); o + t; }})")
        }
        _ => {
            let call = op(
                random,
                &["__builtin_popcountg((u128)", "__builtin_clzg(1 | (u128)", "__builtin_ctzg(1 | (u128)"],
            );
            format!("{call}({a}))")
        }
    }
}

fn module(random: &mut Random) -> String {
    let mut text = "typedef unsigned __int128 u128; typedef __int128 i128; typedef unsigned long u64;\n\
                    typedef long i64; typedef unsigned int u32; typedef short i16;\n"
        .to_owned();
    for number in 0..FUNCTIONS {
        let (x, y) = (expression(random, 4), expression(random, 4));
        let ty = TYPES[random.below(TYPES.len() as u64) as usize];
        let _ = writeln!(text, "u128 f{number}(u128 a, i128 b, u64 c) {{");
        let _ = writeln!(text, "  {ty} x = ({ty})({x});");
        let _ = writeln!(
            text,
            "  for (int n = 0; n < 5; n++) {{ if ((c >> n) & 1) x += ({ty})({y}); else a ^= x; b++; }}"
        );
        let _ = writeln!(text, "  return (u128)x + a + (u128)b;\n}}");
    }
    text
}

/// Runs a function that has no memory and calls nobody.
fn evaluate(function: &Function, arguments: &[u128]) -> u128 {
    let mut values: HashMap<u32, u128> = HashMap::new();
    for (parameter, &argument) in function.parameters.iter().zip(arguments) {
        values.insert(parameter.value.0, argument);
    }
    let get = |values: &HashMap<u32, u128>, operand: &Operand| match operand {
        Operand::Value(value) => values[&value.0],
        Operand::Const { bits, .. } => *bits,
        other => panic!("{}: {other:?} is not a number", function.name),
    };
    let width = |operand: &Operand| match operand {
        Operand::Value(value) => function.value(*value).ty.width().expect("a number"),
        Operand::Const { width, .. } => *width,
        other => panic!("{}: {other:?} is not a number", function.name),
    };
    let (mut from, mut at) = (BlockId(0), BlockId(0));
    loop {
        let block = function.block(at);
        let mut phis = vec![];
        for instruction in &block.instructions {
            let result = instruction.results.first().expect("a result");
            let value = match &instruction.op {
                Op::Phi { incoming } => {
                    let (_, operand) = incoming.iter().find(|(block, _)| *block == from).expect("a value");
                    phis.push((result.0, get(&values, operand)));
                    continue;
                }
                Op::Binary { op, lhs, rhs } => {
                    values.extend(phis.drain(..));
                    eval::binary(*op, width(lhs), get(&values, lhs), get(&values, rhs)).expect("no zero")
                }
                op => {
                    values.extend(phis.drain(..));
                    match op {
                        Op::Compare { predicate, lhs, rhs } => {
                            let (l, r) = (get(&values, lhs), get(&values, rhs));
                            eval::compare(*predicate, width(lhs), l, r).into()
                        }
                        Op::Cast { kind, value } if *kind != CastKind::Reinterpret => {
                            let to = function.value(*result).ty.width().expect("a number");
                            eval::cast(*kind, width(value), to, get(&values, value)).expect("a number")
                        }
                        Op::Select { condition, then, otherwise } => {
                            let taken = if get(&values, condition) == 1 { then } else { otherwise };
                            get(&values, taken)
                        }
                        other => panic!("{}: {other:?} is not arithmetic", function.name),
                    }
                }
            };
            values.insert(result.0, value);
        }
        values.extend(phis);
        from = at;
        at = match &block.terminator {
            Terminator::Jump(to) => *to,
            Terminator::Branch { condition, then, otherwise } => {
                if get(&values, condition) == 1 {
                    *then
                } else {
                    *otherwise
                }
            }
            Terminator::Return(results) => return get(&values, &results[0]),
            other => panic!("{}: {other:?}", function.name),
        };
    }
}

#[test]
fn wide_functions_mean_the_same() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut random = Random(0x5eed_5eed_5eed_5eed);
    for _ in 0..4 {
        let text = module(&mut random);
        let arguments =
            [[random.below(u64::MAX).into(), random.below(9).into(), 21], [1 << 127, u128::MAX - 5, 10]];
        let mut main = format!("{text}int printf(const char *, ...);\nint main(void) {{ u128 r;\n");
        for number in 0..FUNCTIONS {
            for [a, b, c] in arguments {
                let wide = |n: u128| format!("((u128){}UL << 64 | {}UL)", n >> 64, n as u64);
                let _ = writeln!(main, "r = f{number}({}, {}, {c}UL);", wide(a), wide(b));
                main.push_str("printf(\"%016lx%016lx\\n\", (u64)(r >> 64), (u64)r);\n");
            }
        }
        main.push_str("}\n");
        let (source, with_main) = (directory.path().join("wide.c"), directory.path().join("main.c"));
        std::fs::write(&source, &text).expect("space");
        std::fs::write(&with_main, main).expect("space");
        let binary = directory.path().join("native");
        let mut command = Command::new("clang-22");
        common::run(command.args(["-O1", "-w", "-fwrapv"]).arg(&with_main).arg("-o").arg(&binary));
        let output = String::from_utf8(common::run(&mut Command::new(binary)).stdout).expect("numbers");
        let object = directory.path().join("wide.o");
        let program = common::build(&[source], &["-c", "-fwrapv", "-O1"], &object);
        let mut expected = output.lines().map(|line| u128::from_str_radix(line, 16).expect("a number"));
        for function in &program.functions {
            for arguments in arguments {
                let expected = expected.next().expect("as many results");
                let found = evaluate(function, &arguments);
                assert!(found == expected, "{}: {found:x}, natively {expected:x}\n{text}", function.name);
            }
        }
    }
}
