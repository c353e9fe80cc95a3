//! The program IR: one small SSA form that holds model programs and compiled code alike.
//!
//! A [`Program`] has shapes (how memory is laid out and what its parts are called), globals, functions
//! and the threads that exist from the start. Values are typed by bit width; floats and vectors are
//! opaque. Every instruction has a source position and may have a label, and is known across the program
//! by its [`SiteId`]. The IR has a text form ([`print()`] and [`parse`](fn@parse)) and a verifier ([`verify`](fn@verify)).
//!
//! The static view is what makes prediction exact: events in a trace name a site, and the expressions
//! between two events are rebuilt by walking this IR (AV §1: "both the execution trace and the program
//! source code"; PRUNE §5 needs the untaken branches).

pub mod analysis;
mod dominators;
pub mod eval;
mod failing;
mod ids;
mod instruction;
mod operands;
mod program;
mod shape;
mod sync_op;
mod text;
mod types;
mod verify;

pub use failing::{failing_call, is_assertion_failure};
pub use ids::{BlockId, FileId, FunctionId, GlobalId, ShapeId, SiteId, ValueId};
pub use instruction::{
    BinaryOp, Callee, CastKind, CheckKind, Instruction, Op, Operand, Order, Predicate, Terminator, UpdateOp,
};
pub use program::{
    Block, FinalCondition, Function, Global, Initial, Observed, Parameter, Position, Program, Quantifier,
    Relocation, RelocationTarget, ResultDef, SiteIndex, SitePlace, SourceFile, Symbol, ThreadStart,
    ValueInfo,
};
pub use shape::{Field, Shape, SyncKind};
pub use sync_op::SyncOp;
pub use text::{ParseError, parse, print};
pub use types::{Type, Width};
pub use verify::{VerifyError, verify};
