//! Addresses: which numbers point where, in the machine and in compiled code.
//!
//! A trace names memory as (allocation, offset); values that point there are numbers from the allocation's address on. The
//! machine's addresses are 64 bits with 36 for the offset, an allocation in the middle of its offsets, so that no index
//! leads into a neighbour; those of compiled code are the processor's. What the program names and the trace does not have
//! (a private variable, a constant that is never logged) gets an address of our own that no program has.

use ir::{FunctionId, GlobalId, Initial, Program, RelocationTarget, SiteIndex};
use rustc_hash::{FxHashMap, FxHashSet};
use trace::{AllocationId, AllocationOrigin, Location, ThreadId, Trace};

/// Bits of the offset in an address of the machine.
pub const OFFSET_BITS: u32 = 36;
/// Where the machine's functions are.
const FUNCTIONS: u64 = 0xffff << 48;
/// Where our own addresses are: not canonical, so no processor has them; the machine's threads do not reach so far.
const OWN: u64 = 0xfffe << 48;
/// How far apart they are.
const OWN_STEP: u64 = 1 << 32;

/// What a program's and a trace's addresses mean.
pub struct Space<'t> {
    program: &'t Program,
    trace: &'t Trace,
    /// Whether it is a compiled program's.
    pub compiled: bool,
    globals: Vec<Option<u64>>,
    thread_locals: FxHashMap<(ThreadId, GlobalId), u64>,
    /// Model programs: the stack memory that a thread allocates after so many others.
    stack: FxHashMap<(ThreadId, u64), AllocationId>,
    /// Allocations by address.
    by_address: Vec<(u64, AllocationId)>,
    /// Globals that no allocation is, by address.
    learned: Vec<(u64, GlobalId)>,
    /// Compiled programs: heap memory that begins as zeros.
    zeros: FxHashSet<AllocationId>,
    own: u64,
}

impl<'t> Space<'t> {
    /// The space of a trace; `learned` are addresses of globals that its allocations lack and that a walk has found out.
    pub fn new(
        program: &'t Program,
        trace: &'t Trace,
        sites: &SiteIndex,
        learned: &FxHashMap<GlobalId, u64>,
    ) -> Space<'t> {
        let mut space = Space {
            program,
            trace,
            // A model program has its threads from the start; a compiled one only by running.
            compiled: program.threads.is_empty(),
            globals: vec![None; program.globals.len()],
            thread_locals: FxHashMap::default(),
            stack: FxHashMap::default(),
            by_address: vec![],
            learned: vec![],
            zeros: FxHashSet::default(),
            own: 0,
        };
        for allocation in &trace.allocations {
            match allocation.origin {
                AllocationOrigin::Global(global) => space.globals[global.index()] = Some(allocation.address),
                AllocationOrigin::ThreadLocal { thread, global } => {
                    space.thread_locals.insert((thread, global), allocation.address);
                }
                AllocationOrigin::Stack { thread, earlier, .. } => {
                    space.stack.insert((thread, earlier), allocation.id);
                }
                _ => {}
            }
            space.by_address.push((allocation.address, allocation.id));
        }
        // Of two at one address the later one comes last.
        space.by_address.sort_unstable();
        for global in 0..program.globals.len() {
            if space.globals[global].is_none() && !program.globals[global].thread_local {
                let known = learned.get(&GlobalId::new(global)).copied();
                space.globals[global] = Some(known.unwrap_or_else(|| space.own_address()));
            }
        }
        if space.compiled {
            space.zeros = zeros(program, trace, sites, &space.by_address);
        }
        space.learned = learned.iter().map(|(&global, &base)| (base, global)).collect();
        space.learned.sort_unstable();
        space
    }

    /// A new address that no program has.
    pub fn own_address(&mut self) -> u64 {
        self.own += OWN_STEP;
        OWN | self.own
    }

    /// Whether an address is one of our own.
    pub fn is_own(address: u64) -> bool {
        address & (0xffff << 48) == OWN
    }

    /// The address of a global, for a thread.
    pub fn global(&mut self, thread: ThreadId, global: GlobalId) -> u64 {
        if let Some(address) = self.globals[global.index()] {
            return address;
        }
        if let Some(&address) = self.thread_locals.get(&(thread, global)) {
            return address;
        }
        let address = self.own_address();
        self.thread_locals.insert((thread, global), address);
        address
    }

    /// The address of a function; `None` in compiled code, where only the run tells.
    pub fn function(&self, function: FunctionId) -> Option<u64> {
        (!self.compiled).then(|| FUNCTIONS | u64::from(function.0))
    }

    /// The function at an address of the machine.
    pub fn function_at(&self, address: u64) -> Option<FunctionId> {
        let number = u32::try_from(address ^ FUNCTIONS).ok()?;
        let there = !self.compiled && (number as usize) < self.program.functions.len();
        there.then_some(FunctionId(number))
    }

    /// The stack memory that a thread of a model program allocates after `earlier` others.
    pub fn stack(&self, thread: ThreadId, earlier: u64) -> Option<u64> {
        let id = *self.stack.get(&(thread, earlier))?;
        self.trace.allocations.get(id.0 as usize).map(|allocation| allocation.address)
    }

    /// The address of a place; `None` if the trace does not have it.
    pub fn address(&self, place: Location) -> Option<u64> {
        let allocation = self.trace.allocations.get(place.allocation.0 as usize)?;
        Some(allocation.address.wrapping_add(place.offset))
    }

    /// The place at an address that has room for so many bytes. Of memory that was used again, the last.
    pub fn place(&self, address: u64, bytes: u64) -> Option<Location> {
        let behind = self.by_address.partition_point(|&(base, _)| base <= address);
        // Allocations of compiled code may lie inside others (variables in a stack); the innermost begins last.
        self.by_address[..behind].iter().rev().take(8).find_map(|&(base, id)| {
            let allocation = &self.trace.allocations[id.0 as usize];
            let offset = address - base;
            let fits = offset.checked_add(bytes).is_some_and(|end| end <= allocation.bytes);
            fits.then_some(Location { allocation: id, offset })
        })
    }

    /// Whether a place can be read and written by plain accesses: it holds no synchronisation object, and no constant
    /// if it is to be written.
    pub fn is_plain(&self, allocation: AllocationId, write: bool) -> bool {
        match self.origin_global(allocation) {
            Some(global) => {
                let global = self.program.global(global);
                !(matches!(global.initial, Initial::Sync { .. }) || write && global.constant)
            }
            None => true,
        }
    }

    /// Whether an allocation is one: a variable or a piece of the heap, of which it is known where it ends.
    pub fn has_bounds(&self, allocation: AllocationId) -> bool {
        let known = self.trace.allocations.get(allocation.0 as usize);
        known.is_some_and(|known| {
            !matches!(known.origin, AllocationOrigin::Page(_) | AllocationOrigin::StackOf(_))
        })
    }

    /// The global that an allocation is.
    pub fn origin_global(&self, allocation: AllocationId) -> Option<GlobalId> {
        match self.trace.allocations.get(allocation.0 as usize)?.origin {
            AllocationOrigin::Global(global) | AllocationOrigin::ThreadLocal { global, .. } => Some(global),
            _ => None,
        }
    }

    /// The size of an allocation.
    pub fn bytes(&self, allocation: AllocationId) -> u64 {
        self.trace.allocations.get(allocation.0 as usize).map_or(0, |allocation| allocation.bytes)
    }

    /// What a place holds at the start; `None` if that is not known.
    pub fn initial(&self, place: Location, bytes: u64) -> Option<u128> {
        match self.origin_global(place.allocation) {
            Some(global) => self.content(global, place.offset, bytes),
            None if self.compiled => self.zeros.contains(&place.allocation).then_some(0),
            None => Some(0),
        }
    }

    /// What a part of a global holds at the start; at most 16 bytes.
    pub fn content(&self, global: GlobalId, offset: u64, bytes: u64) -> Option<u128> {
        match &self.program.global(global).initial {
            Initial::Zero => Some(0),
            Initial::Sync { .. } | Initial::External => None,
            Initial::Bytes { bytes: content, relocations } => {
                let mut value = 0_u128;
                for n in (0..bytes.min(16)).rev() {
                    let at = offset + n;
                    let within = |r: &&ir::Relocation| r.offset <= at && at < r.offset.saturating_add(8);
                    let byte = match relocations.iter().find(within) {
                        Some(relocation) => {
                            let target = match relocation.target {
                                RelocationTarget::Global(global) => self.globals[global.index()]?,
                                RelocationTarget::Function(function) => self.function(function)?,
                            };
                            let address = target.wrapping_add_signed(relocation.addend);
                            address.to_le_bytes()[(at - relocation.offset) as usize]
                        }
                        None => usize::try_from(at).ok().and_then(|at| content.get(at)).copied().unwrap_or(0),
                    };
                    value = value << 8 | u128::from(byte);
                }
                Some(value)
            }
        }
    }

    /// The global that the trace has no allocation of and that this address is in, and how far into it.
    pub fn own_global(&self, address: u64) -> Option<(GlobalId, u64)> {
        let behind = self.learned.partition_point(|&(base, _)| base <= address);
        if let Some(&(base, global)) = behind.checked_sub(1).and_then(|at| self.learned.get(at))
            && address - base < self.program.shape_bytes(self.program.global(global).shape).max(1)
        {
            return Some((global, address - base));
        }
        let base = address & !(OWN_STEP - 1);
        let at = self.globals.iter().position(|&known| known == Some(base))?;
        Some((GlobalId::new(at), address - base))
    }
}

/// Heap memory that holds zeros when somebody gets it: `calloc` says so, or it is the first there. The runtime takes its memory from the system, and writes nothing into it.
fn zeros(
    program: &Program,
    trace: &Trace,
    sites: &SiteIndex,
    by_address: &[(u64, AllocationId)],
) -> FxHashSet<AllocationId> {
    let mut zeros = FxHashSet::default();
    let mut end = 0;
    for &(address, id) in by_address {
        let allocation = &trace.allocations[id.0 as usize];
        let is_first = address >= end;
        let AllocationOrigin::Heap { site, .. } = allocation.origin else {
            // Variables lie in the stack that they are part of.
            if let AllocationOrigin::Page(_) = allocation.origin {
                end = end.max(address.saturating_add(allocation.bytes));
            }
            continue;
        };
        end = end.max(address.saturating_add(allocation.bytes));
        // Other functions that give memory write into it: `realloc`, `strdup`.
        let is_plain = |name: &str| {
            ["malloc", "aligned_alloc", "posix_memalign"].contains(&name) || name.starts_with("_Zn")
        };
        if sites.called(program, site).is_some_and(|name| name == "calloc" || is_first && is_plain(name)) {
            zeros.insert(id);
        }
    }
    zeros
}
