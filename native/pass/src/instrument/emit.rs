//! The code that appends units to the log, as `abi::page` and `abi::unit` say.

use crate::llvm::{Builder, Module, Preserves, Scopes, Type, TypeKind, Value};
use abi::model::ARGUMENTS;
use abi::page;
use abi::unit::{self, SITE_BITS};

/// When a thread is asked for the baton: before the event, or not any more, because the event is already done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// Before the event.
    Before,
    /// Behind it; the log may only be emptied.
    Behind,
}

/// The first word of a unit, but for the site.
#[derive(Clone, Copy)]
pub enum Place {
    /// An address of the program.
    Address(Value),
    /// A mark, or 0.
    Mark(u64),
}

/// The second word of a unit.
#[derive(Clone, Copy)]
pub enum Word {
    /// A value of the program; 0 if it is wider than 8 bytes or none.
    Value(Value),
    /// A number.
    Number(u64),
    /// A number of 64 bits that is made.
    Made(Value),
}

/// What code is made with.
pub struct Emitter {
    pub builder: Builder,
    /// The variable that holds the number of the module's first site.
    pub base: Value,
    scopes: Scopes,
    slow: Value,
    full: Value,
    bytes: Value,
    touched: Value,
}

impl Emitter {
    /// Declares the functions of the runtime.
    pub fn new(module: &Module, sites: u32) -> Emitter {
        let builder = Builder::new(module);
        let (void, number, pointer) = (builder.void(), builder.int(64), builder.pointer());
        // Until the module is registered its sites are the last ones: no number that means something, and not 0.
        let unknown = builder.number(u64::from((unit::MOST_SITES + 1).saturating_sub(sites)));
        Emitter {
            base: module.variable("threadbare.base", unknown, false),
            scopes: module.scopes(),
            slow: module.declare(page::function::SLOW, void, &[], Preserves::All),
            full: module.declare(page::function::FULL, void, &[], Preserves::All),
            bytes: module.declare(page::function::BYTES, void, &[number, pointer, number], Preserves::Most),
            touched: module.declare(page::function::TOUCHED, void, &[number; 6], Preserves::Few),
            builder,
        }
    }

    /// Says of an access of the program that it does not touch the log, so that code around it is still optimised.
    pub fn mark_program(&self, access: Value) {
        access.scoped(None, self.scopes.both);
    }

    fn load_word(&self, address: u64) -> Value {
        let word = self.builder.load(self.builder.pointer(), self.builder.address(address), 8);
        word.scoped(Some(self.scopes.words), self.scopes.units);
        word
    }

    fn store_word(&self, value: Value, address: u64) -> Value {
        let store = self.builder.store(value, self.builder.address(address), 8);
        store.scoped(Some(self.scopes.words), self.scopes.units);
        store
    }

    /// The number of a site.
    pub fn site(&self, site: u32) -> Value {
        let base = self.builder.load(self.builder.int(64), self.base, 8);
        base.scoped(None, self.scopes.both);
        self.builder.add(base, self.builder.number(site.into()))
    }

    /// Calls the runtime if the cursor has reached the end; gives the cursor. For code that belongs to `for_`.
    pub fn check(&self, check: Check, for_: Value) -> Value {
        let (end, function) = match check {
            Check::Before => (page::END, self.slow),
            Check::Behind => (page::LIMIT, self.full),
        };
        let cursor = self.load_word(page::CURSOR);
        let reached = self.builder.not_below(cursor, self.load_word(end));
        let (head, rare, again) = self.builder.rarely(reached, for_, || {
            self.builder.call(function, &[]);
            self.load_word(page::CURSOR)
        });
        self.builder.phi(self.builder.pointer(), [(head, cursor), (rare, again)])
    }

    /// Appends units of one site at the cursor.
    pub fn units(&self, cursor: Value, site: u32, units: &[(Place, Word)]) {
        let sited: Vec<_> = units.iter().map(|&(place, word)| (site, place, word)).collect();
        self.units_of(cursor, &sited);
    }

    /// Appends units at the cursor.
    pub fn units_of(&self, cursor: Value, units: &[(u32, Place, Word)]) {
        let builder = &self.builder;
        for (n, &(site, place, word)) in (0..).zip(units) {
            let (to, value) = (n * unit::BYTES as u64, self.word(word));
            let site = self.site(site);
            let first = match place {
                Place::Address(pointer) => {
                    let high = builder.shift_left(builder.pointer_number(pointer), SITE_BITS.into());
                    builder.add(high, site)
                }
                Place::Mark(0) => site,
                Place::Mark(mark) => builder.add(site, builder.number(mark << SITE_BITS)),
            };
            for (offset, value) in [(to, first), (to + 8, value)] {
                let place = if offset == 0 { cursor } else { builder.offset(cursor, offset) };
                let store = builder.store(value, place, 8);
                store.scoped(Some(self.scopes.units), self.scopes.words);
            }
        }
        let next = builder.offset(cursor, units.len() as u64 * unit::BYTES as u64);
        self.store_word(next, page::CURSOR);
    }

    /// Tells the runtime the bytes at an address.
    pub fn bytes(&self, site: u32, address: Value, count: Value) {
        let count = self.builder.resize(count, self.builder.int(64));
        self.builder.call(self.bytes, &[self.site(site), address, count]);
    }

    /// Tells the runtime what a function, by its number in `abi::model`, was given and gave.
    pub fn touched(&self, site: u32, model: u64, call: Value) {
        let builder = &self.builder;
        let number = |value: Value| self.plain(value).unwrap_or_else(|| builder.number(0));
        let mut words = vec![self.site(site), builder.number(model)];
        words.extend(call.arguments().take(ARGUMENTS).map(number));
        words.resize_with(2 + ARGUMENTS, || builder.number(0));
        words.push(number(call));
        builder.call(self.touched, &words);
    }

    /// Tells the runtime which call comes next.
    pub fn announce(&self, site: u32) {
        self.store_word(self.site(site), page::SITE);
    }

    /// Tells the runtime which division comes next: between it and the event before there may be much that the log does not have. For
    /// the compiler nobody looks there before the next call, so the store is one that it must leave.
    pub fn announce_division(&self, site: u32) {
        self.store_word(self.site(site), page::SITE).make_volatile();
    }

    fn word(&self, word: Word) -> Value {
        let builder = &self.builder;
        match word {
            Word::Number(number) => builder.number(number),
            Word::Made(value) => value,
            Word::Value(value) => self.plain(value).unwrap_or_else(|| builder.number(0)),
        }
    }

    /// A value as a number of 64 bits, if it is one number or address of at most so many.
    fn plain(&self, value: Value) -> Option<Value> {
        let (builder, ty) = (&self.builder, value.ty());
        let long = builder.int(64);
        Some(match ty.kind() {
            TypeKind::LLVMIntegerTypeKind if ty.bits() <= 64 => builder.resize(value, long),
            TypeKind::LLVMPointerTypeKind if ty.address_space() == 0 => builder.pointer_number(value),
            TypeKind::LLVMHalfTypeKind | TypeKind::LLVMBFloatTypeKind => self.float(value, 16),
            TypeKind::LLVMFloatTypeKind => self.float(value, 32),
            TypeKind::LLVMDoubleTypeKind => self.float(value, 64),
            _ => return None,
        })
    }

    fn float(&self, value: Value, bits: u32) -> Value {
        let number = self.builder.bits(value, self.builder.int(bits));
        self.builder.resize(number, self.builder.int(64))
    }

    /// The value of an access that has just been done, of at most 8 bytes: itself, or what stands in memory.
    pub fn accessed(&self, value: Value, pointer: Value, bytes: u64) -> Word {
        match self.plain(value) {
            Some(number) => Word::Made(number),
            None => self.in_memory(pointer, bytes),
        }
    }

    /// What stands in memory: at most 8 bytes.
    pub fn in_memory(&self, pointer: Value, bytes: u64) -> Word {
        let ty: Type = self.builder.int(8 * bytes as u32);
        let value = self.builder.load(ty, pointer, 1);
        self.mark_program(value);
        Word::Made(self.builder.resize(value, self.builder.int(64)))
    }
}
