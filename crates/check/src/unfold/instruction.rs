//! What each instruction computes, and which events it makes.

use super::access::How;
use super::memory::{self, Heap};
use super::value::{Value, union};
use super::walk::{Path, Place, Values, Walker};
use crate::event::{Action, BlockId, ThreadIndex};
use crate::{Error, Result};
use ir::{BinaryOp, Callee, CheckKind, Op, Predicate, Type, Width};

/// Most cells of one allocation.
const MAX_CELLS: u128 = 1000;

impl Walker<'_, '_> {
    /// Does an instruction that is neither a phi nor a call.
    pub fn instruction(&mut self, place: Place<'_>, path: &mut Path, values: &mut Values) -> Result<()> {
        let instruction = place.instruction;
        let unsupported =
            |what: &str| Error::Unsupported { what: what.to_owned(), position: instruction.position };
        let result = instruction.results.first().copied();
        let function_types = |walker: &Self, id: ir::ValueId| walker.type_of(place, id);
        let computed = match &instruction.op {
            Op::Binary { op, lhs, rhs } => {
                let (a, b) = (self.operand(values, lhs)?, self.operand(values, rhs)?);
                let (value, faults) = self.builder.terms.binary(*op, &a, &b)?;
                let fine = self.builder.terms.not(faults)?;
                self.must(path, place, fine, None, "division by zero")?;
                Some(value)
            }
            Op::Compare { predicate, lhs, rhs } => {
                let (a, b) = (self.operand(values, lhs)?, self.operand(values, rhs)?);
                Some(self.builder.terms.compare(*predicate, &a, &b)?)
            }
            Op::Cast { kind, value } => {
                let value = self.operand(values, value)?;
                let to = result.and_then(|id| function_types(self, id).width());
                let to = to.ok_or_else(|| unsupported("a cast to what is no integer"))?;
                let cast = self.builder.terms.cast(*kind, &value, to)?;
                Some(cast.ok_or_else(|| unsupported("this cast"))?)
            }
            Op::Select { condition, then, otherwise } => {
                let condition = self.operand(values, condition)?;
                let (a, b) = (self.operand(values, then)?, self.operand(values, otherwise)?);
                let flag = self.builder.terms.truth(&condition)?;
                let chosen = self.builder.terms.choose(flag, &a, &b)?;
                Some(Value { sources: union(&chosen.sources, &condition.sources), ..chosen })
            }
            Op::Address { base, offset, terms } => {
                let base = self.operand(values, base)?;
                let mut parts = vec![];
                for (index, stride) in terms {
                    parts.push((self.operand(values, index)?, *stride));
                }
                Some(self.address(&base, *offset, &parts)?)
            }
            Op::Load { pointer, order } => {
                let address = self.operand(values, pointer)?;
                let width = result.and_then(|id| function_types(self, id).width());
                let width = width.ok_or_else(|| unsupported("a read of what is no integer"))?;
                Some(match self.thread {
                    None => self.last(path, &address, width)?,
                    Some(_) => {
                        let how = How { action: Action::Read, width, order: *order, reads: true };
                        self.access(path, place, &address, how, |_, _| Ok(None))?
                    }
                })
            }
            Op::Store { pointer, value, order } => {
                let (address, value) = (self.operand(values, pointer)?, self.operand(values, value)?);
                let how = How { action: Action::Write, width: value.width, order: *order, reads: false };
                self.access(path, place, &address, how, |walker, _| {
                    Ok(Some((value, walker.builder.terms.yes)))
                })?;
                None
            }
            Op::Update { op, pointer, value, order } => {
                let (address, value) = (self.operand(values, pointer)?, self.operand(values, value)?);
                let how =
                    How { action: Action::Update, width: value.width, order: Some(*order), reads: true };
                let old = self.access(path, place, &address, how, |walker, old| {
                    let new = walker.builder.terms.update(*op, old, &value)?;
                    Ok(Some((new, walker.builder.terms.yes)))
                })?;
                Some(old)
            }
            Op::CompareExchange { .. } => {
                return self.compare_exchange(place, path, values);
            }
            Op::Fence { order } => {
                let (event, _) = self.event(path, Action::Fence, Some(place))?;
                self.builder.events[event.index()].order = Some(*order);
                None
            }
            Op::HeapAlloc { shape, count } => {
                let count = self.operand(values, count)?;
                let count = count.constant().filter(|&n| n <= MAX_CELLS);
                let count =
                    count.ok_or_else(|| unsupported("an allocation of so many or of unknown size"))?;
                Some(self.allocate(place, path, *shape, count as u64)?)
            }
            Op::Free { pointer } => {
                let address = self.operand(values, pointer)?;
                self.free(path, place, &address)?;
                None
            }
            Op::Fork { callee: Callee::Function(function), arguments } => {
                let arguments =
                    arguments.iter().map(|a| self.operand(values, a)).collect::<Result<Vec<Value>>>()?;
                Some(self.fork(place, path, *function, arguments)?)
            }
            Op::Sync { op, operands } => {
                let operands =
                    operands.iter().map(|o| self.operand(values, o)).collect::<Result<Vec<Value>>>()?;
                match op {
                    ir::SyncOp::TransactionBegin => {
                        self.enter(place, path)?;
                        None
                    }
                    ir::SyncOp::TransactionEnd => {
                        self.exit(place, path)?;
                        None
                    }
                    _ => self.synchronise(place, path, *op, &operands)?,
                }
            }
            Op::Check { kind, condition } => {
                let condition = self.operand(values, condition)?;
                let computed = self.builder.ruled(crate::Rule::Computation, &condition)?;
                let holds = self.builder.terms.truth(&computed)?;
                path.control = union(&path.control, &condition.sources);
                let what = match kind {
                    CheckKind::Assert => "assertion",
                    CheckKind::Assume => "assumption",
                    CheckKind::Bound => "loop bound",
                };
                self.must(path, place, holds, Some(*kind), what)?;
                None
            }
            Op::Phi { .. } | Op::Call { callee: Callee::Function(_), .. } => None,
            Op::StackAlloc { .. } => return Err(unsupported("memory on the stack")),
            Op::MemoryCopy { .. } | Op::MemorySet { .. } => return Err(unsupported("copying of bytes")),
            Op::Call { .. } | Op::Fork { .. } => return Err(unsupported("a call through an address")),
            Op::Opaque { .. } => return Err(unsupported("an instruction that is not followed")),
        };
        if let (Some(id), Some(value)) = (result, computed) {
            values.insert(id, value);
        }
        Ok(())
    }

    fn type_of(&self, place: Place<'_>, id: ir::ValueId) -> Type {
        let function = self.builder.sites.place(place.site).map_or(ir::FunctionId(0), |p| p.function);
        self.builder.program.function(function).value(id).ty
    }

    fn compare_exchange(&mut self, place: Place<'_>, path: &mut Path, values: &mut Values) -> Result<()> {
        let Op::CompareExchange { pointer, expected, new, success, failure, weak } = &place.instruction.op
        else {
            return Ok(());
        };
        let address = self.operand(values, pointer)?;
        let (expected, new) = (self.operand(values, expected)?, self.operand(values, new)?);
        let how = How { action: Action::Update, width: new.width, order: Some(*success), reads: true };
        let mut succeeds = self.builder.terms.no;
        let old = self.access(path, place, &address, how, |walker, old| {
            let terms = &mut walker.builder.terms;
            succeeds = terms.equals(old, &expected)?;
            if *weak {
                let lucky = terms.solver.bool_var();
                succeeds = terms.and(succeeds, lucky)?;
            }
            Ok(Some((new, succeeds)))
        })?;
        let at = self.builder.events.iter().rposition(|e| matches!(e.action, Action::Update));
        if let Some(at) = at {
            self.builder.events[at].failure_order = Some(*failure);
        }
        let flag = Value::flag(succeeds, union(&old.sources, &expected.sources));
        let flag = self.builder.ruled(crate::Rule::LocalReadValue, &flag)?;
        let results = &place.instruction.results;
        values.extend(results.iter().copied().zip([old, flag]));
        Ok(())
    }

    /// `base + offset + Σ index·stride`, kept inside the piece of memory that the base lies in.
    fn address(&mut self, base: &Value, offset: i64, parts: &[(Value, i64)]) -> Result<Value> {
        let terms = &mut self.builder.terms;
        // Wide enough for any index times its stride.
        let narrow =
            parts.iter().all(|(index, stride)| index.width <= Width::W32 && stride.unsigned_abs() < 1 << 20);
        let width = if narrow { Width::W64 } else { Width::new(128).unwrap_or(Width::W64) };
        let mut by = Value::known(width, ir::eval::cut(width, i128::from(offset)));
        for (index, stride) in parts {
            let index = terms.cast(ir::CastKind::Sext, index, width)?.unwrap_or(Value::known(width, 0));
            let stride = Value::known(width, ir::eval::cut(width, i128::from(*stride)));
            let (step, _) = terms.binary(BinaryOp::Mul, &index, &stride)?;
            by = terms.binary(BinaryOp::Add, &by, &step)?.0;
        }
        let mask = Value::known(Width::W64, u128::from(memory::OFFSET_MASK));
        let (low, _) = terms.binary(BinaryOp::And, base, &mask)?;
        let rest = Value::known(Width::W64, u128::from(!memory::OFFSET_MASK));
        let (high, _) = terms.binary(BinaryOp::And, base, &rest)?;
        let low = terms.cast(ir::CastKind::Zext, &low, width)?.unwrap_or(Value::known(width, 0));
        let (sum, _) = terms.binary(BinaryOp::Add, &low, &by)?;
        let least = Value::known(width, 0);
        let most = Value::known(width, u128::from(memory::OFFSET_MASK));
        let below = terms.compare(Predicate::Slt, &sum, &least)?;
        let above = terms.compare(Predicate::Sgt, &sum, &most)?;
        let (below, above) = (terms.truth(&below)?, terms.truth(&above)?);
        let kept = terms.choose(above, &most, &sum)?;
        let kept = terms.choose(below, &least, &kept)?;
        let kept = terms.cast(ir::CastKind::Trunc, &kept, Width::W64)?.unwrap_or(Value::known(Width::W64, 0));
        let (address, _) = terms.binary(BinaryOp::Or, &high, &kept)?;
        Ok(Value { piece: base.piece, ..address })
    }

    fn allocate(
        &mut self,
        place: Place<'_>,
        path: &mut Path,
        shape: ir::ShapeId,
        count: u64,
    ) -> Result<Value> {
        let program = self.builder.program;
        let thread = self.thread.unwrap_or(ThreadIndex(0));
        let code = self.builder.threads[thread.index()].code;
        let mut found = vec![];
        let bytes = program.shape_bytes(shape);
        for i in 0..count {
            if memory::parts(program, shape, i * bytes, &mut found).is_none() {
                let what = "an allocation of what is no integer or pointer".to_owned();
                return Err(Error::Unsupported { what, position: place.instruction.position });
            }
        }
        let first = Value::known(Width::W64, u128::from(memory::first_allocation(code)));
        let step = Value::known(Width::W64, u128::from(memory::ALLOCATION));
        let terms = &mut self.builder.terms;
        let (distance, _) = terms.binary(BinaryOp::Mul, &path.allocations, &step)?;
        let (base, _) = terms.binary(BinaryOp::Add, &first, &distance)?;
        let one = Value::known(Width::W64, 1);
        path.allocations = terms.binary(BinaryOp::Add, &path.allocations, &one)?.0;
        let exists = path.guard;
        let number = self.builder.memory.heap.len() + 1;
        let mut cells = vec![];
        for (offset, bytes, signed) in found {
            let width = Width::new(bytes * 8).unwrap_or(Width::W64);
            let name = format!("heap{number}+{offset}");
            cells.push((offset, self.builder.cell(name, width, 0, false, signed)?));
        }
        let freed = self.builder.cell(format!("heap{number} freed"), Width::W1, 0, true, false)?;
        self.builder.memory.heap.push(Heap { base: base.clone(), exists, cells, freed });
        Ok(base)
    }

    fn fork(
        &mut self,
        place: Place<'_>,
        path: &Path,
        function: ir::FunctionId,
        arguments: Vec<Value>,
    ) -> Result<Value> {
        let next = ThreadIndex(self.builder.threads.len() as u32);
        let (event, happens) = self.event(path, Action::Fork(next), Some(place))?;
        let parent = self.thread.unwrap_or(ThreadIndex(0));
        let (threads, events) = (&self.builder.threads, &self.builder.events);
        let forked = |t: &&super::Thread| t.forked_by.is_some_and(|by| events[by.index()].thread == parent);
        let number = threads.iter().filter(forked).count() as u64 + 1;
        // Threads that exist from the start are children of the main thread, before those that it forks.
        let code = threads[parent.index()].code;
        let older = match code {
            memory::MAIN => {
                threads.iter().filter(|t| t.forked_by.is_none() && t.code != memory::MAIN).count() as u64
            }
            _ => 0,
        };
        let own = format!("{}#{number}", self.builder.program.function(function).name);
        let name = if code == memory::MAIN { own } else { format!("{}/{own}", threads[parent.index()].name) };
        let thread =
            self.builder.new_thread(name, Some(event), happens, memory::child(code, older + number))?;
        self.builder.waiting.push_back((thread, function, arguments));
        Ok(Value::known(Width::W64, u128::from(thread.0) + 1))
    }

    fn enter(&mut self, place: Place<'_>, path: &mut Path) -> Result<()> {
        path.block = match path.block {
            Some((outer, depth)) => Some((outer, depth + 1)),
            None => {
                let block = BlockId(self.builder.blocks.len() as u32);
                let thread = self.thread.unwrap_or(ThreadIndex(0));
                let position = place.instruction.position;
                self.builder.blocks.push(super::AtomicBlock { thread, position });
                path.block = Some((block, 1));
                self.event(path, Action::Enter(block), Some(place))?;
                Some((block, 1))
            }
        };
        Ok(())
    }

    fn exit(&mut self, place: Place<'_>, path: &mut Path) -> Result<()> {
        path.block = match path.block {
            Some((block, 1)) => {
                self.event(path, Action::Exit(block), Some(place))?;
                None
            }
            Some((block, depth)) => Some((block, depth - 1)),
            None => None,
        };
        Ok(())
    }
}
