//! The ends of blocks: where control goes, by what is known and by what the log tells.

use super::frame::{Frame, State, Thread};
use super::value::{Reason, Value};
use super::walk::{Frames, Step};
use super::{Item, Walker, What};
use ir::{BlockId, Op, Terminator, ValueId};

impl Walker<'_> {
    pub fn terminator(
        &mut self,
        me: &mut Thread,
        frame: &mut Frame,
        terminator: &Terminator,
        item: &Item,
    ) -> Frames {
        let here = item.site == frame.site();
        let logged = match item.what {
            What::Unit(0, way) if here => Some(way),
            _ => None,
        };
        let (decided, condition) = match terminator {
            Terminator::Jump(to) => {
                self.enter_block(me, frame, *to);
                return Frames::Keep(Step::Silent);
            }
            Terminator::Branch { condition, .. } => {
                let condition = self.operand(me, frame, condition);
                (condition.known.then_some(if condition.bits & 1 == 1 { 0 } else { 1 }), condition)
            }
            Terminator::Switch { value, cases, .. } => {
                let value = self.operand(me, frame, value);
                let case = cases.iter().position(|&(case, _)| case == value.bits).unwrap_or(cases.len());
                (value.known.then_some(case), value)
            }
            Terminator::IndirectJump { address, .. } => (None, self.operand(me, frame, address)),
            Terminator::Invoke { callee, arguments, .. } => return self.call(me, frame, callee, arguments),
            Terminator::Return(values) => {
                let value = values.first().map(|value| self.operand(me, frame, value));
                return Frames::Return(value);
            }
            Terminator::Resume | Terminator::Unreachable => return Frames::Unwind,
        };
        if condition.shared {
            self.statistics.shared_branches += 1;
            if condition.pin != Reason::NONE {
                *self.statistics.counts.pinned_branches.entry(condition.pin).or_default() += 1;
            }
        }
        let ways = terminator.successors();
        let recorded = logged.and_then(|way| usize::try_from(way).ok()).filter(|&way| way < ways.len());
        if let (Some(decided), Some(recorded)) = (decided, recorded)
            && ways[decided] != ways[recorded]
        {
            self.mismatch("the outcome of a branch", decided as u128, recorded as u128, item);
        }
        let Some(way) = recorded.or(decided) else {
            return Frames::Keep(Step::Lost("a branch whose outcome neither follows nor is logged"));
        };
        self.enter_block(me, frame, ways[way]);
        Frames::Keep(if recorded.is_some() { Step::Taken } else { Step::Silent })
    }

    /// Goes into a block; its phis take their values all at once.
    pub fn enter_block(&mut self, me: &Thread, frame: &mut Frame, to: BlockId) {
        let from = frame.block;
        let linked = self.linked;
        let block = linked.program.function(frame.function).block(to);
        let mut taken: Vec<(ValueId, Value)> = vec![];
        for instruction in &block.instructions {
            let Op::Phi { incoming } = &instruction.op else { break };
            let operand = incoming.iter().find(|(block, _)| *block == from);
            if let (Some((_, operand)), Some(&result)) = (operand, instruction.results.first()) {
                taken.push((result, self.operand(me, frame, operand)));
            }
        }
        for (result, value) in &taken {
            frame.values[result.index()] = *value;
        }
        self.go_to(frame, to);
        frame.instruction = block.instructions.iter().take_while(|i| matches!(i.op, Op::Phi { .. })).count();
        frame.state = State::Before;
    }
}
