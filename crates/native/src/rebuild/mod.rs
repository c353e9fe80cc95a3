//! Rebuilding what a log leaves out: all values between two events, by walking the program along each thread's path.
//!
//! A log has what came into the program (loads, results of calls, parameters of entry points) and what decided its way. Everything
//! else follows, by the meaning that [`ir::eval`] gives to instructions. The walk computes it with plain numbers, and compares it
//! with what the log has all the same: the addresses of accesses, the values that were stored, the outcomes of branches. A
//! difference is a bug of ours, in the pass, in the runtime or here, and is counted and shown ([`Statistics::mismatches`]).
//!
//! A value that cannot be computed is *pinned*: taken as the run had it. Along with each value goes whether it depends on memory
//! that threads share, and through what it was pinned, if it was: a branch that has both is one whose other outcome cannot be
//! predicted.
//!
//! `walk` takes one step of a thread: `compute` does arithmetic, `atomic` and `transfer` what takes more than one item of the log,
//! `control` the ends of blocks, `calls` enters and leaves functions, `memory` the memory that the log does not see (variables
//! that stay in their function, constants). `compare` sets what was computed beside the log, `image` notices what uninstrumented
//! code wrote.

mod address;
mod atomic;
mod calls;
mod compare;
mod compute;
mod control;
mod frame;
mod image;
mod memory;
mod models;
mod statistics;
mod transfer;
mod value;
mod walk;

pub use statistics::{ExternalWrite, Mismatch, Statistics};

use crate::Linked;
use crate::log::{Content, Records, Sites};
use abi::Note;
use abi::unit::{ENTRY, LANDING, STACK};
use address::{Stand, stands_for};
use frame::Thread;
use image::Image;
use ir::{FunctionId, GlobalId, SiteId, SiteIndex};
use rustc_hash::FxHashMap;
use trace::{EventId, ThreadId};
use value::Reasons;

/// Walks the threads of a run in which everything was logged.
#[must_use]
pub fn rebuild(linked: &Linked, log: &[u8]) -> Statistics {
    let shared = image::shared_words(log);
    let mut walker = Walker {
        linked,
        index: SiteIndex::new(&linked.program),
        sites: Sites::new(&linked.program),
        globals: FxHashMap::default(),
        functions: FxHashMap::default(),
        function_at: FxHashMap::default(),
        reasons: Reasons::default(),
        image: Image::new(shared),
        statistics: Statistics::default(),
        event: EventId { thread: ThreadId::MAIN, n: 0 },
        site_now: SiteId(0),
        locals: 0,
    };
    let mut threads: FxHashMap<ThreadId, Thread> = FxHashMap::default();
    for record in Records::new(log) {
        walker.event = EventId { thread: record.thread, n: record.n };
        let item = match record.content {
            Content::Unit(unit) => {
                let Some(site) = walker.sites.id(unit.site()) else { continue };
                let what = match unit.address() {
                    ENTRY => What::Entry(unit.value),
                    LANDING => What::Landing,
                    STACK => What::Stack(unit.value),
                    address => What::Unit(address, unit.value),
                };
                Item { site, what }
            }
            Content::Note(Note::Bytes { site, address, content }) => {
                let Some(site) = walker.sites.id(site) else { continue };
                Item { site, what: What::Bytes(address, content) }
            }
            Content::Note(note) => {
                walker.note(&note);
                continue;
            }
        };
        walker.site_now = item.site;
        walker.feed(threads.entry(record.thread).or_default(), &item);
    }
    walker.finish()
}

/// What the log says next about a thread.
struct Item {
    site: SiteId,
    what: What,
}

enum What {
    /// An address (or 0), and a value.
    Unit(u64, u64),
    /// An address, and what is there.
    Bytes(u64, Box<[u8]>),
    /// A parameter.
    Entry(u64),
    Landing,
    /// The address of stack memory.
    Stack(u64),
}

/// The walk: what is the same for all threads.
struct Walker<'l> {
    linked: &'l Linked,
    index: SiteIndex,
    sites: Sites,
    /// Where globals and functions lie, as far as that is known.
    globals: FxHashMap<GlobalId, u64>,
    functions: FxHashMap<FunctionId, u64>,
    function_at: FxHashMap<u64, FunctionId>,
    reasons: Reasons,
    image: Image,
    statistics: Statistics,
    /// The event that is being looked at.
    event: EventId,
    site_now: SiteId,
    /// How many pieces of memory that the log does not see there were.
    locals: u64,
}

impl Walker<'_> {
    fn note(&mut self, note: &Note) {
        match note {
            Note::Module { id, first, globals, functions, .. } => {
                self.sites.load(self.linked, *id, *first);
                let Some(module) = self.linked.modules.iter().find(|module| module.id == *id) else { return };
                for (local, &address) in (0..).zip(globals).filter(|&(_, &address)| address != 0) {
                    if let Some(global) = module.global(local) {
                        self.globals.insert(global, address);
                    }
                }
                for (local, &address) in (0..).zip(functions).filter(|&(_, &address)| address != 0) {
                    if let Some(function) = module.function(local) {
                        self.functions.insert(function, address);
                        self.function_at.insert(address, function);
                    }
                }
            }
            Note::Step(_, abi::note::Step::Alloc { address, bytes }) => self.image.forget(*address, *bytes),
            Note::Step(site, _) => {
                if let Some(site) = self.sites.id(*site) {
                    self.image.called(self.event, site);
                }
            }
            _ => {}
        }
    }

    /// What an address stands for that the log does not tell. A number that merely looks like one, a hash for example, names
    /// nothing that exists.
    fn stand(&self, address: u64) -> Option<Stand> {
        stands_for(address).filter(|stand| match *stand {
            Stand::Global(global, _) => global.index() < self.linked.program.globals.len(),
            Stand::Function(function, _) => function.index() < self.linked.program.functions.len(),
            Stand::Local(number) => u64::from(number) <= self.locals,
        })
    }

    fn finish(mut self) -> Statistics {
        self.statistics.external_writes = self.image.external_writes;
        self.statistics.first_external = self.image.first;
        self.statistics.name(&self.reasons);
        self.statistics
    }
}
