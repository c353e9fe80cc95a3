//! Reads that only decide (AV §3 rule 4c): their value goes into the next branch, assumption or assertion and nowhere else.
//!
//! From the read to the branch there is only computation, and nothing that was computed from the value is needed behind it.

use crate::pure::compute;
use ir::{BlockId, Function, Op, Operand, Terminator, ValueId, Width};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// What a read decides, as a function of the value read.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The computations on the way, each with the operands that do not come from the read.
    steps: Rc<Vec<Computation>>,
    read: ValueId,
    compiled: bool,
    end: End,
}

#[derive(Clone, Debug)]
struct Computation {
    op: Op,
    to: ValueId,
    width: Width,
    operands: Vec<(Source, Width)>,
}

#[derive(Clone, Copy, Debug)]
enum Source {
    Computed(ValueId),
    Known(Option<u128>),
}

#[derive(Clone, Debug)]
enum End {
    Bit(Source),
    Case(Source, Vec<u128>),
}

impl Decision {
    /// How it would be decided if `value` had been read; `None` if the computation would fault or is not known.
    pub fn outcome(&self, value: u64) -> Option<u128> {
        let mut computed: FxHashMap<ValueId, Option<u128>> = FxHashMap::default();
        computed.insert(self.read, Some(u128::from(value)));
        let get = |computed: &FxHashMap<ValueId, Option<u128>>, source: Source| match source {
            Source::Known(value) => value,
            Source::Computed(of) => computed.get(&of).copied().flatten(),
        };
        for step in self.steps.iter() {
            let operands: Vec<_> =
                step.operands.iter().map(|&(source, width)| (get(&computed, source), width)).collect();
            let value = compute(&step.op, self.compiled, &operands, step.width)?.ok()?;
            computed.insert(step.to, value);
        }
        match &self.end {
            End::Bit(source) => get(&computed, *source).map(|bit| bit & 1),
            End::Case(source, cases) => {
                let value = get(&computed, *source)?;
                let case = cases.iter().position(|&case| case == value);
                Some(case.unwrap_or(cases.len()) as u128)
            }
        }
    }

    /// The decision of a load that a frame of `function` has just done, standing at `(block, at)` behind it. `known` gives the
    /// values of the frame.
    pub fn of(
        function: &Function,
        (block, at): (BlockId, u32),
        compiled: bool,
        known: impl Fn(Operand) -> (Option<u128>, Width),
    ) -> Option<Decision> {
        let load = function.block(block).instructions.get((at as usize).checked_sub(1)?)?;
        let Op::Load { .. } = load.op else { return None };
        let read = *load.results.first()?;
        let (mut derived, mut steps) = (FxHashSet::from_iter([read]), vec![]);
        let (mut block, mut at) = (block, at as usize);
        let from = |derived: &FxHashSet<ValueId>, computed: &[Computation], operand: Operand| match operand {
            Operand::Value(value) if derived.contains(&value) => Source::Computed(value),
            Operand::Value(value) if computed.iter().any(|step| step.to == value) => Source::Computed(value),
            operand => Source::Known(known(operand).0),
        };
        for _ in 0..=function.values.len() + function.blocks.len() {
            let here = function.block(block);
            let uses =
                |operand: &Operand| matches!(operand, Operand::Value(value) if derived.contains(value));
            let Some(instruction) = here.instructions.get(at) else {
                let (on, cases) = match &here.terminator {
                    Terminator::Jump(to) if phis(function, *to).next().is_none() => {
                        (block, at) = (*to, 0);
                        continue;
                    }
                    Terminator::Branch { condition, .. } => (*condition, None),
                    Terminator::Switch { value, cases, .. } => (*value, Some(cases)),
                    _ => return None,
                };
                let needed = here.terminator.successors().into_iter().any(|to| {
                    let copied = incoming(function, block, to).any(|operand| uses(&operand));
                    let first = phis(function, to).count();
                    copied || derived.iter().any(|&value| is_needed(function, to, first, value))
                });
                if needed || !uses(&on) {
                    return None;
                }
                let on = from(&derived, &steps, on);
                let end = match cases {
                    None => End::Bit(on),
                    Some(cases) => End::Case(on, cases.iter().map(|&(case, _)| case).collect()),
                };
                return Some(Decision { steps: Rc::new(steps), read, compiled, end });
            };
            match &instruction.op {
                Op::Check { condition, .. } => {
                    let needed = |&value: &ValueId| is_needed(function, block, at + 1, value);
                    if !uses(condition) || derived.iter().any(needed) {
                        return None;
                    }
                    let end = End::Bit(from(&derived, &steps, *condition));
                    return Some(Decision { steps: Rc::new(steps), read, compiled, end });
                }
                Op::Binary { .. }
                | Op::Compare { .. }
                | Op::Cast { .. }
                | Op::Select { .. }
                | Op::Address { .. } => {
                    let to = *instruction.results.first()?;
                    let (mut any, mut operands) = (false, vec![]);
                    instruction.op.for_each_operand(|operand| {
                        any |= uses(operand);
                        operands.push((from(&derived, &steps, *operand), known(*operand).1));
                    });
                    let width = known(Operand::Value(to)).1;
                    steps.push(Computation { op: instruction.op.clone(), to, width, operands });
                    derived.remove(&to);
                    if any {
                        derived.insert(to);
                    }
                }
                _ => return None,
            }
            at += 1;
        }
        None
    }
}

fn phis(
    function: &Function,
    block: BlockId,
) -> impl Iterator<Item = (&Vec<(BlockId, Operand)>, Option<ValueId>)> {
    function.block(block).instructions.iter().map_while(|instruction| match &instruction.op {
        Op::Phi { incoming } => Some((incoming, instruction.results.first().copied())),
        _ => None,
    })
}

fn incoming(function: &Function, from: BlockId, to: BlockId) -> impl Iterator<Item = Operand> {
    phis(function, to)
        .filter_map(move |(ways, _)| ways.iter().find(|(block, _)| *block == from).map(|&(_, value)| value))
}

/// Whether a value is used on some way from an instruction on before it is set again.
fn is_needed(function: &Function, block: BlockId, at: usize, value: ValueId) -> bool {
    let is = |operand: &Operand| *operand == Operand::Value(value);
    let mut seen = FxHashSet::default();
    let mut work = vec![(block, at)];
    'ways: while let Some((block, at)) = work.pop() {
        let here = function.block(block);
        for instruction in here.instructions.iter().skip(at) {
            let mut used = false;
            instruction.op.for_each_operand(|operand| used |= is(operand));
            if used {
                return true;
            }
            if instruction.results.contains(&value) {
                continue 'ways;
            }
        }
        let mut used = false;
        here.terminator.for_each_operand(|operand| used |= is(operand));
        if used {
            return true;
        }
        for to in here.terminator.successors() {
            if incoming(function, block, to).any(|operand| is(&operand)) {
                return true;
            }
            let set = phis(function, to).any(|(_, result)| result == Some(value));
            if !set && !here.terminator.results().contains(&value) && seen.insert(to) {
                work.push((to, phis(function, to).count()));
            }
        }
    }
    false
}
