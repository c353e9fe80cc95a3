//! Locations in the words of the source: `counter`, `acct[3].balance`, `*node.next (allocated at list.c:41)`.

use crate::{Allocation, AllocationOrigin, Location, Trace};
use ir::{Op, Program, Shape, SiteId, SiteIndex};

impl Trace {
    /// A location in the words of the source: `x`, `a[3]`, `acct[3].balance`, and for other memory which piece of it.
    /// What `program` does not have (the trace may be another program's) is shown by its number.
    #[must_use]
    pub fn location_name(&self, program: &Program, location: Location) -> String {
        self.location_name_by(program, &|| SiteIndex::new(program), location)
    }

    /// The same for who asks often and has the numbering of the sites; `sites` gives it where it is needed.
    pub(crate) fn location_name_by<S: std::borrow::Borrow<SiteIndex>>(
        &self,
        program: &Program,
        sites: &dyn Fn() -> S,
        location: Location,
    ) -> String {
        let Location { allocation: id, offset } = location;
        let Some(allocation) = self.allocations.get(id.0 as usize) else {
            return format!("?{}+{offset}", id.0);
        };
        let shape = allocation.shape.filter(|shape| shape.index() < program.shapes.len());
        let part = |offset| match (shape, offset) {
            (Some(shape), offset) => program.part_name(shape, offset),
            (None, 0) => String::new(),
            (None, offset) => format!("+{offset}"),
        };
        // A model program has its threads from the start; a compiled one only by running.
        let compiled = program.threads.is_empty();
        match allocation.origin {
            AllocationOrigin::Global(global) => match program.globals.get(global.index()) {
                Some(global) => format!("{}{}", global.name, part(offset)),
                None => format!("global{}{}", global.0, part(offset)),
            },
            AllocationOrigin::Heap { site, .. } if compiled => {
                heap_part(program, allocation, offset) + &allocated_at(program, sites().borrow(), site)
            }
            AllocationOrigin::Heap { by, .. } => {
                let element = shape.map_or(1, |shape| program.shape_bytes(shape).max(1));
                let (index, inside) = (offset / element, part(offset % element));
                format!("heap<{}:{}>[{index}]{inside}", self.thread_name(by.thread), by.n)
            }
            AllocationOrigin::Stack { thread, site, .. } if compiled => {
                let variable = variable(program, sites().borrow(), site).unwrap_or("stack");
                format!("{variable}{} of {}", part(offset), self.thread_name(thread))
            }
            AllocationOrigin::Stack { thread, earlier, .. } => {
                format!("stack<{}:{earlier}>{}", self.thread_name(thread), part(offset))
            }
            AllocationOrigin::ThreadLocal { thread, global } => {
                let name = program.globals.get(global.index()).map_or("thread-local", |global| &*global.name);
                format!("{name}{} of {}", part(offset), self.thread_name(thread))
            }
            AllocationOrigin::StackOf(thread) => {
                format!("stack+{offset:#x} of {}", self.thread_name(thread))
            }
            AllocationOrigin::Page(address) => format!("memory at {:#x}", address.saturating_add(offset)),
        }
    }
}

/// A part of heap memory by what it holds: `*node.next`, `*account[3].balance`; by its distance if that is not known.
fn heap_part(program: &Program, allocation: &Allocation, offset: u64) -> String {
    let shape = allocation.shape.filter(|shape| shape.index() < program.shapes.len());
    let Some(shape) = shape else {
        return match offset {
            0 => "*heap".to_owned(),
            _ => format!("*heap+{offset}"),
        };
    };
    let element = program.shape_bytes(shape).max(1);
    let name = match program.shape(shape) {
        Shape::Record { name, .. } if !name.is_empty() => name,
        _ => "heap",
    };
    let index = match allocation.bytes >= element.saturating_mul(2) {
        true => format!("[{}]", offset / element),
        false => String::new(),
    };
    format!("*{name}{index}{}", program.part_name(shape, offset % element))
}

fn allocated_at(program: &Program, sites: &SiteIndex, site: SiteId) -> String {
    match sites.source(program, site).0.and_then(|at| Some((program.files.get(at.file.index())?, at.line))) {
        Some((file, line)) => format!(" (allocated at {}:{line})", crate::show::base_name(&file.path)),
        None => String::new(),
    }
}

/// The variable of the source that stack memory is.
fn variable<'p>(program: &'p Program, sites: &SiteIndex, site: SiteId) -> Option<&'p str> {
    let place = sites.place(site)?;
    let function = program.function(place.function);
    let instruction = function.block(place.block).instructions.get(place.instruction as usize)?;
    match instruction.op {
        Op::StackAlloc { .. } => function.value(*instruction.results.first()?).name.as_deref(),
        _ => None,
    }
}
