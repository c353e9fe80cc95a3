//! Checked program to program IR.
//!
//! Shared variables become globals, locals become SSA values ([`ssa`]), so that exactly the accesses of
//! shared memory are loads and stores. What C leaves open is fixed: operands are evaluated from left to right,
//! and an assignment finds its target's address before its value.

mod atomics;
mod condition;
mod expression;
mod final_condition;
mod finish;
mod ssa;
mod statement;

use crate::Span;
use crate::typed::{self, Constant, Content};
use crate::types::Type;
use ir::{
    FileId, Function, Global, GlobalId, Initial, Position, Program, Relocation, RelocationTarget, ResultDef,
    Shape, ShapeId, SourceFile, Symbol, ThreadStart,
};
use ssa::{Builder, Variable};
use std::collections::HashMap;

/// How a program is lowered.
#[derive(Clone, Debug)]
pub struct LowerOptions {
    /// How often the body of a loop may run whose program gives no bound.
    pub loop_bound: u32,
    /// What the program is called in messages.
    pub name: String,
    /// The path of its source.
    pub path: String,
}

impl Default for LowerOptions {
    fn default() -> LowerOptions {
        LowerOptions { loop_bound: 1000, name: String::new(), path: String::new() }
    }
}

/// Lowers a checked program.
#[must_use]
pub fn lower(program: &typed::Program, options: &LowerOptions) -> Program {
    let mut shapes = Shapes::default();
    let globals = program.globals.iter().map(|global| lower_global(global, &mut shapes)).collect();
    let mut functions: Vec<Function> = program
        .functions
        .iter()
        .map(|function| FunctionLowering::new(program, options, &mut shapes).function(function))
        .collect();
    let threads = program
        .threads
        .iter()
        .map(|t| ThreadStart { name: t.name.as_str().into(), function: t.function, main: t.main })
        .collect();
    let final_condition = program.final_condition.as_ref().map(|condition| {
        let (function, lowered) =
            final_condition::lower(program, options, &mut shapes, condition, functions.len());
        functions.push(function);
        lowered
    });
    Program {
        name: options.name.clone(),
        files: vec![SourceFile { path: options.path.clone() }],
        shapes: shapes.list,
        globals,
        functions,
        threads,
        final_condition,
    }
}

/// The shapes of a program, each once.
#[derive(Default)]
struct Shapes {
    list: Vec<Shape>,
    known: HashMap<Shape, ShapeId>,
}

impl Shapes {
    fn shape(&mut self, shape: Shape) -> ShapeId {
        *self.known.entry(shape).or_insert_with_key(|shape| {
            self.list.push(shape.clone());
            ShapeId::new(self.list.len() - 1)
        })
    }

    fn of_type(&mut self, ty: Type) -> ShapeId {
        match ty {
            Type::Int(int) => {
                let bytes = int.width().bytes() as u8;
                self.shape(Shape::Int { bytes, signed: int.signed() })
            }
            Type::Pointer { .. } => {
                let to = ty.pointee().map(|to| self.of_type(to));
                self.shape(Shape::Pointer { to })
            }
            Type::Thread => self.shape(Shape::Int { bytes: 8, signed: false }),
        }
    }
}

fn lower_global(global: &typed::Global, shapes: &mut Shapes) -> Global {
    let (element, initial) = match &global.content {
        Content::Shared { ty, initial, .. } => (shapes.of_type(*ty), initial_bytes(*ty, initial)),
        Content::Sync { kind, initial } => {
            (shapes.shape(Shape::Sync(*kind)), Initial::Sync { kind: *kind, count: *initial })
        }
    };
    let shape = match global.count {
        Some(count) => shapes.shape(Shape::Array { element, count }),
        None => element,
    };
    Global {
        name: global.name.as_str().into(),
        shape,
        initial,
        thread_local: false,
        constant: false,
        position: position(global.span),
    }
}

fn initial_bytes(ty: Type, values: &[Constant]) -> Initial {
    let size = ty.bytes() as usize;
    let (mut bytes, mut relocations) = (vec![], vec![]);
    for (n, value) in values.iter().enumerate() {
        match value {
            Constant::Int(value) => bytes.extend_from_slice(&value.to_le_bytes()[..size]),
            Constant::Null => bytes.extend_from_slice(&[0; 8]),
            Constant::Address { global, offset } => {
                let target = RelocationTarget::Global(*global);
                relocations.push(Relocation { offset: (n * size) as u64, target, addend: *offset });
                bytes.extend_from_slice(&[0; 8]);
            }
        }
    }
    if bytes.iter().all(|byte| *byte == 0) && relocations.is_empty() {
        Initial::Zero
    } else {
        Initial::Bytes { bytes, relocations }
    }
}

/// Where something stands, unless it stands in no text.
fn position(span: Span) -> Option<Position> {
    (span.line > 0).then_some(Position { file: FileId(0), line: span.line, column: span.column })
}

/// A loop that is being lowered.
struct Loop {
    head: ir::BlockId,
    exit: ir::BlockId,
    /// How many transactions were open when it began.
    transactions: usize,
}

/// The state while one function is lowered.
struct FunctionLowering<'a> {
    program: &'a typed::Program,
    options: &'a LowerOptions,
    shapes: &'a mut Shapes,
    builder: Builder,
    /// The variable of each local.
    variables: Vec<Variable>,
    loops: Vec<Loop>,
    /// How many transactions are open.
    transactions: usize,
    /// What the function returns when it falls off its end or says `return;`.
    observed: Vec<Variable>,
    returns: Option<Type>,
    /// The value that a compound assignment has read.
    old: Option<ir::Operand>,
}

impl<'a> FunctionLowering<'a> {
    fn new(program: &'a typed::Program, options: &'a LowerOptions, shapes: &'a mut Shapes) -> Self {
        FunctionLowering {
            program,
            options,
            shapes,
            builder: Builder::new(),
            variables: vec![],
            loops: vec![],
            transactions: 0,
            observed: vec![],
            returns: None,
            old: None,
        }
    }

    fn function(mut self, function: &typed::Function) -> Function {
        for (n, local) in function.locals.iter().enumerate() {
            let variable = self.builder.variable(local.ty.lowered(), Some(&local.name));
            self.variables.push(variable);
            if n < function.parameters {
                self.builder.parameter(variable);
            }
        }
        self.returns = function.returns;
        self.observed = function.observed.iter().map(|local| self.variables[local.index()]).collect();
        self.statements(&function.body);
        self.leave(None, position(function.end));
        let mut results: Vec<ResultDef> = function
            .returns
            .iter()
            .map(|ty| ResultDef { ty: ty.lowered(), name: None, signed: ty.signed() })
            .collect();
        results.extend(function.observed.iter().map(|local| {
            let local = &function.locals[local.index()];
            let name: Symbol = local.name.as_str().into();
            ResultDef { ty: local.ty.lowered(), name: Some(name), signed: local.ty.signed() }
        }));
        let (values, parameters, blocks) = self.builder.finish();
        Function {
            name: function.name.as_str().into(),
            parameters,
            results,
            values,
            blocks,
            position: position(function.span),
        }
    }

    /// The type of the values that a global holds; objects of synchronisation count 8 bytes.
    fn element_bytes(&self, global: GlobalId) -> i64 {
        match &self.program.globals[global.index()].content {
            Content::Shared { ty, .. } => ty.bytes() as i64,
            Content::Sync { .. } => ir::SyncKind::BYTES as i64,
        }
    }
}
