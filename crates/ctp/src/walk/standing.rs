//! Faults that have not happened: when the thread that stands before one could go on.

use super::{Frame, Walk, width_of};
use crate::pure::{compute, is_pure};
use crate::{CtpError, ExprId, PinReason};
use ir::{Op, Operand, Predicate, Width};
use trace::{AllocationId, AllocationOrigin};

impl Walk<'_> {
    /// Notes when what a thread stands before is no fault: a divisor that is not zero, an address where there is memory. All else that
    /// the fault may depend on is taken as recorded.
    pub(super) fn stand_before_fault(
        &mut self,
        t: usize,
        event: &trace::Event,
        frame: Frame,
    ) -> Result<(), CtpError> {
        let program = self.program;
        let block = program.function(frame.function).block(frame.block);
        let Some(instruction) = block.instructions.get(frame.at as usize) else { return Ok(()) };
        let mut operands = vec![];
        instruction.op.for_each_operand(|operand| operands.push(*operand));
        let values = self.operands(t, frame, &operands)?;
        let otherwise = match &instruction.op {
            op if is_pure(op) => {
                let result = instruction.results.first();
                let ty = result.map(|&result| program.function(frame.function).value(result).ty);
                let computed = ty.and_then(|ty| {
                    compute(&mut self.expressions, self.space.compiled, op, &values, width_of(ty))
                });
                computed.and_then(|computed| computed.divisor).map(|divisor| {
                    let zero = self.expressions.int(self.expressions.width(divisor), 0);
                    vec![(self.expressions.compare(Predicate::Ne, divisor, zero), None)]
                })
            }
            Op::Load { pointer, .. } => {
                let result = instruction.results.first();
                let bytes =
                    result.map_or(1, |&result| program.function(frame.function).value(result).ty.bytes());
                Some(self.where_memory_is(t, frame, *pointer, u64::from(bytes), false)?)
            }
            Op::Store { pointer, value, .. }
            | Op::Update { pointer, value, .. }
            | Op::CompareExchange { pointer, new: value, .. } => {
                let bytes = self.type_of(frame, *value).bytes();
                Some(self.where_memory_is(t, frame, *pointer, u64::from(bytes), true)?)
            }
            _ => None,
        };
        match (otherwise, self.standing.last_mut()) {
            (Some(otherwise), Some(standing)) => standing.otherwise = otherwise,
            _ => {
                let why = PinReason::Opaque("what a fault depends on".to_owned());
                self.pin(t, event.id, event.site, &values, why);
            }
        }
        Ok(())
    }

    /// For each piece of memory one bit: an access there is inside of it.
    fn where_memory_is(
        &mut self,
        t: usize,
        frame: Frame,
        pointer: Operand,
        bytes: u64,
        write: bool,
    ) -> Result<Vec<(ExprId, Option<AllocationId>)>, CtpError> {
        let pointer = self.operand(t, frame, pointer)?;
        let trace = self.trace;
        let mut all = vec![];
        for known in &trace.allocations {
            let Some(room) = known.bytes.checked_sub(bytes) else { continue };
            if !self.space.is_plain(known.id, write) {
                continue;
            }
            let base = self.expressions.int(Width::W64, u128::from(known.address));
            let offset = self.expressions.binary(ir::BinaryOp::Sub, pointer, base);
            let room = self.expressions.int(Width::W64, u128::from(room));
            let inside = self.expressions.compare(Predicate::Ule, offset, room);
            let freed = matches!(known.origin, AllocationOrigin::Heap { .. }).then_some(known.id);
            all.push((inside, freed));
        }
        Ok(all)
    }
}
