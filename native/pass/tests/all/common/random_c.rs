//! Random C functions on integers, without undefined behaviour (built with `-fwrapv`, divisors and shifts are kept in
//! range, everything is initialised), without calls of anything outside, and ending soon.

use std::fmt::Write;

const TYPES: [&str; 8] = ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64"];

const PRELUDE: &str = "
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32; typedef unsigned long u64;
typedef signed char i8; typedef short i16; typedef int i32; typedef long i64;
struct inner { u16 p; i32 q[3]; };
struct record { u8 a; i16 b; struct inner in; u64 c; unsigned f : 5; int g : 11; u64 h : 37; };
union both { u64 whole; u16 parts[4]; i32 half[2]; };
static struct record rec = {1, -2, {3, {4, -5, 6}}, 7, 8, -9, 10};
static u32 table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
static u8 bytes[16] = \"fifteen letters\";
static u32 shared; static u64 shared_wide; static i16 shared_small;
";

/// A generator with a state of 64 bits (xorshift).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len() as u64) as usize]
    }
}

/// A module with `functions` functions; `run_all` puts what they return into `r0`, `r1`, ….
pub fn module(random: &mut Random, functions: usize) -> String {
    let mut text = PRELUDE.to_owned();
    for number in 0..functions {
        let mut function = Function { random, number, loops: 0, text: String::new() };
        function.define();
        text.push_str(&function.text);
    }
    for number in 0..functions {
        let _ = writeln!(text, "u64 r{number};");
    }
    text.push_str("void run_all(void) {\n");
    for number in 0..functions {
        let (a, b) = (random.below(u64::MAX), random.below(300));
        let _ = writeln!(text, "  r{number} = f{number}({a}UL, (i32)-{b}, {});", b % 7);
    }
    text.push_str("}\n");
    text
}

struct Function<'r> {
    random: &'r mut Random,
    number: usize,
    loops: u32,
    text: String,
}

impl Function<'_> {
    fn define(&mut self) {
        let _ = writeln!(self.text, "static u64 f{}(u64 a, i32 b, u8 c) {{", self.number);
        for (local, at) in ["x", "y", "z", "w"].into_iter().zip(0..) {
            let (ty, value) = (self.random.pick(&TYPES), self.expression(1));
            let _ = writeln!(self.text, "  {ty} {local} = ({ty})({value}); i32 v{at} = {at};");
        }
        self.text.push_str("  u32 list[8] = {1, 2, 3, 4, 5, 6, 7, 8}; struct record local = rec;\n");
        self.text.push_str("  union both both = {a}; i32 *way = &v1;\n");
        let statements = 4 + self.random.below(8);
        for _ in 0..statements {
            self.statement(2);
        }
        let sum =
            "(u64)x + (u64)y * 3 + (u64)z * 5 + (u64)w * 7 + list[c & 7] + local.c + local.h + (u64)local.g";
        let _ = writeln!(
            self.text,
            "  return {sum} + both.whole + (u64)(v0 + v1 + v2 + v3) + shared + *way;\n}}"
        );
    }

    fn statement(&mut self, depth: u32) {
        let value = self.expression(3);
        let choice = self.random.below(if depth == 0 { 9 } else { 14 });
        match choice {
            0..4 => {
                let to = self.random.pick(&["x", "y", "z", "w", "v0", "v2", "a", "b", "c"]);
                let op = self.random.pick(&["=", "+=", "-=", "*=", "^=", "|=", "&="]);
                let _ = writeln!(self.text, "  {to} {op} {value};");
            }
            4 => {
                let index = self.expression(2);
                let _ = writeln!(self.text, "  list[({index}) & 7] += (u32)({value});");
            }
            5 => {
                let places =
                    ["local.a", "local.b", "local.in.q[c % 3]", "local.c", "local.f", "local.g", "local.h"];
                let place = self.random.pick(&places);
                let _ = writeln!(self.text, "  {place} = {value};");
            }
            6 => {
                let places = ["table[a & 7]", "bytes[b & 15]", "rec.in.q[1]", "rec.g", "both.parts[c & 3]"];
                let place = self.random.pick(&places);
                let _ = writeln!(self.text, "  {place} = {value};");
            }
            7 => {
                let way = self.random.pick(&["&v0", "&v1", "&v2", "(c & 1 ? &v3 : &both.half[1])"]);
                let _ = writeln!(self.text, "  way = {way}; *way += (i32)({value});");
            }
            8 => self.atomic(&value),
            9 => {
                let _ = writeln!(self.text, "  if ({value}) {{");
                self.statement(depth - 1);
                self.text.push_str("  } else {\n");
                self.statement(depth - 1);
                self.text.push_str("  }\n");
            }
            10 | 11 => {
                self.loops += 1;
                let (name, count) = (format!("n{}", self.loops), 1 + self.random.below(6));
                let _ = writeln!(self.text, "  for (int {name} = 0; {name} < {count}; {name}++) {{");
                self.statement(depth - 1);
                let _ = writeln!(self.text, "  x += {name}; if (({value}) == {name}) continue;");
                self.statement(depth - 1);
                let _ = writeln!(self.text, "  if (y > {name} * 1000) break; }}");
            }
            12 => {
                let _ =
                    writeln!(self.text, "  switch (({value}) & 7) {{ case 0: x++; break; case 1: case 5:");
                self.statement(depth - 1);
                self.text.push_str("  case 3: y -= 3; break; default:\n");
                self.statement(depth - 1);
                self.text.push_str("  }\n");
            }
            _ => {
                let copies = [
                    "local = rec;",
                    "rec = local;",
                    "__builtin_memcpy(list, table, 16);",
                    "__builtin_memmove(list + 1, list, 12);",
                    "__builtin_memset(list, c, 8);",
                    "{ struct inner t = local.in; rec.in = t; }",
                ];
                let copy = self.random.pick(&copies);
                let _ = writeln!(self.text, "  {copy}");
            }
        }
    }

    fn atomic(&mut self, value: &str) {
        let (order, to) = (
            self.random.pick(&["RELAXED", "ACQUIRE", "RELEASE", "ACQ_REL", "SEQ_CST"]),
            self.random.below(3),
        );
        let place = ["shared", "shared_wide", "shared_small"][to as usize];
        let op = self.random.pick(&["add", "sub", "and", "or", "xor", "nand", "max", "min"]);
        let _ = match self.random.below(3) {
            0 => writeln!(self.text, "  z += __atomic_fetch_{op}(&{place}, {value}, __ATOMIC_{order});"),
            1 => writeln!(self.text, "  w ^= __atomic_exchange_n(&{place}, {value}, __ATOMIC_{order});"),
            _ => writeln!(
                self.text,
                "  {{ u32 e = shared + (c & 1); y += __atomic_compare_exchange_n(&shared, &e, {value}, 0, \
                 __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE); x += e; }}"
            ),
        };
    }

    fn expression(&mut self, depth: u32) -> String {
        if depth == 0 {
            let names =
                ["a", "b", "c", "a", "table[3]", "bytes[5]", "rec.a", "rec.g", "rec.h", "shared_small"];
            return match self.random.below(3) {
                0 => format!("({}){}", self.random.pick(&TYPES), self.random.below(1 << 33)),
                1 => format!("{}", self.random.below(200)),
                _ => self.random.pick(&names).to_owned(),
            };
        }
        let (a, b) = (self.expression(depth - 1), self.expression(depth - 1));
        let ty = self.random.pick(&TYPES);
        match self.random.below(18) {
            0..4 => format!("(({a}) {} ({b}))", self.random.pick(&["+", "-", "*", "&", "|", "^"])),
            4 => format!("(({a}) {} (({b}) & 0x7f | 1))", self.random.pick(&["/", "%"])),
            5 => format!("(({ty})({a}) {} (({b}) & 7))", self.random.pick(&["<<", ">>"])),
            6 => format!("(({a}) {} ({b}))", self.random.pick(&["<", "<=", ">", ">=", "==", "!="])),
            7 => format!("(({a}) {} ({b}))", self.random.pick(&["&&", "||"])),
            8 => format!("(({a}) ? ({ty})({b}) : ({ty})3)"),
            9 | 10 => format!("(({ty})({a}))"),
            11 => format!("({}({a}))", self.random.pick(&["~", "-", "!"])),
            12 => {
                let call = self.random.pick(&[
                    "__builtin_popcountl",
                    "__builtin_bswap32",
                    "__builtin_bswap64",
                    "__builtin_bswap16",
                    "__builtin_bitreverse32",
                    "__builtin_bitreverse8",
                    "__builtin_abs",
                    "__builtin_labs",
                ]);
                format!("{call}({a})")
            }
            13 => format!("{}(({a}) | 1)", self.random.pick(&["__builtin_clzl", "__builtin_ctz"])),
            14 => {
                let call = self.random.pick(&["rotateleft32", "rotateright64", "rotateleft8"]);
                format!("__builtin_{call}({a}, {b})")
            }
            15 => {
                let op = self.random.pick(&["add", "sub", "mul"]);
                let small = self.random.pick(&["u32", "i32", "i16", "u8"]);
                format!(
                    "({{ {small} o; int t = __builtin_{op}_overflow(({small})({a}), ({small})({b}), &o); \
                     o + t; }})"
                )
            }
            16 => {
                let call = self.random.pick(&["add_sat", "sub_sat", "max", "min"]);
                format!("__builtin_elementwise_{call}(({ty})({a}), ({ty})({b}))")
            }
            // Every third function calls nobody, and only those are called: the number of calls stays small.
            _ if !self.number.is_multiple_of(3) && depth > 1 => {
                let leaves = self.number as u64 / 3 + 1;
                let (f, g) = (3 * self.random.below(leaves), 3 * self.random.below(leaves));
                match self.random.below(4) {
                    0 => format!("(({a}) & 1 ? f{f} : f{g})({b}, 1, 2)"),
                    _ => format!("f{f}({a}, (i32)({b}), 5)"),
                }
            }
            _ => format!("({a})"),
        }
    }
}
