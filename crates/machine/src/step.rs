//! One event of one thread, and the silent instructions behind it.
//!
//! After each step a thread has run everything that is no event, so it stands before its next event: whoever
//! schedules can see what that will be. A fault of a silent instruction (a division by zero) is the
//! thread's next event.

use crate::code::{Code, Edge, Source};
use crate::memory::{Block, Place};
use crate::pure::compute;
use crate::state::{Ending, Frame, Phase, State, Thread};
use crate::{Machine, address};
use ir::{CheckKind, FunctionId, ShapeId, SiteId, eval};
use trace::{AllocationId, Choice, Event, EventId, EventKind, FaultKind, Location, ThreadId};

/// Who is told of the events of a run.
pub trait Observer {
    /// Whether it listens at all; if not, no event is made.
    const LISTENS: bool = true;

    /// An event has happened. `before` is what the memory that it accesses held before it, 0 for other events.
    fn event(&mut self, state: &State, event: Event, before: u64);

    /// Memory has been allocated, by the thread's next event if it is heap memory.
    fn allocated(&mut self, _block: &Block, _site: SiteId, _by: EventId) {}
}

/// Listens to nothing.
pub struct Nobody;

impl Observer for Nobody {
    const LISTENS: bool = false;

    fn event(&mut self, _: &State, _: Event, _: u64) {}
}

/// Deepest nesting of calls.
const MAX_FRAMES: usize = 1000;
/// Most silent instructions between two events.
const MAX_SILENT: u32 = 1_000_000;
/// Most threads of one run.
const MAX_THREADS: usize = 1000;

impl Machine {
    /// The state before the first event.
    pub(crate) fn initial(&self, observer: &mut impl Observer) -> State {
        let mut state = State {
            memory: self.layout().initial(),
            objects: self.initial_objects(),
            threads: vec![],
            exclusive: None,
            ending: None,
            allocations: self.program().globals.len() as u32,
        };
        for &(id, function) in self.starts() {
            state.threads.push(self.new_thread(id, function, &[], None));
        }
        for t in 0..state.threads.len() {
            self.run_silently(&mut state, t, observer);
        }
        state
    }

    /// Puts the only thread of `state` before the first event of `function`.
    pub(crate) fn start_alone(&self, state: &mut State, function: FunctionId, arguments: &[u64]) {
        state.threads = vec![self.new_thread(ThreadId::MAIN, function, arguments, None)];
        self.run_silently(state, 0, &mut Nobody);
    }

    fn new_thread(
        &self,
        id: ThreadId,
        function: FunctionId,
        arguments: &[u64],
        by: Option<EventId>,
    ) -> Thread {
        let code = self.code(function);
        let mut registers = vec![0; code.registers as usize];
        code.parameters.iter().zip(arguments).for_each(|(&to, &value)| registers[to as usize] = value);
        Thread {
            id,
            function,
            forked_by: by,
            phase: Phase::Ready,
            frames: vec![Frame { function, at: 0, base: 0 }],
            registers,
            done: 0,
            forks: 0,
            allocations: 0,
        }
    }

    /// The site that thread `t` stands at.
    pub(crate) fn site(&self, state: &State, t: usize) -> SiteId {
        let top = state.threads[t].top();
        self.code(top.function).sites[top.at as usize]
    }

    /// Does the next event of thread `t`, which is enabled, and what follows silently. `choice` settles what the event leaves
    /// open.
    pub(crate) fn step<O: Observer>(
        &self,
        state: &mut State,
        t: usize,
        choice: Option<Choice>,
        observer: &mut O,
    ) {
        let site = self.site(state, t);
        let id = state.threads[t].next_event();
        let done = match state.threads[t].phase {
            Phase::Faulting(kind) => Err(kind),
            _ => self.perform(state, t, choice, observer),
        };
        state.threads[t].done += 1;
        let (kind, before) = match done {
            Ok(done) => done,
            Err(kind) => {
                state.ending = Some(Ending::Fault(id, site, kind));
                (EventKind::Fault { kind }, 0)
            }
        };
        if kind == (EventKind::Assert { held: false }) {
            state.ending = Some(Ending::Assertion(id, site));
        }
        if O::LISTENS {
            observer.event(state, Event { id, site, kind }, before);
        }
        if state.ending.is_none() {
            self.run_silently(state, t, observer);
        }
    }

    /// The event of the instruction that thread `t` stands at. Moves on behind it, except inside a wait, a barrier and a
    /// copy, which are two events each.
    fn perform(
        &self,
        state: &mut State,
        t: usize,
        choice: Option<Choice>,
        observer: &mut impl Observer,
    ) -> Result<(EventKind, u64), FaultKind> {
        let frame = state.threads[t].top();
        let code = &self.code(frame.function).code[frame.at as usize];
        let value = |state: &State, source: Source| state.threads[t].value(frame, source);
        let plain = |kind| Ok((kind, 0));
        let result = match code {
            Code::Load { to, bytes, width, pointer, order } => {
                let (place, location) = self.find(state, value(state, *pointer), u64::from(*bytes), false)?;
                let value = state.memory.load(place, *bytes) & width.mask() as u64;
                state.threads[t].set(frame, *to, value);
                Ok((EventKind::Read { location, bytes: *bytes, value, order: *order }, value))
            }
            Code::Store { bytes, pointer, value: stored, order } => {
                let (place, location) = self.find(state, value(state, *pointer), u64::from(*bytes), true)?;
                let before = state.memory.load(place, *bytes);
                let value = value(state, *stored);
                state.memory.store(place, *bytes, value);
                Ok((EventKind::Write { location, bytes: *bytes, value, order: *order }, before))
            }
            Code::Update { op, to, width, pointer, value: operand, order } => {
                let bytes = width.bytes() as u8;
                let (place, location) = self.find(state, value(state, *pointer), u64::from(bytes), true)?;
                let old = state.memory.load(place, bytes);
                let operand = value(state, *operand);
                let new = eval::update(*op, *width, u128::from(old), u128::from(operand)) as u64;
                state.memory.store(place, bytes, new);
                state.threads[t].set(frame, *to, old);
                Ok((EventKind::Update { location, bytes, old, new, order: *order }, old))
            }
            Code::CompareExchange { old: old_to, ok, width, pointer, expected, new, success, failure } => {
                let bytes = width.bytes() as u8;
                let (place, location) = self.find(state, value(state, *pointer), u64::from(bytes), true)?;
                let old = state.memory.load(place, bytes);
                let (expected, new) = (value(state, *expected), value(state, *new));
                let equal = old == expected;
                if equal {
                    state.memory.store(place, bytes, new);
                }
                state.threads[t].set(frame, *old_to, old);
                state.threads[t].set(frame, *ok, u64::from(equal));
                let order = if equal { *success } else { *failure };
                let success = equal;
                Ok((EventKind::CompareExchange { location, bytes, old, expected, new, success, order }, old))
            }
            Code::Fence { order } => plain(EventKind::Fence { order: *order }),
            Code::HeapAlloc { to, shape, count } => {
                let count = value(state, *count);
                let address = self.allocate(state, t, *shape, count, true, observer)?;
                state.threads[t].set(frame, *to, address);
                plain(EventKind::Alloc { allocation: AllocationId(state.allocations - 1) })
            }
            Code::Free { pointer } => {
                let allocation = state.memory.free(value(state, *pointer))?;
                plain(EventKind::Free { allocation })
            }
            Code::MemoryCopy { into, from, bytes } => match state.threads[t].phase {
                Phase::Copying(ref mut content) => {
                    let content = std::mem::take(content);
                    state.threads[t].phase = Phase::Ready;
                    let (place, location) =
                        self.find(state, value(state, *into), content.len() as u64, true)?;
                    state.memory.bytes_mut(place, content.len()).copy_from_slice(&content);
                    plain(EventKind::WriteBytes { location, content })
                }
                _ => {
                    let bytes = value(state, *bytes);
                    let (place, location) = self.find(state, value(state, *from), bytes, false)?;
                    let content: Box<[u8]> = state.memory.bytes(place, bytes as usize).into();
                    state.threads[t].phase = Phase::Copying(content.clone());
                    return plain(EventKind::ReadBytes { location, content });
                }
            },
            Code::MemorySet { into, byte, bytes } => {
                let bytes = value(state, *bytes);
                let (place, location) = self.find(state, value(state, *into), bytes, true)?;
                let content = vec![value(state, *byte) as u8; bytes as usize].into_boxed_slice();
                state.memory.bytes_mut(place, content.len()).copy_from_slice(&content);
                plain(EventKind::WriteBytes { location, content })
            }
            Code::Fork { to, function, arguments } => {
                let arguments: Vec<u64> = arguments.iter().map(|&a| value(state, a)).collect();
                let child = self.fork(state, t, *function, &arguments, observer)?;
                state.threads[t].set(frame, *to, child.code());
                plain(EventKind::Fork { child })
            }
            Code::ForkIndirect { to, pointer, arguments } => {
                let function = self.callee(value(state, *pointer), arguments.len(), None)?;
                let arguments: Vec<u64> = arguments.iter().map(|&a| value(state, a)).collect();
                let child = self.fork(state, t, function, &arguments, observer)?;
                state.threads[t].set(frame, *to, child.code());
                plain(EventKind::Fork { child })
            }
            Code::Sync { op, to, operands } => {
                let operands: Vec<u64> = operands.iter().map(|&o| value(state, o)).collect();
                let done = self.synchronise(state, t, *op, &operands, choice)?;
                if let (Some(to), Some(result)) = (to, done.result) {
                    state.threads[t].set(frame, *to, result);
                }
                plain(done.event)
            }
            Code::Check { kind: CheckKind::Assume, .. } => plain(EventKind::Assume),
            Code::Check { condition, .. } => {
                plain(EventKind::Assert { held: value(state, *condition) & 1 == 1 })
            }
            Code::Branch { condition, then, otherwise } => {
                let (taken, edge) =
                    if value(state, *condition) & 1 == 1 { (0, then) } else { (1, otherwise) };
                state.threads[t].follow(edge);
                return plain(EventKind::Branch { taken });
            }
            Code::Switch { value: on, cases, default } => {
                let on = value(state, *on);
                let taken = cases.iter().position(|(case, _)| *case == on);
                state.threads[t].follow(taken.map_or(default, |at| &cases[at].1));
                return plain(EventKind::Branch { taken: taken.unwrap_or(cases.len()) as u32 });
            }
            Code::Return(values) => {
                let results: Vec<u64> = values.iter().map(|&source| value(state, source)).collect();
                self.end_stack_blocks(state, t, frame);
                let thread = &mut state.threads[t];
                thread.phase = Phase::Ended;
                thread.frames.clear();
                thread.registers = results;
                return plain(EventKind::End);
            }
            // Silent instructions never are next; `run_silently` has done them.
            _ => Err(FaultKind::Unreachable),
        }?;
        state.threads[t].advance();
        Ok(result)
    }

    /// Runs what is no event, up to before the next event.
    fn run_silently(&self, state: &mut State, t: usize, observer: &mut impl Observer) {
        if state.threads[t].is_over() || !matches!(state.threads[t].phase, Phase::Ready) {
            return;
        }
        for _ in 0..MAX_SILENT {
            match self.silent(state, t, observer) {
                Ok(true) => {}
                Ok(false) => return,
                Err(kind) => {
                    state.threads[t].phase = Phase::Faulting(kind);
                    return;
                }
            }
        }
        state.threads[t].phase = Phase::Faulting(FaultKind::MachineLimit);
    }

    /// Runs one instruction if it is no event; says whether it was none.
    #[inline]
    fn silent(&self, state: &mut State, t: usize, observer: &mut impl Observer) -> Result<bool, FaultKind> {
        let frame = state.threads[t].top();
        let function = self.code(frame.function);
        let thread = &mut state.threads[t];
        let code = &function.code[frame.at as usize];
        if let Some(computed) = compute(code, |source| thread.value(frame, source)) {
            let (to, value) = computed?;
            thread.set(frame, to, value);
            thread.advance();
            return Ok(true);
        }
        match code {
            Code::StackAlloc { to, shape, count } => {
                let (to, shape, count) = (*to, *shape, thread.value(frame, *count));
                let address = self.allocate(state, t, shape, count, false, observer)?;
                state.threads[t].set(frame, to, address);
            }
            Code::Call { function, arguments, .. } => {
                let arguments: Vec<u64> = arguments.iter().map(|&a| thread.value(frame, a)).collect();
                return self.call(thread, *function, &arguments);
            }
            Code::CallIndirect { pointer, arguments, results } => {
                let callee =
                    self.callee(thread.value(frame, *pointer), arguments.len(), Some(results.len()))?;
                let arguments: Vec<u64> = arguments.iter().map(|&a| thread.value(frame, a)).collect();
                return self.call(thread, callee, &arguments);
            }
            Code::Return(values) if thread.frames.len() > 1 => {
                let values: Vec<u64> = values.iter().map(|&source| thread.value(frame, source)).collect();
                self.end_stack_blocks(state, t, frame);
                let thread = &mut state.threads[t];
                thread.frames.pop();
                thread.registers.truncate(frame.base as usize);
                let caller = thread.top();
                if let Code::Call { results, .. } | Code::CallIndirect { results, .. } =
                    &self.code(caller.function).code[caller.at as usize]
                {
                    results.iter().zip(values).for_each(|(&to, value)| thread.set(caller, to, value));
                }
            }
            Code::Jump(edge) => {
                thread.follow(edge);
                return Ok(true);
            }
            Code::Unreachable => return Err(FaultKind::Unreachable),
            Code::Check { kind: CheckKind::Bound, condition } => {
                if thread.value(frame, *condition) & 1 == 0 {
                    thread.phase = Phase::BoundReached;
                    return Ok(false);
                }
            }
            Code::Check { kind: CheckKind::Assume, condition }
                if thread.value(frame, *condition) & 1 == 0 =>
            {
                thread.phase = Phase::AssumptionFailed;
                return Ok(false);
            }
            _ => return Ok(false),
        }
        state.threads[t].advance();
        Ok(true)
    }

    fn call(&self, thread: &mut Thread, function: FunctionId, arguments: &[u64]) -> Result<bool, FaultKind> {
        if thread.frames.len() >= MAX_FRAMES {
            return Err(FaultKind::MachineLimit);
        }
        let code = self.code(function);
        let base = thread.registers.len() as u32;
        thread.registers.resize((base + code.registers) as usize, 0);
        let frame = Frame { function, at: 0, base };
        thread.frames.push(frame);
        code.parameters.iter().zip(arguments).for_each(|(&to, &value)| thread.set(frame, to, value));
        Ok(true)
    }

    /// The function at an address, if it takes so many arguments and gives so many results.
    fn callee(
        &self,
        address: u64,
        arguments: usize,
        results: Option<usize>,
    ) -> Result<FunctionId, FaultKind> {
        let function = address::function_at(address).ok_or(FaultKind::NotAFunction)?;
        let code = self.codes().get(function.index()).ok_or(FaultKind::NotAFunction)?;
        let fits = code.parameters.len() == arguments && results.is_none_or(|n| n == code.results as usize);
        if fits { Ok(function) } else { Err(FaultKind::NotAFunction) }
    }

    fn fork(
        &self,
        state: &mut State,
        t: usize,
        function: FunctionId,
        arguments: &[u64],
        observer: &mut impl Observer,
    ) -> Result<ThreadId, FaultKind> {
        let parent = &mut state.threads[t];
        let child =
            parent.id.child(self.first_fork(parent.id) + parent.forks).ok_or(FaultKind::MachineLimit)?;
        let by = parent.next_event();
        parent.forks += 1;
        if state.threads.len() >= MAX_THREADS {
            return Err(FaultKind::MachineLimit);
        }
        let thread = self.new_thread(child, function, arguments, Some(by));
        state.threads.push(thread);
        let index = state.threads.len() - 1;
        self.run_silently(state, index, observer);
        Ok(child)
    }

    fn allocate(
        &self,
        state: &mut State,
        t: usize,
        shape: ShapeId,
        count: u64,
        heap: bool,
        observer: &mut impl Observer,
    ) -> Result<u64, FaultKind> {
        let bytes = self.program().shape_bytes(shape).checked_mul(count);
        let bytes =
            bytes.filter(|&bytes| bytes <= address::MAX_BYTES).ok_or(FaultKind::AllocationTooLarge)?;
        let site = self.site(state, t);
        let thread = &mut state.threads[t];
        let by = thread.next_event();
        let base = address::of_allocation(thread.id, thread.allocations).ok_or(FaultKind::MachineLimit)?;
        thread.allocations += 1;
        let allocation = AllocationId(state.allocations);
        state.allocations += 1;
        let content = vec![0; bytes as usize];
        let block = Block { base, shape, content, bytes, freed: false, heap, allocation };
        observer.allocated(&block, site, by);
        state.memory.add(block);
        Ok(base)
    }

    /// Ends the life of the stack memory that an activation has made.
    fn end_stack_blocks(&self, state: &mut State, t: usize, frame: Frame) {
        let code = self.code(frame.function);
        if !code.code.iter().any(|code| matches!(code, Code::StackAlloc { .. })) {
            return;
        }
        let thread = &state.threads[t];
        let made: Vec<u64> = (code.code.iter())
            .filter_map(|code| match code {
                Code::StackAlloc { to, .. } => Some(thread.value(frame, Source::Register(*to))),
                _ => None,
            })
            .collect();
        let blocks = state.memory.blocks.iter_mut().filter(|block| !block.heap && made.contains(&block.base));
        blocks.for_each(Block::discard);
    }

    #[inline]
    fn find(&self, state: &State, at: u64, bytes: u64, write: bool) -> Result<(Place, Location), FaultKind> {
        self.layout().locate(&state.memory, at, bytes, write)
    }
}

impl Thread {
    #[inline]
    pub(crate) fn value(&self, frame: Frame, source: Source) -> u64 {
        match source {
            Source::Register(register) => self.registers[(frame.base + register) as usize],
            Source::Constant(value) => value,
        }
    }

    #[inline]
    fn set(&mut self, frame: Frame, register: u32, value: u64) {
        self.registers[(frame.base + register) as usize] = value;
    }

    /// Goes to the next instruction, unless the present one has another event to come.
    fn advance(&mut self) {
        if matches!(self.phase, Phase::Ready)
            && let Some(frame) = self.frames.last_mut()
        {
            frame.at += 1;
        }
    }

    fn follow(&mut self, edge: &Edge) {
        let frame = self.top();
        // All copies of an edge happen at once: read first, then write.
        match &*edge.copies {
            [] => {}
            [(to, source)] => {
                let value = self.value(frame, *source);
                self.set(frame, *to, value);
            }
            copies => {
                let values: Vec<u64> = copies.iter().map(|&(_, source)| self.value(frame, source)).collect();
                copies.iter().zip(values).for_each(|(&(to, _), value)| self.set(frame, to, value));
            }
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.at = edge.target;
        }
    }
}
