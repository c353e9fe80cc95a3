//! Bringing functions and globals of a module into the numbers of the linked program.

use ir::{
    Callee, FileId, Function, FunctionId, Global, GlobalId, Initial, Op, Operand, Position, Program, ShapeId,
    Terminator, Type,
};
use std::collections::{BTreeSet, HashMap};

/// What a function or global of a module has become.
#[derive(Clone, Copy, Debug)]
pub enum Target {
    Function(FunctionId),
    Global(GlobalId),
}

impl Target {
    fn operand(self) -> Operand {
        match self {
            Target::Function(function) => Operand::Function(function),
            Target::Global(global) => Operand::Global(global),
        }
    }
}

/// What the numbers of one module have become.
pub struct Map {
    pub shapes: Vec<ShapeId>,
    pub files: Vec<FileId>,
    pub functions: Vec<Target>,
    pub globals: Vec<Target>,
    /// For each global the one that stands for it in contents.
    pub symbols: Vec<GlobalId>,
    /// External functions that another module defines.
    pub callees: HashMap<Box<str>, FunctionId>,
}

/// The types of a function's parameters and results.
pub type Signature = (Vec<Type>, Vec<Type>);

/// The types that calls of a function must have.
pub fn signature(function: &Function) -> Signature {
    let parameters = function.parameters.iter().map(|parameter| function.value(parameter.value).ty);
    (parameters.collect(), function.results.iter().map(|result| result.ty).collect())
}

/// Whether two functions have the same blocks with the same kinds of instructions, so that the sites of one are those of the other.
pub fn same_outline(one: &Function, other: &Function) -> bool {
    use std::mem::discriminant;
    one.blocks.len() == other.blocks.len()
        && one.blocks.iter().zip(&other.blocks).all(|(one, other)| {
            let kinds = |block: &ir::Block| -> Vec<_> {
                block.instructions.iter().map(|instruction| discriminant(&instruction.op)).collect()
            };
            kinds(one) == kinds(other) && discriminant(&one.terminator) == discriminant(&other.terminator)
        })
}

/// The external functions that a module calls.
pub fn external_callees(program: &Program) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for block in program.functions.iter().flat_map(|function| &function.blocks) {
        for instruction in &block.instructions {
            if let Op::Call { callee: Callee::External(name), .. } = &instruction.op {
                names.insert(&**name);
            }
        }
        if let Terminator::Invoke { callee: Callee::External(name), .. } = &block.terminator {
            names.insert(&**name);
        }
    }
    names
}

/// Calls of functions that are defined with other types than the caller takes them to have, as happens across
/// modules, go through their address, which says nothing of types.
pub fn fit_calls(function: &mut Function, signatures: &[Signature]) {
    let Function { values, blocks, .. } = function;
    let of = |operand: &Operand| match operand {
        Operand::Value(value) => values[value.index()].ty,
        Operand::Const { width, .. } => Type::Int(*width),
        Operand::Null | Operand::Global(_) | Operand::Function(_) => Type::Ptr,
        Operand::Unknown(ty) => *ty,
    };
    let fit = |callee: &mut Callee, arguments: &[Operand], results: &[ir::ValueId]| {
        let Callee::Function(id) = *callee else { return };
        let (parameters, returned) = &signatures[id.index()];
        let given = arguments.iter().map(of);
        let taken = results.iter().map(|value| values[value.index()].ty);
        if !given.eq(parameters.iter().copied()) || !taken.eq(returned.iter().copied()) {
            *callee = Callee::Indirect(Operand::Function(id));
        }
    };
    for block in blocks {
        for instruction in &mut block.instructions {
            if let Op::Call { callee, arguments } = &mut instruction.op {
                fit(callee, arguments, &instruction.results);
            }
        }
        if let Terminator::Invoke { callee, arguments, results, .. } = &mut block.terminator {
            fit(callee, arguments, results);
        }
    }
}

impl Map {
    /// A global.
    pub fn global(&self, global: &Global) -> Global {
        let mut global = global.clone();
        global.shape = self.shapes[global.shape.index()];
        self.position(&mut global.position);
        if let Initial::Bytes { relocations, .. } = &mut global.initial {
            for relocation in relocations {
                relocation.target = self.symbols[relocation.target.index()];
            }
        }
        global
    }

    /// A function.
    pub fn function(&self, function: &Function) -> Function {
        let mut function = function.clone();
        self.position(&mut function.position);
        for block in &mut function.blocks {
            for instruction in &mut block.instructions {
                self.position(&mut instruction.position);
                self.op(&mut instruction.op);
            }
            self.position(&mut block.position);
            self.terminator(&mut block.terminator);
        }
        function
    }

    fn position(&self, position: &mut Option<Position>) {
        if let Some(position) = position {
            position.file = self.files[position.file.index()];
        }
    }

    fn operand(&self, operand: &mut Operand) {
        match *operand {
            Operand::Global(global) => *operand = self.globals[global.index()].operand(),
            Operand::Function(function) => *operand = self.functions[function.index()].operand(),
            Operand::Value(_) | Operand::Const { .. } | Operand::Null | Operand::Unknown(_) => {}
        }
    }

    fn callee(&self, callee: &mut Callee) {
        match callee {
            Callee::Function(function) => {
                *callee = match self.functions[function.index()] {
                    Target::Function(function) => Callee::Function(function),
                    Target::Global(global) => Callee::Indirect(Operand::Global(global)),
                }
            }
            Callee::Indirect(operand) => self.operand(operand),
            Callee::External(name) => {
                if let Some(&function) = self.callees.get(name) {
                    *callee = Callee::Function(function);
                }
            }
        }
    }

    fn terminator(&self, terminator: &mut Terminator) {
        match terminator {
            Terminator::Branch { condition: operand, .. }
            | Terminator::Switch { value: operand, .. }
            | Terminator::IndirectJump { address: operand, .. } => self.operand(operand),
            Terminator::Invoke { callee, arguments, .. } => {
                self.callee(callee);
                arguments.iter_mut().for_each(|operand| self.operand(operand));
            }
            Terminator::Return(values) => values.iter_mut().for_each(|operand| self.operand(operand)),
            Terminator::Jump(_) | Terminator::Resume | Terminator::Unreachable => {}
        }
    }

    fn op(&self, op: &mut Op) {
        let each = |operand: &mut Operand| self.operand(operand);
        match op {
            Op::Binary { lhs, rhs, .. } | Op::Compare { lhs, rhs, .. } => {
                [lhs, rhs].into_iter().for_each(each)
            }
            Op::Cast { value, .. } => self.operand(value),
            Op::Select { condition, then, otherwise } => {
                [condition, then, otherwise].into_iter().for_each(each);
            }
            Op::Phi { incoming } => incoming.iter_mut().for_each(|(_, value)| self.operand(value)),
            Op::Address { base, terms, .. } => {
                self.operand(base);
                terms.iter_mut().for_each(|(index, _)| self.operand(index));
            }
            Op::Load { pointer, .. } | Op::Free { pointer } => self.operand(pointer),
            Op::Store { pointer, value, .. } | Op::Update { pointer, value, .. } => {
                [pointer, value].into_iter().for_each(each);
            }
            Op::CompareExchange { pointer, expected, new, .. } => {
                [pointer, expected, new].into_iter().for_each(each);
            }
            Op::Fence { .. } => {}
            Op::StackAlloc { shape, count } | Op::HeapAlloc { shape, count } => {
                *shape = self.shapes[shape.index()];
                self.operand(count);
            }
            Op::MemoryCopy { to, from, bytes, .. } => [to, from, bytes].into_iter().for_each(each),
            Op::MemorySet { to, byte, bytes } => [to, byte, bytes].into_iter().for_each(each),
            Op::Call { callee, arguments } | Op::Fork { callee, arguments } => {
                self.callee(callee);
                arguments.iter_mut().for_each(each);
            }
            Op::Sync { operands, .. } | Op::Opaque { operands, .. } => operands.iter_mut().for_each(each),
            Op::Check { condition, .. } => self.operand(condition),
        }
    }
}
