//! What is logged of each function, decided before anything is added to it.

use super::known::{Known, Logged};
use super::private::Private;
use crate::function::Origin;
use crate::llvm::{Kind, Layout, Opcode, Type, TypeKind, Value};
use crate::module::Translated;
use abi::Linkage;
use ir::{BinaryOp, BlockId, Callee, Function, FunctionId, Op, Operand, SiteIndex, SitePlace, Terminator};
use rustc_hash::FxHashSet;

/// What an instruction of LLVM adds to the log.
#[derive(Clone, Copy)]
pub enum Event {
    Load {
        pointer: Value,
        bytes: u64,
    },
    Store {
        pointer: Value,
        bytes: u64,
    },
    Update {
        pointer: Value,
        bytes: u64,
    },
    Exchange {
        pointer: Value,
        bytes: u64,
    },
    Fence,
    Copy,
    Fill,
    /// An object that a call passes by value.
    Passed {
        pointer: Value,
        bytes: u64,
    },
    /// A call; of a function of which it is known what it reads, its number in `abi::model`.
    Call {
        model: Option<u64>,
    },
    Assembly,
    /// A division, which may be a fault.
    Division,
    /// Stack memory that is made in the middle of the function.
    Stack,
    Landing,
    /// Nothing.
    Unlogged,
}

/// What the end of a block adds to the log.
pub enum End {
    Branch {
        condition: Value,
    },
    /// Successors of LLVM's instruction, and their indices in the IR.
    Switch {
        ways: Vec<(u32, u64)>,
    },
    /// A jump to an address.
    Computed,
    Invoke,
    /// Assembly that may jump; it has a site of its own.
    Assembly {
        site: u32,
    },
}

/// The plan for one function.
pub struct Plan {
    /// Its first site.
    pub first: u32,
    /// Its parameters are logged.
    pub entry: bool,
    /// The runtime learns its address.
    pub named: bool,
    /// Stack memory in the first block that others may reach.
    pub stack: Vec<(Value, u32)>,
    pub events: Vec<(Value, u32, Event)>,
    pub ends: Vec<(Value, u32, End)>,
    /// Values that a reader computes to know where control goes.
    pub computed: Vec<Value>,
}

/// The plans for all functions of a module.
pub struct Plans {
    pub functions: Vec<Plan>,
}

/// Makes the plans.
pub fn plans(translated: &Translated) -> Plans {
    let program = &translated.module.program;
    let index = SiteIndex::new(program);
    let ours: FxHashSet<Value> = translated.origins.iter().map(|origin| origin.function).collect();
    let (mut plans, mut logged) = (vec![], vec![]);
    for (f, origin) in translated.origins.iter().enumerate() {
        let linkage = translated.module.functions[f];
        let taken = is_taken(origin.function, &ours);
        let mut planner = Planner {
            function: &program.functions[f],
            id: FunctionId::new(f),
            index: &index,
            origin,
            layout: translated.layout,
            private: Private::default(),
            logged: Logged {
                places: FxHashSet::default(),
                entry: taken || may_be_called_from_outside(origin.function, linkage),
                closed: !taken && linkage == Linkage::Local,
            },
        };
        plans.push(planner.plan(taken || linkage == Linkage::Strong));
        logged.push(planner.logged);
    }
    let known = Known::new(program, &logged);
    for (f, origin) in translated.origins.iter().enumerate() {
        let id = FunctionId::new(f);
        let closed = |callee: FunctionId| logged[callee.index()].closed;
        plans[f].ends = ends(&program.functions[f], id, origin, &index, &known, &logged[f]);
        plans[f].computed = computed(&program.functions[f], origin, closed);
    }
    Plans { functions: plans }
}

/// Whether a function may be called other than by its name from code that is instrumented.
fn is_taken(function: Value, ours: &FxHashSet<Value>) -> bool {
    function.users().any(|user| {
        if !user.is_instruction() {
            // The address of a block is not that of its function, and a function's handler is called by the runtime of C++.
            return !matches!(user.kind(), Kind::Label | Kind::Function);
        }
        let is_call = matches!(user.opcode(), Opcode::LLVMCall | Opcode::LLVMInvoke);
        !is_call
            || user.callee() != function
            || user.arguments().any(|argument| argument == function)
            || function.value_type() != user.called_type()
            || user.called_type().is_variadic()
            || !ours.contains(&user.function())
    })
}

/// Whether code that is not instrumented may call a function though this module does not take its address: `main`, and what
/// another module may pass on, as it does with the functions of C that start threads and compare elements. Members of C++ and
/// functions of Rust, which are many and rarely passed on by another module, are left out; a reader finds them by their address.
fn may_be_called_from_outside(function: Value, linkage: Linkage) -> bool {
    let name = function.symbol();
    name == "main" || linkage == Linkage::Strong && !name.starts_with("_ZN") && !name.starts_with("_R")
}

struct Planner<'p> {
    function: &'p Function,
    id: FunctionId,
    index: &'p SiteIndex,
    origin: &'p Origin,
    layout: Layout,
    private: Private,
    logged: Logged,
}

fn site(index: &SiteIndex, function: FunctionId, block: BlockId, instruction: u32) -> u32 {
    index.site(SitePlace { function, block, instruction }).0
}

impl Planner<'_> {
    fn plan(&mut self, named: bool) -> Plan {
        let (mut stack, mut events) = (vec![], vec![]);
        let mut passed: Option<(Value, u32)> = None;
        for &(value, block, index) in &self.origin.places {
            let op = &self.function.block(block).instructions[index as usize].op;
            let mut site = site(self.index, self.id, block, index);
            let event = match op {
                Op::MemoryCopy { .. } if !is_intrinsic_call(value) => {
                    let from = passed.filter(|&(call, _)| call == value).map_or(0, |(_, next)| next);
                    let argument = self.next_copied(value, from);
                    passed = Some((value, argument.map_or(0, |(n, _)| n + 1)));
                    argument.map_or(Event::Unlogged, |(_, event)| event)
                }
                Op::StackAlloc { .. } if block == BlockId(0) && self.is_open_stack(value) => {
                    stack.push((value, site));
                    continue;
                }
                op => self.event(value, op),
            };
            if let Event::Landing = event {
                site = self::site(self.index, self.id, block, 0);
            }
            let gives = matches!(
                event,
                Event::Load { bytes: ..=8, .. }
                    | Event::Update { bytes: ..=8, .. }
                    | Event::Exchange { bytes: ..=8, .. }
                    | Event::Call { .. }
                    | Event::Assembly
            );
            if gives {
                self.logged.places.insert((block, index));
            }
            events.push((value, site, event));
        }
        for &(value, block) in &self.origin.ends {
            let block_ = self.function.block(block);
            if let Terminator::Invoke { callee, .. } = &block_.terminator
                && is_logged_call(value, callee)
            {
                self.logged.places.insert((block, block_.instructions.len() as u32));
            }
        }
        let first = site(self.index, self.id, BlockId(0), 0);
        Plan { first, entry: self.logged.entry, named, stack, events, ends: vec![], computed: vec![] }
    }

    fn event(&mut self, value: Value, op: &Op) -> Event {
        let opcode = value.opcode();
        match (op, opcode) {
            (Op::Load { .. }, Opcode::LLVMLoad) => {
                self.access(value.operand(0), value.ty(), |pointer, bytes| Event::Load { pointer, bytes })
            }
            (Op::Store { .. }, Opcode::LLVMStore) => {
                let ty = value.operand(0).ty();
                self.access(value.operand(1), ty, |pointer, bytes| Event::Store { pointer, bytes })
            }
            (Op::Update { .. } | Op::Opaque { .. }, Opcode::LLVMAtomicRMW) => {
                let ty = value.operand(1).ty();
                self.access(value.operand(0), ty, |pointer, bytes| Event::Update { pointer, bytes })
            }
            (Op::CompareExchange { .. }, Opcode::LLVMAtomicCmpXchg) => {
                let ty = value.operand(1).ty();
                self.access(value.operand(0), ty, |pointer, bytes| Event::Exchange { pointer, bytes })
            }
            (Op::Fence { .. }, _) => Event::Fence,
            (Op::MemoryCopy { .. }, _) => {
                let hidden =
                    self.private.is_hidden(value.operand(0)) && self.private.is_hidden(value.operand(1));
                if hidden { Event::Unlogged } else { Event::Copy }
            }
            (Op::MemorySet { .. }, _) if !self.private.is_hidden(value.operand(0)) => Event::Fill,
            (Op::Call { callee, .. }, Opcode::LLVMCall) if is_logged_call(value, callee) => {
                let model = match callee {
                    Callee::External(name) => abi::model::number(name).map(|number| number as u64),
                    _ => None,
                };
                Event::Call { model }
            }
            (Op::Binary { op, rhs, .. }, _) if divides(*op) && !matches!(rhs, Operand::Const { .. }) => {
                Event::Division
            }
            (Op::Opaque { .. }, Opcode::LLVMCall) if value.callee().kind() == Kind::Assembly => {
                let nothing = value.ty().kind() == TypeKind::LLVMVoidTypeKind;
                let barrier = nothing && value.callee().is_empty_assembly();
                if barrier { Event::Unlogged } else { Event::Assembly }
            }
            (Op::Opaque { .. }, Opcode::LLVMLandingPad) => Event::Landing,
            (Op::StackAlloc { .. }, _) if self.is_open_stack(value) => Event::Stack,
            _ => Event::Unlogged,
        }
    }

    fn access(&mut self, pointer: Value, ty: Type, event: impl Fn(Value, u64) -> Event) -> Event {
        let bytes = self.layout.store_bytes(ty);
        if bytes == 0 || pointer.ty().address_space() != 0 || self.private.is_hidden(pointer) {
            return Event::Unlogged;
        }
        event(pointer, bytes)
    }

    /// Whether an instruction makes stack memory that others may reach.
    fn is_open_stack(&mut self, value: Value) -> bool {
        value.opcode() == Opcode::LLVMAlloca && !self.private.is_private(value)
    }

    /// The next argument of a call that is passed by value, from this one on, and what it adds to the log.
    fn next_copied(&mut self, call: Value, from: u32) -> Option<(u32, Event)> {
        let mut arguments = (0..).zip(call.arguments()).skip(from as usize);
        let (index, pointer, ty) =
            arguments.find_map(|(index, argument)| Some((index, argument, call.copied_argument(index)?)))?;
        let bytes = self.layout.store_bytes(ty);
        Some(match self.private.is_hidden(pointer) {
            true => (index, Event::Unlogged),
            false => (index, Event::Passed { pointer, bytes }),
        })
    }
}

fn divides(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::UDiv | BinaryOp::SDiv | BinaryOp::URem | BinaryOp::SRem)
}

fn is_intrinsic_call(value: Value) -> bool {
    value.opcode() == Opcode::LLVMCall
        && value.callee().kind() == Kind::Function
        && value.callee().is_intrinsic()
}

/// Whether the result of a call is logged: it goes to code that the module does not define, or may do so.
fn is_logged_call(call: Value, callee: &Callee) -> bool {
    match callee {
        Callee::External(_) | Callee::Indirect(_) => true,
        Callee::Function(_) => call.callee().is_replaceable(),
    }
}

/// What the ends of blocks add, once it is known what a reader can compute.
fn ends(
    function: &Function,
    id: FunctionId,
    origin: &Origin,
    index: &SiteIndex,
    known: &Known,
    logged: &Logged,
) -> Vec<(Value, u32, End)> {
    let mut ends = vec![];
    for &(value, block) in &origin.ends {
        let ir::Block { instructions, terminator, .. } = function.block(block);
        let count = instructions.len() as u32;
        let here = site(index, id, block, count);
        let is_known = |operand: &Operand| known.operand(id, operand);
        let end = match (terminator, value.opcode()) {
            (Terminator::Branch { condition, then, otherwise }, _)
                if then != otherwise && !is_known(condition) =>
            {
                value.condition().map(|condition| End::Branch { condition })
            }
            (Terminator::Switch { value: on, .. }, _) if !is_known(on) => {
                Some(End::Switch { ways: ways(value, terminator) })
            }
            (Terminator::IndirectJump { .. }, Opcode::LLVMIndirectBr) => Some(End::Computed),
            (Terminator::IndirectJump { .. }, Opcode::LLVMCallBr) => {
                let places = origin.places.iter().rev();
                let own = places.into_iter().find(|&&(of, ..)| of == value);
                own.map(|&(_, block, at)| End::Assembly { site: site(index, id, block, at) })
            }
            (Terminator::IndirectJump { .. }, _) => Some(End::Switch { ways: ways(value, terminator) }),
            (Terminator::Invoke { .. }, _) if logged.places.contains(&(block, count)) => Some(End::Invoke),
            _ => None,
        };
        ends.extend(end.map(|end| (value, here, end)));
    }
    ends
}

/// What branches depend on, and what functions get whose branches may depend on it.
fn computed(function: &Function, origin: &Origin, closed: impl Fn(FunctionId) -> bool) -> Vec<Value> {
    let mut values = vec![];
    for &(value, block, index) in &origin.places {
        if let Op::Call { callee: Callee::Function(callee), .. } =
            &function.block(block).instructions[index as usize].op
            && closed(*callee)
        {
            values.extend(value.arguments());
        }
    }
    for &(value, block) in &origin.ends {
        match &function.block(block).terminator {
            Terminator::Branch { .. } => values.extend(value.condition()),
            Terminator::Switch { .. } => values.push(value.operand(0)),
            Terminator::Invoke { callee: Callee::Function(callee), .. } if closed(*callee) => {
                values.extend(value.arguments());
            }
            _ => {}
        }
    }
    values
}

/// One successor of a switch for each block that it may lead to, and the index in the IR of the first that leads there.
fn ways(switch: Value, terminator: &Terminator) -> Vec<(u32, u64)> {
    let blocks = switch.successors();
    let count = blocks.len();
    // In the IR the default comes last.
    let index = |way: usize| match terminator {
        Terminator::Switch { .. } if way == 0 => count - 1,
        Terminator::Switch { .. } => way - 1,
        _ => way,
    };
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|&way| index(way));
    let mut ways: Vec<(u32, u64)> = vec![];
    let mut seen = FxHashSet::default();
    for way in order {
        if seen.insert(blocks[way]) {
            ways.push((way as u32, index(way) as u64));
        }
    }
    ways
}
