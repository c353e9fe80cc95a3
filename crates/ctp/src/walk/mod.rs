//! The walk: each thread's events along the program, all threads in the recorded order.
//!
//! For each event its thread runs, on expressions instead of numbers, from behind its last event to the instruction that
//! makes this one. What is computed silently on the way stays in the SSA values of the frames; what others can notice becomes
//! an event of the concurrent trace program. A trace is outside data: whatever does not fit the program is an error with its
//! place.

mod access;
mod control;
mod decision;
mod foreign;
mod memory;
mod phantom;
mod standing;
mod standing_state;
mod step;

pub use memory::Request;
pub use phantom::{Phantoms, Touch};
pub use standing_state::StandingState;

use crate::layout::Layout;
use crate::space::Space;
use crate::transactions::Marks;
use crate::{
    CtpError, Event, EventIndex, ExprId, Expressions, Kind, Phantom, PinReason, Read, Rebuild, Settled,
    Standing, Thread, ThreadIndex,
};
use ir::{BlockId, FunctionId, GlobalId, Operand, Program, SiteId, SiteIndex, Type, ValueId, Width};
use rustc_hash::{FxHashMap, FxHashSet};
use std::time::Instant;
use trace::{EventId, EventKind, Location, ThreadId, Trace};

/// Where an access with a symbolic address may go, known from the walk before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Aim {
    /// To these addresses, the recorded one first.
    At(Vec<u64>),
    /// It is taken as recorded.
    Pinned(PinReason),
}

/// No value yet.
const NOTHING: ExprId = ExprId(u32::MAX);
/// Most silent instructions between two events.
const MOST_SILENT: u32 = 100_000_000;

/// The clock is looked at once in so many events.
const LOOKS_AT_THE_CLOCK: usize = 4096;

/// What a frame is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Doing {
    /// Its next instruction.
    Running,
    /// A call of code that is not in the program is under way.
    Foreign,
    /// A call has come back; the trace may have its result.
    Returned,
}

/// One activation of a function.
#[derive(Clone, Copy, Debug)]
struct Frame {
    function: FunctionId,
    block: BlockId,
    /// The instruction that is next, or the call that is under way.
    at: u32,
    /// Where its values begin.
    base: usize,
    doing: Doing,
    /// It was called by code that is not in the program, or is what the thread runs.
    bottom: bool,
    /// The trace has told of its entry, or will not.
    entered: bool,
    /// What the call that is under way does, the trace has as events of its own: synchronisation, allocation.
    told: bool,
}

/// A thread as far as it has been walked.
struct Runner {
    id: ThreadId,
    thread: ThreadIndex,
    frames: Vec<Frame>,
    values: Vec<ExprId>,
    /// The number of its last event.
    done: u64,
    allocations: u64,
    /// How often it has written memory that the trace says nothing of.
    hidden_writes: u64,
    /// The content that the first half of a copy has read.
    copied: Option<Vec<ExprId>>,
    pinned: FxHashSet<ExprId>,
    /// Branches with phantom edges whose merge point it has not come to.
    regions: Vec<phantom::Region>,
    ended: bool,
}

/// One walk over a trace.
pub struct Walk<'w> {
    program: &'w Program,
    trace: &'w Trace,
    sites: &'w SiteIndex,
    pub space: Space<'w>,
    layout: &'w Layout,
    aims: &'w FxHashMap<usize, Aim>,
    /// Events that the code of their thread does not lead to: a handler of a signal begins, or others end the thread.
    interrupts: &'w FxHashSet<usize>,
    /// The event that is being walked to.
    at: usize,
    /// So many events have happened; threads stand before the others.
    pub happened: usize,
    pub standing: Vec<Standing>,
    runners: Vec<Runner>,
    numbers: FxHashMap<ThreadId, usize>,
    /// What each piece holds that is not shared.
    memory: Vec<Option<ExprId>>,
    /// What memory holds that the trace does not know: the byte of which expression.
    hidden: FxHashMap<u64, (ExprId, u32)>,
    /// The last write of each shared location, and what it holds in the recorded run.
    writers: Vec<Option<EventIndex>>,
    holds: Vec<Option<u128>>,
    decisions: FxHashMap<SiteId, Option<std::rc::Rc<decision::Plan>>>,
    live: FxHashMap<FunctionId, std::rc::Rc<decision::Live>>,
    needed: standing_state::Needed,
    /// What is noted to find rounds without effect, if they are wanted.
    pub noted: Option<standing_state::Noted>,
    /// Where phantom edges are wanted, and the ways of the branches so far.
    pub phantoms: Option<Phantoms<'w>>,
    ways: FxHashMap<(FunctionId, BlockId), Option<std::rc::Rc<ir::analysis::Ways>>>,
    /// What the present thread does happens only if this holds.
    guard: Option<ExprId>,
    pub guards: FxHashMap<EventIndex, ExprId>,
    pub edges: Vec<Phantom>,
    /// Decisions that are no events, if they are wanted.
    pub settled: Option<Vec<Settled>>,
    pub touches: Vec<Touch>,
    pub initial: Vec<Option<u128>>,
    pub expressions: Expressions,
    pub events: Vec<Event>,
    pub reads: Vec<Read>,
    pub threads: Vec<Thread>,
    pub marks: Marks,
    pub requests: Vec<Request>,
    /// Addresses of globals that came up, and that the trace's allocations lack.
    pub learned: Vec<(GlobalId, u64)>,
    pub rebuild: Rebuild,
}

impl<'w> Walk<'w> {
    pub fn new(
        program: &'w Program,
        trace: &'w Trace,
        sites: &'w SiteIndex,
        layout: &'w Layout,
        aims: &'w FxHashMap<usize, Aim>,
        learned: &FxHashMap<GlobalId, u64>,
        interrupts: &'w FxHashSet<usize>,
    ) -> Walk<'w> {
        Walk {
            program,
            trace,
            sites,
            space: Space::new(program, trace, sites, learned),
            layout,
            aims,
            interrupts,
            at: 0,
            happened: trace.events.len(),
            standing: vec![],
            runners: vec![],
            numbers: FxHashMap::default(),
            memory: vec![None; layout.pieces.len()],
            hidden: FxHashMap::default(),
            writers: vec![None; layout.shared.len()],
            holds: vec![],
            decisions: FxHashMap::default(),
            live: FxHashMap::default(),
            needed: standing_state::Needed::default(),
            noted: None,
            phantoms: None,
            ways: FxHashMap::default(),
            guard: None,
            guards: FxHashMap::default(),
            edges: vec![],
            settled: None,
            touches: vec![],
            initial: vec![None; layout.shared.len()],
            expressions: Expressions::default(),
            events: vec![],
            reads: vec![],
            threads: vec![],
            marks: Marks::default(),
            requests: vec![],
            learned: vec![],
            rebuild: Rebuild::default(),
        }
    }

    /// Walks all events.
    pub fn run(&mut self, until: Option<Instant>) -> Result<(), CtpError> {
        for (n, info) in self.trace.threads.iter().enumerate() {
            self.numbers.insert(info.id, n);
            self.threads.push(Thread {
                id: info.id,
                name: info.name.clone(),
                function: None,
                forked_by: info.forked_by,
                events: vec![],
                last: 0,
            });
            self.runners.push(Runner {
                id: info.id,
                thread: ThreadIndex::new(n),
                frames: vec![],
                values: vec![],
                done: 0,
                allocations: 0,
                hidden_writes: 0,
                copied: None,
                pinned: FxHashSet::default(),
                regions: vec![],
                ended: false,
            });
        }
        self.start_static_threads();
        self.find_initial_values();
        self.holds = self.initial.clone();
        let trace = self.trace;
        for (at, event) in trace.events.iter().enumerate() {
            self.at = at;
            if at % LOOKS_AT_THE_CLOCK == 0 && until.is_some_and(|until| Instant::now() >= until) {
                return Err(CtpError::Time { walked: at as u64 });
            }
            let Some(&t) = self.numbers.get(&event.id.thread) else {
                return Err(CtpError::Dangling { event: event.id });
            };
            let next = self.runners[t].done + 1;
            // An event of compiled code may count for several.
            if event.id.n < next || (event.id.n > next && !self.space.compiled) {
                return Err(CtpError::Missing { event: EventId { n: next, ..event.id } });
            }
            self.guard = self.runners[t].regions.last().map(|region| region.guard);
            if at >= self.happened {
                self.standing.push(Standing { id: event.id, otherwise: vec![] });
            }
            self.advance(t, at, event)?;
            self.runners[t].done = event.id.n;
            self.threads[t].last = event.id.n;
        }
        self.walk_to_the_end();
        for t in 0..self.runners.len() {
            let done = self.runners[t].done;
            self.marks.finish(ThreadIndex::new(t), done);
        }
        Ok(())
    }

    /// What the main thread of a compiled program does behind its last event, up to the end of the process: only branches are of
    /// interest, an assertion may be among them. All that is noticed by others was an event, so this is silent.
    fn walk_to_the_end(&mut self) {
        let exited = matches!(self.trace.outcome, trace::Outcome::Exited { .. });
        let Some(last) = self.trace.events.last().filter(|last| last.id.thread == ThreadId::MAIN) else {
            return;
        };
        let Some(&t) = self.numbers.get(&ThreadId::MAIN) else { return };
        if !self.space.compiled || !exited || self.runners[t].ended {
            return;
        }
        let id = EventId { n: last.id.n + 1, ..last.id };
        let end =
            trace::Event { id, site: SiteId(u32::MAX), kind: EventKind::System { what: "exit".into() } };
        // It has no place in the program, so the walk ends by not finding it.
        let _ = self.advance(t, self.trace.events.len(), &end);
    }

    /// The event that the walk did not come to, if in compiled code it may come from nowhere; with those that follow it, if they
    /// are how a thread ends that others end: it allocates and locks for itself then.
    pub fn interrupts(&self) -> Vec<usize> {
        let events = &self.trace.events;
        let Some(stuck) = events.get(self.at).filter(|_| self.space.compiled) else { return vec![] };
        if let EventKind::Entry { .. } = stuck.kind {
            return vec![self.at];
        }
        let rest = (self.at..events.len()).filter(|&at| events[at].id.thread == stuck.id.thread);
        let rest: Vec<usize> = rest.collect();
        match rest.iter().all(|&at| events[at].kind.is_synchronisation()) {
            true => rest,
            false if stuck.kind.is_synchronisation() => vec![self.at],
            false => vec![],
        }
    }

    /// The threads that a model program has from the start, named as the machine names them.
    fn start_static_threads(&mut self) {
        let mut others = 0;
        for start in &self.program.threads {
            let id = match start.main {
                true => Some(ThreadId::MAIN),
                false => {
                    others += 1;
                    ThreadId::MAIN.child(others - 1)
                }
            };
            if let Some(&t) = id.and_then(|id| self.numbers.get(&id)) {
                self.push_frame(t, start.function, &[], true);
            }
        }
    }

    /// Content of shared memory at the start: what the program says; where it says nothing, what a first read saw.
    fn find_initial_values(&mut self) {
        for (n, &piece) in self.layout.shared.iter().enumerate() {
            let piece = self.layout.pieces[piece as usize];
            self.initial[n] = self.space.initial(piece.place, u64::from(piece.bytes));
        }
        if !self.space.compiled {
            return;
        }
        let mut seen = vec![false; self.layout.shared.len()];
        for event in &self.trace.events {
            let Some((kind, place, bytes, _)) = event.kind.access() else { continue };
            for piece in self.layout.pieces(place, bytes) {
                let piece = self.layout.pieces[piece as usize];
                let Some(location) = piece.shared else { continue };
                if !std::mem::replace(&mut seen[location.index()], true) && kind.reads() {
                    let content = memory::content(&event.kind);
                    let from = (piece.place.offset - place.offset) as usize;
                    self.initial[location.index()] = Some(memory::number(&content, from, piece.bytes));
                }
            }
        }
    }

    /// Puts an activation of a function on top.
    fn push_frame(&mut self, t: usize, function: FunctionId, arguments: &[ExprId], bottom: bool) {
        let program = self.program;
        let code = program.function(function);
        let runner = &mut self.runners[t];
        let base = runner.values.len();
        runner.values.resize(base + code.values.len(), NOTHING);
        for (n, parameter) in code.parameters.iter().enumerate() {
            let width = width_of(code.value(parameter.value).ty);
            let argument = match arguments.get(n) {
                Some(&argument) if self.expressions.width(argument) == width => argument,
                _ => self.expressions.unknown(width),
            };
            runner.values[base + parameter.value.index()] = argument;
        }
        let (doing, entered, told) = (Doing::Running, bottom, false);
        let frame = Frame { function, block: BlockId(0), at: 0, base, doing, bottom, entered, told };
        let first = runner.frames.is_empty();
        runner.frames.push(frame);
        if first && self.threads[t].function.is_none() {
            self.threads[t].function = Some(function);
        }
        // What a thread runs, and `main`, are no transactions.
        let named = (!first && !bottom).then_some(function);
        self.marks.enter(ThreadIndex::new(t), named, runner.done + 1);
    }

    fn pop_frame(&mut self, t: usize, last: u64) {
        let runner = &mut self.runners[t];
        if let Some(frame) = runner.frames.pop() {
            runner.values.truncate(frame.base);
            self.marks.leave(ThreadIndex::new(t), last);
        }
    }

    fn top(&self, t: usize) -> Option<Frame> {
        self.runners[t].frames.last().copied()
    }

    fn top_mut(&mut self, t: usize) -> Option<&mut Frame> {
        self.runners[t].frames.last_mut()
    }

    fn site_of(&self, frame: Frame) -> SiteId {
        self.sites.site(ir::SitePlace { function: frame.function, block: frame.block, instruction: frame.at })
    }

    /// The value of an operand in a frame.
    fn operand(&mut self, t: usize, frame: Frame, operand: Operand) -> Result<ExprId, CtpError> {
        Ok(match operand {
            Operand::Value(value) => {
                let known = self.runners[t].values[frame.base + value.index()];
                if known == NOTHING {
                    let (thread, site) = (self.runners[t].id, self.site_of(frame));
                    return Err(CtpError::NoValue { thread, site });
                }
                known
            }
            Operand::Const { width, bits } => self.expressions.int(width, bits),
            Operand::Null => self.expressions.int(Width::W64, 0),
            Operand::Global(global) => {
                let address = self.space.global(self.runners[t].id, global);
                self.expressions.int(Width::W64, u128::from(address))
            }
            Operand::Function(function) => match self.space.function(function) {
                Some(address) => self.expressions.int(Width::W64, u128::from(address)),
                None => self.expressions.unknown(Width::W64),
            },
            Operand::Unknown(ty) => self.expressions.unknown(width_of(ty)),
        })
    }

    fn operands(&mut self, t: usize, frame: Frame, operands: &[Operand]) -> Result<Vec<ExprId>, CtpError> {
        operands.iter().map(|&operand| self.operand(t, frame, operand)).collect()
    }

    fn set(&mut self, t: usize, frame: Frame, value: ValueId, expr: ExprId) {
        self.runners[t].values[frame.base + value.index()] = expr;
    }

    /// Adds an event of the trace.
    fn emit(&mut self, t: usize, event: &trace::Event, kind: Kind) -> EventIndex {
        self.add(Event {
            id: event.id,
            silent: false,
            thread: self.runners[t].thread,
            site: event.site,
            kind,
        })
    }

    /// Adds a condition that stands before an event of the trace.
    fn emit_silent(&mut self, t: usize, before: EventId, site: SiteId, kind: Kind) {
        self.add(Event { id: before, silent: true, thread: self.runners[t].thread, site, kind });
    }

    fn add(&mut self, event: Event) -> EventIndex {
        let index = EventIndex::new(self.events.len());
        self.threads[event.thread.index()].events.push(index);
        self.note_guard(index);
        self.events.push(event);
        index
    }

    /// Takes note of a decision that is no event.
    fn settle(&mut self, t: usize, before: EventId, site: SiteId, outcome: u64) {
        if let Some(settled) = &mut self.settled {
            let behind = self.threads[t].events.len();
            settled.push(Settled { thread: self.runners[t].thread, behind, before: before.n, site, outcome });
        }
    }

    /// Adds an event of the trace as it stands there.
    fn emit_other(&mut self, t: usize, event: &trace::Event) {
        let keep = match event.kind {
            EventKind::Alloc { allocation } | EventKind::Free { allocation: Some(allocation) } => {
                self.layout.is_shared(allocation)
            }
            EventKind::Free { allocation: None } | EventKind::Entry { .. } | EventKind::Landing => false,
            _ => true,
        };
        self.marks.event(ThreadIndex::new(t), event);
        if keep {
            self.emit(t, event, Kind::Other(event.kind.clone()));
        }
        if event.kind == EventKind::End {
            self.runners[t].ended = true;
        }
    }

    /// Takes some values as recorded, and with them all that they depend on.
    fn pin(&mut self, t: usize, before: EventId, site: SiteId, values: &[ExprId], why: PinReason) {
        let mut holds = self.expressions.bit(true);
        for &value in values {
            if !self.expressions.is_symbolic(value) || self.runners[t].pinned.contains(&value) {
                continue;
            }
            // What is skipped pins nothing.
            if self.guard.is_none() {
                self.runners[t].pinned.insert(value);
            }
            if let Some(recorded) = self.expressions.recorded(value) {
                let recorded = self.expressions.int(self.expressions.width(value), recorded);
                let same = self.expressions.equal(value, recorded);
                holds = self.expressions.and(holds, same);
            }
        }
        if self.expressions.is_symbolic(holds) {
            let holds = self.unless_skipped(holds);
            *self.rebuild.pins.entry(why.clone()).or_default() += 1;
            self.emit_silent(t, before, site, Kind::Pin { holds, why });
        }
    }

    /// A place in memory that an event names, with its address.
    fn address_of(&self, event: EventId, place: Location) -> Result<u64, CtpError> {
        self.space.address(place).ok_or(CtpError::Dangling { event })
    }
}

/// The width that a value has as an expression; of one that is wider than any, nothing is known.
pub fn width_of(ty: Type) -> Width {
    match ty {
        Type::Int(width) => width,
        Type::Ptr => Width::W64,
        Type::Opaque(bytes @ 1..=16) => crate::bytes_width(bytes),
        Type::Opaque(_) => Width::W8,
    }
}

/// Whether a value can be an expression.
pub fn is_narrow(ty: Type) -> bool {
    !matches!(ty, Type::Opaque(0 | 17..))
}
