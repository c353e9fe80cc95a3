//! How a module makes itself known to the runtime when the program starts.

use super::emit::Emitter;
use crate::llvm::{Definition, Module, Preserves, Value};
use crate::module::Translated;
use abi::page::function::REGISTER;
use ir::FunctionId;

/// Adds the tables of addresses and the constructor that hands them to the runtime.
pub fn register(
    module: &Module,
    translated: &Translated,
    emitter: &Emitter,
    (id, sites): (u64, u32),
    is_taken: impl Fn(FunctionId) -> bool,
) {
    let builder = &emitter.builder;
    let table = |name: &str, entries: Vec<Value>| {
        let count = builder.number(entries.len() as u64);
        (count, module.variable(name, module.addresses(builder, &entries), true))
    };
    let globals = translated.globals.iter().map(|global| match global {
        Some(global) if is_nameable(*global) && !global.is_thread_local() && !global.is_constant() => *global,
        _ => builder.null(),
    });
    let functions = translated.origins.iter().enumerate().map(|(f, origin)| {
        let taken = is_taken(FunctionId::new(f)) && is_nameable(origin.function);
        if taken { origin.function } else { builder.null() }
    });
    let (global_count, globals) = table("threadbare.globals", globals.collect());
    let (function_count, functions) = table("threadbare.functions", functions.collect());
    let registration = module.record(&[
        builder.short(abi::VERSION),
        builder.short(sites),
        builder.number(id),
        global_count,
        globals,
        function_count,
        functions,
    ]);
    let registration = module.variable("threadbare.registration", registration, true);
    let register = module.declare(REGISTER, builder.int(64), &[builder.pointer()], Preserves::Few);
    let constructor = module.function("threadbare.register");
    builder.go_into(constructor);
    let base = builder.call(register, &[registration]);
    builder.store(base, emitter.base, 8);
    builder.return_nothing();
    module.constructor(constructor);
}

/// Whether a table may name it: the linker refuses a name that goes together with a group of which it has another copy.
fn is_nameable(value: Value) -> bool {
    match value.definition() {
        Definition::Here(abi::Linkage::Local) => !value.is_in_comdat(),
        Definition::Here(_) => true,
        Definition::Elsewhere => false,
    }
}
