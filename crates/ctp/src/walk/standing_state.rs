//! What decides what a thread does from where it stands: where its activations are, and the values that they still need.

use super::{Frame, NOTHING, Walk};
use crate::{ExprId, ThreadIndex};
use ir::{BinaryOp, BlockId, CheckKind, Function, FunctionId, Op, Operand, ValueId};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::{Hash as _, Hasher as _};
use std::rc::Rc;

/// The values that functions need: at the beginning of each block, phis done; and at places.
#[derive(Default)]
pub struct Needed {
    blocks: FxHashMap<FunctionId, Rc<[FxHashSet<ValueId>]>>,
    places: FxHashMap<(FunctionId, BlockId, u32), Rc<[ValueId]>>,
}

/// The state of a thread that stands before an instruction: two that are the same are followed by the same, as long as the thread reads the same.
pub struct StandingState {
    pub thread: ThreadIndex,
    /// The place, and the values as recorded.
    pub recorded: u64,
    /// The values that it still needs, as far as there are any.
    pub values: Vec<ExprId>,
    /// So many events of the thread are in the concurrent trace program before.
    pub events: usize,
}

/// What is noted on the way to find rounds without effect.
#[derive(Default)]
pub struct Noted {
    /// For each event of the trace the state of its thread before it, if that is known.
    pub states: Vec<Option<StandingState>>,
    /// For updates that changed nothing, one bit: they change nothing.
    pub unchanged: FxHashMap<usize, ExprId>,
}

impl Walk<'_> {
    /// Notes from now on what finding rounds without effect needs.
    pub fn note_states(&mut self) {
        self.noted = Some(Noted::default());
    }

    /// A thread has come to the instruction of an event of the trace.
    pub(super) fn note_state(&mut self, t: usize, at: usize) {
        if self.noted.is_none() {
            return;
        }
        let state = self.standing_state(t);
        if let Some(noted) = &mut self.noted {
            noted.states.resize_with(noted.states.len().max(at + 1), || None);
            noted.states[at] = state;
        }
    }

    /// An event of the trace is an update, from this to that.
    pub(super) fn note_update(&mut self, at: usize, old: ExprId, new: ExprId) {
        if let Some(noted) = &mut self.noted {
            noted.unchanged.insert(at, self.expressions.equal(old, new));
        }
    }

    /// `None` if something that the thread needs is not known.
    fn standing_state(&mut self, t: usize) -> Option<StandingState> {
        let mut hasher = FxHasher::default();
        let mut values = vec![];
        // Its own memory, of which the trace says nothing, has not changed if nothing was written there.
        self.runners[t].hidden_writes.hash(&mut hasher);
        for at in 0..self.runners[t].frames.len() {
            let frame = self.runners[t].frames[at];
            (frame.function, frame.block, frame.at).hash(&mut hasher);
            for value in &*self.needed(frame) {
                let known = self.runners[t].values[frame.base + value.index()];
                let recorded = match known {
                    NOTHING => None,
                    known => {
                        values.push(known);
                        Some(self.expressions.recorded(known)?)
                    }
                };
                recorded.hash(&mut hasher);
            }
        }
        let thread = self.runners[t].thread;
        let events = self.threads[t].events.len();
        Some(StandingState { thread, recorded: hasher.finish(), values, events })
    }

    fn needed(&mut self, frame: Frame) -> Rc<[ValueId]> {
        let place = (frame.function, frame.block, frame.at);
        if let Some(known) = self.needed.places.get(&place) {
            return Rc::clone(known);
        }
        let code = self.program.function(frame.function);
        let blocks = self.needed.blocks.entry(frame.function).or_insert_with(|| at_blocks(code).into());
        let needed = before(code, blocks, frame.block, frame.at as usize);
        let mut needed: Vec<ValueId> = needed.into_iter().collect();
        needed.sort_unstable();
        let needed: Rc<[ValueId]> = needed.into();
        self.needed.places.insert(place, Rc::clone(&needed));
        needed
    }
}

/// Backward data flow over the blocks of a function.
fn at_blocks(code: &Function) -> Vec<FxHashSet<ValueId>> {
    let mut blocks = vec![FxHashSet::default(); code.blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for b in (0..code.blocks.len()).rev() {
            let set = before(code, &blocks, BlockId::new(b), 0);
            changed |= set.len() != blocks[b].len();
            blocks[b] = set;
        }
    }
    blocks
}

/// The values that are needed before an instruction. How often a loop went round, counted for its bound, is none of them, nor is what computes only
/// what nobody needs.
fn before(code: &Function, blocks: &[FxHashSet<ValueId>], block: BlockId, at: usize) -> FxHashSet<ValueId> {
    let here = code.block(block);
    let mut set: FxHashSet<ValueId> = FxHashSet::default();
    let need = |set: &mut FxHashSet<ValueId>, operand: &Operand| {
        if let Operand::Value(value) = operand {
            set.insert(*value);
        }
    };
    for to in here.terminator.successors() {
        let needed = &blocks[to.index()];
        let mut defined: FxHashSet<ValueId> = FxHashSet::default();
        for phi in &code.block(to).instructions {
            let Op::Phi { incoming } = &phi.op else { break };
            defined.extend(phi.results.iter().copied());
            if phi.results.iter().any(|result| needed.contains(result)) {
                let own = incoming.iter().find(|(from, _)| *from == block);
                own.into_iter().for_each(|(_, value)| need(&mut set, value));
            }
        }
        set.extend(needed.iter().filter(|value| !defined.contains(value)));
    }
    for result in here.terminator.results() {
        set.remove(result);
    }
    here.terminator.for_each_operand(|operand| need(&mut set, operand));
    for instruction in here.instructions.iter().skip(at).rev() {
        let is_used = match &instruction.op {
            Op::Phi { .. } => continue,
            Op::Check { kind: CheckKind::Bound, .. } => false,
            // Who divides may fault.
            Op::Binary { op: BinaryOp::UDiv | BinaryOp::SDiv | BinaryOp::URem | BinaryOp::SRem, .. } => true,
            Op::Binary { .. } | Op::Compare { .. } | Op::Cast { .. } | Op::Select { .. } => {
                instruction.results.iter().any(|result| set.contains(result))
            }
            _ => true,
        };
        for result in &instruction.results {
            set.remove(result);
        }
        if is_used {
            instruction.op.for_each_operand(|operand| need(&mut set, operand));
        }
    }
    set
}
