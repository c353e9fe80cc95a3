//! Walking functions: blocks in their order, both ways at branches, calls in place.

use super::value::{Sources, Value, union};
use super::{Builder, Draft, blocks, memory};
use crate::event::{Action, BlockId, EventId, ThreadIndex};
use crate::rule::Rule;
use crate::{Error, Result};
use ir::{
    BlockId as CodeBlock, FunctionId, Instruction, Op, Operand, SiteId, SitePlace, Terminator, ValueId, Width,
};
use rustc_hash::FxHashMap;
use solver::Bool;
use std::collections::BTreeMap;

/// Deepest nesting of calls.
const MAX_CALLS: u32 = 100;

/// What holds on all ways that have led to a place.
#[derive(Clone, Debug)]
pub struct Path {
    /// The path predicate.
    pub guard: Bool,
    /// The reads that it depends on.
    pub control: Sources,
    /// How often the thread has allocated.
    pub allocations: Value,
    /// The atomic block that is open, and how many inside it.
    pub block: Option<(BlockId, u32)>,
}

impl Path {
    pub fn start(terms: &super::value::Terms) -> Path {
        let allocations = Value::known(Width::W64, 0);
        Path { guard: terms.yes, control: Sources::default(), allocations, block: None }
    }
}

pub type Values = FxHashMap<ValueId, Value>;

/// A way into a block.
struct Arrival {
    from: Option<CodeBlock>,
    path: Path,
    values: Values,
}

/// Walks one thread, or the final condition.
pub struct Walker<'b, 'p> {
    pub builder: &'b mut Builder<'p>,
    /// Whose events are made; `None` for the final condition, which has none.
    pub thread: Option<ThreadIndex>,
    /// Whether the last event was reached.
    pub reached: Bool,
}

/// An instruction and where it stands.
#[derive(Clone, Copy)]
pub struct Place<'i> {
    pub instruction: &'i Instruction,
    pub site: SiteId,
}

impl Builder<'_> {
    pub fn walk_thread(
        &mut self,
        thread: ThreadIndex,
        function: FunctionId,
        arguments: Vec<Value>,
    ) -> Result<()> {
        let exists = self.threads[thread.index()].exists;
        let mut path = Path::start(&self.terms);
        path.guard = exists;
        let reached = self.terms.yes;
        let mut walker = Walker { builder: self, thread: Some(thread), reached };
        walker.event(&path, Action::Begin, None)?;
        let Some((path, results)) = walker.function(function, arguments, path, 0)? else { return Ok(()) };
        let (end, _) = walker.event(&path, Action::End, None)?;
        let ends = self.events[end.index()].happens;
        self.threads[thread.index()].ends = ends;
        self.threads[thread.index()].results = results;
        Ok(())
    }
}

/// The waiting block that is next: the first one, but the head of a loop only when nobody waits inside the loop.
fn next_block(waiting: &BTreeMap<usize, (CodeBlock, Vec<Arrival>)>, ranks: &[blocks::Rank]) -> Option<usize> {
    let inside = |number: usize, end: usize| waiting.range(number + 1..end).next().is_some();
    waiting
        .iter()
        .map(|(&number, (block, _))| (number, ranks[block.index()].end))
        .find(|&(n, end)| !inside(n, end))
        .map(|(n, _)| n)
}

impl<'b, 'p> Walker<'b, 'p> {
    pub fn at_the_end(builder: &'b mut Builder<'p>) -> Walker<'b, 'p> {
        let reached = builder.terms.yes;
        Walker { builder, thread: None, reached }
    }

    /// Makes an event, and says whether it happens.
    pub fn event(
        &mut self,
        path: &Path,
        action: Action,
        place: Option<Place<'_>>,
    ) -> Result<(EventId, Bool)> {
        let thread = self.thread.unwrap_or(ThreadIndex(0));
        let happens = self.builder.happens(path.guard, &mut self.reached)?;
        let draft = Draft {
            action,
            instruction: place.map(|p| p.instruction),
            site: place.map(|p| p.site),
            block: path.block.map(|(block, _)| block),
            control: path.control.clone(),
        };
        Ok((self.builder.add_event(thread, happens, draft)?, happens))
    }

    /// Walks a function; gives what holds when it returns and what it returns, or nothing if it never does.
    pub fn function(
        &mut self,
        id: FunctionId,
        arguments: Vec<Value>,
        path: Path,
        depth: u32,
    ) -> Result<Option<(Path, Vec<Value>)>> {
        let program = self.builder.program;
        let function = program.function(id);
        if depth > MAX_CALLS {
            let what = format!("`{}`, which calls itself,", function.name);
            return Err(Error::Unsupported { what, position: function.position });
        }
        let ranks = self.builder.ranks.entry(id).or_insert_with(|| blocks::ranks(function)).clone();
        let mut values = Values::default();
        for (parameter, argument) in function.parameters.iter().zip(arguments) {
            values.insert(parameter.value, argument);
        }
        let mut waiting: BTreeMap<usize, (CodeBlock, Vec<Arrival>)> = BTreeMap::new();
        waiting.insert(ranks[0].number, (CodeBlock(0), vec![Arrival { from: None, path, values }]));
        let mut returns: Vec<(Path, Vec<Value>)> = vec![];
        let mut rounds: FxHashMap<SiteId, u32> = FxHashMap::default();
        while let Some(next) = next_block(&waiting, &ranks) {
            let Some((id_block, arrivals)) = waiting.remove(&next) else { break };
            let block = function.block(id_block);
            let (mut path, mut values) = self.meet(block, arrivals)?;
            for (at, instruction) in block.instructions.iter().enumerate() {
                let place = SitePlace { function: id, block: id_block, instruction: at as u32 };
                let site = self.builder.sites.site(place);
                let place = Place { instruction, site };
                match &instruction.op {
                    Op::Phi { .. } => continue,
                    Op::Check { kind: ir::CheckKind::Bound, .. } => {
                        let round = rounds.entry(site).or_default();
                        *round += 1;
                        if *round > self.builder.options.rounds {
                            return Err(Error::Unbounded { position: instruction.position });
                        }
                        self.instruction(place, &mut path, &mut values)?;
                    }
                    Op::Call { callee: ir::Callee::Function(callee), arguments } => {
                        let arguments: Vec<Value> =
                            arguments.iter().map(|a| self.operand(&values, a)).collect::<Result<_>>()?;
                        match self.function(*callee, arguments, path.clone(), depth + 1)? {
                            None => path.guard = self.builder.terms.no,
                            Some((after, results)) => {
                                path = after;
                                values.extend(instruction.results.iter().copied().zip(results));
                            }
                        }
                    }
                    _ => self.instruction(place, &mut path, &mut values)?,
                }
                if path.guard == self.builder.terms.no {
                    break;
                }
            }
            if path.guard == self.builder.terms.no {
                continue;
            }
            let site = self.builder.sites.site(SitePlace {
                function: id,
                block: id_block,
                instruction: block.instructions.len() as u32,
            });
            let ways = self.terminator(block, site, &mut path, &values)?;
            if let Terminator::Return(operands) = &block.terminator {
                let results = operands.iter().map(|o| self.operand(&values, o)).collect::<Result<_>>()?;
                returns.push((path, results));
                continue;
            }
            for (to, guard) in ways {
                if guard == self.builder.terms.no {
                    continue;
                }
                let path = Path { guard, ..path.clone() };
                let arrival = Arrival { from: Some(id_block), path, values: values.clone() };
                waiting.entry(ranks[to.index()].number).or_insert((to, vec![])).1.push(arrival);
            }
        }
        self.meet_returns(returns)
    }

    /// What holds where several ways meet, and the values there.
    fn meet(&mut self, block: &ir::Block, mut arrivals: Vec<Arrival>) -> Result<(Path, Values)> {
        let mut phis = vec![];
        for instruction in &block.instructions {
            let Op::Phi { incoming } = &instruction.op else { break };
            let mut chosen: Option<Value> = None;
            for arrival in &arrivals {
                let operand = incoming.iter().find(|(from, _)| Some(*from) == arrival.from).map(|(_, o)| o);
                let Some(operand) = operand else { continue };
                let value = self.operand(&arrival.values, operand)?;
                chosen = Some(match chosen {
                    None => value,
                    Some(other) => self.builder.terms.choose(arrival.path.guard, &value, &other)?,
                });
            }
            phis.extend(instruction.results.first().copied().zip(chosen));
        }
        let mut first = arrivals.remove(0);
        for arrival in arrivals {
            let guard = arrival.path.guard;
            let kept: Vec<ValueId> = first.values.keys().copied().collect();
            for id in kept {
                match (arrival.values.get(&id), first.values.get(&id)) {
                    (Some(other), Some(value)) if other.bits != value.bits => {
                        let chosen = self.builder.terms.choose(guard, other, value)?;
                        first.values.insert(id, chosen);
                    }
                    (None, _) => {
                        first.values.remove(&id);
                    }
                    _ => {}
                }
            }
            first.path = self.join(first.path, &arrival.path)?;
        }
        first.values.extend(phis);
        Ok((first.path, first.values))
    }

    /// What holds if one of two paths was taken.
    fn join(&mut self, a: Path, b: &Path) -> Result<Path> {
        let terms = &mut self.builder.terms;
        Ok(Path {
            guard: terms.or(a.guard, b.guard)?,
            control: union(&a.control, &b.control),
            allocations: terms.choose(b.guard, &b.allocations, &a.allocations)?,
            block: a.block,
        })
    }

    fn meet_returns(&mut self, returns: Vec<(Path, Vec<Value>)>) -> Result<Option<(Path, Vec<Value>)>> {
        let mut met: Option<(Path, Vec<Value>)> = None;
        for (path, results) in returns {
            met = Some(match met {
                None => (path, results),
                Some((other, others)) => {
                    let chosen = results
                        .iter()
                        .zip(&others)
                        .map(|(a, b)| self.builder.terms.choose(path.guard, a, b))
                        .collect::<Result<_>>()?;
                    (self.join(other, &path)?, chosen)
                }
            });
        }
        Ok(met)
    }

    pub fn operand(&mut self, values: &Values, operand: &Operand) -> Result<Value> {
        let unknown = |what: &str| Error::Unsupported { what: what.to_owned(), position: None };
        Ok(match operand {
            Operand::Value(id) => {
                values.get(id).cloned().ok_or_else(|| unknown("a value that is not defined"))?
            }
            Operand::Const { width, bits } => Value::known(*width, *bits),
            Operand::Null => Value::known(Width::W64, 0),
            Operand::Global(global) => {
                let base = memory::of_global(*global);
                Value { piece: Some(base), ..Value::known(Width::W64, u128::from(base)) }
            }
            Operand::Function(_) => return Err(unknown("the address of a function")),
            Operand::Unknown(_) => return Err(unknown("an undefined value")),
        })
    }

    /// The ways out of a block with their path predicates.
    fn terminator(
        &mut self,
        block: &ir::Block,
        site: SiteId,
        path: &mut Path,
        values: &Values,
    ) -> Result<Vec<(CodeBlock, Bool)>> {
        match &block.terminator {
            Terminator::Jump(to) => Ok(vec![(*to, path.guard)]),
            Terminator::Return(_) => Ok(vec![]),
            Terminator::Branch { condition, then, otherwise } => {
                let condition = self.operand(values, condition)?;
                let decided = self.builder.ruled(Rule::Computation, &condition)?;
                let taken = self.builder.terms.truth(&decided)?;
                self.branch(block, site, path, taken)?;
                let followed = self.builder.ruled(Rule::ControlReadValue, &decided)?;
                let followed = self.builder.terms.truth(&followed)?;
                path.control = union(&path.control, &condition.sources);
                let not = self.builder.terms.not(followed)?;
                let yes = self.builder.terms.and(path.guard, followed)?;
                let no = self.builder.terms.and(path.guard, not)?;
                Ok(vec![(*then, yes), (*otherwise, no)])
            }
            Terminator::Switch { value, cases, default } => {
                let value = self.operand(values, value)?;
                path.control = union(&path.control, &value.sources);
                let (mut ways, mut rest) = (vec![], path.guard);
                for &(case, to) in cases {
                    let is = self.builder.terms.equals_bits(&value, case)?;
                    ways.push((to, self.builder.terms.and(rest, is)?));
                    let not = self.builder.terms.not(is)?;
                    rest = self.builder.terms.and(rest, not)?;
                }
                ways.push((*default, rest));
                Ok(ways)
            }
            _ => Err(Error::Unsupported {
                what: "this way out of a block".to_owned(),
                position: block.position,
            }),
        }
    }

    /// The event of a branch whose condition is not constant.
    fn branch(&mut self, block: &ir::Block, site: SiteId, path: &Path, taken: Bool) -> Result<()> {
        if self.thread.is_none() || self.builder.terms.constant_bool(taken).is_some() {
            return Ok(());
        }
        let (event, _) = self.event(path, Action::Branch(taken), None)?;
        let event = &mut self.builder.events[event.index()];
        (event.site, event.position, event.label) = (Some(site), block.position, block.label.clone());
        Ok(())
    }
}
