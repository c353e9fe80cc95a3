//! From records to events.

use super::memory::Memory;
use super::records::{Content, Records};
use super::sites::{Does, Site, Sites};
use super::threads::Threads;
use super::{Reading, steps};
use crate::Linked;
use abi::Note;
use abi::unit::{ENTRY, LANDING, STACK, Unit};
use ir::SiteId;
use rustc_hash::FxHashSet;
use std::time::Instant;
use trace::{
    AllocationOrigin, Event, EventId, EventKind, Location, Origin, Outcome, Switch, ThreadId, Trace,
};

/// Stack memory whose size only the run knows is taken to reach at most so far.
const MOST_VARIABLE_BYTES: u64 = 1 << 16;

/// The clock is looked at once in so many records.
const LOOKS_AT_THE_CLOCK: usize = 1 << 16;

/// Where the stack of `main` is without address randomisation, and its usual size.
const MAIN_STACK: (u64, u64) = (0x7fff_ff7f_f000, 8 << 20);

/// What is known of a thread besides its events.
#[derive(Default)]
pub struct State {
    /// The site of its last event.
    pub site: Option<SiteId>,
    /// Units of an event that is not complete.
    units: Vec<u64>,
    /// The read half of a copy has come, at this site.
    copied: Option<SiteId>,
    /// Its last allocation: piece, number of its event in the trace.
    pub allocated: Option<(u32, usize)>,
    /// How many stack allocations it has made.
    stack_allocations: u64,
}

/// The part of a trace that one thread runs without a switch.
struct Segment {
    thread: ThreadId,
    before: u64,
    enabled: Vec<ThreadId>,
    /// The last event that was logged.
    last: Option<(u64, SiteId)>,
}

/// A trace in the making.
pub struct Converter<'l> {
    linked: &'l Linked,
    sites: Sites,
    pub memory: Memory<'l>,
    pub threads: Threads<'l>,
    pub states: Vec<State>,
    /// The running thread: itself, and its place in `states`.
    pub thread: ThreadId,
    pub state: usize,
    segment: Segment,
    pub reading: Reading,
    /// The sites of stack memory that the log has.
    logged_stack: FxHashSet<SiteId>,
    /// How the run ended, as far as events say it.
    pub failure: Option<Outcome>,
}

impl<'l> Converter<'l> {
    pub fn new(linked: &'l Linked, origin: Origin) -> Converter<'l> {
        let mut threads = Threads::new(&linked.program);
        threads.number(ThreadId::MAIN);
        let trace = Trace {
            origin,
            threads: vec![],
            allocations: vec![],
            events: vec![],
            switches: vec![],
            choices: vec![],
            outcome: Outcome::Truncated,
        };
        let main = ThreadId::MAIN;
        Converter {
            linked,
            sites: Sites::new(&linked.program),
            memory: Memory::new(&linked.program),
            threads,
            states: vec![State::default()],
            thread: main,
            state: 0,
            segment: Segment { thread: main, before: 0, enabled: vec![main], last: None },
            reading: Reading {
                trace,
                departure: None,
                ended: false,
                full: None,
                unread: false,
                unsupported: None,
                shared: vec![],
                inputs: vec![],
                globals: vec![],
                hand_overs: 0,
                events: 0,
                foreign_units: 0,
                damage: None,
            },
            logged_stack: FxHashSet::default(),
            failure: None,
        }
    }

    pub fn read(mut self, bytes: &[u8], until: Option<Instant>) -> Reading {
        let mut records = Records::new(bytes);
        let mut n = 0;
        for (at, record) in records.by_ref().enumerate() {
            if at % LOOKS_AT_THE_CLOCK == 0 && until.is_some_and(|until| Instant::now() >= until) {
                self.reading.unread = true;
                break;
            }
            n = record.n;
            match record.content {
                Content::Unit(unit) => self.unit(n, unit),
                Content::Note(note) => {
                    if let Note::Switch { to, done, enabled } = &note {
                        let enabled = enabled.iter().filter_map(|&code| ThreadId::from_code(code));
                        let enabled = enabled.collect();
                        if let Some(to) = ThreadId::from_code(*to) {
                            self.switch(n, to, *done, enabled);
                            n = *done;
                        }
                    } else {
                        self.note(n, note);
                    }
                }
            }
        }
        self.reading.damage = records.damage().cloned();
        self.end_segment(n);
        if !self.reading.ended {
            self.reading.trace.outcome = Outcome::Truncated;
        }
        // What no access has named may be what a pointer leads to under another schedule.
        for &(_, address, _) in
            self.reading.globals.iter().filter(|(global, ..)| self.linked.addressed.contains(global))
        {
            self.memory.location(address);
        }
        let mut reading = self.reading;
        reading.trace.allocations = self.memory.allocations;
        reading.trace.threads = self.threads.finish();
        reading
    }

    /// The place in `states` of a thread.
    fn state_of(&mut self, thread: ThreadId) -> usize {
        let number = self.threads.number(thread);
        if self.states.len() <= number {
            self.states.resize_with(number + 1, State::default);
        }
        number
    }

    /// A thread that is named.
    pub fn named(&mut self, code: u64) -> ThreadId {
        let thread = ThreadId::from_code(code).unwrap_or(ThreadId::MAIN);
        self.state_of(thread);
        thread
    }

    fn switch(&mut self, n: u64, to: ThreadId, done: u64, enabled: Vec<ThreadId>) {
        for &thread in &enabled {
            self.state_of(thread);
        }
        let number = self.state_of(to);
        if to == self.segment.thread && n > self.segment.before {
            return; // it goes on
        }
        self.end_segment(n);
        self.segment = Segment { thread: to, before: done, enabled, last: None };
        (self.thread, self.state) = (to, number);
    }

    /// The running thread has done `n` events, and its turn is over.
    fn end_segment(&mut self, n: u64) {
        let Segment { thread, before, last, .. } = self.segment;
        if n > before {
            let site = last.filter(|&(last, _)| last == n).map(|(_, site)| site);
            let enabled = std::mem::take(&mut self.segment.enabled);
            // Others had a turn in between in which they did nothing: no switch that a replay would make.
            if let Some(before) =
                self.reading.trace.switches.last_mut().filter(|before| before.thread == thread)
            {
                (before.until, before.site) = (n, site);
                return;
            }
            self.reading.trace.switches.push(Switch { thread, until: n, site, enabled });
        }
    }

    /// The site of the program that a number of the log means; the one before where it means none.
    pub fn site(&self, number: u32) -> SiteId {
        self.sites.id(number).or(self.states[self.state].site).unwrap_or(SiteId(0))
    }

    /// An event of the running thread.
    pub fn event(&mut self, n: u64, site: SiteId, kind: EventKind) -> EventId {
        let id = EventId { thread: self.thread, n };
        self.states[self.state].site = Some(site);
        self.segment.last = Some((n, site));
        self.reading.trace.events.push(Event { id, site, kind });
        id
    }

    #[inline]
    fn unit(&mut self, n: u64, unit: Unit) {
        let Some(id) = self.sites.id(unit.site()) else {
            self.reading.foreign_units += 1;
            return;
        };
        let site = self.sites.get(id);
        let address = unit.address();
        match address {
            ENTRY => return self.entry(n, id, site, unit.value),
            LANDING if site.heads_block => {
                self.event(n, id, EventKind::Landing);
                return;
            }
            STACK => return self.stack(n, id, site, unit.value),
            _ => {}
        }
        let value = cut(unit.value, site.bytes);
        match site.does {
            Does::Read(order) => {
                let location = self.access(site, address);
                let bytes = site.bytes.clamp(1, 8);
                self.event(n, id, EventKind::Read { location, bytes, value, order });
            }
            Does::Write(order) => {
                let location = self.access(site, address);
                let bytes = site.bytes.clamp(1, 8);
                if bytes == 8 {
                    self.memory.pointer_written(location, value);
                }
                self.event(n, id, EventKind::Write { location, bytes, value, order });
            }
            Does::Update(order) => {
                if let Some([old]) = self.gather(value) {
                    let location = self.access(site, address);
                    let bytes = site.bytes.clamp(1, 8);
                    self.event(n, id, EventKind::Update { location, bytes, old, new: value, order });
                }
            }
            Does::CompareExchange(success, failure) => {
                if let Some([old, expected]) = self.gather(value) {
                    let location = self.access(site, address);
                    let (bytes, done) = (site.bytes.clamp(1, 8), old == expected);
                    let order = if done { success } else { failure };
                    let kind = EventKind::CompareExchange {
                        location,
                        bytes,
                        old,
                        expected,
                        new: value,
                        success: done,
                        order,
                    };
                    self.event(n, id, kind);
                }
            }
            Does::Fence(order) => {
                self.event(n, id, EventKind::Fence { order });
            }
            Does::Branch(ways) => {
                let taken = u32::try_from(unit.value).unwrap_or(u32::MAX).min(ways.saturating_sub(1));
                self.event(n, id, EventKind::Branch { taken });
            }
            Does::Opaque if address != 0 => {
                if let Some([old]) = self.gather(value) {
                    let location = self.access(site, address);
                    let (bytes, order) = (site.bytes.clamp(1, 8), ir::Order::SeqCst);
                    self.event(n, id, EventKind::Update { location, bytes, old, new: value, order });
                }
            }
            Does::Call | Does::Sets | Does::Opaque => self.result(n, id, unit.value),
            Does::Nothing | Does::Copy(_) | Does::Fill | Does::Stack(..) => {}
        }
    }

    /// The units before this one that belong to the same event; `None` until there are so many.
    fn gather<const BEFORE: usize>(&mut self, value: u64) -> Option<[u64; BEFORE]> {
        let units = &mut self.states[self.state].units;
        if units.len() < BEFORE {
            units.push(value);
            return None;
        }
        let before = units[..].first_chunk::<BEFORE>().copied();
        units.clear();
        before
    }

    /// The location of an access. One that names its variable tells where that is, should nobody have said so.
    #[inline]
    fn access(&mut self, site: Site, address: u64) -> Location {
        if let Some(global) = site.global {
            self.learn(global, address);
        }
        self.memory.location(address)
    }

    fn learn(&mut self, global: ir::GlobalId, address: u64) {
        let definition = self.linked.program.global(global);
        let origin = match definition.thread_local {
            true => AllocationOrigin::ThreadLocal { thread: self.thread, global },
            false => AllocationOrigin::Global(global),
        };
        let piece = self.memory.piece(address);
        if self.memory.origin(piece) != origin
            && (definition.thread_local || matches!(self.memory.origin(piece), AllocationOrigin::Page(_)))
        {
            let bytes = self.linked.program.shape_bytes(definition.shape).max(1);
            self.memory.add(origin, Some(definition.shape), address, bytes);
        }
    }

    fn entry(&mut self, n: u64, id: SiteId, site: Site, value: u64) {
        self.threads.enters(self.state, id);
        let Some(count) = site.parameters else { return };
        let units = &mut self.states[self.state].units;
        units.push(value);
        if units.len() >= count.max(1) as usize {
            let mut parameters = std::mem::take(units);
            parameters.truncate(count as usize);
            self.event(n, id, EventKind::Entry { parameters: parameters.into() });
        }
    }

    fn stack(&mut self, n: u64, id: SiteId, site: Site, address: u64) {
        let Does::Stack(shape, count) = site.does else { return };
        self.logged_stack.insert(id);
        let bytes = match count {
            Some(count) => self.linked.program.shape_bytes(shape).saturating_mul(count),
            None => self.memory.room_above(address, MOST_VARIABLE_BYTES),
        };
        let state = &mut self.states[self.state];
        let earlier = state.stack_allocations;
        state.stack_allocations += 1;
        let origin = AllocationOrigin::Stack { thread: self.thread, earlier, site: id };
        let piece = self.memory.add(origin, Some(shape), address, bytes);
        let allocation = self.memory.allocation(piece);
        self.event(n, id, EventKind::Alloc { allocation });
    }

    /// The result of a call. If it is the address of the memory that was allocated last, this is the call that allocated it.
    fn result(&mut self, n: u64, id: SiteId, result: u64) {
        if let Some((piece, event)) = self.states[self.state].allocated.take()
            && self.memory.address(piece) == result
            && let AllocationOrigin::Heap { by, .. } = self.memory.origin(piece)
        {
            self.memory.set_origin(piece, AllocationOrigin::Heap { by, site: id });
            if let Some(shape) = self.sites.get(id).pointee {
                self.memory.holds(piece, shape);
            }
            self.reading.trace.events[event].site = id;
        }
        self.event(n, id, EventKind::External { result });
    }

    fn note(&mut self, n: u64, note: Note) {
        match note {
            Note::Module { id, first, globals, functions, .. } => {
                self.module(id, first, &globals, &functions)
            }
            Note::Thread { thread, start, stack: (low, bytes), .. } => {
                let thread = self.named(thread);
                self.threads.starts(thread, start);
                // The first stack is the system's: it ends where the address space does.
                let (low, bytes) =
                    if bytes == 0 && thread == ThreadId::MAIN { MAIN_STACK } else { (low, bytes) };
                if bytes > 0 {
                    self.memory.add(AllocationOrigin::StackOf(thread), None, low, bytes);
                }
            }
            Note::Step(site, step) => steps::step(self, n, site, step),
            Note::Choice(choice) => {
                let choice = match choice {
                    abi::note::Choice::Wake(thread) => trace::Choice::Wake(self.named(thread)),
                    abi::note::Choice::Expire => trace::Choice::Expire,
                    abi::note::Choice::Spurious => trace::Choice::Spurious,
                };
                self.reading.trace.choices.push(choice);
            }
            Note::Bytes { site, address, content } => self.bytes(n, site, address, content),
            Note::Input { what, hash } => self.reading.inputs.push((what, hash)),
            Note::Departure(encoded) => {
                self.reading.departure = postcard::from_bytes(&encoded).ok().map(|d| self.departure(d));
            }
            Note::Shared(mut shared) => {
                // Sorted by the low bits, which the runtime counts in.
                shared.sort_unstable();
                self.reading.shared = shared;
            }
            Note::Full => self.reading.full = Some(self.reading.trace.events.len()),
            Note::End { end, done, hand_overs } => {
                self.reading.hand_overs = hand_overs;
                self.reading.events = done.iter().fold(0, |sum, &(_, n)| sum.saturating_add(n));
                self.reading.ended = true;
                self.reading.trace.outcome = steps::outcome(self, n, end);
            }
            // A fill has become bytes, and a switch is not told here.
            Note::Fill { .. } | Note::Gap | Note::Switch { .. } => {}
        }
    }

    fn module(&mut self, id: u64, first: u32, globals: &[u64], functions: &[u64]) {
        self.sites.load(self.linked, id, first);
        let Some(module) = self.linked.modules.iter().find(|module| module.id == id) else { return };
        for (local, &address) in (0..).zip(functions) {
            if let Some(function) = module.function(local).filter(|_| address != 0) {
                self.threads.function_at(address, function);
            }
        }
        for (local, &address) in (0..).zip(globals) {
            let Some(global) = module.global(local).filter(|_| address != 0) else { continue };
            let definition = self.linked.program.global(global);
            let bytes = self.linked.program.shape_bytes(definition.shape);
            let known = self.memory.piece(address);
            if self.memory.origin(known) == AllocationOrigin::Global(global) || bytes == 0 {
                continue; // another module has it too
            }
            self.memory.add(AllocationOrigin::Global(global), Some(definition.shape), address, bytes);
            self.reading.globals.push((global, address, bytes));
        }
    }

    fn bytes(&mut self, n: u64, number: u32, address: u64, content: Box<[u8]>) {
        let Some(id) = self.sites.id(number) else {
            self.reading.foreign_units += 1;
            return;
        };
        let site = self.sites.get(id);
        let location = self.access(site, address);
        let reads = match site.does {
            Does::Read(_) => true,
            Does::Copy(Some(stack)) if !self.logged_stack.contains(&stack) => true,
            Does::Copy(_) | Does::Update(_) | Does::CompareExchange(..) => {
                let copied = &mut self.states[self.state].copied;
                let first = *copied != Some(id);
                *copied = first.then_some(id);
                first
            }
            Does::Write(_) | Does::Fill => false,
            // What a function of the C library has read.
            Does::Call => true,
            Does::Sets => {
                let value = content.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte));
                let order = Some(ir::Order::Release);
                let bytes = content.len() as u8;
                self.event(n, id, EventKind::Write { location, bytes, value, order });
                return;
            }
            _ => return,
        };
        let kind = match reads {
            true => EventKind::ReadBytes { location, content },
            false => EventKind::WriteBytes { location, content },
        };
        self.event(n, id, kind);
    }

    /// A departure with the sites of the program in place of the log's numbers.
    fn departure(&self, departure: subject::Departure) -> subject::Departure {
        match departure {
            subject::Departure::OtherInstruction { segment, thread, n, expected, found } => {
                let site = |number: SiteId| self.sites.id(number.0).unwrap_or(SiteId(0));
                let (expected, found) = (site(expected), site(found));
                subject::Departure::OtherInstruction { segment, thread, n, expected, found }
            }
            other => other,
        }
    }
}

/// The low bytes of a value.
#[inline]
fn cut(value: u64, bytes: u8) -> u64 {
    match bytes {
        1..8 => value & ((1 << (8 * u32::from(bytes))) - 1),
        _ => value,
    }
}
