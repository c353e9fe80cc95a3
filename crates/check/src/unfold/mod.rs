//! From program IR to events (MM §3): both branches of each `if`, loops up to their bound, calls in place.
//!
//! Each thread is walked once. At a branch both ways are walked, each with its path predicate; where they meet, values
//! are chosen by the predicates. So the number of events grows with the text of the program and not with the number
//! of its paths. Values that come from memory are variables of the solver; who reads what is for the model to say.
//!
//! Two extents: the *whole* program, when every thread must come to its end (outcomes), or any *prefix* of each
//! thread (races, atomic blocks, assertions), since what was seen by then has happened, whatever comes later.

mod access;
mod blocks;
mod instruction;
pub(crate) mod memory;
mod sync;
pub(crate) mod value;
mod walk;

use crate::event::{Action, BlockId, Event, EventId, ThreadIndex};
use crate::rule::Rule;
use crate::{Error, Result};
use ir::{FunctionId, Instruction, Position, Program, SiteId, SiteIndex, Width};
use memory::Memory;
use rustc_hash::FxHashMap;
use solver::{Bool, Bv, Solver};
use std::collections::{BTreeMap, VecDeque};
use value::{Sources, Terms, Value};

/// Most events of an unfolded program.
pub const MAX_EVENTS: usize = 20_000;

/// How a program is unfolded.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads may stop anywhere.
    pub prefix: bool,
    /// Rules about values can be switched off: what a thread computes has variables of its own.
    pub explained: bool,
    /// Waits may end without a signal.
    pub spurious: bool,
    /// A loop that goes round more often has no bound.
    pub rounds: u32,
}

impl Default for Options {
    fn default() -> Options {
        Options { prefix: false, explained: false, spurious: false, rounds: 1000 }
    }
}

/// A thread of an unfolded program.
#[derive(Clone, Debug)]
pub struct Thread {
    /// What it is called.
    pub name: String,
    /// The fork that starts it; `None` if it is there from the start.
    pub forked_by: Option<EventId>,
    /// Its events, in program order.
    pub events: Vec<EventId>,
    /// Whether it is started at all.
    pub exists: Bool,
    /// Whether it comes to its end.
    pub ends: Bool,
    /// What its function returns: the locals that the final condition speaks of.
    pub(crate) results: Vec<Value>,
    /// What the machine calls it, for addresses.
    code: u64,
}

/// An atomic block, once for each time that it is entered.
#[derive(Clone, Debug)]
pub struct AtomicBlock {
    /// Whose.
    pub thread: ThreadIndex,
    /// Where it begins.
    pub position: Option<Position>,
}

/// A program as events and constraints on their values, without any model.
pub struct Unfolding {
    /// The solver that the terms belong to.
    pub solver: Solver,
    /// All events; those of a thread are in program order, though not next to each other.
    pub events: Vec<Event>,
    /// All threads.
    pub threads: Vec<Thread>,
    /// The atomic blocks.
    pub blocks: Vec<AtomicBlock>,
    /// The cells of memory.
    pub(crate) memory: Memory,
    /// Whether the final condition holds at the end; `None` if there is none.
    pub condition: Option<Bool>,
    /// The locals that the final condition speaks of: name, value, whether shown with a sign, whether an address.
    pub observed: Vec<(String, Bv, bool, bool)>,
    /// One literal for each rule about values: it holds if the rule is on.
    pub rules: BTreeMap<Rule, Bool>,
}

/// Builds an [`Unfolding`].
pub(crate) struct Builder<'p> {
    program: &'p Program,
    sites: SiteIndex,
    options: Options,
    terms: Terms,
    memory: Memory,
    events: Vec<Event>,
    threads: Vec<Thread>,
    blocks: Vec<AtomicBlock>,
    rules: BTreeMap<Rule, Bool>,
    /// Threads that were forked and not yet walked.
    waiting: VecDeque<(ThreadIndex, FunctionId, Vec<Value>)>,
    /// Accesses whose address is not known, to be given their cells when all memory is known.
    open: Vec<access::Open>,
    ranks: FxHashMap<FunctionId, Vec<blocks::Rank>>,
    /// Whether memory is ever given back.
    frees: bool,
}

/// Unfolds a program.
///
/// # Errors
/// If it uses what is not modelled, or has a loop without a bound.
pub fn unfold(program: &Program, options: Options, solver: Solver) -> Result<Unfolding> {
    let frees = program.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.instructions);
    let frees = frees.into_iter().any(|i| matches!(i.op, ir::Op::Free { .. }));
    let mut builder = Builder {
        program,
        sites: SiteIndex::new(program),
        options,
        terms: Terms::new(solver),
        memory: Memory::default(),
        events: vec![],
        threads: vec![],
        blocks: vec![],
        rules: BTreeMap::new(),
        waiting: VecDeque::new(),
        open: vec![],
        ranks: FxHashMap::default(),
        frees,
    };
    builder.rules = Rule::ALL
        .into_iter()
        .map(|rule| {
            (rule, if options.explained { builder.terms.solver.bool_var() } else { builder.terms.yes })
        })
        .collect();
    builder.lay_out()?;
    builder.start()?;
    while let Some((thread, function, arguments)) = builder.waiting.pop_front() {
        builder.walk_thread(thread, function, arguments)?;
    }
    builder.close_accesses()?;
    builder.close_joins()?;
    let condition = builder.final_condition()?;
    let observed = builder.observed()?;
    Ok(Unfolding {
        solver: builder.terms.solver,
        events: builder.events,
        threads: builder.threads,
        blocks: builder.blocks,
        memory: builder.memory,
        condition,
        observed,
        rules: builder.rules,
    })
}

/// What an event is made from.
struct Draft<'i> {
    action: Action,
    instruction: Option<&'i Instruction>,
    site: Option<SiteId>,
    block: Option<BlockId>,
    control: Sources,
}

impl Builder<'_> {
    /// The threads that exist from the start, numbered as the machine does.
    fn start(&mut self) -> Result<()> {
        let mut children = 0;
        for start in &self.program.threads {
            let code = if start.main {
                memory::MAIN
            } else {
                children += 1;
                memory::child(memory::MAIN, children)
            };
            let thread = self.new_thread(start.name.to_string(), None, self.terms.yes, code)?;
            self.waiting.push_back((thread, start.function, vec![]));
        }
        Ok(())
    }

    fn new_thread(
        &mut self,
        name: String,
        by: Option<EventId>,
        exists: Bool,
        code: u64,
    ) -> Result<ThreadIndex> {
        if self.threads.len() >= 32 {
            let what = "a program with more than 32 threads".to_owned();
            return Err(Error::Unsupported { what, position: None });
        }
        let thread = ThreadIndex(self.threads.len() as u32);
        let (events, ends, results) = (vec![], self.terms.no, vec![]);
        self.threads.push(Thread { name, forked_by: by, events, exists, ends, results, code });
        Ok(thread)
    }

    /// Whether an event with this path predicate happens: in a prefix, only if the thread comes so far.
    fn happens(&mut self, guard: Bool, reached: &mut Bool) -> Result<Bool> {
        if !self.options.prefix {
            return Ok(guard);
        }
        let here = self.terms.solver.bool_var();
        let earlier = self.terms.solver.implies(here, *reached)?;
        self.terms.solver.assert(earlier)?;
        *reached = here;
        self.terms.and(guard, here)
    }

    fn add_event(&mut self, thread: ThreadIndex, happens: Bool, draft: Draft<'_>) -> Result<EventId> {
        if self.events.len() >= MAX_EVENTS {
            return Err(Error::TooLarge { most: MAX_EVENTS });
        }
        let id = EventId(self.events.len() as u32);
        self.threads[thread.index()].events.push(id);
        self.events.push(Event {
            thread,
            action: draft.action,
            happens,
            accesses: vec![],
            requires: vec![],
            leaves: vec![],
            takes: vec![],
            order: None,
            failure_order: None,
            site: draft.site,
            position: draft.instruction.and_then(|i| i.position),
            label: draft.instruction.and_then(|i| i.label.clone()),
            block: draft.block,
            control: draft.control,
            address: Sources::default(),
            data: Sources::default(),
        });
        Ok(id)
    }

    /// A value that is what it is only as long as a rule holds.
    fn ruled(&mut self, rule: Rule, value: &Value) -> Result<Value> {
        if !self.options.explained || value.constant().is_some() {
            return Ok(value.clone());
        }
        let term = self.terms.bv(value)?;
        let free = self.terms.solver.bv_var(value.width.bits())?;
        let same = self.terms.solver.bv_eq(free, term)?;
        let tied = self.terms.solver.implies(self.rules[&rule], same)?;
        self.terms.solver.assert(tied)?;
        Ok(Value { piece: value.piece, ..Value::term(value.width, free, value.sources.clone()) })
    }

    /// A join needs the end of the thread that it waits for.
    fn close_joins(&mut self) -> Result<()> {
        for at in 0..self.events.len() {
            let Action::Join(joined) = self.events[at].action.clone() else { continue };
            for (thread, when) in joined {
                let over = self.threads[thread.index()].ends;
                let needed = self.terms.solver.implies(when, over)?;
                self.events[at].requires.push((Rule::Joins, needed));
            }
        }
        Ok(())
    }

    fn final_condition(&mut self) -> Result<Option<Bool>> {
        let Some(condition) = &self.program.final_condition else { return Ok(None) };
        let arguments: Vec<Value> = condition
            .observed
            .iter()
            .map(|o| {
                let results = &self.threads[o.thread as usize].results;
                results.get(o.result as usize).cloned().unwrap_or(Value::known(Width::W64, 0))
            })
            .collect();
        let path = walk::Path::start(&self.terms);
        let evaluated = walk::Walker::at_the_end(self).function(condition.function, arguments, path, 0)?;
        Ok(Some(match evaluated {
            None => self.terms.no,
            Some((path, results)) => {
                let holds = match results.first() {
                    Some(result) => self.terms.truth(result)?,
                    None => self.terms.no,
                };
                self.terms.and(path.guard, holds)?
            }
        }))
    }

    fn observed(&mut self) -> Result<Vec<(String, Bv, bool, bool)>> {
        let Some(condition) = &self.program.final_condition else { return Ok(vec![]) };
        let mut observed: Vec<(String, Bv, bool, bool)> = vec![];
        for o in &condition.observed {
            let start = &self.program.threads[o.thread as usize];
            let result = &self.program.function(start.function).results[o.result as usize];
            let name = format!("{}.{}", start.name, result.name.as_deref().unwrap_or("?"));
            let value = self.threads[o.thread as usize].results.get(o.result as usize).cloned();
            let width = result.ty.width().unwrap_or(Width::W64);
            let term = self.terms.bv(&value.unwrap_or(Value::known(width, 0)))?;
            if !observed.iter().any(|(known, ..)| *known == name) {
                observed.push((name, term, result.signed, result.ty == ir::Type::Ptr));
            }
        }
        Ok(observed)
    }
}

impl Thread {
    /// The number that addresses of its allocations begin with.
    pub(crate) fn code(&self) -> u64 {
        self.code
    }
}
