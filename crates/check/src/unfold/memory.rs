//! The memory of a program as cells that no access splits, and the words of its synchronisation objects.
//!
//! Addresses are those of the machine (`machine::address`): 28 bits name the piece of memory, a global or the k-th
//! allocation of a thread, and 36 the offset, counted from the middle, so that no index leads from one piece to another.

use crate::event::{CellId, ThreadIndex};
use crate::unfold::value::Value;
use crate::{Error, Result};
use ir::{Global, GlobalId, Initial, Program, RelocationTarget, Shape, ShapeId, SyncKind, Width};
use rustc_hash::FxHashMap;
use solver::{Bool, Bv};

const OFFSET_BITS: u32 = 36;
const NUMBER_BITS: u32 = 12;
/// Where a piece begins among its offsets.
pub const START: u64 = 1 << (OFFSET_BITS - 1);
/// The offset part of an address.
pub const OFFSET_MASK: u64 = (1 << OFFSET_BITS) - 1;

/// The base address of a global.
pub fn of_global(global: GlobalId) -> u64 {
    ((u64::from(global.0) + 1) << OFFSET_BITS) | START
}

/// The global that an address lies in, and the offset in it.
pub fn global_at(address: u64) -> Option<(GlobalId, i64)> {
    let piece = address >> OFFSET_BITS;
    let offset = (address & OFFSET_MASK) as i64 - START as i64;
    (piece > 0 && piece >> NUMBER_BITS == 0).then(|| (GlobalId(piece as u32 - 1), offset))
}

/// The thread code, the number and the offset of an address on the heap.
pub fn heap_at(address: u64) -> Option<(u64, u64, i64)> {
    let code = address >> (OFFSET_BITS + NUMBER_BITS);
    let number = (address >> OFFSET_BITS) & ((1 << NUMBER_BITS) - 1);
    (code > 0).then(|| (code, number, (address & OFFSET_MASK) as i64 - START as i64))
}

/// The base address of the first allocation of the thread with this code; the next one is [`ALLOCATION`] further.
pub fn first_allocation(code: u64) -> u64 {
    (((code << NUMBER_BITS) | 1) << OFFSET_BITS) | START
}

/// The code of the main thread in addresses.
pub const MAIN: u64 = 1;

/// The code of the n-th thread, from 1, that a thread forks (`schedule::ThreadId`).
pub fn child(parent: u64, n: u64) -> u64 {
    parent << (2 * n.ilog2() + 1) | n
}

/// How far apart the allocations of a thread begin.
pub const ALLOCATION: u64 = 1 << OFFSET_BITS;

/// A cell.
#[derive(Clone, Debug)]
pub struct Cell {
    /// What it is called.
    pub name: String,
    /// How wide it is.
    pub width: Width,
    /// What it holds at the start.
    pub initial: u128,
    /// Whether it is a word of a synchronisation object or of the allocator.
    pub internal: bool,
    /// How it is shown.
    pub signed: bool,
    /// Its content when all has ended.
    pub last: Bv,
}

/// Heap memory that is allocated at one point of one thread.
#[derive(Clone, Debug)]
pub struct Heap {
    pub base: Value,
    /// Whether it was allocated.
    pub exists: Bool,
    /// Its cells, each with its offset.
    pub cells: Vec<(u64, CellId)>,
    /// Whether it was given back.
    pub freed: CellId,
}

/// A synchronisation object.
#[derive(Clone, Debug)]
pub struct Object {
    pub kind: SyncKind,
    pub address: u64,
    /// Tokens of a semaphore, parties of a barrier.
    pub count: u64,
    /// The word that it is.
    pub word: CellId,
}

/// All memory.
#[derive(Default)]
pub struct Memory {
    pub cells: Vec<Cell>,
    /// Cells of globals, by address.
    pub at: FxHashMap<u64, CellId>,
    /// The cells of each global, with their addresses.
    pub globals: Vec<Vec<(u64, CellId)>>,
    pub objects: Vec<Object>,
    pub heap: Vec<Heap>,
    /// For each rwlock and thread how often the thread holds it for reading.
    pub held: FxHashMap<(CellId, ThreadIndex), CellId>,
}

/// The integers and pointers in something of this shape: offset, bytes, and whether it is shown with a sign.
pub fn parts(program: &Program, shape: ShapeId, at: u64, found: &mut Vec<(u64, u8, bool)>) -> Option<()> {
    match program.shape(shape) {
        Shape::Int { bytes, signed } if *bytes <= 8 => found.push((at, *bytes, *signed)),
        Shape::Pointer { .. } => found.push((at, 8, false)),
        Shape::Array { element, count } => {
            let bytes = program.shape_bytes(*element);
            for i in 0..*count {
                parts(program, *element, at + i * bytes, found)?;
            }
        }
        Shape::Record { fields, .. } => {
            for field in fields {
                parts(program, field.shape, at + field.offset, found)?;
            }
        }
        _ => return None,
    }
    Some(())
}

/// What a cell of a global holds at the start.
pub fn initial(global: &Global, offset: u64, bytes: u8) -> u128 {
    let Initial::Bytes { bytes: content, relocations } = &global.initial else { return 0 };
    if let Some(relocation) = relocations.iter().find(|r| r.offset == offset)
        && let RelocationTarget::Global(target) = relocation.target
    {
        return u128::from(of_global(target).wrapping_add_signed(relocation.addend));
    }
    let byte = |i: u64| content.get((offset + i) as usize).copied().unwrap_or(0);
    (0..u64::from(bytes)).rev().fold(0, |word, i| word << 8 | u128::from(byte(i)))
}

impl super::Builder<'_> {
    /// Adds a cell.
    pub fn cell(
        &mut self,
        name: String,
        width: Width,
        initial: u128,
        internal: bool,
        signed: bool,
    ) -> Result<CellId> {
        let last = self.terms.solver.bv_var(width.bits())?;
        let id = CellId(self.memory.cells.len() as u32);
        self.memory.cells.push(Cell { name, width, initial, internal, signed, last });
        Ok(id)
    }

    /// Lays out the globals.
    pub fn lay_out(&mut self) -> Result<()> {
        for (g, global) in self.program.globals.iter().enumerate() {
            let base = of_global(GlobalId::new(g));
            let mut cells = vec![];
            match global.initial {
                Initial::Sync { kind, count } => self.lay_out_objects(global, base, kind, count)?,
                _ => {
                    let mut found = vec![];
                    if global.thread_local || parts(self.program, global.shape, 0, &mut found).is_none() {
                        let what = format!("the variable `{}`", global.name);
                        return Err(Error::Unsupported { what, position: global.position });
                    }
                    for (offset, bytes, signed) in found {
                        let width = Width::new(bytes * 8).unwrap_or(Width::W64);
                        let name = format!("{}{}", global.name, self.program.part_name(global.shape, offset));
                        let cell = self.cell(name, width, initial(global, offset, bytes), false, signed)?;
                        self.memory.at.insert(base + offset, cell);
                        cells.push((base + offset, cell));
                    }
                }
            }
            self.memory.globals.push(cells);
        }
        Ok(())
    }

    fn lay_out_objects(&mut self, global: &Global, base: u64, kind: SyncKind, count: u64) -> Result<()> {
        for i in 0..self.program.shape_bytes(global.shape) / SyncKind::BYTES {
            let offset = i * SyncKind::BYTES;
            let name = format!("{}{}", global.name, self.program.part_name(global.shape, offset));
            let (width, initial) = match kind {
                SyncKind::Mutex | SyncKind::RecursiveMutex | SyncKind::Barrier | SyncKind::RwLock => {
                    (Width::W16, 0)
                }
                SyncKind::Condition => (Width::W32, 0),
                SyncKind::Semaphore => (Width::W32, u128::from(count)),
            };
            let word = self.cell(name, width, initial, true, false)?;
            self.memory.objects.push(Object { kind, address: base + offset, count, word });
        }
        Ok(())
    }

    /// How often a thread holds an rwlock for reading.
    pub fn held_by(&mut self, object: CellId, thread: ThreadIndex) -> Result<CellId> {
        if let Some(&cell) = self.memory.held.get(&(object, thread)) {
            return Ok(cell);
        }
        let name = format!("{} of thread {}", self.memory.cells[object.index()].name, thread.0);
        let cell = self.cell(name, Width::W8, 0, true, false)?;
        self.memory.held.insert((object, thread), cell);
        Ok(cell)
    }
}
