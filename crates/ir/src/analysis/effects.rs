//! What code may do that others can notice: the write-variables of PRUNE §5.1, and for races what may be read too (its footnote 3).

use super::rounds::may_go_round;
use super::{Object, PointsTo};
use crate::{
    BinaryOp, Block, BlockId, Callee, CheckKind, FunctionId, GlobalId, Op, Operand, Program, SiteId,
    SiteIndex, SitePlace, Terminator, Type,
};
use std::collections::BTreeSet;

/// An access of a global that may be made.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Access {
    /// Of what.
    pub global: GlobalId,
    /// From which byte on.
    pub offset: u64,
    /// How many bytes.
    pub bytes: u64,
    /// Whether it writes.
    pub writes: bool,
    /// Whether it is atomic.
    pub atomic: bool,
    /// By which instruction.
    pub site: SiteId,
}

/// What keeps code from being described by its accesses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Obstacle {
    /// It synchronises, starts a thread or waits for one.
    Synchronisation,
    /// It asserts or assumes something.
    Check,
    /// It calls what is not in the program, or what is not known.
    Outside,
    /// It accesses memory of which it is not known what it is, or that there is any.
    Address,
    /// It divides by what may be zero.
    Division,
    /// It allocates memory or gives it back.
    Allocation,
}

/// What some code may do.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Effects {
    /// The accesses that it may make.
    pub accesses: BTreeSet<Access>,
    /// It may compare and exchange.
    pub exchanges: bool,
    /// It may go round a loop without effect.
    pub rounds: bool,
    /// What else it may do.
    pub obstacles: BTreeSet<Obstacle>,
}

impl Effects {
    /// Takes more in.
    pub fn join(&mut self, more: &Effects) {
        self.accesses.extend(more.accesses.iter().copied());
        self.exchanges |= more.exchanges;
        self.rounds |= more.rounds;
        self.obstacles.extend(more.obstacles.iter().copied());
    }
}

/// The effects of all functions, what they call included.
pub(super) struct All<'p> {
    program: &'p Program,
    sites: SiteIndex,
    points_to: PointsTo,
    functions: Vec<Effects>,
}

impl<'p> All<'p> {
    pub(super) fn new(program: &'p Program) -> All<'p> {
        let functions = vec![Effects::default(); program.functions.len()];
        let (sites, points_to) = (SiteIndex::new(program), PointsTo::new(program));
        let mut all = All { program, sites, points_to, functions };
        loop {
            let mut changed = false;
            for (n, function) in program.functions.iter().enumerate() {
                let blocks = || (0..function.blocks.len()).map(BlockId::new);
                let mut effects = Effects { rounds: may_go_round(function, blocks()), ..Effects::default() };
                for block in blocks() {
                    effects.join(&all.block(FunctionId::new(n), block));
                }
                changed |= effects != all.functions[n];
                all.functions[n] = effects;
            }
            if !changed {
                return all;
            }
        }
    }

    /// The effects of a block.
    pub(super) fn block(&self, function: FunctionId, id: BlockId) -> Effects {
        let mut effects = Effects::default();
        let block: &Block = self.program.function(function).block(id);
        for (n, instruction) in block.instructions.iter().enumerate() {
            let site = self.sites.site(SitePlace { function, block: id, instruction: n as u32 });
            let access =
                |pointer: &Operand, bytes: u32, writes: bool, atomic: bool, effects: &mut Effects| {
                    self.access(function, site, pointer, u64::from(bytes), (writes, atomic), effects);
                };
            let result = || {
                instruction.results.first().map_or(1, |value| self.bytes(function, &Operand::Value(*value)))
            };
            match &instruction.op {
                Op::Load { pointer, order } => {
                    access(pointer, result(), false, order.is_some(), &mut effects)
                }
                Op::Store { pointer, value, order } => {
                    access(pointer, self.bytes(function, value), true, order.is_some(), &mut effects);
                }
                Op::Update { pointer, value, .. } => {
                    access(pointer, self.bytes(function, value), true, true, &mut effects);
                }
                Op::CompareExchange { pointer, new, .. } => {
                    effects.exchanges = true;
                    access(pointer, self.bytes(function, new), true, true, &mut effects);
                }
                Op::Binary { op, rhs, .. } => {
                    let divides =
                        matches!(op, BinaryOp::UDiv | BinaryOp::SDiv | BinaryOp::URem | BinaryOp::SRem);
                    if divides && !matches!(rhs, Operand::Const { bits, .. } if *bits != 0) {
                        effects.obstacles.insert(Obstacle::Division);
                    }
                }
                Op::StackAlloc { .. } | Op::HeapAlloc { .. } | Op::Free { .. } => {
                    effects.obstacles.insert(Obstacle::Allocation);
                }
                Op::MemoryCopy { .. } | Op::MemorySet { .. } => {
                    _ = effects.obstacles.insert(Obstacle::Address)
                }
                Op::Call { callee, .. } => self.call(callee, &mut effects),
                Op::Fork { .. } | Op::Sync { .. } => _ = effects.obstacles.insert(Obstacle::Synchronisation),
                // A thread that comes to the bound of a loop only stops.
                Op::Check { kind: CheckKind::Bound, .. } => {}
                Op::Check { .. } => _ = effects.obstacles.insert(Obstacle::Check),
                Op::Opaque { .. } => _ = effects.obstacles.insert(Obstacle::Outside),
                Op::Compare { .. }
                | Op::Cast { .. }
                | Op::Select { .. }
                | Op::Phi { .. }
                | Op::Address { .. }
                | Op::Fence { .. } => {}
            }
        }
        match &block.terminator {
            Terminator::Invoke { callee, .. } => self.call(callee, &mut effects),
            Terminator::Resume | Terminator::Unreachable | Terminator::IndirectJump { .. } => {
                effects.obstacles.insert(Obstacle::Outside);
            }
            _ => {}
        }
        effects
    }

    fn call(&self, callee: &Callee, effects: &mut Effects) {
        match callee {
            Callee::Function(function) if !self.program.function(*function).blocks.is_empty() => {
                effects.join(&self.functions[function.index()]);
            }
            _ => _ = effects.obstacles.insert(Obstacle::Outside),
        }
    }

    fn access(
        &self,
        function: FunctionId,
        site: SiteId,
        pointer: &Operand,
        bytes: u64,
        (writes, atomic): (bool, bool),
        effects: &mut Effects,
    ) {
        let targets = self.points_to.of(function, pointer);
        // Of what points to nothing nothing is known.
        if targets.other || targets.places.is_empty() {
            effects.obstacles.insert(Obstacle::Address);
        }
        for place in targets.places {
            let (Object::Global(global), Some(offset)) = place else {
                effects.obstacles.insert(Obstacle::Address);
                continue;
            };
            let of = self.program.global(global);
            let end = offset.checked_add(bytes);
            let fits = end.is_some_and(|end| end <= self.program.shape_bytes(of.shape));
            match fits && !of.thread_local {
                // Nobody writes it, so that nobody notices.
                true if of.constant && !writes => {}
                true if !of.constant => {
                    effects.accesses.insert(Access { global, offset, bytes, writes, atomic, site });
                }
                _ => _ = effects.obstacles.insert(Obstacle::Address),
            }
        }
    }

    fn bytes(&self, function: FunctionId, operand: &Operand) -> u32 {
        match operand {
            Operand::Value(value) => self.program.function(function).value(*value).ty.bytes(),
            Operand::Const { width, .. } => width.bytes(),
            Operand::Unknown(ty) => ty.bytes(),
            Operand::Null | Operand::Global(_) | Operand::Function(_) => Type::Ptr.bytes(),
        }
    }
}
