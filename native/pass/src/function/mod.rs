//! One function: its blocks in an order in which definitions come before uses, its phis last, its names at the end.
//!
//! Blocks that control never reaches are left out. Several LLVM instructions may become one operand (a `freeze` is what it
//! freezes), and one may become several instructions (constant expressions, exact equivalents of intrinsics).

mod address;
mod bits;
mod call;
mod compute;
mod intrinsic;
mod memory;
mod operand;
mod overflow;
mod terminator;

pub use address::Walk;

use crate::llvm::{Block, Meta, Opcode, Value};
use crate::module::{Translator, Unsupported};
use ir::{
    BlockId, Function, Instruction, Op, Operand, Parameter, Position, ResultDef, Terminator, Type, ValueId,
    ValueInfo,
};
use rustc_hash::{FxHashMap, FxHashSet};

type Result<T> = std::result::Result<T, Unsupported>;

/// The parts of an aggregate that are known: the way to each, and its value.
type Parts = Vec<(Vec<u32>, Operand)>;

/// A function that is being translated.
struct Body<'t> {
    translator: &'t mut Translator,
    values: Vec<ValueInfo>,
    /// What each value of LLVM has become.
    known: FxHashMap<Value, Operand>,
    /// Aggregates whose parts are known.
    parts: FxHashMap<Value, Parts>,
    numbers: FxHashMap<Block, BlockId>,
    blocks: Vec<ir::Block>,
    /// The block that instructions are put into, and their position.
    current: BlockId,
    position: Option<Position>,
    /// Phis: their block and place in it.
    phis: Vec<(BlockId, usize, Value)>,
    /// The variables of the source that allocas hold.
    declared: FxHashMap<Value, Meta>,
    /// The instruction that is being translated.
    instruction: Option<Value>,
    origin: Origin,
}

/// What a translated function comes from.
pub struct Origin {
    /// LLVM's function.
    pub function: Value,
    /// Instructions of LLVM, and where the instructions stand that they have become; one may have become several.
    pub places: Vec<(Value, BlockId, u32)>,
    /// The terminators, and the blocks that they are the end of.
    pub ends: Vec<(Value, BlockId)>,
}

/// Translates a function that the module defines.
pub fn translate(translator: &mut Translator, function: Value) -> Result<(Function, Origin)> {
    let order = reverse_postorder(function);
    let reached: FxHashSet<Block> = order.iter().copied().collect();
    let mut body = Body {
        translator,
        values: vec![],
        known: FxHashMap::default(),
        parts: FxHashMap::default(),
        numbers: FxHashMap::default(),
        blocks: vec![],
        current: BlockId(0),
        position: None,
        phis: vec![],
        declared: FxHashMap::default(),
        instruction: None,
        origin: Origin { function, places: vec![], ends: vec![] },
    };
    for block in function.blocks().filter(|block| reached.contains(block)) {
        body.numbers.insert(block, BlockId::new(body.blocks.len()));
        let terminator = Terminator::Unreachable; // until it is translated
        body.blocks.push(ir::Block { instructions: vec![], terminator, position: None, label: None });
    }
    let mut parameters = vec![];
    for parameter in function.parameters() {
        let Some(ty) = body.translator.ty(parameter.ty())? else {
            return Err(Unsupported("a parameter without a value".to_owned()));
        };
        let value = body.define(ty);
        body.known.insert(parameter, Operand::Value(value));
        parameters.push(Parameter { value });
    }
    let returned = body.translator.ty(function.value_type().returned())?;
    let names = body.variables(&order);
    for &block in &order {
        body.block(block)?;
    }
    body.fill_phis()?;
    body.name_values(names);
    let translated = Function {
        name: function.symbol().into(),
        parameters,
        results: returned.map(|ty| ResultDef { ty, name: None, signed: false }).into_iter().collect(),
        values: body.values,
        blocks: body.blocks,
        position: body.translator.files.function(function),
    };
    Ok((translated, body.origin))
}

/// The blocks that control can reach, each before those that it dominates. Without recursion: functions may have any
/// number of blocks.
fn reverse_postorder(function: Value) -> Vec<Block> {
    let Some(entry) = function.blocks().next() else { return vec![] };
    let mut order = vec![];
    let mut seen = FxHashSet::from_iter([entry]);
    let mut stack = vec![(entry, entry.successors())];
    while let Some((block, successors)) = stack.last_mut() {
        match successors.pop() {
            Some(next) => {
                if seen.insert(next) {
                    stack.push((next, next.successors()));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

impl Body<'_> {
    fn block(&mut self, block: Block) -> Result<()> {
        self.current = self.numbers[&block];
        for instruction in block.instructions() {
            self.position = self.translator.files.instruction(instruction);
            self.instruction = Some(instruction);
            self.instruction(instruction)?;
        }
        self.instruction = None;
        Ok(())
    }

    fn instruction(&mut self, instruction: Value) -> Result<()> {
        match instruction.opcode() {
            Opcode::LLVMPHI => self.phi(instruction),
            Opcode::LLVMRet
            | Opcode::LLVMBr
            | Opcode::LLVMSwitch
            | Opcode::LLVMIndirectBr
            | Opcode::LLVMInvoke
            | Opcode::LLVMCallBr
            | Opcode::LLVMResume
            | Opcode::LLVMUnreachable => {
                let terminator = self.terminator(instruction)?;
                let position = self.position;
                let block = &mut self.blocks[self.current.index()];
                (block.terminator, block.position) = (terminator, position);
                self.origin.ends.push((instruction, self.current));
                Ok(())
            }
            Opcode::LLVMAlloca
            | Opcode::LLVMLoad
            | Opcode::LLVMStore
            | Opcode::LLVMAtomicRMW
            | Opcode::LLVMAtomicCmpXchg
            | Opcode::LLVMFence => self.memory(instruction),
            Opcode::LLVMCall => self.call(instruction),
            Opcode::LLVMExtractValue => self.extract(instruction),
            Opcode::LLVMInsertValue => self.insert(instruction),
            Opcode::LLVMVAArg => {
                let operands = vec![self.operand(instruction.operand(0))?];
                self.opaque(instruction, "va_arg", operands, true)
            }
            Opcode::LLVMLandingPad => self.opaque(instruction, "landingpad", vec![], false),
            Opcode::LLVMCleanupRet
            | Opcode::LLVMCatchRet
            | Opcode::LLVMCatchPad
            | Opcode::LLVMCleanupPad
            | Opcode::LLVMCatchSwitch => Err(Unsupported("exception handling of Windows".to_owned())),
            _ => {
                let operand = self.compute(instruction)?;
                self.known.insert(instruction, operand);
                Ok(())
            }
        }
    }

    /// A new value.
    fn define(&mut self, ty: Type) -> ValueId {
        self.values.push(ValueInfo { ty, name: None, pointee: None });
        ValueId::new(self.values.len() - 1)
    }

    /// Adds an instruction that defines these values.
    fn push(&mut self, results: Vec<ValueId>, op: Op) {
        let position = self.position;
        let instructions = &mut self.blocks[self.current.index()].instructions;
        if let Some(instruction) = self.instruction {
            self.origin.places.push((instruction, self.current, instructions.len() as u32));
        }
        instructions.push(Instruction { results, op, position, label: None });
    }

    /// Adds an instruction with one result.
    fn emit(&mut self, ty: Type, op: Op) -> Operand {
        let value = self.define(ty);
        self.push(vec![value], op);
        Operand::Value(value)
    }

    /// Adds an instruction whose result, if it has one, is not followed.
    fn opaque(&mut self, instruction: Value, what: &str, operands: Vec<Operand>, memory: bool) -> Result<()> {
        let op = Op::Opaque { what: what.into(), operands, memory };
        match self.translator.ty(instruction.ty())? {
            Some(ty) => {
                let operand = self.emit(ty, op);
                self.known.insert(instruction, operand);
            }
            None => self.push(vec![], op),
        }
        Ok(())
    }

    /// The type of an operand.
    fn type_of(&self, operand: &Operand) -> Type {
        match operand {
            Operand::Value(value) => self.values[value.index()].ty,
            Operand::Const { width, .. } => Type::Int(*width),
            Operand::Null | Operand::Global(_) | Operand::Function(_) => Type::Ptr,
            Operand::Unknown(ty) => *ty,
        }
    }

    /// A phi; its incoming values are filled in when all are known.
    fn phi(&mut self, phi: Value) -> Result<()> {
        let Some(ty) = self.translator.ty(phi.ty())? else {
            return Err(Unsupported("a phi without a value".to_owned()));
        };
        let place = self.blocks[self.current.index()].instructions.len();
        self.phis.push((self.current, place, phi));
        let operand = self.emit(ty, Op::Phi { incoming: vec![] });
        self.known.insert(phi, operand);
        Ok(())
    }

    /// One value for each predecessor, however many edges come from it. Constant expressions are computed there.
    fn fill_phis(&mut self) -> Result<()> {
        for (block, place, phi) in std::mem::take(&mut self.phis) {
            let mut values: Vec<(BlockId, Operand)> = vec![];
            for (from, value) in phi.incoming() {
                let Some(&from) = self.numbers.get(&from) else { continue };
                if values.iter().any(|&(known, _)| known == from) {
                    continue;
                }
                self.current = from;
                self.position = self.blocks[from.index()].position;
                values.push((from, self.operand(value)?));
            }
            if let Op::Phi { incoming } = &mut self.blocks[block.index()].instructions[place].op {
                *incoming = values;
            }
        }
        Ok(())
    }

    /// The variables that values belong to, and those that allocas hold.
    fn variables(&mut self, order: &[Block]) -> Vec<(Value, Meta)> {
        let mut names = vec![];
        for instruction in order.iter().flat_map(|block| block.instructions()) {
            for record in instruction.records() {
                names.push((record.value, record.variable));
                if record.declares {
                    self.declared.insert(record.value, record.variable);
                }
            }
        }
        names
    }

    /// Names the values after variables; where several variables have a value, after the first. The type of the variable that
    /// holds the result of a call says what stands there, if the call has allocated it.
    fn name_values(&mut self, names: Vec<(Value, Meta)>) {
        for (value, variable) in names {
            let Some(&Operand::Value(known)) = self.known.get(&value) else { continue };
            let info = &mut self.values[known.index()];
            let name = variable.variable_name();
            if info.name.is_none() && !name.is_empty() {
                info.name = Some(name.into());
            }
            let is_call =
                value.is_instruction() && matches!(value.opcode(), Opcode::LLVMCall | Opcode::LLVMInvoke);
            if info.ty == Type::Ptr && info.pointee.is_none() && is_call {
                info.pointee = variable.variable_type().and_then(|ty| self.translator.shapes.pointee(ty));
            }
        }
    }
}
