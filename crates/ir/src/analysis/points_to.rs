//! What pointers may point to, in all runs: by inclusion, without regard to the order of instructions (Andersen 1994), across calls and
//! forks. Memory is told apart by object, and parts of an object are not; addresses keep their offset as long as it is a constant.
//!
//! Compiled programs run beside code that is not here, which may call any of their functions and write whatever it has the address of. So of them
//! only addresses are followed that a function makes itself: what it is given, and what it loads from memory that can change, may be anything.

use crate::{
    Callee, Function, FunctionId, GlobalId, Initial, Op, Operand, Program, RelocationTarget, SiteId,
    SiteIndex, SitePlace, Terminator, ValueId,
};
use std::collections::{BTreeMap, BTreeSet};

/// What memory is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Object {
    /// A global.
    Global(GlobalId),
    /// What an instruction allocates, however often.
    Allocated(SiteId),
}

/// What a value may be the address of.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Targets {
    /// An offset into an object; `None` if it is not a constant, and may then be outside.
    pub places: BTreeSet<(Object, Option<u64>)>,
    /// It may be something else: null, a number, an address that is not followed.
    pub other: bool,
}

impl Targets {
    fn other() -> Targets {
        Targets { places: BTreeSet::new(), other: true }
    }

    fn one(object: Object) -> Targets {
        Targets { places: [(object, Some(0))].into(), other: false }
    }

    /// Takes more in; whether that is something new.
    fn join(&mut self, more: &Targets) -> bool {
        let before = (self.places.len(), self.other);
        self.places.extend(more.places.iter().copied());
        self.other |= more.other;
        before != (self.places.len(), self.other)
    }

    fn moved(&self, by: Option<i64>) -> Targets {
        let at = |offset: Option<u64>| offset?.checked_add_signed(by?);
        Targets {
            places: self.places.iter().map(|&(object, offset)| (object, at(offset))).collect(),
            ..self.clone()
        }
    }
}

/// What all values of a program may point to.
#[derive(Clone, Debug)]
pub struct PointsTo {
    values: Vec<Vec<Targets>>,
    /// What the memory of an object may hold.
    holds: BTreeMap<Object, Targets>,
    results: Vec<Vec<Targets>>,
    changed: bool,
    compiled: bool,
}

impl PointsTo {
    /// Those of a program.
    #[must_use]
    pub fn new(program: &Program) -> PointsTo {
        let mut points_to = PointsTo {
            values: program.functions.iter().map(|f| vec![Targets::default(); f.values.len()]).collect(),
            holds: BTreeMap::new(),
            results: program.functions.iter().map(|f| vec![Targets::default(); f.results.len()]).collect(),
            changed: true,
            compiled: program.threads.is_empty(),
        };
        if points_to.compiled {
            for (n, function) in program.functions.iter().enumerate() {
                for parameter in &function.parameters {
                    points_to.set(FunctionId::new(n), Some(&parameter.value), &Targets::other());
                }
            }
        }
        for (n, global) in program.globals.iter().enumerate() {
            let held = points_to.holds.entry(Object::Global(GlobalId::new(n))).or_default();
            held.other = true;
            if let Initial::Bytes { bytes, relocations } = &global.initial {
                // A pointer variable that starts as an address is never null by itself.
                held.other = bytes.len() as u64 != 8 * relocations.len() as u64
                    || program.shape_bytes(global.shape) != bytes.len() as u64
                    || (points_to.compiled && !global.constant);
                for relocation in relocations {
                    match relocation.target {
                        RelocationTarget::Global(target) => {
                            let offset = u64::try_from(relocation.addend).ok();
                            held.places.insert((Object::Global(target), offset));
                        }
                        RelocationTarget::Function(_) => held.other = true,
                    }
                }
            }
        }
        let sites = SiteIndex::new(program);
        while std::mem::replace(&mut points_to.changed, false) {
            for n in 0..program.functions.len() {
                points_to.function(program, &sites, FunctionId::new(n));
            }
        }
        points_to
    }

    /// What an operand of a function may point to.
    #[must_use]
    pub fn of(&self, function: FunctionId, operand: &Operand) -> Targets {
        match *operand {
            Operand::Value(value) => self.values[function.index()][value.index()].clone(),
            Operand::Global(global) => Targets::one(Object::Global(global)),
            Operand::Const { .. } | Operand::Null | Operand::Function(_) | Operand::Unknown(_) => {
                Targets::other()
            }
        }
    }

    fn set(&mut self, function: FunctionId, value: Option<&ValueId>, targets: &Targets) {
        if let Some(value) = value {
            self.changed |= self.values[function.index()][value.index()].join(targets);
        }
    }

    /// What memory that is pointed to may hold.
    fn load(&self, from: &Targets) -> Targets {
        let mut loaded = Targets { other: from.other, ..Targets::default() };
        for (object, _) in &from.places {
            // Memory that is allocated starts with zeros.
            let held = self.holds.get(object).cloned().unwrap_or_default();
            loaded.join(&held);
            loaded.other |= matches!(object, Object::Allocated(_));
        }
        loaded
    }

    fn store(&mut self, to: &Targets, what: &Targets) {
        if self.compiled {
            return;
        }
        for (object, _) in &to.places {
            self.changed |= self.holds.entry(*object).or_default().join(what);
        }
        if to.other {
            // An address that is not followed may be that of anything.
            let all: Vec<Object> = self.holds.keys().copied().collect();
            for object in all {
                self.changed |= self.holds.entry(object).or_default().join(what);
            }
        }
    }

    fn function(&mut self, program: &Program, sites: &SiteIndex, id: FunctionId) {
        let function: &Function = program.function(id);
        for start in program.threads.iter().filter(|start| start.function == id) {
            debug_assert!(program.function(start.function).parameters.is_empty());
        }
        for (b, block) in function.blocks.iter().enumerate() {
            for (n, instruction) in block.instructions.iter().enumerate() {
                let result = instruction.results.first();
                match &instruction.op {
                    Op::Select { then, otherwise, .. } => {
                        let mut targets = self.of(id, then);
                        targets.join(&self.of(id, otherwise));
                        self.set(id, result, &targets);
                    }
                    Op::Phi { incoming } => {
                        for (_, value) in incoming {
                            self.set(id, result, &self.of(id, value));
                        }
                    }
                    Op::Address { base, offset, terms } => {
                        let constant = terms.iter().try_fold(*offset, |sum, (index, stride)| match index {
                            Operand::Const { width, bits } => {
                                let index = i64::try_from(crate::eval::signed(*width, *bits)).ok()?;
                                sum.checked_add(index.checked_mul(*stride)?)
                            }
                            _ => None,
                        });
                        self.set(id, result, &self.of(id, base).moved(constant));
                    }
                    Op::Load { pointer, .. } => self.set(id, result, &self.load(&self.of(id, pointer))),
                    Op::Store { pointer, value, .. } => {
                        self.store(&self.of(id, pointer), &self.of(id, value))
                    }
                    Op::Update { pointer, value, .. } => {
                        let (to, what) = (self.of(id, pointer), self.of(id, value).moved(None));
                        self.set(id, result, &self.load(&to));
                        self.store(&to, &what);
                    }
                    Op::CompareExchange { pointer, new, .. } => {
                        let (to, what) = (self.of(id, pointer), self.of(id, new));
                        self.set(id, result, &self.load(&to));
                        self.set(id, instruction.results.get(1), &Targets::other());
                        self.store(&to, &what);
                    }
                    Op::MemoryCopy { to, from, .. } => {
                        let what = self.load(&self.of(id, from));
                        self.store(&self.of(id, to), &what);
                    }
                    Op::MemorySet { to, .. } => self.store(&self.of(id, to), &Targets::other()),
                    Op::StackAlloc { .. } | Op::HeapAlloc { .. } => {
                        let place =
                            SitePlace { function: id, block: crate::BlockId::new(b), instruction: n as u32 };
                        let object = Object::Allocated(sites.site(place));
                        self.holds.entry(object).or_default();
                        self.set(id, result, &Targets::one(object));
                    }
                    Op::Call { callee, arguments } => {
                        self.call(program, id, callee, arguments, &instruction.results);
                    }
                    Op::Fork { callee, arguments } => {
                        self.call(program, id, callee, arguments, &[]);
                        self.set(id, result, &Targets::other());
                    }
                    Op::Opaque { memory, operands, .. } => {
                        if *memory {
                            operands
                                .iter()
                                .for_each(|operand| self.store(&self.of(id, operand), &Targets::other()));
                        }
                        instruction
                            .results
                            .iter()
                            .for_each(|value| self.set(id, Some(value), &Targets::other()));
                    }
                    // Numbers; an address in one is not followed.
                    _ => instruction
                        .results
                        .iter()
                        .for_each(|value| self.set(id, Some(value), &Targets::other())),
                }
            }
            match &block.terminator {
                Terminator::Return(values) => {
                    for (n, value) in values.iter().enumerate() {
                        let targets = self.of(id, value);
                        if let Some(known) = self.results[id.index()].get_mut(n) {
                            self.changed |= known.join(&targets);
                        }
                    }
                }
                Terminator::Invoke { callee, arguments, results, .. } => {
                    self.call(program, id, callee, arguments, results);
                }
                _ => {}
            }
        }
    }

    fn call(
        &mut self,
        program: &Program,
        id: FunctionId,
        callee: &Callee,
        arguments: &[Operand],
        results: &[ValueId],
    ) {
        if self.compiled {
            results.iter().for_each(|value| self.set(id, Some(value), &Targets::other()));
            return;
        }
        let arguments: Vec<Targets> = arguments.iter().map(|argument| self.of(id, argument)).collect();
        let callees: Vec<FunctionId> = match callee {
            Callee::Function(function) => vec![*function],
            // Whom an address calls is not followed: it may be anybody.
            Callee::Indirect(_) => (0..program.functions.len()).map(FunctionId::new).collect(),
            Callee::External(_) => vec![],
        };
        for callee in &callees {
            for (parameter, targets) in program.function(*callee).parameters.iter().zip(&arguments) {
                self.set(*callee, Some(&parameter.value), targets);
            }
            for (n, value) in results.iter().enumerate() {
                if let Some(targets) = self.results[callee.index()].get(n).cloned() {
                    self.set(id, Some(value), &targets);
                }
            }
        }
        if !matches!(callee, Callee::Function(function) if !program.function(*function).blocks.is_empty()) {
            // Code that is not here may write anything where it can reach, and give anything back.
            arguments.iter().for_each(|argument| self.store(argument, &Targets::other()));
            results.iter().for_each(|value| self.set(id, Some(value), &Targets::other()));
        }
    }
}
