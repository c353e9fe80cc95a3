//! Reads that only decide: their value goes into the next branch (or assumption, or assertion) and nowhere else.
//!
//! Rule 4c of AV §3 is about such a read: another value that decides the same way makes no difference. The definition is
//! that of the machine's oracle (`oracle/decision.rs`), to the letter, because the two are compared: from the read to the
//! branch there is only computation, and nothing that was computed from the value is needed behind the branch. Which
//! instructions these are depends on the code alone and is found once for each load; what they compute is an expression
//! with a hole in the place of the value.

use super::{Frame, Walk, width_of};
use crate::pure::{compute, is_pure};
use crate::{CtpError, Decision, ExprId, bytes_width};
use ir::{BlockId, Function, FunctionId, Op, Operand, Predicate, SiteId, Terminator, ValueId};
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// From a load to what it decides: the instructions on the way.
#[derive(Debug)]
pub struct Plan {
    steps: Vec<(BlockId, u32)>,
    /// A check at its index, or a block's end.
    end: (BlockId, u32),
}

/// The values that are needed at the beginning of each block, phis done.
#[derive(Debug)]
pub struct Live(Vec<FxHashSet<ValueId>>);

impl Walk<'_> {
    /// What the load that the top frame has just done decides, if it only decides. The frame stands behind the load.
    pub(super) fn decision(
        &mut self,
        t: usize,
        site: SiteId,
        bytes: u64,
    ) -> Result<Option<Decision>, CtpError> {
        let Some(frame) = self.top(t) else { return Ok(None) };
        let plan = match self.decisions.get(&site) {
            Some(plan) => plan.clone(),
            None => {
                let plan = self.plan(frame).map(Rc::new);
                self.decisions.insert(site, plan.clone());
                plan
            }
        };
        let Some(plan) = plan else { return Ok(None) };
        self.decide(t, frame, &plan, bytes)
    }

    fn decide(
        &mut self,
        t: usize,
        frame: Frame,
        plan: &Plan,
        bytes: u64,
    ) -> Result<Option<Decision>, CtpError> {
        let program = self.program;
        let code = program.function(frame.function);
        let load = &code.block(frame.block).instructions[frame.at as usize - 1];
        let Some(&result) = load.results.first() else { return Ok(None) };
        let hole = self.expressions.hole(bytes_width(bytes as u32));
        let value = self.expressions.resize(hole, width_of(code.value(result).ty));
        // The latest value of a register is the last one in the list.
        let mut computed: Vec<(ValueId, ExprId)> = vec![(result, value)];
        let mut defined = self.expressions.bit(true);
        for &(block, at) in &plan.steps {
            let instruction = &code.block(block).instructions[at as usize];
            let mut operands = vec![];
            instruction.op.for_each_operand(|operand| operands.push(*operand));
            let mut values = vec![];
            for operand in operands {
                values.push(self.decided(t, frame, &computed, operand)?);
            }
            let Some(&to) = instruction.results.first() else { continue };
            let width = width_of(code.value(to).ty);
            let compiled = self.space.compiled;
            let Some(done) = compute(&mut self.expressions, compiled, &instruction.op, &values, width) else {
                return Ok(None);
            };
            if let Some(divisor) = done.divisor {
                let zero = self.expressions.int(self.expressions.width(divisor), 0);
                let divides = self.expressions.compare(Predicate::Ne, divisor, zero);
                defined = self.expressions.and(defined, divides);
            }
            computed.push((to, done.value));
        }
        let (block, at) = plan.end;
        let block = code.block(block);
        let outcome = match (block.instructions.get(at as usize).map(|i| &i.op), &block.terminator) {
            (Some(Op::Check { condition, .. }), _) | (None, Terminator::Branch { condition, .. }) => {
                self.decided(t, frame, &computed, *condition)?
            }
            (None, Terminator::Switch { value, cases, .. }) => {
                let value = self.decided(t, frame, &computed, *value)?;
                let width = self.expressions.width(value);
                let mut outcome = self.expressions.int(ir::Width::W32, cases.len() as u128);
                for (n, &(case, _)) in cases.iter().enumerate().rev() {
                    let (case, n) =
                        (self.expressions.int(width, case), self.expressions.int(ir::Width::W32, n as u128));
                    let here = self.expressions.equal(value, case);
                    outcome = self.expressions.select(here, n, outcome);
                }
                outcome
            }
            _ => return Ok(None),
        };
        let unknown = self.expressions.is_unknown(outcome) || self.expressions.is_unknown(defined);
        Ok((!unknown).then_some(Decision { outcome, defined }))
    }

    fn decided(
        &mut self,
        t: usize,
        frame: Frame,
        computed: &[(ValueId, ExprId)],
        operand: Operand,
    ) -> Result<ExprId, CtpError> {
        if let Operand::Value(value) = operand
            && let Some(&(_, known)) = computed.iter().rev().find(|&&(of, _)| of == value)
        {
            return Ok(known);
        }
        self.operand(t, frame, operand)
    }

    /// The instructions from a load to its decision, if it only decides.
    fn plan(&mut self, frame: Frame) -> Option<Plan> {
        let program = self.program;
        let code = program.function(frame.function);
        let load = code.block(frame.block).instructions.get((frame.at as usize).checked_sub(1)?)?;
        let Op::Load { .. } = load.op else { return None };
        let mut derived: Vec<ValueId> = vec![*load.results.first()?];
        let mut steps = vec![];
        let (mut block, mut at) = (frame.block, frame.at);
        // A way round without an end decides nothing.
        for _ in 0..code.values.len() + code.blocks.len() + 1 {
            let here = code.block(block);
            let uses =
                |operand: &Operand| matches!(operand, Operand::Value(value) if derived.contains(value));
            let Some(instruction) = here.instructions.get(at as usize) else {
                match &here.terminator {
                    Terminator::Jump(to) => {
                        if phis(code, *to).next().is_some() {
                            return None;
                        }
                        (block, at) = (*to, 0);
                        continue;
                    }
                    Terminator::Branch { condition: on, .. } | Terminator::Switch { value: on, .. } => {
                        let live = self.live(frame.function);
                        let needed = here.terminator.successors().into_iter().any(|to| {
                            let mut taken =
                                phis(code, to).filter_map(|(_, incoming)| taken_from(block, incoming));
                            let copied = taken.any(|value| uses(&value));
                            copied || derived.iter().any(|value| live.0[to.index()].contains(value))
                        });
                        return (!needed && uses(on)).then_some(Plan { steps, end: (block, at) });
                    }
                    _ => return None,
                }
            };
            match &instruction.op {
                op if is_pure(op) => {
                    let mut any = false;
                    op.for_each_operand(|operand| any |= uses(operand));
                    let result = *instruction.results.first()?;
                    derived.retain(|&value| value != result);
                    if any {
                        derived.push(result);
                    }
                    steps.push((block, at));
                }
                Op::Phi { .. } => {}
                Op::Check { condition, .. } => {
                    if !uses(condition) {
                        return None;
                    }
                    let live = self.live(frame.function);
                    let behind = live_before(code, &live, block, at as usize + 1);
                    let needed = derived.iter().any(|value| behind.contains(value));
                    return (!needed).then_some(Plan { steps, end: (block, at) });
                }
                _ => return None,
            }
            at += 1;
        }
        None
    }

    fn live(&mut self, function: FunctionId) -> Rc<Live> {
        let program = self.program;
        let code = program.function(function);
        self.live.entry(function).or_insert_with(|| Rc::new(live(code))).clone()
    }
}

/// The phis of a block, with what they take on each way.
fn phis(code: &Function, block: BlockId) -> impl Iterator<Item = (ValueId, &[(BlockId, Operand)])> {
    code.block(block).instructions.iter().map_while(|i| match &i.op {
        Op::Phi { incoming } => Some((*i.results.first()?, incoming.as_slice())),
        _ => None,
    })
}

/// What a phi takes on the way from a block.
fn taken_from(block: BlockId, incoming: &[(BlockId, Operand)]) -> Option<Operand> {
    incoming.iter().find(|(from, _)| *from == block).map(|&(_, value)| value)
}

impl Walk<'_> {
    /// Whether the function needs one of these values, which the instruction that a frame stands at defines.
    pub(super) fn is_needed_behind(&self, frame: Frame, values: &[ValueId]) -> bool {
        let code = self.program.function(frame.function);
        let used = |operand: &Operand| matches!(operand, Operand::Value(value) if values.contains(value));
        !values.is_empty()
            && code.blocks.iter().any(|block| {
                let mut needed = false;
                block.terminator.for_each_operand(|operand| needed |= used(operand));
                for instruction in &block.instructions {
                    instruction.op.for_each_operand(|operand| needed |= used(operand));
                }
                needed
            })
    }
}

/// Backward data flow over the blocks of a function.
fn live(code: &Function) -> Live {
    let mut live = Live(vec![FxHashSet::default(); code.blocks.len()]);
    let mut changed = true;
    while changed {
        changed = false;
        for b in (0..code.blocks.len()).rev() {
            let block = BlockId::new(b);
            let set = live_before(code, &live, block, phis(code, block).count());
            if set.len() != live.0[b].len() {
                live.0[b] = set;
                changed = true;
            }
        }
    }
    live
}

/// The values that are needed before an instruction, given those at the beginning of each block.
fn live_before(code: &Function, live: &Live, block: BlockId, at: usize) -> FxHashSet<ValueId> {
    let here = code.block(block);
    let mut set: FxHashSet<ValueId> = FxHashSet::default();
    let need = |set: &mut FxHashSet<ValueId>, operand: &Operand| {
        if let Operand::Value(value) = operand {
            set.insert(*value);
        }
    };
    for to in here.terminator.successors() {
        let needed = &live.0[to.index()];
        set.extend(needed.iter().filter(|&&value| phis(code, to).all(|(phi, _)| phi != value)));
        // A phi that nobody needs does not need what it would be.
        let needed = phis(code, to).filter(|(phi, _)| needed.contains(phi));
        needed
            .filter_map(|(_, incoming)| taken_from(block, incoming))
            .for_each(|value| need(&mut set, &value));
    }
    for result in here.terminator.results() {
        set.remove(result);
    }
    here.terminator.for_each_operand(|operand| need(&mut set, operand));
    for instruction in here.instructions.iter().skip(at).rev() {
        if matches!(instruction.op, Op::Phi { .. }) {
            continue;
        }
        for result in &instruction.results {
            set.remove(result);
        }
        instruction.op.for_each_operand(|operand| need(&mut set, operand));
    }
    set
}
