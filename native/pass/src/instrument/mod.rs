//! Instrumentation: code that appends the units of `abi::unit` to the log, put around what the program does.
//!
//! First it is decided what is logged, while the code is still that of the program (`plan`, with `private` and `known`); then
//! the code is added (`emit`), instruction by instruction; at last the module gets a constructor that registers it
//! (`register`). Optimisation comes behind all this, so the same events are logged at all levels.

mod emit;
mod known;
mod plan;
mod private;
mod register;

use crate::function::Origin;
use crate::llvm::{Kind, Module, Opcode, Value, make_exact};
use crate::module::Translated;
use abi::unit::{ENTRY, LANDING, MOST_SITES, STACK};
use emit::{Check, Emitter, Place, Word};
use plan::{End, Event, Plan};

/// So many units may be written behind one check.
const MOST_UNITS: usize = abi::page::SLACK / abi::unit::BYTES / 2;

/// Instruments a module whose record has this name.
pub fn instrument(module: &Module, translated: &Translated, id: u64) {
    let sites = ir::SiteIndex::new(&translated.module.program).len();
    let Some(sites) = u32::try_from(sites).ok().filter(|&sites| sites <= MOST_SITES) else {
        module.warn(&format!("threadbare: this module is not recorded: it has {sites} instructions"));
        return;
    };
    let plans = plan::plans(translated);
    let emitter = Emitter::new(module, sites);
    module.drop_promises();
    module.hide_inlines();
    for (origin, plan) in translated.origins.iter().zip(&plans.functions) {
        Code { emitter: &emitter, plan }.function(origin);
    }
    register::register(module, translated, &emitter, (id, sites), |f| plans.functions[f.index()].named);
}

/// The code of one function.
struct Code<'e> {
    emitter: &'e Emitter,
    plan: &'e Plan,
}

impl Code<'_> {
    fn function(&self, origin: &Origin) {
        make_exact(&self.plan.computed);
        self.entry(origin);
        for &(value, site, ref event) in &self.plan.events {
            self.event(value, site, event);
        }
        for &(value, site, ref end) in &self.plan.ends {
            self.end(value, site, end);
        }
    }

    /// Parameters, and the stack memory that the function has from its start.
    fn entry(&self, origin: &Origin) {
        let function = origin.function;
        // Behind which instruction each piece of stack memory stood, before all of it is put first.
        let stack: Vec<(Value, u32, Option<Value>)> = (self.plan.stack.iter())
            .map(|&(value, site)| {
                let behind = std::iter::successors(value.next(), |next| next.next());
                (value, site, behind.into_iter().find(|next| next.opcode() != Opcode::LLVMAlloca))
            })
            .collect();
        let first = function.stack_first();
        let mut units = vec![];
        if self.plan.entry {
            units
                .extend(function.parameters().map(|p| (self.plan.first, Place::Mark(ENTRY), Word::Value(p))));
            if units.is_empty() {
                units.push((self.plan.first, Place::Mark(ENTRY), Word::Number(0)));
            }
        }
        let at_start = |&&(.., behind): &&(Value, u32, Option<Value>)| behind == Some(first);
        let memory = stack.iter().filter(at_start);
        units.extend(memory.map(|&(value, site, _)| (site, Place::Mark(STACK), Word::Value(value))));
        for some in units.chunks(MOST_UNITS) {
            self.emitter.builder.go_before(first, first);
            let cursor = self.emitter.check(Check::Behind, first);
            self.emitter.units_of(cursor, some);
        }
        for (value, site, behind) in stack.iter().filter(|each| !at_start(each)) {
            if let Some(behind) = behind {
                self.emitter.builder.go_before(*behind, *value);
                self.append(*value, *site, Place::Mark(STACK), Word::Value(*value));
            }
        }
    }

    /// Goes before an instruction and asks for the baton.
    fn before(&self, instruction: Value) -> Value {
        self.emitter.builder.go_before(instruction, instruction);
        self.emitter.check(Check::Before, instruction)
    }

    /// Appends a unit of something already done.
    fn append(&self, for_: Value, site: u32, place: Place, word: Word) {
        let cursor = self.emitter.check(Check::Behind, for_);
        self.emitter.units(cursor, site, &[(place, word)]);
    }

    fn event(&self, value: Value, site: u32, event: &Event) {
        let (emitter, builder) = (self.emitter, &self.emitter.builder);
        match *event {
            Event::Load { pointer, bytes } | Event::Store { pointer, bytes } if bytes <= 8 => {
                let cursor = self.before(value);
                builder.go_behind(value);
                let is_load = matches!(event, Event::Load { .. });
                let content = if is_load { value } else { value.operand(0) };
                let word = emitter.accessed(content, pointer, bytes);
                emitter.units(cursor, site, &[(Place::Address(pointer), word)]);
            }
            Event::Load { pointer, bytes } => {
                self.before(value);
                emitter.bytes(site, pointer, builder.number(bytes));
            }
            Event::Store { pointer, bytes } => {
                self.before(value);
                builder.go_behind(value);
                emitter.bytes(site, pointer, builder.number(bytes));
            }
            Event::Update { pointer, bytes } | Event::Exchange { pointer, bytes } if bytes > 8 => {
                self.before(value);
                emitter.bytes(site, pointer, builder.number(bytes));
                builder.go_behind(value);
                emitter.bytes(site, pointer, builder.number(bytes));
            }
            Event::Update { pointer, bytes } => {
                let cursor = self.before(value);
                builder.go_behind(value);
                let words = [emitter.accessed(value, pointer, bytes), emitter.in_memory(pointer, bytes)];
                emitter.units(cursor, site, &words.map(|word| (Place::Address(pointer), word)));
            }
            Event::Exchange { pointer, .. } => {
                let cursor = self.before(value);
                builder.go_behind(value);
                let words = [builder.part(value, 0), value.operand(1), value.operand(2)];
                let units = words.map(|word| (Place::Address(pointer), Word::Value(word)));
                emitter.units(cursor, site, &units);
            }
            Event::Fence => {
                let cursor = self.before(value);
                builder.go_behind(value);
                emitter.units(cursor, site, &[(Place::Mark(0), Word::Number(0))]);
            }
            Event::Copy => {
                let (to, from, count) = (value.operand(0), value.operand(1), value.operand(2));
                self.before(value);
                emitter.bytes(site, from, count);
                builder.go_behind(value);
                emitter.bytes(site, to, count);
            }
            Event::Fill => {
                self.before(value);
                builder.go_behind(value);
                emitter.bytes(site, value.operand(0), value.operand(2));
            }
            Event::Passed { pointer, bytes } => {
                self.before(value);
                emitter.bytes(site, pointer, builder.number(bytes));
            }
            Event::Call { model } => {
                self.before(value);
                emitter.announce(site);
                let returns = value.next().is_some_and(|next| next.opcode() != Opcode::LLVMUnreachable);
                if returns && !value.is_must_tail() {
                    builder.go_behind(value);
                    if let Some(model) = model {
                        emitter.touched(site, model, value);
                    }
                    self.append(value, site, Place::Mark(0), Word::Value(value));
                }
            }
            Event::Division => {
                builder.go_before(value, value);
                emitter.announce_division(site);
            }
            Event::Assembly => {
                self.before(value);
                builder.go_behind(value);
                self.append(value, site, Place::Mark(0), Word::Value(value));
            }
            Event::Stack => {
                builder.go_behind(value);
                self.append(value, site, Place::Mark(STACK), Word::Value(value));
            }
            Event::Landing => {
                builder.go_behind(value);
                self.append(value, site, Place::Mark(LANDING), Word::Number(0));
            }
            Event::Unlogged => {}
        }
        if is_access(value) {
            emitter.mark_program(value);
        }
    }

    fn end(&self, value: Value, site: u32, end: &End) {
        let (emitter, builder) = (self.emitter, &self.emitter.builder);
        match end {
            End::Branch { condition } => {
                let cursor = self.before(value);
                let index = builder.select(*condition, builder.number(0), builder.number(1));
                emitter.units(cursor, site, &[(Place::Mark(0), Word::Made(index))]);
            }
            End::Switch { ways } => {
                let cursor = self.before(value);
                for &(way, index) in ways {
                    if let Some(place) = value.on_edge(way) {
                        builder.go_before(place, value);
                        emitter.units(cursor, site, &[(Place::Mark(0), Word::Number(index))]);
                    }
                }
            }
            End::Computed => {
                let cursor = self.before(value);
                let (function, address) = (value.function(), value.operand(0));
                let mut index = builder.number(0);
                for (n, block) in (0..).zip(value.successors()).skip(1) {
                    let taken = builder.equal(address, function.block_address(block));
                    index = builder.select(taken, builder.number(n), index);
                }
                emitter.units(cursor, site, &[(Place::Mark(0), Word::Made(index))]);
            }
            End::Invoke => {
                self.before(value);
                emitter.announce(site);
                if let Some(place) = value.on_edge(0) {
                    builder.go_before(place, value);
                    self.append(value, site, Place::Mark(0), Word::Value(value));
                }
            }
            End::Assembly { site: assembly } => {
                self.before(value);
                for way in 0..value.successors().len() as u32 {
                    if let Some(place) = value.on_edge(way) {
                        builder.go_before(place, value);
                        let result = if way == 0 { Word::Value(value) } else { Word::Number(0) };
                        let cursor = emitter.check(Check::Behind, value);
                        let index = Word::Number(way.into());
                        let units = [(*assembly, Place::Mark(0), result), (site, Place::Mark(0), index)];
                        emitter.units_of(cursor, &units);
                    }
                }
            }
        }
    }
}

/// Whether an instruction only accesses memory of the program.
fn is_access(value: Value) -> bool {
    match value.opcode() {
        Opcode::LLVMLoad | Opcode::LLVMStore | Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => true,
        Opcode::LLVMCall => {
            let callee = value.callee();
            callee.kind() == Kind::Function && callee.symbol().starts_with("llvm.mem")
        }
        _ => false,
    }
}
