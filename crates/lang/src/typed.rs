//! The checked program: names resolved, types known, conversions explicit.
//!
//! The checker makes it from the syntax tree, the lowering turns it into program IR; nothing in it can be wrong
//! any more.

use crate::Span;
use crate::types::Type;
use ir::{CheckKind, FunctionId, GlobalId, Order, Predicate, Quantifier, SyncKind, SyncOp, UpdateOp};

/// A local of one function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LocalId(pub u32);

impl LocalId {
    /// The number as an index.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A checked program.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Shared variables and synchronisation objects.
    pub globals: Vec<Global>,
    /// Functions and the bodies of threads.
    pub functions: Vec<Function>,
    /// The threads that exist from the start.
    pub threads: Vec<Thread>,
    /// What is asked of final states.
    pub final_condition: Option<FinalCondition>,
}

/// A shared variable or synchronisation object, or an array of them.
#[derive(Clone, Debug)]
pub struct Global {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
    /// How many elements, if it is an array.
    pub count: Option<u64>,
    /// What it holds.
    pub content: Content,
}

/// What a global holds.
#[derive(Clone, Debug)]
pub enum Content {
    /// Values.
    Shared {
        /// Of this type.
        ty: Type,
        /// Whether plain accesses are atomic.
        atomic: bool,
        /// At the start; zero for the elements after these.
        initial: Vec<Constant>,
    },
    /// Synchronisation objects.
    Sync {
        /// Of this kind.
        kind: SyncKind,
        /// Tokens or parties of each.
        initial: u64,
    },
}

/// A value that is known before the program runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Constant {
    /// An integer, as the number that it stands for.
    Int(i128),
    /// The null address.
    Null,
    /// An address inside a global.
    Address {
        /// Which.
        global: GlobalId,
        /// Bytes from its start.
        offset: i64,
    },
}

/// A function, or the body of a thread.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Where its name is declared.
    pub span: Span,
    /// Its locals; the parameters come first.
    pub locals: Vec<Local>,
    /// How many of the locals are parameters.
    pub parameters: usize,
    /// What it returns.
    pub returns: Option<Type>,
    /// The locals whose final values a final condition asks for.
    pub observed: Vec<LocalId>,
    /// What it does.
    pub body: Block,
    /// Where it ends.
    pub end: Span,
}

/// A local variable.
#[derive(Clone, Debug)]
pub struct Local {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
}

/// A thread that exists from the start.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Its name.
    pub name: String,
    /// What it runs.
    pub function: FunctionId,
    /// Whether it is the main thread.
    pub main: bool,
}

/// A final condition.
#[derive(Clone, Debug)]
pub struct FinalCondition {
    /// How it is meant.
    pub quantifier: Quantifier,
    /// The locals that it reads: index into [`Program::threads`], index into [`Function::observed`]. They are
    /// its locals 0, 1, … in this order.
    pub observed: Vec<(u32, u32)>,
    /// The names and types of these.
    pub locals: Vec<Local>,
    /// The condition.
    pub condition: Expr,
    /// The condition as the formatter writes it.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// Statements in order.
pub type Block = Vec<Statement>;

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// The name of its events.
    pub label: Option<String>,
    /// What it does.
    pub kind: StatementKind,
    /// Where it stands.
    pub span: Span,
}

/// What a statement does.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// Give a local a value.
    Assign(LocalId, Expr),
    /// Write memory.
    Store {
        /// Where.
        place: Place,
        /// What.
        value: Expr,
        /// Atomically, with this order.
        order: Option<Order>,
    },
    /// Read memory, compute from [`ExprKind::Old`], and write back.
    Modify {
        /// Where.
        place: Place,
        /// What is written.
        value: Expr,
    },
    /// Evaluate, and drop the value.
    Evaluate(Expr),
    /// Call a function, and drop its result if it has one.
    Call(FunctionId, Vec<Expr>),
    /// A synchronisation operation; its result, if any, is dropped.
    Sync(SyncOp, Vec<SyncOperand>),
    /// A fence.
    Fence(Order),
    /// Give heap memory back.
    Free(Expr),
    /// A condition that must hold.
    Check(CheckKind, Expr),
    /// Two ways.
    If {
        /// The condition.
        condition: Expr,
        /// If it holds.
        then: Block,
        /// If not.
        otherwise: Block,
    },
    /// A loop.
    While {
        /// The condition.
        condition: Expr,
        /// How often the body may run, if the program says it.
        bound: Option<u32>,
        /// The body.
        body: Block,
    },
    /// Leave the loop.
    Break,
    /// Go on with the loop's condition.
    Continue,
    /// Leave the function.
    Return(Option<Expr>),
    /// Statements with a scope of their own.
    Block(Block),
    /// A transaction, and where it ends.
    Atomic(Block, Span),
}

/// What a synchronisation operation works on.
#[derive(Clone, Debug)]
pub enum SyncOperand {
    /// A synchronisation object, or an element of an array of them.
    Object {
        /// Which.
        global: GlobalId,
        /// Which element.
        index: Option<Expr>,
        /// Where it is written.
        span: Span,
    },
    /// A thread's handle.
    Handle(Expr),
}

/// A piece of memory that holds one value.
#[derive(Clone, Debug)]
pub struct Place {
    /// The address, or of what it is an element.
    pub base: PlaceBase,
    /// Which element.
    pub index: Option<Box<Expr>>,
    /// The type of the value.
    pub ty: Type,
    /// Whether plain accesses are atomic.
    pub atomic: bool,
    /// Where it is written.
    pub span: Span,
}

/// What a place is in.
#[derive(Clone, Debug)]
pub enum PlaceBase {
    /// A global.
    Global(GlobalId),
    /// Where a pointer points.
    Pointer(Box<Expr>),
}

/// An expression. Comparisons and logical operators have type `int`.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// The type of its value.
    pub ty: Type,
    /// Where it stands.
    pub span: Span,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// An integer, as the number that it stands for.
    Int(i128),
    /// The null address.
    Null,
    /// The value of a local.
    Local(LocalId),
    /// The value that [`StatementKind::Modify`] has read.
    Old,
    /// A read of memory, atomic with this order or plain.
    Load(Place, Option<Order>),
    /// An address.
    AddressOf(Place),
    /// `-e`, on the expression's type.
    Negate(Box<Expr>),
    /// `~e`, on the expression's type.
    Complement(Box<Expr>),
    /// `!e`
    Not(Box<Expr>),
    /// Arithmetic on two operands of the expression's type.
    Binary(ir::BinaryOp, Box<Expr>, Box<Expr>),
    /// A shift; the right operand has its own integer type.
    Shift(ir::BinaryOp, Box<Expr>, Box<Expr>),
    /// A comparison of two operands of one type.
    Compare(Predicate, Box<Expr>, Box<Expr>),
    /// `e && e`
    And(Box<Expr>, Box<Expr>),
    /// `e || e`
    Or(Box<Expr>, Box<Expr>),
    /// `e ? e : e`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// Conversion of an integer to the expression's type.
    Convert(Box<Expr>),
    /// A pointer moved by some elements, backwards if the flag says so.
    Offset {
        /// From here.
        pointer: Box<Expr>,
        /// By so many elements.
        index: Box<Expr>,
        /// Backwards.
        back: bool,
    },
    /// A call of a function that returns something.
    Call(FunctionId, Vec<Expr>),
    /// A new thread; the value is its handle.
    Fork(FunctionId, Vec<Expr>),
    /// Heap memory for so many values of this type.
    Alloc(Type, Box<Expr>),
    /// A synchronisation operation with a result.
    Sync(SyncOp, Vec<SyncOperand>),
    /// An atomic read-modify-write; the value is the old one.
    Update {
        /// How.
        op: UpdateOp,
        /// Where.
        place: Place,
        /// The operand.
        value: Box<Expr>,
        /// The order.
        order: Order,
    },
    /// Compare-and-swap; the value is 1 if it has swapped.
    CompareExchange {
        /// Where.
        place: Place,
        /// What must be there.
        expected: Box<Expr>,
        /// What is written.
        new: Box<Expr>,
        /// Order on success.
        success: Order,
        /// Order on failure.
        failure: Order,
        /// The local that takes what is there if it fails.
        found: Option<LocalId>,
        /// Whether it may fail though the value is there.
        weak: bool,
    },
}
