//! Bringing functions and globals of a module into the numbers of the linked program.

use ir::{
    Callee, FileId, Function, FunctionId, Global, GlobalId, Initial, Op, Operand, Position, Program,
    RelocationTarget, ShapeId, Terminator, Type,
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
                let target = match relocation.target {
                    RelocationTarget::Global(global) => self.globals[global.index()],
                    RelocationTarget::Function(function) => self.functions[function.index()],
                };
                relocation.target = match target {
                    Target::Global(global) => RelocationTarget::Global(global),
                    Target::Function(function) => RelocationTarget::Function(function),
                };
            }
        }
        global
    }

    /// A function.
    pub fn function(&self, function: &Function) -> Function {
        let mut function = function.clone();
        self.position(&mut function.position);
        for shape in function.values.iter_mut().filter_map(|value| value.pointee.as_mut()) {
            *shape = self.shapes[shape.index()];
        }
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

    /// Who is called; an address, which is an operand as others, is already brought over.
    fn callee(&self, callee: &mut Callee) {
        match callee {
            Callee::Function(function) => {
                *callee = match self.functions[function.index()] {
                    Target::Function(function) => Callee::Function(function),
                    Target::Global(global) => Callee::Indirect(Operand::Global(global)),
                }
            }
            Callee::Indirect(_) => {}
            Callee::External(name) => {
                if let Some(&function) = self.callees.get(name) {
                    *callee = Callee::Function(function);
                }
            }
        }
    }

    fn terminator(&self, terminator: &mut Terminator) {
        terminator.for_each_operand_mut(|operand| self.operand(operand));
        if let Terminator::Invoke { callee, .. } = terminator {
            self.callee(callee);
        }
    }

    fn op(&self, op: &mut Op) {
        op.for_each_operand_mut(|operand| self.operand(operand));
        match op {
            Op::StackAlloc { shape, .. } | Op::HeapAlloc { shape, .. } => *shape = self.shapes[shape.index()],
            Op::Call { callee, .. } | Op::Fork { callee, .. } => self.callee(callee),
            _ => {}
        }
    }
}
