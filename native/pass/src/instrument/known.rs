//! Which values a reader of the log can compute.
//!
//! A branch needs no unit if its outcome follows from what the same activation logs: values of loads, results of calls,
//! parameters at the entry, and exact arithmetic on these and on constants. A phi follows because the way of control is known.
//! Parameters of a function that only its module can call follow if they do so at each call. In doubt a value is not known.
//!
//! It is a greatest fixed point: all are taken as known until something says otherwise, so that values that loops carry
//! round are not lost.

use ir::{
    BinaryOp, BlockId, Callee, CastKind, Function, FunctionId, Op, Operand, Program, Terminator, Type,
    ValueId,
};
use rustc_hash::FxHashSet;

/// What the log says of one function.
#[derive(Default)]
pub struct Logged {
    /// The instructions and terminators whose results the log has.
    pub places: FxHashSet<(BlockId, u32)>,
    /// The log has its parameters.
    pub entry: bool,
    /// All its calls are in this module and are known.
    pub closed: bool,
}

/// For each function and each of its values whether it can be computed.
pub struct Known(Vec<Vec<bool>>);

/// Whether the second word of a unit holds all of a value.
fn fits(ty: Type) -> bool {
    matches!(ty, Type::Ptr) || matches!(ty, Type::Int(width) if width.bits() <= 64)
}

impl Known {
    /// Computes it.
    pub fn new(program: &Program, logged: &[Logged]) -> Known {
        let mut known = Known(program.functions.iter().map(|f| vec![true; f.values.len()]).collect());
        for (f, function) in program.functions.iter().enumerate() {
            for parameter in &function.parameters {
                let in_log = logged[f].entry && fits(function.value(parameter.value).ty);
                known.0[f][parameter.value.index()] = in_log || logged[f].closed;
            }
        }
        let mut open: Vec<usize> = (0..program.functions.len()).collect();
        while let Some(f) = open.pop() {
            while known.round(&program.functions[f], f, &logged[f]) {}
            for callee in known.pass_on(program, f, logged) {
                if !open.contains(&callee) {
                    open.push(callee);
                }
            }
        }
        known
    }

    /// Whether an operand can be computed.
    pub fn operand(&self, function: FunctionId, operand: &Operand) -> bool {
        self.is_known(function.index(), operand)
    }

    fn is_known(&self, f: usize, operand: &Operand) -> bool {
        match operand {
            Operand::Value(value) => self.0[f][value.index()],
            Operand::Const { .. } | Operand::Null => true,
            // Where these are, only the run tells.
            Operand::Global(_) | Operand::Function(_) | Operand::Unknown(_) => false,
        }
    }

    fn forget(&mut self, f: usize, value: ValueId) -> bool {
        std::mem::replace(&mut self.0[f][value.index()], false)
    }

    /// Goes once through a function; whether something changed.
    fn round(&mut self, function: &Function, f: usize, logged: &Logged) -> bool {
        let mut changed = false;
        for (b, block) in function.blocks.iter().enumerate() {
            for (index, instruction) in (0..).zip(&block.instructions) {
                let in_log = logged.places.contains(&(BlockId::new(b), index));
                for &result in &instruction.results {
                    let known = match &instruction.op {
                        _ if in_log => fits(function.value(result).ty),
                        op => is_exact(op) && self.all_known(f, op),
                    };
                    changed |= !known && self.forget(f, result);
                }
            }
            let in_log = logged.places.contains(&(BlockId::new(b), block.instructions.len() as u32));
            for &result in block.terminator.results() {
                changed |= !(in_log && fits(function.value(result).ty)) && self.forget(f, result);
            }
        }
        changed
    }

    fn all_known(&self, f: usize, op: &Op) -> bool {
        let mut all = true;
        op.for_each_operand(|operand| all &= self.is_known(f, operand));
        all
    }

    /// Forgets parameters of the functions that `f` calls with what is not known; which functions that changed.
    fn pass_on(&mut self, program: &Program, f: usize, logged: &[Logged]) -> Vec<usize> {
        let mut changed = vec![];
        for block in &program.functions[f].blocks {
            let calls = block.instructions.iter().filter_map(|instruction| match &instruction.op {
                Op::Call { callee: Callee::Function(callee), arguments } => Some((callee, arguments)),
                _ => None,
            });
            let invoke = match &block.terminator {
                Terminator::Invoke { callee: Callee::Function(callee), arguments, .. } => {
                    Some((callee, arguments))
                }
                _ => None,
            };
            for (callee, arguments) in calls.chain(invoke) {
                let to = &program.functions[callee.index()];
                let entry = logged[callee.index()].entry;
                for (argument, parameter) in arguments.iter().zip(&to.parameters) {
                    let in_log = entry && fits(to.value(parameter.value).ty);
                    let known = in_log || self.is_known(f, argument);
                    if !known && self.forget(callee.index(), parameter.value) {
                        changed.push(callee.index());
                    }
                }
            }
        }
        changed
    }
}

/// Whether the result of an instruction follows from its operands, also where the compiler may take what it does as undefined:
/// how far a shift by too much goes is the processor's business.
fn is_exact(op: &Op) -> bool {
    match op {
        Op::Binary { op: BinaryOp::Shl | BinaryOp::Lshr | BinaryOp::Ashr, rhs, .. } => {
            matches!(rhs, Operand::Const { width, bits } if *bits < u128::from(width.bits()))
        }
        Op::Cast { kind, .. } => *kind != CastKind::Reinterpret,
        Op::Binary { .. } | Op::Compare { .. } | Op::Select { .. } | Op::Phi { .. } | Op::Address { .. } => {
            true
        }
        _ => false,
    }
}
