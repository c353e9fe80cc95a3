//! The syntax tree: what the source says, before anything is known about its names.
//!
//! Different spellings of one thing (`:=` and `=`, `Lock m;` and `lock(m);`, `=` and `==` in a condition)
//! give one tree. Parentheses are kept, so that the formatter leaves them alone. Two trees are equal when they
//! differ only in spans.

mod operator;

pub use operator::{BinaryOp, UnaryOp};

use crate::Span;
use crate::types::IntType;

/// A name where it is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    /// Its text.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// A whole program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct File {
    /// Its items, in the order of the source.
    pub items: Vec<Item>,
}

/// Something at top level.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// From its first to its last token.
    pub span: Span,
}

/// What an item is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ItemKind {
    /// `atomic int x = 1, *p;`
    Shared {
        /// Whether plain accesses are atomic.
        atomic: bool,
        /// The type before the first name, without stars.
        word: TypeWord,
        /// The variables.
        declarators: Vec<Declarator>,
    },
    /// `mutex m, forks[3];`
    Sync {
        /// Which kind of object.
        kind: ir::SyncKind,
        /// The objects.
        declarators: Vec<Declarator>,
    },
    /// `fn f(int a) -> int { … }`
    Function(Function),
    /// `thread T1 { … }`, or `main { … }` with the name `main`.
    Thread {
        /// What it is called.
        name: Name,
        /// Whether it is the main thread.
        main: bool,
        /// What it does.
        body: Block,
    },
    /// `exists (…)`
    Final {
        /// How it is meant.
        quantifier: ir::Quantifier,
        /// The condition, without the parentheses around it.
        condition: Expr,
    },
}

/// One name of a declaration with what belongs to it alone: `*q[3] = {&x}`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Declarator {
    /// How many stars.
    pub stars: u8,
    /// The name.
    pub name: Name,
    /// `[3]` or `[]`.
    pub array: Option<ArraySize>,
    /// What stands behind `=`.
    pub initial: Option<Initial>,
}

/// The brackets of an array declaration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArraySize {
    /// The number between them, if there is one.
    pub count: Option<Expr>,
    /// From `[` to `]`.
    pub span: Span,
}

/// An initial value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Initial {
    /// `= e`
    Value(Expr),
    /// `= {e, e}`
    List {
        /// The values.
        values: Vec<Expr>,
        /// From `{` to `}`.
        span: Span,
    },
}

/// The word that a type begins with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeWord {
    /// `int`, another way to write `i32`.
    Int,
    /// `i8` … `u64`.
    Sized(IntType),
    /// `local`, an `int` that says that it is not shared.
    Local,
    /// `thread`, a handle.
    Thread,
}

impl TypeWord {
    /// As the source has it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            TypeWord::Int => "int",
            TypeWord::Sized(IntType::I8) => "i8",
            TypeWord::Sized(IntType::I16) => "i16",
            TypeWord::Sized(IntType::I32) => "i32",
            TypeWord::Sized(IntType::I64) => "i64",
            TypeWord::Sized(IntType::U8) => "u8",
            TypeWord::Sized(IntType::U16) => "u16",
            TypeWord::Sized(IntType::U32) => "u32",
            TypeWord::Sized(IntType::U64) => "u64",
            TypeWord::Local => "local",
            TypeWord::Thread => "thread",
        }
    }
}

/// A type where one stands alone: `(u8)`, `alloc(int*)`, `-> int`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeName {
    /// The word.
    pub word: TypeWord,
    /// How many stars behind it.
    pub stars: u8,
    /// Where.
    pub span: Span,
}

/// A function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// What it returns, if anything.
    pub returns: Option<TypeName>,
    /// What it does.
    pub body: Block,
}

/// A parameter of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Its type.
    pub ty: TypeName,
    /// Its name.
    pub name: Name,
}

/// `{ … }`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// What stands in it.
    pub statements: Vec<Statement>,
    /// From `{` to `}`.
    pub span: Span,
    /// The `}`.
    pub end: Span,
}

/// A statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement {
    /// The name of its events.
    pub label: Option<Name>,
    /// What it does.
    pub kind: StatementKind,
    /// From its first token behind the label to its last.
    pub span: Span,
}

/// What a statement does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StatementKind {
    /// `int a = 1, *p;`
    Local {
        /// The type before the first name.
        word: TypeWord,
        /// The locals.
        declarators: Vec<Declarator>,
    },
    /// `a = e;` or `a += e;`
    Assign {
        /// What is assigned to.
        target: Expr,
        /// The operator before `=`.
        op: Option<BinaryOp>,
        /// The value.
        value: Expr,
    },
    /// `a++;` or `a--;`
    Step {
        /// What is changed.
        target: Expr,
        /// Up, or else down.
        up: bool,
    },
    /// A call.
    Call(Expr),
    /// `if (e) S else S`
    If {
        /// The condition.
        condition: Expr,
        /// If it is not 0.
        then: Box<Statement>,
        /// If it is 0.
        otherwise: Option<Box<Statement>>,
    },
    /// `while (e) bound 5 S`
    While {
        /// The condition.
        condition: Expr,
        /// How often the body may run.
        bound: Option<Literal>,
        /// The body.
        body: Box<Statement>,
    },
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `return e;`
    Return(Option<Expr>),
    /// `{ … }`
    Block(Block),
    /// `atomic { … }`
    Atomic(Block),
    /// `skip;`
    Skip,
}

/// An expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// From its first to its last token.
    pub span: Span,
}

/// A literal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Literal {
    /// As the source has it.
    pub text: String,
    /// Its value.
    pub value: u64,
    /// Whether it ends in `u`.
    pub unsigned: bool,
    /// Where.
    pub span: Span,
}

/// What an expression is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExprKind {
    /// `12`
    Literal(Literal),
    /// `null`
    Null,
    /// `x`
    Name(String),
    /// `T1.r1`, in a final condition.
    Observed {
        /// The thread.
        thread: Name,
        /// Its local.
        local: Name,
    },
    /// `(e)`
    Paren(Box<Expr>),
    /// `-e`
    Unary {
        /// The operator.
        op: UnaryOp,
        /// What it is applied to.
        operand: Box<Expr>,
    },
    /// `e + e`
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Left.
        lhs: Box<Expr>,
        /// Right.
        rhs: Box<Expr>,
    },
    /// `e ? e : e`
    Conditional {
        /// The condition.
        condition: Box<Expr>,
        /// If it is not 0.
        then: Box<Expr>,
        /// If it is 0.
        otherwise: Box<Expr>,
    },
    /// `(u8) e`
    Cast {
        /// To what.
        ty: TypeName,
        /// What.
        operand: Box<Expr>,
    },
    /// `a[i]`
    Index {
        /// An array or a pointer.
        base: Box<Expr>,
        /// Which element.
        index: Box<Expr>,
    },
    /// `f(e, e)`; built-in operations too.
    Call {
        /// What is called.
        function: Name,
        /// With what.
        arguments: Vec<Expr>,
    },
    /// `alloc(int, n)`
    Alloc {
        /// What for.
        ty: TypeName,
        /// How many.
        count: Option<Box<Expr>>,
    },
    /// `fork f(e)`
    Fork {
        /// What the new thread runs.
        function: Name,
        /// With what.
        arguments: Vec<Expr>,
    },
}
