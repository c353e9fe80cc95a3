//! Building one function in SSA form, on the fly.
//!
//! M. Braun, S. Buchwald, S. Hack, R. Leißa, C. Mallon, A. Zwinkau: *Simple and Efficient Construction of Static
//! Single Assignment Form* (CC 2013). Each block knows the last value of each variable that it assigns; a
//! read that finds none asks the predecessors, and puts a phi where they may differ. A block is *sealed* when
//! all its predecessors are known; reads in an unsealed block (a loop's head) leave a phi whose operands
//! come later. Departures: the recursion through predecessors keeps its own stack, since a source file decides how
//! deep it goes, and phis that turn out to be trivial are removed together at the end.

use ir::{
    Block, BlockId, Instruction, Op, Operand, Parameter, Position, Symbol, Terminator, Type, ValueId,
    ValueInfo,
};
use std::collections::HashMap;

/// A variable that is to become SSA values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Variable(pub(super) u32);

/// A function under construction.
#[derive(Default)]
pub(super) struct Builder {
    values: Vec<ValueInfo>,
    parameters: Vec<Parameter>,
    blocks: Vec<Draft>,
    /// Where instructions go; `None` where control cannot come.
    current: Option<BlockId>,
    /// Blocks in the order in which they were begun, which is that of the source.
    order: Vec<BlockId>,
    variables: Vec<ValueInfo>,
    definitions: HashMap<(Variable, BlockId), Operand>,
    /// The label of the statement that is lowered.
    pub(super) label: Option<Symbol>,
}

/// A block under construction.
#[derive(Default)]
struct Draft {
    phis: Vec<Phi>,
    instructions: Vec<Instruction>,
    terminator: Option<Terminator>,
    position: Option<Position>,
    label: Option<Symbol>,
    predecessors: Vec<BlockId>,
    sealed: bool,
    /// Phis whose operands wait for the predecessors.
    incomplete: Vec<(Variable, usize)>,
}

struct Phi {
    value: ValueId,
    incoming: Vec<(BlockId, Operand)>,
}

impl Builder {
    /// A function whose entry block is open.
    pub(super) fn new() -> Builder {
        let mut builder = Builder::default();
        let entry = builder.block();
        builder.seal(entry);
        builder.begin(entry);
        builder
    }

    pub(super) fn variable(&mut self, ty: Type, name: Option<&str>) -> Variable {
        self.variables.push(ValueInfo { ty, name: name.map(Symbol::from), pointee: None });
        Variable(self.variables.len() as u32 - 1)
    }

    /// A parameter, which is the first value of a variable.
    pub(super) fn parameter(&mut self, variable: Variable) {
        let value = ValueId::new(self.values.len());
        self.values.push(self.variables[variable.0 as usize].clone());
        self.parameters.push(Parameter { value });
        self.write(variable, Operand::Value(value));
    }

    /// A new block that nothing leads to yet.
    pub(super) fn block(&mut self) -> BlockId {
        self.blocks.push(Draft::default());
        BlockId::new(self.blocks.len() - 1)
    }

    /// Whether control can come here.
    pub(super) fn reachable(&self) -> bool {
        self.current.is_some()
    }

    /// Goes on in `block`, unless nothing leads there.
    pub(super) fn begin(&mut self, block: BlockId) {
        let entry = block.index() == 0;
        let reachable = entry || !self.blocks[block.index()].predecessors.is_empty();
        self.current = reachable.then_some(block);
        if reachable {
            self.order.push(block);
        }
    }

    /// Says that all predecessors of `block` are known.
    pub(super) fn seal(&mut self, block: BlockId) {
        self.blocks[block.index()].sealed = true;
        let incomplete = std::mem::take(&mut self.blocks[block.index()].incomplete);
        for (variable, phi) in incomplete {
            for predecessor in self.blocks[block.index()].predecessors.clone() {
                let operand = self.read_in(variable, predecessor);
                self.blocks[block.index()].phis[phi].incoming.push((predecessor, operand));
            }
        }
    }

    /// Ends the current block.
    pub(super) fn end(&mut self, terminator: Terminator, position: Option<Position>, labelled: bool) {
        let Some(current) = self.current.take() else { return };
        for successor in terminator.successors() {
            self.blocks[successor.index()].predecessors.push(current);
        }
        let label = if labelled { self.label.clone() } else { None };
        let draft = &mut self.blocks[current.index()];
        draft.terminator = Some(terminator);
        draft.position = position;
        draft.label = label;
    }

    /// Gives `variable` a value. An operand that has no name yet becomes a version of the variable.
    pub(super) fn write(&mut self, variable: Variable, operand: Operand) {
        let Some(current) = self.current else { return };
        if let Operand::Value(value) = operand {
            let name = &mut self.values[value.index()].name;
            if name.is_none() {
                name.clone_from(&self.variables[variable.0 as usize].name);
            }
        }
        self.definitions.insert((variable, current), operand);
    }

    /// The value of `variable` here.
    pub(super) fn read(&mut self, variable: Variable) -> Operand {
        match self.current {
            Some(current) => self.read_in(variable, current),
            None => Operand::Unknown(self.variables[variable.0 as usize].ty),
        }
    }

    /// The value of `variable` at the end of `block`.
    fn read_in(&mut self, variable: Variable, block: BlockId) -> Operand {
        enum Task {
            Visit(BlockId),
            /// The block has one predecessor, whose value is its own.
            Copy(BlockId, BlockId),
            /// The predecessors' values are the operands of this phi.
            Fill(BlockId, usize),
        }
        let mut tasks = vec![Task::Visit(block)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Visit(at) => {
                    if self.definitions.contains_key(&(variable, at)) {
                        continue;
                    }
                    let draft = &self.blocks[at.index()];
                    if !draft.sealed {
                        let phi = self.phi(variable, at);
                        self.blocks[at.index()].incomplete.push((variable, phi));
                        continue;
                    }
                    match draft.predecessors.as_slice() {
                        // Nothing was assigned on any way from the entry.
                        [] => {
                            let nothing = self.zero(variable);
                            self.definitions.insert((variable, at), nothing);
                        }
                        [only] => {
                            let only = *only;
                            tasks.extend([Task::Copy(at, only), Task::Visit(only)]);
                        }
                        several => {
                            let several = several.to_vec();
                            let phi = self.phi(variable, at);
                            tasks.push(Task::Fill(at, phi));
                            tasks.extend(several.into_iter().map(Task::Visit));
                        }
                    }
                }
                Task::Copy(at, from) => {
                    let operand = self.definition(variable, from);
                    self.definitions.insert((variable, at), operand);
                }
                Task::Fill(at, phi) => {
                    for predecessor in self.blocks[at.index()].predecessors.clone() {
                        let operand = self.definition(variable, predecessor);
                        self.blocks[at.index()].phis[phi].incoming.push((predecessor, operand));
                    }
                }
            }
        }
        self.definition(variable, block)
    }

    fn definition(&self, variable: Variable, block: BlockId) -> Operand {
        let unknown = Operand::Unknown(self.variables[variable.0 as usize].ty);
        self.definitions.get(&(variable, block)).copied().unwrap_or(unknown)
    }

    /// What a variable holds that was never assigned.
    fn zero(&self, variable: Variable) -> Operand {
        match self.variables[variable.0 as usize].ty {
            Type::Int(width) => Operand::int(width, 0),
            Type::Ptr => Operand::Null,
            other => Operand::Unknown(other),
        }
    }

    /// Adds a phi without operands, as the variable's value in the block.
    fn phi(&mut self, variable: Variable, block: BlockId) -> usize {
        let value = ValueId::new(self.values.len());
        self.values.push(self.variables[variable.0 as usize].clone());
        self.definitions.insert((variable, block), Operand::Value(value));
        let phis = &mut self.blocks[block.index()].phis;
        phis.push(Phi { value, incoming: vec![] });
        phis.len() - 1
    }

    /// The type of an operand.
    pub(super) fn type_of(&self, operand: Operand) -> Type {
        match operand {
            Operand::Value(value) => self.values[value.index()].ty,
            Operand::Const { width, .. } => Type::Int(width),
            Operand::Null | Operand::Global(_) | Operand::Function(_) => Type::Ptr,
            Operand::Unknown(ty) => ty,
        }
    }

    /// Adds an instruction with these results. The statement's label goes to instructions that are events.
    pub(super) fn emit(&mut self, op: Op, results: &[Type], position: Option<Position>) -> Vec<ValueId> {
        let Some(current) = self.current else { return vec![ValueId(0); results.len()] };
        let first = self.values.len();
        self.values.extend(results.iter().map(|ty| ValueInfo { ty: *ty, name: None, pointee: None }));
        let results: Vec<ValueId> = (first..self.values.len()).map(ValueId::new).collect();
        let label = if is_event(&op) { self.label.clone() } else { None };
        let instruction = Instruction { results: results.clone(), op, position, label };
        self.blocks[current.index()].instructions.push(instruction);
        results
    }

    /// Ends construction: the values, the parameters and the blocks.
    pub(super) fn finish(self) -> (Vec<ValueInfo>, Vec<Parameter>, Vec<Block>) {
        super::finish::finish(self.into_parts())
    }

    fn into_parts(self) -> super::finish::Parts {
        let mut blocks: Vec<Option<Draft>> = self.blocks.into_iter().map(Some).collect();
        let mut out = vec![];
        for id in self.order {
            // Each block is begun once.
            let Some(draft) = blocks[id.index()].take() else { continue };
            let position = draft.instructions.first().map_or(draft.position, |first| first.position);
            let phis = draft.phis.into_iter().map(|phi| Instruction {
                results: vec![phi.value],
                op: Op::Phi { incoming: phi.incoming },
                position,
                label: None,
            });
            let block = Block {
                instructions: phis.chain(draft.instructions).collect(),
                terminator: draft.terminator.unwrap_or(Terminator::Unreachable),
                position: draft.position,
                label: draft.label,
            };
            out.push((id, block));
        }
        super::finish::Parts { values: self.values, parameters: self.parameters, blocks: out }
    }
}

/// Whether an instruction is a step that is counted as an event.
fn is_event(op: &Op) -> bool {
    matches!(
        op,
        Op::Load { .. }
            | Op::Store { .. }
            | Op::Update { .. }
            | Op::CompareExchange { .. }
            | Op::Fence { .. }
            | Op::HeapAlloc { .. }
            | Op::Free { .. }
            | Op::Fork { .. }
            | Op::Sync { .. }
            | Op::Check { kind: ir::CheckKind::Assert | ir::CheckKind::Assume, .. }
    )
}
