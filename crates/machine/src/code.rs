//! Program IR made ready to run: operands resolved, control flow flat, phis turned into copies on edges.

use crate::{Unsupported, address};
use ir::{
    BinaryOp, Callee, CastKind, CheckKind, Function, FunctionId, Op, Operand, Order, Predicate, Program,
    ShapeId, SiteId, SyncOp, Terminator, Type, UpdateOp, Width,
};

/// Where an operand comes from.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    Register(u32),
    Constant(u64),
}

/// A way from one block to another, with the copies that its phis ask for; they happen at once.
#[derive(Clone, Debug)]
pub struct Edge {
    pub target: u32,
    pub copies: Box<[(u32, Source)]>,
}

/// One instruction. `Instruction` in `ir` says what each one means.
#[derive(Clone, Debug)]
pub enum Code {
    Binary {
        op: BinaryOp,
        width: Width,
        to: u32,
        lhs: Source,
        rhs: Source,
    },
    Compare {
        predicate: Predicate,
        width: Width,
        to: u32,
        lhs: Source,
        rhs: Source,
    },
    Cast {
        kind: CastKind,
        from: Width,
        width: Width,
        to: u32,
        value: Source,
    },
    Select {
        to: u32,
        condition: Source,
        then: Source,
        otherwise: Source,
    },
    Address {
        to: u32,
        base: Source,
        offset: i64,
        terms: Box<[(Source, Width, i64)]>,
    },
    Load {
        to: u32,
        bytes: u8,
        width: Width,
        pointer: Source,
        order: Option<Order>,
    },
    Store {
        bytes: u8,
        pointer: Source,
        value: Source,
        order: Option<Order>,
    },
    Update {
        op: UpdateOp,
        to: u32,
        width: Width,
        pointer: Source,
        value: Source,
        order: Order,
    },
    CompareExchange {
        old: u32,
        ok: u32,
        width: Width,
        pointer: Source,
        expected: Source,
        new: Source,
        success: Order,
        failure: Order,
    },
    Fence {
        order: Order,
    },
    StackAlloc {
        to: u32,
        shape: ShapeId,
        count: Source,
    },
    HeapAlloc {
        to: u32,
        shape: ShapeId,
        count: Source,
    },
    Free {
        pointer: Source,
    },
    MemoryCopy {
        into: Source,
        from: Source,
        bytes: Source,
    },
    MemorySet {
        into: Source,
        byte: Source,
        bytes: Source,
    },
    Call {
        function: FunctionId,
        arguments: Box<[Source]>,
        results: Box<[u32]>,
    },
    CallIndirect {
        pointer: Source,
        arguments: Box<[Source]>,
        results: Box<[u32]>,
    },
    Fork {
        to: u32,
        function: FunctionId,
        arguments: Box<[Source]>,
    },
    ForkIndirect {
        to: u32,
        pointer: Source,
        arguments: Box<[Source]>,
    },
    Sync {
        op: SyncOp,
        to: Option<u32>,
        operands: Box<[Source]>,
    },
    Check {
        kind: CheckKind,
        condition: Source,
    },
    Jump(Edge),
    Branch {
        condition: Source,
        then: Edge,
        otherwise: Edge,
    },
    Switch {
        value: Source,
        cases: Box<[(u64, Edge)]>,
        default: Edge,
    },
    Return(Box<[Source]>),
    Unreachable,
}

/// A function made ready to run.
#[derive(Clone, Debug)]
pub struct FunctionCode {
    pub code: Box<[Code]>,
    pub sites: Box<[SiteId]>,
    pub registers: u32,
    pub parameters: Box<[u32]>,
    pub results: u32,
    /// For each instruction the registers whose values are still needed when it is about to run.
    pub live: Box<[Box<[u32]>]>,
    /// Those of them that do more than to count how often loops go round.
    pub needed: Box<[Box<[u32]>]>,
}

/// Makes a function ready to run; `first_site` is the site of its first instruction.
pub fn translate(
    program: &Program,
    function: &Function,
    first_site: u32,
) -> Result<FunctionCode, Unsupported> {
    let mut starts = vec![];
    let mut length = 0;
    for block in &function.blocks {
        starts.push(length);
        let phis = block.instructions.iter().filter(|i| matches!(i.op, Op::Phi { .. })).count();
        length += (block.instructions.len() - phis) as u32 + 1;
    }
    let translator = Translator { program, function, starts };
    let (mut code, mut sites, mut site) = (vec![], vec![], first_site);
    for (b, block) in function.blocks.iter().enumerate() {
        for instruction in &block.instructions {
            if !matches!(instruction.op, Op::Phi { .. }) {
                code.push(translator.instruction(instruction)?);
                sites.push(SiteId(site));
            }
            site += 1;
        }
        code.push(translator.terminator(ir::BlockId::new(b), &block.terminator)?);
        sites.push(SiteId(site));
        site += 1;
    }
    let live = crate::liveness::live_before(&code, function.values.len());
    let needed = crate::liveness::needed_before(&code, function.values.len());
    Ok(FunctionCode {
        code: code.into(),
        sites: sites.into(),
        registers: function.values.len() as u32,
        parameters: function.parameters.iter().map(|p| p.value.0).collect(),
        results: function.results.len() as u32,
        live,
        needed,
    })
}

struct Translator<'p> {
    program: &'p Program,
    function: &'p Function,
    starts: Vec<u32>,
}

impl Translator<'_> {
    fn refuse<T>(&self, what: impl Into<String>) -> Result<T, Unsupported> {
        Err(Unsupported { function: self.function.name.to_string(), what: what.into() })
    }

    fn source(&self, operand: Operand) -> Result<Source, Unsupported> {
        Ok(match operand {
            Operand::Value(value) => Source::Register(value.0),
            Operand::Const { width, bits } if width <= Width::W64 => Source::Constant(bits as u64),
            Operand::Const { .. } => return self.refuse("integers wider than 64 bits"),
            Operand::Null => Source::Constant(0),
            Operand::Global(global) => {
                if self.program.global(global).thread_local {
                    return self.refuse("thread-local globals");
                }
                Source::Constant(address::of_global(global))
            }
            Operand::Function(function) => Source::Constant(address::of_function(function)),
            Operand::Unknown(_) => return self.refuse("unknown values"),
        })
    }

    fn sources(&self, operands: &[Operand]) -> Result<Box<[Source]>, Unsupported> {
        operands.iter().map(|&operand| self.source(operand)).collect()
    }

    fn ty(&self, operand: Operand) -> Type {
        match operand {
            Operand::Value(value) => self.function.value(value).ty,
            Operand::Const { width, .. } => Type::Int(width),
            Operand::Unknown(ty) => ty,
            Operand::Null | Operand::Global(_) | Operand::Function(_) => Type::Ptr,
        }
    }

    fn narrow(&self, ty: Type) -> Result<Width, Unsupported> {
        match ty.width() {
            Some(width) if width <= Width::W64 => Ok(width),
            Some(_) => self.refuse("integers wider than 64 bits"),
            None => self.refuse("opaque values (floats, vectors)"),
        }
    }

    fn width(&self, operand: Operand) -> Result<Width, Unsupported> {
        self.narrow(self.ty(operand))
    }

    fn edge(&self, from: ir::BlockId, to: ir::BlockId) -> Result<Edge, Unsupported> {
        let mut copies = vec![];
        for instruction in &self.function.block(to).instructions {
            let Op::Phi { incoming } = &instruction.op else { break };
            let value = incoming.iter().find(|(block, _)| *block == from);
            if let (Some(&(_, value)), Some(result)) = (value, instruction.results.first()) {
                copies.push((result.0, self.source(value)?));
            }
        }
        Ok(Edge { target: self.starts[to.index()], copies: copies.into() })
    }

    fn instruction(&self, instruction: &ir::Instruction) -> Result<Code, Unsupported> {
        let to = instruction.results.first().map_or(0, |value| value.0);
        let result_width = || match instruction.results.first() {
            Some(&value) => self.narrow(self.function.value(value).ty),
            None => self.refuse("instructions without their result"),
        };
        let results = || instruction.results.iter().map(|value| value.0).collect();
        Ok(match &instruction.op {
            Op::Phi { .. } => return self.refuse("phis behind other instructions"),
            Op::Binary { op, lhs, rhs } => {
                let (lhs_source, rhs_source) = (self.source(*lhs)?, self.source(*rhs)?);
                Code::Binary { op: *op, width: self.width(*lhs)?, to, lhs: lhs_source, rhs: rhs_source }
            }
            Op::Compare { predicate, lhs, rhs } => {
                let width = self.width(*lhs)?;
                Code::Compare {
                    predicate: *predicate,
                    width,
                    to,
                    lhs: self.source(*lhs)?,
                    rhs: self.source(*rhs)?,
                }
            }
            Op::Cast { kind: CastKind::Reinterpret, .. } => return self.refuse("reinterpreted values"),
            Op::Cast { kind, value } => {
                let (from, width) = (self.width(*value)?, result_width()?);
                Code::Cast { kind: *kind, from, width, to, value: self.source(*value)? }
            }
            Op::Select { condition, then, otherwise } => {
                result_width()?;
                let (then, otherwise) = (self.source(*then)?, self.source(*otherwise)?);
                Code::Select { to, condition: self.source(*condition)?, then, otherwise }
            }
            Op::Address { base, offset, terms } => {
                let terms = terms.iter().map(|&(i, stride)| Ok((self.source(i)?, self.width(i)?, stride)));
                let terms = terms.collect::<Result<_, Unsupported>>()?;
                Code::Address { to, base: self.source(*base)?, offset: *offset, terms }
            }
            Op::Load { pointer, order } => {
                let width = result_width()?;
                let bytes = width.bytes() as u8;
                Code::Load { to, bytes, width, pointer: self.source(*pointer)?, order: *order }
            }
            Op::Store { pointer, value, order } => {
                let bytes = self.width(*value)?.bytes() as u8;
                Code::Store {
                    bytes,
                    pointer: self.source(*pointer)?,
                    value: self.source(*value)?,
                    order: *order,
                }
            }
            Op::Update { op, pointer, value, order } => {
                let (width, pointer) = (self.width(*value)?, self.source(*pointer)?);
                Code::Update { op: *op, to, width, pointer, value: self.source(*value)?, order: *order }
            }
            Op::CompareExchange { pointer, expected, new, success, failure, weak: _ } => {
                let [old, ok] = instruction.results[..] else {
                    return self.refuse("compare-exchange without its two results");
                };
                Code::CompareExchange {
                    old: old.0,
                    ok: ok.0,
                    width: self.width(*expected)?,
                    pointer: self.source(*pointer)?,
                    expected: self.source(*expected)?,
                    new: self.source(*new)?,
                    success: *success,
                    failure: *failure,
                }
            }
            Op::Fence { order } => Code::Fence { order: *order },
            Op::StackAlloc { shape, count } => {
                Code::StackAlloc { to, shape: *shape, count: self.source(*count)? }
            }
            Op::HeapAlloc { shape, count } => {
                Code::HeapAlloc { to, shape: *shape, count: self.source(*count)? }
            }
            Op::Free { pointer } => Code::Free { pointer: self.source(*pointer)? },
            Op::MemoryCopy { to: into, from, bytes, overlap: _ } => {
                let (into, from) = (self.source(*into)?, self.source(*from)?);
                Code::MemoryCopy { into, from, bytes: self.source(*bytes)? }
            }
            Op::MemorySet { to: into, byte, bytes } => {
                let (into, byte) = (self.source(*into)?, self.source(*byte)?);
                Code::MemorySet { into, byte, bytes: self.source(*bytes)? }
            }
            Op::Call { callee, arguments } => {
                let arguments = self.sources(arguments)?;
                match callee {
                    Callee::Function(function) => {
                        Code::Call { function: *function, arguments, results: results() }
                    }
                    Callee::Indirect(pointer) => {
                        Code::CallIndirect { pointer: self.source(*pointer)?, arguments, results: results() }
                    }
                    Callee::External(name) => {
                        return self.refuse(format!("calls of external functions (`{name}`)"));
                    }
                }
            }
            Op::Fork { callee, arguments } => {
                let arguments = self.sources(arguments)?;
                match callee {
                    Callee::Function(function) => Code::Fork { to, function: *function, arguments },
                    Callee::Indirect(pointer) => {
                        Code::ForkIndirect { to, pointer: self.source(*pointer)?, arguments }
                    }
                    Callee::External(name) => {
                        return self.refuse(format!("threads of external functions (`{name}`)"));
                    }
                }
            }
            Op::Sync { op, operands } => {
                let to = instruction.results.first().map(|value| value.0);
                Code::Sync { op: *op, to, operands: self.sources(operands)? }
            }
            Op::Check { kind, condition } => Code::Check { kind: *kind, condition: self.source(*condition)? },
            Op::Opaque { what, .. } => return self.refuse(format!("opaque operations (`{what}`)")),
        })
    }

    fn terminator(&self, from: ir::BlockId, terminator: &Terminator) -> Result<Code, Unsupported> {
        Ok(match terminator {
            Terminator::Jump(to) => Code::Jump(self.edge(from, *to)?),
            Terminator::Branch { condition, then, otherwise } => Code::Branch {
                condition: self.source(*condition)?,
                then: self.edge(from, *then)?,
                otherwise: self.edge(from, *otherwise)?,
            },
            Terminator::Switch { value, cases, default } => {
                self.width(*value)?;
                let cases = cases.iter().map(|&(bits, to)| Ok((bits as u64, self.edge(from, to)?)));
                let cases = cases.collect::<Result<_, Unsupported>>()?;
                Code::Switch { value: self.source(*value)?, cases, default: self.edge(from, *default)? }
            }
            Terminator::Return(values) => Code::Return(self.sources(values)?),
            Terminator::Unreachable => Code::Unreachable,
            Terminator::IndirectJump { .. } => return self.refuse("indirect jumps"),
            Terminator::Invoke { .. } | Terminator::Resume => return self.refuse("exceptions"),
        })
    }
}
