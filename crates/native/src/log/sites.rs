//! What a unit at each site is: looked up in the program once, so that reading a log does not look at the program again.

use crate::Linked;
use abi::unit::MOST_SITES;
use ir::{Callee, GlobalId, Op, Operand, Order, Program, ShapeId, SiteId, Terminator, Type};

/// What the units of a site stand for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Does {
    /// No units come from here.
    Nothing,
    /// A load.
    Read(Option<Order>),
    /// A store.
    Write(Option<Order>),
    /// An atomic read-modify-write: two units.
    Update(Order),
    /// A compare-and-exchange: three units.
    CompareExchange(Order, Order),
    /// A fence.
    Fence(Order),
    /// A branch with so many successors.
    Branch(u32),
    /// A call of what may not be instrumented: its result.
    Call,
    /// The same of a function that sets atomically what others look at without a call.
    Sets,
    /// An opaque instruction: its result, or two units if it is atomic.
    Opaque,
    /// A copy: the bytes read, then the bytes written. If it copies an argument that is passed by value, only the bytes read;
    /// that is so if the stack memory that this site makes is never logged.
    Copy(Option<SiteId>),
    /// A fill.
    Fill,
    /// Stack memory of this shape, so many of it; `None` if that is known only at run time.
    Stack(ShapeId, Option<u64>),
}

/// A site.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Site {
    /// What it does.
    pub does: Does,
    /// How many bytes its value has; 0 if it has none, 255 if it has more.
    pub bytes: u8,
    /// The global that it accesses, from its start on.
    pub global: Option<GlobalId>,
    /// What stands at the address that its result is, if the source says so.
    pub pointee: Option<ShapeId>,
    /// How many parameters the function has whose first site this is.
    pub parameters: Option<u32>,
    /// Whether it is the first of its block.
    pub heads_block: bool,
}

/// All sites of a program, by the numbers of the log.
pub struct Sites {
    /// By number in the log, filled as modules are loaded; `u32::MAX` where nothing is known.
    numbers: Vec<u32>,
    sites: Vec<Site>,
}

const UNKNOWN: u32 = u32::MAX;

impl Sites {
    /// The sites of a program, none of whose modules is loaded yet.
    pub fn new(program: &Program) -> Sites {
        let mut sites = vec![];
        for function in &program.functions {
            let first = sites.len();
            for block in &function.blocks {
                let head = sites.len();
                for (at, instruction) in block.instructions.iter().enumerate() {
                    let result = instruction.results.first().map(|&value| function.value(value).ty);
                    let ty = |operand: &Operand| match operand {
                        Operand::Value(value) => function.value(*value).ty,
                        Operand::Const { width, .. } => Type::Int(*width),
                        Operand::Null | Operand::Global(_) | Operand::Function(_) => Type::Ptr,
                        Operand::Unknown(ty) => *ty,
                    };
                    let mut site = instruction_site(&instruction.op, result, &ty);
                    site.pointee =
                        instruction.results.first().and_then(|&value| function.value(value).pointee);
                    if matches!(site.does, Does::Copy(_)) && copies_argument(block, at) {
                        site.does = Does::Copy(Some(SiteId::new(sites.len() - 1)));
                    }
                    sites.push(site);
                }
                sites.push(terminator_site(&block.terminator));
                sites[head].heads_block = true;
            }
            if let Some(entry) = sites.get_mut(first) {
                entry.parameters = Some(function.parameters.len() as u32);
            }
        }
        Sites { numbers: vec![], sites }
    }

    /// A module of the program was loaded: its sites have these numbers from now on.
    pub fn load(&mut self, linked: &Linked, id: u64, first: u32) {
        let Some(module) = linked.modules.iter().find(|module| module.id == id) else { return };
        let Some(end) = first.checked_add(module.sites).filter(|&end| end <= MOST_SITES + 1) else { return };
        if self.numbers.len() < end as usize {
            self.numbers.resize(end as usize, UNKNOWN);
        }
        for local in 0..module.sites {
            self.numbers[(first + local) as usize] = module.site(local).map_or(UNKNOWN, |site| site.0);
        }
    }

    /// The site of the program that a number of the log stands for.
    #[inline]
    pub fn id(&self, number: u32) -> Option<SiteId> {
        let site = *self.numbers.get(number as usize)?;
        ((site as usize) < self.sites.len()).then_some(SiteId(site))
    }

    /// What a site does; it is one of the program.
    #[inline]
    pub fn get(&self, id: SiteId) -> Site {
        self.sites[id.index()]
    }
}

/// Whether a copy may be that of an argument that is passed by value: into stack memory that is made right before it, and whose
/// address goes into a call of the same block.
pub fn copies_argument(block: &ir::Block, at: usize) -> bool {
    let Op::MemoryCopy { to: to @ Operand::Value(memory), .. } = &block.instructions[at].op else {
        return false;
    };
    let Some(before) = at.checked_sub(1).map(|before| &block.instructions[before]) else { return false };
    let makes = matches!(before.op, Op::StackAlloc { .. }) && before.results.first() == Some(memory);
    let mut calls = block.instructions[at..].iter().filter_map(|instruction| match &instruction.op {
        Op::Call { arguments, .. } => Some(arguments),
        _ => None,
    });
    let invoked = match &block.terminator {
        Terminator::Invoke { arguments, .. } => arguments.contains(to),
        _ => false,
    };
    makes && (invoked || calls.any(|arguments| arguments.contains(to)))
}

fn bytes_of(ty: Type) -> u8 {
    u8::try_from(ty.bytes()).unwrap_or(u8::MAX)
}

fn instruction_site(op: &Op, result: Option<Type>, ty: &dyn Fn(&Operand) -> Type) -> Site {
    let global = |pointer: &Operand| match pointer {
        Operand::Global(global) => Some(*global),
        _ => None,
    };
    let result = result.map_or(0, bytes_of);
    let (does, bytes, global) = match op {
        Op::Load { pointer, order } => (Does::Read(*order), result, global(pointer)),
        Op::Store { pointer, value, order } => (Does::Write(*order), bytes_of(ty(value)), global(pointer)),
        Op::Update { pointer, order, .. } => (Does::Update(*order), result, global(pointer)),
        Op::CompareExchange { pointer, success, failure, .. } => {
            (Does::CompareExchange(*success, *failure), result, global(pointer))
        }
        Op::Fence { order } => (Does::Fence(*order), 0, None),
        // A function that another module defines is external to the module that calls it, so that any call may have a unit.
        Op::Call { callee, .. } => (call(callee), result, None),
        Op::Opaque { .. } => (Does::Opaque, result, None),
        Op::MemoryCopy { .. } => (Does::Copy(None), 0, None),
        Op::MemorySet { to, .. } => (Does::Fill, 0, global(to)),
        Op::StackAlloc { shape, count } => {
            let count = match count {
                Operand::Const { bits, .. } => u64::try_from(*bits).ok(),
                _ => None,
            };
            (Does::Stack(*shape, count), 8, None)
        }
        _ => (Does::Nothing, 0, None),
    };
    Site { does, bytes, global, pointee: None, parameters: None, heads_block: false }
}

fn call(callee: &Callee) -> Does {
    match callee {
        Callee::External(name) if **name == *"__cxa_guard_release" => Does::Sets,
        _ => Does::Call,
    }
}

fn terminator_site(terminator: &Terminator) -> Site {
    let (does, bytes) = match terminator {
        Terminator::Branch { .. } => (Does::Branch(2), 0),
        Terminator::Switch { cases, .. } => (Does::Branch(cases.len() as u32 + 1), 0),
        Terminator::IndirectJump { targets, .. } => (Does::Branch(targets.len() as u32), 0),
        Terminator::Invoke { callee, .. } => (call(callee), 8),
        _ => (Does::Nothing, 0),
    };
    Site { does, bytes, global: None, pointee: None, parameters: None, heads_block: false }
}
