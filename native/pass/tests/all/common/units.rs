//! Running a program and reading the units that it logs.

use ir::{Callee, Op, SiteId, SiteIndex, Terminator};
use native::{Linked, LinkedModule};
use std::path::Path;
use std::process::Command;

/// The bits of an address in a unit.
pub const LOW: u64 = (1 << abi::unit::ADDRESS_BITS) - 1;

/// What the log has of one event or of a part of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Entry {
    /// A unit: site, address or mark, value.
    Unit(SiteId, u64, u64),
    /// Bytes: site, address, content.
    Bytes(SiteId, u64, Vec<u8>),
}

impl Entry {
    pub fn site(&self) -> SiteId {
        match *self {
            Entry::Unit(site, ..) | Entry::Bytes(site, ..) => site,
        }
    }
}

/// A log, in the numbers of the linked program.
pub struct Log {
    pub linked: Linked,
    pub index: SiteIndex,
    pub entries: Vec<Entry>,
    /// The low bits of the addresses of globals.
    pub globals: Vec<(ir::GlobalId, u64)>,
    /// The addresses of functions.
    pub functions: Vec<(ir::FunctionId, u64)>,
}

impl Log {
    /// Runs a binary that is linked with the small runtime; also with its buffer emptied after each `small` units.
    pub fn of(binary: &Path, small: Option<u32>) -> Log {
        let linked = native::read_program(binary).expect("its IR");
        let file = binary.with_extension("units");
        let mut command = Command::new(binary);
        command.env("UNITS", &file);
        if let Some(small) = small {
            command.env("SMALL", small.to_string());
        }
        command.output().expect("it runs");
        let text = std::fs::read_to_string(&file).expect("the units");
        let mut log = Log {
            index: SiteIndex::new(&linked.program),
            linked,
            entries: vec![],
            globals: vec![],
            functions: vec![],
        };
        let mut modules: Vec<(u64, LinkedModule)> = vec![];
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let number = |n: usize| words[n].parse::<u64>().expect("a number");
            let site = |modules: &[(u64, LinkedModule)]| {
                let module = modules.iter().rev().find(|(first, _)| *first <= number(1));
                let (first, module) = module.expect("a module");
                module.site((number(1) - first) as u32).unwrap_or_else(|| panic!("no site: {line}"))
            };
            match words[0] {
                "m" => {
                    assert_eq!(number(1), u64::from(abi::VERSION));
                    let module = log.linked.modules.iter().find(|module| module.id == number(2));
                    modules.push((number(3), module.expect("it is in the binary").clone()));
                }
                "g" | "f" if number(2) == 0 => {}
                "g" => {
                    let global = modules.last().expect("a module").1.global(number(1) as u32);
                    log.globals.push((global.expect("a global"), number(2) & LOW));
                }
                "f" => {
                    let function = modules.last().expect("a module").1.function(number(1) as u32);
                    log.functions.push((function.expect("a function"), number(2)));
                }
                "u" => log.entries.push(Entry::Unit(site(&modules), number(2), number(3))),
                "b" => {
                    let digits = words[4].as_bytes().chunks(2);
                    let byte = |pair: &[u8]| {
                        u8::from_str_radix(std::str::from_utf8(pair).expect("digits"), 16).expect("a byte")
                    };
                    let bytes: Vec<u8> = digits.map(byte).collect();
                    assert_eq!(bytes.len() as u64, number(3));
                    log.entries.push(Entry::Bytes(site(&modules), number(2), bytes));
                }
                _ => panic!("{line}"),
            }
        }
        log
    }

    /// An address as the source names it, if it is in a global.
    pub fn place(&self, address: u64) -> Option<String> {
        let program = &self.linked.program;
        self.globals.iter().find_map(|&(id, base)| {
            let global = program.global(id);
            let offset = address.checked_sub(base).filter(|&o| o < program.shape_bytes(global.shape))?;
            Some(format!("{}{}", global.name, program.part_name(global.shape, offset)))
        })
    }

    /// What an entry says, for people: line, what, where, value. Addresses outside of globals are `*`.
    pub fn describe(&self, entry: &Entry) -> String {
        let program = &self.linked.program;
        let site = entry.site();
        let function = program.function(self.index.place(site).expect("a site").function);
        let is_entry = matches!(entry, Entry::Unit(_, abi::unit::ENTRY, _));
        let position = self.index.source(program, site).0.filter(|_| !is_entry).or(function.position);
        let line = position.map_or(0, |position| position.line);
        let (what, address, value) = match entry {
            Entry::Unit(_, address, value) => {
                let what = match *address {
                    abi::unit::ENTRY => "entry",
                    abi::unit::LANDING => "landing",
                    abi::unit::STACK => "stack",
                    _ => self.what(site),
                };
                (what, *address, self.value(*value))
            }
            Entry::Bytes(_, address, bytes) => (self.what(site), *address, self.content(bytes)),
        };
        let place = match address {
            0..=3 => String::new(),
            _ => format!("{} ", self.place(address).unwrap_or_else(|| "*".to_owned())),
        };
        format!("{line} {what} {place}{value}")
    }

    /// A number, `*` if it is an address, which depends on the layout of the program.
    fn value(&self, value: u64) -> String {
        let is_address = (0x5000_0000_0000..0x8000_0000_0000).contains(&value);
        if is_address { "*".to_owned() } else { (value as i64).to_string() }
    }

    /// Bytes, in words if addresses are among them.
    fn content(&self, bytes: &[u8]) -> String {
        let words = bytes.chunks(8).map(|word| {
            let mut long = [0; 8];
            long[..word.len()].copy_from_slice(word);
            match self.value(u64::from_le_bytes(long)).as_str() {
                "*" => "*".to_owned(),
                _ => word.iter().map(|byte| format!("{byte:02x}")).collect(),
            }
        });
        words.collect::<Vec<_>>().join(" ")
    }

    fn what(&self, site: SiteId) -> &'static str {
        match self.index.op(&self.linked.program, site) {
            Some(Op::Load { .. }) => "load",
            Some(Op::Store { .. }) => "store",
            Some(Op::Update { .. }) => "update",
            Some(Op::CompareExchange { .. }) => "exchange",
            Some(Op::Fence { .. }) => "fence",
            Some(Op::MemoryCopy { .. }) => "copy",
            Some(Op::MemorySet { .. }) => "fill",
            Some(Op::Call { callee: Callee::Indirect(_), .. }) => "indirect",
            Some(Op::Call { .. }) => "call",
            Some(Op::Opaque { .. }) => "opaque",
            Some(_) => "?",
            None => {
                let place = self.index.place(site).expect("a site");
                let block = self.linked.program.function(place.function).block(place.block);
                match block.terminator {
                    Terminator::Invoke { .. } => "invoke",
                    Terminator::Branch { .. } => "branch",
                    Terminator::Switch { .. } => "switch",
                    Terminator::IndirectJump { .. } => "jump",
                    _ => "?",
                }
            }
        }
    }

    /// All entries for people.
    #[allow(dead_code, reason = "each test uses a part of it")]
    pub fn text(&self) -> Vec<String> {
        self.entries.iter().map(|entry| self.describe(entry)).collect()
    }
}
