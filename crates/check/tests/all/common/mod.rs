//! What the tests have in common.
#![allow(dead_code, reason = "each test uses a part of it")]

use machine::{Machine, Options};

pub fn compiled(source: &str) -> ir::Program {
    let options = lang::LowerOptions { name: "test.tb".into(), path: "test.tb".into(), ..Default::default() };
    lang::compile(source, &options).unwrap_or_else(|errors| panic!("{errors:?}\n{source}"))
}

pub fn machine(program: ir::Program, spurious: bool) -> Machine {
    Machine::new(program, Options { spurious, ..Options::default() }).expect("random programs run")
}
