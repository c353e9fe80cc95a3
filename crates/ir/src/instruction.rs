//! Instructions and terminators.

use crate::{BlockId, FunctionId, GlobalId, Position, ShapeId, Symbol, SyncOp, Type, ValueId, Width};
use serde::{Deserialize, Serialize};

/// What an instruction works on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Operand {
    /// An SSA value of the function.
    Value(ValueId),
    /// An integer constant; `bits` has no bit set above `width`.
    Const {
        /// Its width.
        width: Width,
        /// Its bits.
        bits: u128,
    },
    /// The null address.
    Null,
    /// The address of a global.
    Global(GlobalId),
    /// The address of a function.
    Function(FunctionId),
    /// A value that nothing is known of: undefined, or a constant that is not an integer.
    Unknown(Type),
}

impl Operand {
    /// An integer constant, cut to its width.
    #[must_use]
    pub fn int(width: Width, value: i128) -> Operand {
        Operand::Const { width, bits: (value as u128) & width.mask() }
    }
}

/// Arithmetic on two integers of one width; results wrap.
///
/// Where C or LLVM leave the result undefined, this is what it means here: a shift by the width or more
/// gives 0 (or all sign bits for `Ashr`), the smallest integer divided by -1 is itself with remainder 0.
/// Division by zero is a fault.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    Shl,
    Lshr,
    Ashr,
    And,
    Or,
    Xor,
}

/// A comparison of two integers or two addresses; the result is one bit.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Predicate {
    Eq,
    Ne,
    Ult,
    Ule,
    Ugt,
    Uge,
    Slt,
    Sle,
    Sgt,
    Sge,
}

/// A change of type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum CastKind {
    /// Keep the low bits.
    Trunc,
    /// Widen with zeros.
    Zext,
    /// Widen with the sign.
    Sext,
    /// Address to integer, cut or widened with zeros.
    PtrToInt,
    /// Integer to address, cut or widened with zeros.
    IntToPtr,
    /// The same bytes as another type, one side opaque: the result is not followed.
    Reinterpret,
}

/// The memory order of an atomic access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "C11's names")]
pub enum Order {
    Relaxed,
    Acquire,
    Release,
    AcqRel,
    SeqCst,
}

impl Order {
    /// Whether a read with this order acquires.
    #[must_use]
    pub fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::AcqRel | Order::SeqCst)
    }

    /// Whether a write with this order releases.
    #[must_use]
    pub fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcqRel | Order::SeqCst)
    }
}

/// What an atomic read-modify-write does with the old value and its operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub enum UpdateOp {
    Exchange,
    Add,
    Sub,
    And,
    Nand,
    Or,
    Xor,
    SMax,
    SMin,
    UMax,
    UMin,
}

/// Who is called.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Callee {
    /// A function of this program.
    Function(FunctionId),
    /// Through an address.
    Indirect(Operand),
    /// A function that this program does not define, by its symbol.
    External(Symbol),
}

/// A condition that a run must satisfy at this point.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum CheckKind {
    /// If false the run fails.
    Assert,
    /// If false the run is not looked at: the thread stops here, and the run is discarded.
    Assume,
    /// If false a loop has gone round more often than its bound: the thread stops here, and the run is
    /// cut. Passing it is no event.
    Bound,
}

/// What an instruction does.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Op {
    /// Integer arithmetic.
    Binary {
        /// Which.
        op: BinaryOp,
        /// Left operand.
        lhs: Operand,
        /// Right operand.
        rhs: Operand,
    },
    /// Comparison, one bit.
    Compare {
        /// Which.
        predicate: Predicate,
        /// Left operand.
        lhs: Operand,
        /// Right operand.
        rhs: Operand,
    },
    /// Change of type to that of the result.
    Cast {
        /// How.
        kind: CastKind,
        /// What.
        value: Operand,
    },
    /// `condition ? then : otherwise`, without a branch.
    Select {
        /// One bit.
        condition: Operand,
        /// Value if 1.
        then: Operand,
        /// Value if 0.
        otherwise: Operand,
    },
    /// The value that belongs to the block from which control came. Only at the head of a block.
    Phi {
        /// One value for each predecessor.
        incoming: Vec<(BlockId, Operand)>,
    },
    /// Address arithmetic: `base + offset + Σ index·stride`, indices sign-extended to 64 bits.
    Address {
        /// An address.
        base: Operand,
        /// Constant part in bytes.
        offset: i64,
        /// Variable parts: index and stride in bytes.
        terms: Vec<(Operand, i64)>,
    },
    /// Read memory; the result's type says how many bytes.
    Load {
        /// From where.
        pointer: Operand,
        /// Atomic with this order, or plain.
        order: Option<Order>,
    },
    /// Write memory.
    Store {
        /// To where.
        pointer: Operand,
        /// What.
        value: Operand,
        /// Atomic with this order, or plain.
        order: Option<Order>,
    },
    /// Atomic read-modify-write; the result is the old value.
    Update {
        /// How the new value is made.
        op: UpdateOp,
        /// Where.
        pointer: Operand,
        /// The operand.
        value: Operand,
        /// Its order.
        order: Order,
    },
    /// Atomic compare-and-exchange; the results are the old value and one bit for success.
    CompareExchange {
        /// Where.
        pointer: Operand,
        /// Written only if the old value equals this.
        expected: Operand,
        /// The new value.
        new: Operand,
        /// Order on success.
        success: Order,
        /// Order on failure.
        failure: Order,
        /// May fail though the values are equal.
        weak: bool,
    },
    /// A fence.
    Fence {
        /// Its order.
        order: Order,
    },
    /// Stack memory of this activation; the result is its address.
    StackAlloc {
        /// What is in it.
        shape: ShapeId,
        /// How many of it.
        count: Operand,
    },
    /// Heap memory, zeroed; the result is its address.
    HeapAlloc {
        /// What is in it.
        shape: ShapeId,
        /// How many of it.
        count: Operand,
    },
    /// Give heap memory back.
    Free {
        /// Its address, or null.
        pointer: Operand,
    },
    /// Copy bytes.
    MemoryCopy {
        /// To.
        to: Operand,
        /// From.
        from: Operand,
        /// How many.
        bytes: Operand,
        /// Whether the two may overlap.
        overlap: bool,
    },
    /// Fill bytes.
    MemorySet {
        /// Where.
        to: Operand,
        /// With which byte.
        byte: Operand,
        /// How many.
        bytes: Operand,
    },
    /// Call.
    Call {
        /// Whom.
        callee: Callee,
        /// With what.
        arguments: Vec<Operand>,
    },
    /// Start a thread; the result is its handle, 64 bits.
    Fork {
        /// What it runs.
        callee: Callee,
        /// With what.
        arguments: Vec<Operand>,
    },
    /// Synchronisation.
    Sync {
        /// Which.
        op: SyncOp,
        /// On what.
        operands: Vec<Operand>,
    },
    /// A condition that must hold.
    Check {
        /// What it means if it does not.
        kind: CheckKind,
        /// One bit.
        condition: Operand,
    },
    /// Anything whose result is not followed: float and vector arithmetic, inline assembly.
    Opaque {
        /// What it is, for messages.
        what: Symbol,
        /// What the result depends on.
        operands: Vec<Operand>,
        /// Whether it may read or write memory that others see.
        memory: bool,
    },
}

/// One instruction: what it does, what it defines, where it stands in the source.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Instruction {
    /// The values it defines: none, one, or two for [`Op::CompareExchange`].
    pub results: Vec<ValueId>,
    /// What it does.
    pub op: Op,
    /// Where it comes from.
    pub position: Option<Position>,
    /// The label that the source gives it (`t1`).
    pub label: Option<Symbol>,
}

/// How a block ends.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Terminator {
    /// Go on there.
    Jump(BlockId),
    /// Two ways.
    Branch {
        /// One bit.
        condition: Operand,
        /// If 1.
        then: BlockId,
        /// If 0.
        otherwise: BlockId,
    },
    /// Many ways.
    Switch {
        /// An integer.
        value: Operand,
        /// Where each value leads; no value twice.
        cases: Vec<(u128, BlockId)>,
        /// Where all others lead.
        default: BlockId,
    },
    /// Through an address of a block; which one is known only at run time.
    IndirectJump {
        /// The address.
        address: Operand,
        /// Where it may lead.
        targets: Vec<BlockId>,
    },
    /// A call that may throw.
    Invoke {
        /// Whom.
        callee: Callee,
        /// With what.
        arguments: Vec<Operand>,
        /// What it defines, on the normal way only.
        results: Vec<ValueId>,
        /// After a normal return.
        normal: BlockId,
        /// After an exception.
        unwind: BlockId,
    },
    /// Leave the function with these values, one for each of its results.
    Return(Vec<Operand>),
    /// Leave the function with an exception.
    Resume,
    /// Never reached in a program without undefined behaviour.
    Unreachable,
}

impl Terminator {
    /// The blocks that may follow.
    #[must_use]
    pub fn successors(&self) -> Vec<BlockId> {
        match self {
            Terminator::Jump(to) => vec![*to],
            Terminator::Branch { then, otherwise, .. } => vec![*then, *otherwise],
            Terminator::Switch { cases, default, .. } => {
                cases.iter().map(|&(_, to)| to).chain([*default]).collect()
            }
            Terminator::IndirectJump { targets, .. } => targets.clone(),
            Terminator::Invoke { normal, unwind, .. } => vec![*normal, *unwind],
            Terminator::Return(_) | Terminator::Resume | Terminator::Unreachable => vec![],
        }
    }

    /// The first of the successors that are the same block as this one.
    #[must_use]
    pub fn first_to_the_same(&self, successor: usize) -> usize {
        let all = self.successors();
        let block = all.get(successor);
        all.iter().position(|other| Some(other) == block).unwrap_or(successor)
    }
}
