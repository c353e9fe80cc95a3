//! The machine: a subject that interprets program IR, one event at a time, sequentially consistent.
//!
//! [`Machine`] runs a model program under a strategy ([`subject::Subject`]). The [`oracle`] runs it under *every*
//! schedule and says what can happen; everything else in Threadbare is compared with it, so it is written to be
//! obviously right.
//!
//! The way of a program through this crate: [`Machine::new`] makes the IR ready to run (`code`, `liveness`) and lays out
//! the globals (`memory`, `address`); a `State` is stepped event by event (`step`, `sync`, `enabled`); `run` asks a
//! scheduler who goes next and records a trace, the oracle goes every way there is.

mod address;
mod code;
mod enabled;
mod final_state;
mod liveness;
mod memory;
mod object;
pub mod oracle;
mod pending;
mod pure;
mod run;
mod spin;
mod state;
mod step;
mod sync;

use code::FunctionCode;
use ir::{FunctionId, Initial, Program, SiteIndex, SyncKind};
use memory::Layout;
use object::Object;
use trace::ThreadId;

/// How the machine behaves where the program leaves it open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Waits may end without a signal.
    pub spurious: bool,
    /// A loop iteration without effect blocks its thread until something that it read has changed (`spin.rs`). A schedule that is followed may still
    /// let it go round.
    pub spins: bool,
    /// A run ends after so many events.
    pub max_events: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { spurious: false, spins: false, max_events: 10_000_000 }
    }
}

/// Why a program cannot be run by the machine.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the machine does not run {what} (in function `{function}`)")]
pub struct Unsupported {
    /// Where.
    pub function: String,
    /// What.
    pub what: String,
}

/// Why no machine could be made.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LoadError {
    /// The program is not well formed.
    #[error("the program is not well formed: {0}")]
    Malformed(String),
    /// It uses what the machine does not run.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// Its globals do not fit.
    #[error("the machine cannot hold the program's globals: {0}")]
    Globals(String),
}

/// A program, ready to run.
#[derive(Clone, Debug)]
pub struct Machine {
    program: Program,
    fingerprint: u64,
    options: Options,
    sites: SiteIndex,
    codes: Vec<FunctionCode>,
    layout: Layout,
    starts: Vec<(ThreadId, FunctionId)>,
    has_joins: bool,
}

impl Machine {
    /// Makes a program ready to run.
    ///
    /// # Errors
    /// If it is not well formed, or uses what belongs to compiled code only (floats, exceptions, external functions).
    pub fn new(program: Program, options: Options) -> Result<Machine, LoadError> {
        ir::verify(&program).map_err(|errors| {
            LoadError::Malformed(errors.first().map_or_else(String::new, ToString::to_string))
        })?;
        let sites = SiteIndex::new(&program);
        let layout = Layout::new(&program).map_err(LoadError::Globals)?;
        let mut codes = vec![];
        for (f, function) in program.functions.iter().enumerate() {
            let first = ir::SitePlace { function: FunctionId::new(f), block: ir::BlockId(0), instruction: 0 };
            codes.push(code::translate(&program, function, sites.site(first).0)?);
        }
        let has_joins = codes.iter().any(|function| {
            function.code.iter().any(|code| matches!(code, code::Code::Sync { op: ir::SyncOp::Join, .. }))
        });
        let mut starts = vec![];
        for thread in &program.threads {
            let id = match thread.main {
                true => Some(ThreadId::MAIN),
                false => ThreadId::MAIN
                    .child(starts.iter().filter(|&&(id, _)| id != ThreadId::MAIN).count() as u64),
            };
            let id = id.ok_or_else(|| LoadError::Malformed("too many threads".to_owned()))?;
            starts.push((id, thread.function));
        }
        let fingerprint = program.fingerprint();
        Ok(Machine { program, fingerprint, options, sites, codes, layout, starts, has_joins })
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The numbering of its sites.
    #[must_use]
    pub fn sites(&self) -> &SiteIndex {
        &self.sites
    }

    /// How it behaves where the program leaves it open.
    #[must_use]
    pub fn options(&self) -> Options {
        self.options
    }

    /// The names of the threads that exist from the start.
    pub fn static_threads(&self) -> impl Iterator<Item = (ThreadId, &str)> {
        self.starts.iter().zip(&self.program.threads).map(|(&(id, _), thread)| (id, &*thread.name))
    }

    /// A location of a global or of a synchronisation object in the words of the source.
    #[must_use]
    pub fn location_name(&self, location: trace::Location) -> String {
        match self.program.globals.get(location.allocation.0 as usize) {
            Some(global) => {
                format!("{}{}", global.name, self.program.part_name(global.shape, location.offset))
            }
            None => format!("heap memory +{}", location.offset),
        }
    }

    /// The same for the same program; schedules and traces say to which one they belong.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    fn code(&self, function: FunctionId) -> &FunctionCode {
        &self.codes[function.index()]
    }

    fn codes(&self) -> &[FunctionCode] {
        &self.codes
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn starts(&self) -> &[(ThreadId, FunctionId)] {
        &self.starts
    }

    fn has_joins(&self) -> bool {
        self.has_joins
    }

    /// The number that the first thread forked by `parent` has among its children: those that exist from the start
    /// come before it.
    fn first_fork(&self, parent: ThreadId) -> u64 {
        match parent {
            ThreadId::MAIN => self.starts.iter().filter(|&&(id, _)| id != ThreadId::MAIN).count() as u64,
            _ => 0,
        }
    }

    fn initial_objects(&self) -> Vec<Object> {
        let globals = self.program.globals.iter();
        globals
            .filter_map(|global| match global.initial {
                Initial::Sync { kind, count } => {
                    let objects = self.program.shape_bytes(global.shape) / SyncKind::BYTES;
                    Some((0..objects).map(move |_| Object::new(kind, count)))
                }
                _ => None,
            })
            .flatten()
            .collect()
    }
}
