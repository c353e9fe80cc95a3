//! Memory, byte by byte.
//!
//! A model program's memory is blocks with bounds: an access outside is a fault. Compiled code's is all bytes that the trace
//! knows of: what its globals hold at the start, or what a first read saw; an access outside of what the trace has is a fault too.

use crate::address;
use ir::{Initial, Program, RelocationTarget};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use trace::{AllocationOrigin, EventId, FaultKind, Trace};

/// A piece of a model program's memory.
#[derive(Clone, Debug)]
pub struct Block {
    pub bytes: u64,
    pub freed: bool,
    pub heap: bool,
    /// Holds synchronisation objects.
    pub objects: bool,
    pub constant: bool,
}

/// All memory.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    compiled: bool,
    bytes: FxHashMap<u64, u8>,
    /// By base.
    pub blocks: FxHashMap<u64, Block>,
    /// Of compiled code: where memory is that the trace knows of, whenever it was allocated; by its beginning, with its end.
    known: Rc<Vec<(u64, u64)>>,
    /// What code that the trace does not see has written by the time that these events read it.
    unseen: FxHashMap<EventId, Vec<(u64, u8)>>,
}

impl Memory {
    pub fn new(program: &Program, trace: &Trace) -> Memory {
        let mut memory = Memory { compiled: program.threads.is_empty(), ..Memory::default() };
        let mut addresses: FxHashMap<ir::GlobalId, u64> = FxHashMap::default();
        for allocation in &trace.allocations {
            if let AllocationOrigin::Global(global) = allocation.origin {
                addresses.insert(global, allocation.address);
            }
        }
        for (n, global) in program.globals.iter().enumerate() {
            let id = ir::GlobalId::new(n);
            let base = match memory.compiled {
                true => addresses.get(&id).copied(),
                false => Some(address::of_global(id)),
            };
            let Some(base) = base else { continue };
            let bytes = program.shape_bytes(global.shape);
            let objects = matches!(global.initial, Initial::Sync { .. });
            let (freed, heap, constant) = (false, false, global.constant);
            memory.blocks.insert(base, Block { bytes, freed, heap, objects, constant });
            if objects || matches!(global.initial, Initial::External) {
                continue;
            }
            if !memory.compiled || bytes < 1 << 20 {
                (0..bytes).for_each(|n| _ = memory.bytes.insert(base + n, 0));
            }
            let Initial::Bytes { bytes: content, relocations } = &global.initial else { continue };
            for (n, &byte) in (0..bytes).zip(content) {
                memory.bytes.insert(base + n, byte);
            }
            for relocation in relocations {
                let target = match relocation.target {
                    RelocationTarget::Global(of) if memory.compiled => addresses.get(&of).copied(),
                    RelocationTarget::Global(of) => Some(address::of_global(of)),
                    RelocationTarget::Function(_) if memory.compiled => None,
                    RelocationTarget::Function(of) => Some(address::of_function(of)),
                };
                match target {
                    Some(target) => {
                        let address = target.wrapping_add_signed(relocation.addend);
                        memory.store(base + relocation.offset, &address.to_le_bytes());
                    }
                    None => (0..8).for_each(|n| _ = memory.bytes.remove(&(base + relocation.offset + n))),
                }
            }
        }
        if memory.compiled {
            memory.learn(trace);
            let known = trace.allocations.iter();
            let mut known: Vec<(u64, u64)> =
                known.map(|one| (one.address, one.address.saturating_add(one.bytes))).collect();
            known.sort_unstable();
            memory.known = Rc::new(known);
        }
        memory
    }

    /// What the first access of a byte saw, if it read it, was there from the start.
    fn learn(&mut self, trace: &Trace) {
        let mut seen: FxHashSet<u64> = FxHashSet::default();
        let mut holds: FxHashMap<u64, u8> = FxHashMap::default();
        for event in &trace.events {
            let Some((kind, place, bytes, _)) = event.kind.access() else { continue };
            let Some(allocation) = trace.allocations.get(place.allocation.0 as usize) else { continue };
            let base = allocation.address.wrapping_add(place.offset);
            let content = crate::access::content(&event.kind);
            for (at, &byte) in (base..base + bytes).zip(&content) {
                let first = seen.insert(at);
                if kind.reads() && first {
                    self.bytes.insert(at, byte);
                }
                let before = holds.insert(at, byte);
                if kind.reads() && before.is_some_and(|before| before != byte) {
                    self.unseen.entry(event.id).or_default().push((at, byte));
                }
            }
            for (at, byte) in (base..).zip(crate::access::written(&event.kind)) {
                holds.insert(at, byte);
            }
        }
    }

    /// An event is about to happen: what it saw that no event wrote is there now.
    pub fn see(&mut self, event: EventId) {
        for (at, byte) in self.unseen.get(&event).cloned().unwrap_or_default() {
            self.bytes.insert(at, byte);
        }
    }

    /// Whether so many bytes can be accessed.
    pub fn find(&self, at: u64, bytes: u64, write: bool) -> Result<(), FaultKind> {
        if self.compiled {
            let freed = |(&base, block): (&u64, &Block)| {
                block.freed && base < at.saturating_add(bytes) && at < base + block.bytes
            };
            return match at < 4096 {
                true => Err(FaultKind::NullAccess),
                false if self.blocks.iter().any(freed) => Err(FaultKind::UseAfterFree),
                false if !self.is_known(at, bytes) => Err(FaultKind::OutOfBounds),
                false => Ok(()),
            };
        }
        if at >> address::OFFSET_BITS == 0 {
            return Err(FaultKind::NullAccess);
        }
        let (base, offset) = address::split(at);
        let block = self.blocks.get(&base).ok_or(FaultKind::OutOfBounds)?;
        if block.objects {
            return Err(FaultKind::WrongObject);
        }
        if block.freed {
            return Err(FaultKind::UseAfterFree);
        }
        let end = u64::try_from(offset).ok().and_then(|offset| offset.checked_add(bytes));
        match end {
            Some(end) if end <= block.bytes && write && block.constant => Err(FaultKind::WriteToConstant),
            Some(end) if end <= block.bytes => Ok(()),
            _ => Err(FaultKind::OutOfBounds),
        }
    }

    /// Whether some piece of memory has these bytes. One may lie inside another: a variable in a stack.
    fn is_known(&self, at: u64, bytes: u64) -> bool {
        const MOST_NESTED: usize = 8;
        let behind = self.known.partition_point(|&(base, _)| base <= at);
        let end = at.saturating_add(bytes);
        self.known[..behind].iter().rev().take(MOST_NESTED).any(|&(_, last)| end <= last)
    }

    /// The bytes at an address; `None` if one is not known.
    pub fn load(&self, at: u64, bytes: u64) -> Option<Vec<u8>> {
        (0..bytes).map(|n| self.bytes.get(&(at + n)).copied()).collect()
    }

    pub fn store(&mut self, at: u64, content: &[u8]) {
        for (n, &byte) in (0..).zip(content) {
            self.bytes.insert(at + n, byte);
        }
    }

    /// Nobody knows what is there now.
    pub fn forget(&mut self, at: u64, bytes: u64) {
        (0..bytes).for_each(|n| _ = self.bytes.remove(&(at + n)));
    }

    /// Copies bytes, as far as they are known.
    pub fn copy(&mut self, to: u64, from: u64, bytes: u64) {
        let content: Vec<Option<u8>> = (0..bytes).map(|n| self.bytes.get(&(from + n)).copied()).collect();
        for (n, byte) in (0..).zip(content) {
            match byte {
                Some(byte) => self.bytes.insert(to + n, byte),
                None => self.bytes.remove(&(to + n)),
            };
        }
    }

    /// What nobody knows to have held anything holds zeros: the runtime takes memory from the system and writes nothing into it.
    pub fn zero(&mut self, at: u64, bytes: u64) {
        (0..bytes.min(1 << 20)).for_each(|n| _ = self.bytes.entry(at + n).or_insert(0));
    }

    /// New memory, zeroed in a model program.
    pub fn allocate(&mut self, base: u64, bytes: u64, heap: bool) {
        let block = Block { bytes, freed: false, heap, objects: false, constant: false };
        self.blocks.insert(base, block);
        if !self.compiled {
            (0..bytes).for_each(|n| _ = self.bytes.insert(base + n, 0));
        }
    }

    /// Gives heap memory back.
    pub fn free(&mut self, at: u64) -> Result<(), FaultKind> {
        if at == 0 {
            return Ok(());
        }
        match self.blocks.get_mut(&at) {
            Some(block) if block.heap && block.freed => Err(FaultKind::DoubleFree),
            Some(block) if block.heap => {
                block.freed = true;
                Ok(())
            }
            _ if self.compiled => Ok(()),
            _ => Err(FaultKind::InvalidFree),
        }
    }
}
