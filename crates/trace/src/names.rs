//! Numbers of a trace in the words of the source, as far as a program is at hand.
//!
//! Total: a trace that belongs to another program gives wrong or missing names, never a panic.

use crate::{AllocationId, AllocationOrigin, Location, Logging, ThreadId, Trace};
use ir::{Callee, Op, Position, Program, Shape, SiteId, SiteIndex, Terminator};
use std::borrow::Cow;
use std::collections::HashMap;

/// The names of one trace.
pub(crate) struct Names<'t> {
    trace: &'t Trace,
    program: Option<(&'t Program, Cow<'t, SiteIndex>)>,
    threads: HashMap<ThreadId, &'t str>,
}

/// Where an event stands in the source.
pub(crate) struct Source<'t> {
    pub(crate) file: &'t str,
    pub(crate) position: Position,
}

impl<'t> Names<'t> {
    pub(crate) fn new(trace: &'t Trace, program: Option<&'t Program>) -> Names<'t> {
        Names::of(trace, program.map(|program| (program, Cow::Owned(SiteIndex::new(program)))))
    }

    /// The same with the sites of the program, which somebody has numbered.
    pub(crate) fn with(trace: &'t Trace, program: &'t Program, sites: &'t SiteIndex) -> Names<'t> {
        Names::of(trace, Some((program, Cow::Borrowed(sites))))
    }

    fn of(trace: &'t Trace, program: Option<(&'t Program, Cow<'t, SiteIndex>)>) -> Names<'t> {
        let threads = trace.threads.iter().map(|info| (info.id, &*info.name)).collect();
        Names { trace, program, threads }
    }

    /// What people call a thread.
    pub(crate) fn thread(&self, thread: ThreadId) -> String {
        self.threads.get(&thread).map_or_else(|| thread.to_string(), |name| (*name).to_owned())
    }

    /// A location as the source has it; without a program the piece of memory and the offset.
    pub(crate) fn location(&self, location: Location) -> String {
        match &self.program {
            Some((program, sites)) => self.trace.location_name_by(program, &|| &**sites, location),
            None => match location.offset {
                0 => self.allocation(location.allocation),
                offset => format!("{}+{offset}", self.allocation(location.allocation)),
            },
        }
    }

    /// A piece of memory.
    pub(crate) fn allocation(&self, id: AllocationId) -> String {
        let Some(allocation) = self.trace.allocations.get(id.0 as usize) else { return format!("?{}", id.0) };
        match allocation.origin {
            AllocationOrigin::Global(global) => {
                let program =
                    self.program.as_ref().and_then(|(program, _)| program.globals.get(global.index()));
                program.map_or_else(|| format!("global{}", global.0), |global| global.name.to_string())
            }
            AllocationOrigin::Heap { .. } | AllocationOrigin::Stack { .. } if self.is_compiled() => {
                let place = self.location(Location { allocation: id, offset: 0 });
                format!("{} bytes: {place}", allocation.bytes)
            }
            AllocationOrigin::Heap { by, .. } => format!("heap<{}:{}>", self.thread(by.thread), by.n),
            AllocationOrigin::Stack { thread, earlier, .. } => {
                format!("stack<{}:{earlier}>", self.thread(thread))
            }
            AllocationOrigin::ThreadLocal { thread, global } => {
                let program =
                    self.program.as_ref().and_then(|(program, _)| program.globals.get(global.index()));
                let name = program.map_or_else(|| format!("global{}", global.0), |g| g.name.to_string());
                format!("{name} of {}", self.thread(thread))
            }
            AllocationOrigin::StackOf(thread) => format!("stack of {}", self.thread(thread)),
            AllocationOrigin::Page(address) => format!("memory at {address:#x}"),
        }
    }

    /// Whether the numbers in the events are values, and not only names of writes.
    pub(crate) fn has_values(&self) -> bool {
        self.trace.origin.logging != Logging::WithoutValues
    }

    /// Whether it is a compiled program, and at hand.
    fn is_compiled(&self) -> bool {
        self.program.as_ref().is_some_and(|(program, _)| program.threads.is_empty())
    }

    /// The shape of the part at a location, if it is known.
    fn shape(&self, location: Location) -> Option<&'t Shape> {
        let (program, _) = self.program.as_ref()?;
        let allocation = self.trace.allocations.get(location.allocation.0 as usize)?;
        let shape = allocation.shape.filter(|shape| shape.index() < program.shapes.len())?;
        // Heap and stack memory is a row of things of this shape.
        let element = program.shape_bytes(shape).max(1);
        Some(program.part_shape(shape, location.offset % element))
    }

    /// A value of `bytes` bytes that stands at `location`, as the source would write it.
    pub(crate) fn value(&self, location: Location, bytes: u8, value: u64) -> String {
        match self.shape(location) {
            Some(Shape::Int { bytes: whole, signed: true }) if *whole == bytes && bytes <= 8 => {
                let unused = 64 - 8 * u32::from(bytes.clamp(1, 8));
                (((value << unused) as i64) >> unused).to_string()
            }
            Some(Shape::Pointer { .. }) if bytes == 8 && value == 0 => "null".into(),
            Some(Shape::Pointer { .. }) if bytes == 8 => format!("{value:#x}"),
            Some(Shape::Float { bytes: 8 }) if bytes == 8 => format!("{:?}", f64::from_bits(value)),
            Some(Shape::Float { bytes: 4 }) if bytes == 4 => format!("{:?}", f32::from_bits(value as u32)),
            _ => value.to_string(),
        }
    }

    /// The source position of an instruction, if there is one.
    pub(crate) fn source(&self, site: SiteId) -> Option<Source<'t>> {
        let (program, sites) = self.program.as_ref()?;
        let position = sites.source(program, site).0?;
        let file = program.files.get(position.file.index())?;
        Some(Source { file: &file.path, position })
    }

    /// The label that the source gives an instruction.
    pub(crate) fn label(&self, site: SiteId) -> Option<&'t str> {
        let (program, sites) = self.program.as_ref()?;
        sites.source(program, site).1
    }

    /// Whether the program comes from several files.
    pub(crate) fn several_files(&self) -> bool {
        self.program.as_ref().is_some_and(|(program, _)| program.files.len() > 1)
    }

    /// Which way a branch went: to a line of the source. `then` and `else` would be the IR's, whose condition may be the
    /// negation of the source's.
    pub(crate) fn way(&self, site: SiteId, taken: u32) -> String {
        match self.terminator(site) {
            Some(terminator @ Terminator::Branch { .. }) => match self.first_line(site, terminator, taken) {
                Some(line) => format!("line {line}"),
                None => format!("way {taken}"),
            },
            Some(Terminator::Switch { cases, .. }) if (taken as usize) < cases.len() => {
                format!("case {}", cases[taken as usize].0)
            }
            Some(Terminator::Switch { cases, .. }) if taken as usize == cases.len() => "default".into(),
            _ => format!("way {taken}"),
        }
    }

    /// The first line of the block that a terminator's `taken`-th way leads to.
    fn first_line(&self, site: SiteId, terminator: &Terminator, taken: u32) -> Option<u32> {
        let (program, sites) = self.program.as_ref()?;
        let function = program.functions.get(sites.place(site)?.function.index())?;
        let mut block = *terminator.successors().get(taken as usize)?;
        // Blocks that only lead on have no line of their own; their number bounds how many can follow each other.
        for _ in 0..function.blocks.len() {
            let here = function.blocks.get(block.index())?;
            let position = here.instructions.iter().find_map(|i| i.position).or(here.position);
            match (position, &here.terminator) {
                (Some(position), _) => return Some(position.line),
                (None, Terminator::Jump(next)) => block = *next,
                (None, _) => return None,
            }
        }
        None
    }

    /// The symbol of the function that an instruction calls outside the program.
    pub(crate) fn called(&self, site: SiteId) -> Option<&'t str> {
        let (program, sites) = self.program.as_ref()?;
        let callee = match sites.op(program, site) {
            Some(Op::Call { callee, .. }) => callee,
            Some(_) => return None,
            None => match self.terminator(site)? {
                Terminator::Invoke { callee, .. } => callee,
                _ => return None,
            },
        };
        if let Callee::External(symbol) = callee { Some(symbol) } else { None }
    }

    /// The function that an instruction is in.
    pub(crate) fn function(&self, site: SiteId) -> Option<&'t str> {
        let (program, sites) = self.program.as_ref()?;
        Some(&program.functions.get(sites.place(site)?.function.index())?.name)
    }

    fn terminator(&self, site: SiteId) -> Option<&'t Terminator> {
        let (program, sites) = self.program.as_ref()?;
        let place = sites.place(site)?;
        let block = program.function(place.function).block(place.block);
        (place.instruction as usize == block.instructions.len()).then_some(&block.terminator)
    }
}
