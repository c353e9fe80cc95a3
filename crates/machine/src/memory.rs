//! The machine's memory: globals in one piece, other allocations one by one.

use crate::address::{self, Named};
use ir::{GlobalId, Initial, Program, RelocationTarget, ShapeId, SyncKind};
use trace::{AllocationId, FaultKind, Location};

/// Where the globals lie; the same for all states of a program.
#[derive(Clone, Debug)]
pub struct Layout {
    globals: Vec<GlobalLayout>,
    /// Where each synchronisation object lies.
    pub objects: Vec<Location>,
    initial: Vec<u8>,
}

#[derive(Clone, Debug)]
struct GlobalLayout {
    start: usize,
    bytes: u64,
    /// The number of its first synchronisation object, if it holds such.
    object: Option<usize>,
    constant: bool,
}

/// The content of memory in one state.
#[derive(Clone, Debug)]
pub struct Memory {
    pub globals: Vec<u8>,
    /// Ordered by base address.
    pub blocks: Vec<Block>,
}

/// A piece of heap or stack.
#[derive(Clone, Debug)]
pub struct Block {
    pub base: u64,
    pub shape: ShapeId,
    /// Empty once it is freed.
    pub content: Vec<u8>,
    pub bytes: u64,
    pub freed: bool,
    pub heap: bool,
    /// Its number in this run; depends on the schedule and is no part of the state.
    pub allocation: AllocationId,
}

/// A range of bytes that exists.
#[derive(Clone, Copy)]
pub enum Place {
    Globals(usize),
    Block(usize, usize),
}

impl Layout {
    pub fn new(program: &Program) -> Result<Layout, String> {
        let mut layout = Layout { globals: vec![], objects: vec![], initial: vec![] };
        if program.globals.len() as u64 > address::MAX_ALLOCATIONS {
            return Err(format!("more than {} globals", address::MAX_ALLOCATIONS));
        }
        for (g, global) in program.globals.iter().enumerate() {
            let bytes = program.shape_bytes(global.shape);
            if bytes > address::MAX_BYTES {
                return Err(format!("`{}` is larger than {} bytes", global.name, address::MAX_BYTES));
            }
            let start = layout.initial.len();
            let mut object = None;
            match &global.initial {
                Initial::External => return Err(format!("`{}` is defined elsewhere", global.name)),
                Initial::Sync { .. } => {
                    object = Some(layout.objects.len());
                    let allocation = AllocationId(g as u32);
                    let offsets = (0..bytes / SyncKind::BYTES).map(|i| i * SyncKind::BYTES);
                    layout.objects.extend(offsets.map(|offset| Location { allocation, offset }));
                }
                Initial::Zero => layout.initial.resize(start + bytes as usize, 0),
                Initial::Bytes { bytes: content, relocations } => {
                    layout.initial.extend_from_slice(content);
                    layout.initial.resize(start + bytes as usize, 0);
                    for relocation in relocations {
                        let target = match relocation.target {
                            RelocationTarget::Global(global) => address::of_global(global),
                            RelocationTarget::Function(function) => address::of_function(function),
                        };
                        let address = target.wrapping_add_signed(relocation.addend);
                        let at = start + relocation.offset as usize;
                        layout.initial[at..at + 8].copy_from_slice(&address.to_le_bytes());
                    }
                }
            }
            layout.globals.push(GlobalLayout { start, bytes, object, constant: global.constant });
        }
        Ok(layout)
    }

    /// The memory before the first step.
    pub fn initial(&self) -> Memory {
        Memory { globals: self.initial.clone(), blocks: vec![] }
    }

    /// Where the content of a global begins in [`Memory::globals`].
    pub fn start(&self, global: GlobalId) -> usize {
        self.globals[global.index()].start
    }

    /// Finds `bytes` bytes at an address.
    #[inline]
    pub fn locate(
        &self,
        memory: &Memory,
        address: u64,
        bytes: u64,
        write: bool,
    ) -> Result<(Place, Location), FaultKind> {
        match address::decode(address) {
            Named::Null => Err(FaultKind::NullAccess),
            Named::Global(global, offset) => {
                let layout = self.globals.get(global.index()).ok_or(FaultKind::OutOfBounds)?;
                if layout.object.is_some() {
                    return Err(FaultKind::WrongObject);
                }
                let offset = address::inside(offset, bytes, layout.bytes).ok_or(FaultKind::OutOfBounds)?;
                if write && layout.constant {
                    return Err(FaultKind::WriteToConstant);
                }
                let location = Location { allocation: AllocationId(global.0), offset };
                Ok((Place::Globals(layout.start + offset as usize), location))
            }
            Named::Allocation(base, offset) => {
                let index = memory.find(base).ok_or(FaultKind::OutOfBounds)?;
                let block = &memory.blocks[index];
                if block.freed {
                    return Err(FaultKind::UseAfterFree);
                }
                let size = block.content.len() as u64;
                let offset = address::inside(offset, bytes, size).ok_or(FaultKind::OutOfBounds)?;
                let location = Location { allocation: block.allocation, offset };
                Ok((Place::Block(index, offset as usize), location))
            }
        }
    }

    /// Finds the synchronisation object at an address.
    pub fn locate_object(&self, address: u64) -> Result<usize, FaultKind> {
        match address::decode(address) {
            Named::Null => Err(FaultKind::NullAccess),
            Named::Allocation(..) => Err(FaultKind::WrongObject),
            Named::Global(global, offset) => {
                let layout = self.globals.get(global.index()).ok_or(FaultKind::OutOfBounds)?;
                let first = layout.object.ok_or(FaultKind::WrongObject)?;
                let offset = address::inside(offset, 1, layout.bytes).ok_or(FaultKind::OutOfBounds)?;
                match offset % SyncKind::BYTES {
                    0 => Ok(first + (offset / SyncKind::BYTES) as usize),
                    _ => Err(FaultKind::WrongObject),
                }
            }
        }
    }
}

impl Memory {
    fn find(&self, base: u64) -> Option<usize> {
        self.blocks.binary_search_by_key(&base, |block| block.base).ok()
    }

    /// The machine's own address of a location.
    pub fn address_of(&self, location: Location) -> u64 {
        let block = self.blocks.iter().find(|block| block.allocation == location.allocation);
        let base =
            block.map_or_else(|| address::of_global(GlobalId(location.allocation.0)), |block| block.base);
        base + location.offset
    }

    /// The bytes at a place.
    pub fn bytes(&self, place: Place, bytes: usize) -> &[u8] {
        match place {
            Place::Globals(start) => &self.globals[start..start + bytes],
            Place::Block(index, start) => &self.blocks[index].content[start..start + bytes],
        }
    }

    /// The bytes at a place, to write them.
    pub fn bytes_mut(&mut self, place: Place, bytes: usize) -> &mut [u8] {
        match place {
            Place::Globals(start) => &mut self.globals[start..start + bytes],
            Place::Block(index, start) => &mut self.blocks[index].content[start..start + bytes],
        }
    }

    /// The integer of at most eight bytes at a place.
    #[inline]
    pub fn load(&self, place: Place, bytes: u8) -> u64 {
        let mut word = [0; 8];
        word[..bytes as usize].copy_from_slice(self.bytes(place, bytes as usize));
        u64::from_le_bytes(word)
    }

    /// Writes the low bytes of an integer.
    #[inline]
    pub fn store(&mut self, place: Place, bytes: u8, value: u64) {
        let word = value.to_le_bytes();
        self.bytes_mut(place, bytes as usize).copy_from_slice(&word[..bytes as usize]);
    }

    /// Adds a block; its base address is new.
    pub fn add(&mut self, block: Block) {
        let at = self.blocks.partition_point(|other| other.base < block.base);
        self.blocks.insert(at, block);
    }

    /// Gives heap memory back; `None` for the null address.
    pub fn free(&mut self, address: u64) -> Result<Option<AllocationId>, FaultKind> {
        match address::decode(address) {
            Named::Null if address == 0 => Ok(None),
            Named::Null | Named::Global(..) => Err(FaultKind::InvalidFree),
            Named::Allocation(base, offset) => {
                let index = self.find(base).ok_or(FaultKind::InvalidFree)?;
                let block = &mut self.blocks[index];
                if !block.heap || offset != 0 {
                    return Err(FaultKind::InvalidFree);
                }
                if block.freed {
                    return Err(FaultKind::DoubleFree);
                }
                block.discard();
                Ok(Some(block.allocation))
            }
        }
    }
}

impl Block {
    /// Ends the life of the block; its address stays taken.
    pub fn discard(&mut self) {
        self.freed = true;
        self.content = vec![];
    }
}
