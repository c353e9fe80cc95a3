//! Whether a trace belongs to a program.
//!
//! A trace names instructions, globals and shapes by number; before anyone looks them up, it is checked that
//! they are there and that each event is one that its instruction can make.

use crate::{AllocationOrigin, BlockedThread, Event, EventId, EventKind, Logging, Outcome, Trace};
use ir::{Callee, CheckKind, GlobalId, Op, Program, ShapeId, SiteId, SiteIndex, SyncOp, Terminator};

/// Why a trace does not belong to a program.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Misfit {
    /// The fingerprints differ.
    #[error(
        "the trace was recorded from another program, or from another version of this one (fingerprint {trace:016x}, the program's is {program:016x}): record the run again"
    )]
    OtherProgram {
        /// The fingerprint in the trace.
        trace: u64,
        /// The fingerprint of the program.
        program: u64,
    },
    /// An instruction that the program does not have.
    #[error("the trace names instruction {}, which the program does not have", .0.0)]
    NoSite(SiteId),
    /// A global that the program does not have.
    #[error("the trace names global {}, which the program does not have", .0.0)]
    NoGlobal(GlobalId),
    /// A shape that the program does not have.
    #[error("the trace names shape {}, which the program does not have", .0.0)]
    NoShape(ShapeId),
    /// An event that its instruction cannot make.
    #[error("event {event} cannot come from instruction {} of the program", site.0)]
    WrongKind {
        /// Which event.
        event: EventId,
        /// Its instruction.
        site: SiteId,
    },
}

impl Trace {
    /// Whether this is a trace of `program`, which is well formed: if so, all that it names is there.
    pub fn check_fits(&self, program: &Program) -> Result<(), Misfit> {
        let fingerprint = program.fingerprint();
        if self.origin.fingerprint != fingerprint {
            return Err(Misfit::OtherProgram { trace: self.origin.fingerprint, program: fingerprint });
        }
        let fitting = Fitting { program, sites: SiteIndex::new(program) };
        if let Logging::Globals(globals) = &self.origin.logging {
            globals.iter().try_for_each(|global| fitting.global(*global))?;
        }
        for allocation in &self.allocations {
            allocation.shape.iter().try_for_each(|shape| fitting.shape(*shape))?;
            match allocation.origin {
                AllocationOrigin::Global(global) | AllocationOrigin::ThreadLocal { global, .. } => {
                    fitting.global(global)?
                }
                AllocationOrigin::StackOf(_) | AllocationOrigin::Page(_) => {}
                AllocationOrigin::Heap { site, .. } | AllocationOrigin::Stack { site, .. } => {
                    fitting.site(site)?
                }
            }
        }
        self.events.iter().try_for_each(|event| fitting.event(event))?;
        self.switches.iter().filter_map(|switch| switch.site).try_for_each(|site| fitting.site(site))?;
        fitting.outcome(&self.outcome)
    }
}

struct Fitting<'p> {
    program: &'p Program,
    sites: SiteIndex,
}

impl Fitting<'_> {
    fn global(&self, global: GlobalId) -> Result<(), Misfit> {
        if global.index() < self.program.globals.len() { Ok(()) } else { Err(Misfit::NoGlobal(global)) }
    }

    fn shape(&self, shape: ShapeId) -> Result<(), Misfit> {
        if shape.index() < self.program.shapes.len() { Ok(()) } else { Err(Misfit::NoShape(shape)) }
    }

    fn site(&self, site: SiteId) -> Result<(), Misfit> {
        if site.index() < self.sites.len() { Ok(()) } else { Err(Misfit::NoSite(site)) }
    }

    fn outcome(&self, outcome: &Outcome) -> Result<(), Misfit> {
        match outcome {
            Outcome::AssertionFailed { site, .. }
            | Outcome::Fault { site, .. }
            | Outcome::Discarded { site, .. }
            | Outcome::BoundExceeded { site, .. } => self.site(*site),
            Outcome::Deadlock { blocked } => {
                blocked.iter().try_for_each(|BlockedThread { site, .. }| self.site(*site))
            }
            Outcome::Completed { .. }
            | Outcome::LimitReached { .. }
            | Outcome::Truncated
            | Outcome::Exited { .. } => Ok(()),
        }
    }

    fn event(&self, event: &Event) -> Result<(), Misfit> {
        let place = self.sites.place(event.site).ok_or(Misfit::NoSite(event.site))?;
        let block = self.program.function(place.function).block(place.block);
        let compiled = self.program.threads.is_empty();
        let makes = match block.instructions.get(place.instruction as usize) {
            Some(instruction) => op_makes(&instruction.op, &event.kind, compiled),
            None => terminator_makes(&block.terminator, &event.kind, compiled),
        };
        // Any instruction may be the one that ends the process. In compiled code synchronisation is done by functions that
        // code without instrumentation may call too, long after the last instruction that is known.
        let anywhere = match event.kind {
            EventKind::Fault { .. } => true,
            EventKind::Entry { .. } => compiled && place.block.0 == 0 && place.instruction == 0,
            EventKind::Landing => compiled && place.instruction == 0,
            _ => compiled && event.kind.is_synchronisation(),
        };
        if makes || anywhere {
            return Ok(());
        }
        Err(Misfit::WrongKind { event: event.id, site: event.site })
    }
}

/// Whether an instruction can make such an event.
fn op_makes(op: &Op, kind: &EventKind, compiled: bool) -> bool {
    use EventKind as K;
    match op {
        Op::Load { .. } => matches!(kind, K::Read { .. } | K::ReadBytes { .. }),
        Op::Store { .. } | Op::MemorySet { .. } => matches!(kind, K::Write { .. } | K::WriteBytes { .. }),
        Op::MemoryCopy { .. } => {
            matches!(kind, K::Read { .. } | K::ReadBytes { .. } | K::Write { .. } | K::WriteBytes { .. })
        }
        Op::Update { .. } => matches!(kind, K::Update { .. } | K::ReadBytes { .. } | K::WriteBytes { .. }),
        Op::CompareExchange { .. } => {
            matches!(kind, K::CompareExchange { .. } | K::ReadBytes { .. } | K::WriteBytes { .. })
        }
        Op::Fence { .. } => matches!(kind, K::Fence { .. }),
        Op::StackAlloc { .. } | Op::HeapAlloc { .. } => matches!(kind, K::Alloc { .. }),
        Op::Free { .. } => matches!(kind, K::Free { .. }),
        Op::Fork { .. } => matches!(kind, K::Fork { .. }),
        Op::Call { callee, .. } => call_makes(callee, kind, compiled),
        // Atomics on floats are opaque.
        Op::Opaque { .. } => matches!(kind, K::External { .. } | K::WriteBytes { .. } | K::Update { .. }),
        Op::Check { kind: CheckKind::Assert, .. } => matches!(kind, K::Assert { .. }),
        Op::Check { kind: CheckKind::Assume, .. } => matches!(kind, K::Assume),
        Op::Check { kind: CheckKind::Bound, .. } => false,
        Op::Sync { op, .. } => sync_makes(*op, kind),
        Op::Binary { .. }
        | Op::Compare { .. }
        | Op::Cast { .. }
        | Op::Select { .. }
        | Op::Phi { .. }
        | Op::Address { .. } => false,
    }
}

/// A call of code that is not instrumented gives its result, reads or writes memory, or is the thread's last step. In a compiled
/// program a function of another module counts as such.
fn call_makes(callee: &Callee, kind: &EventKind, compiled: bool) -> bool {
    let outside = matches!(
        kind,
        EventKind::External { .. }
            | EventKind::ReadBytes { .. }
            | EventKind::WriteBytes { .. }
            | EventKind::Write { .. }
            | EventKind::End
    );
    outside && (compiled || !matches!(callee, Callee::Function(_)))
}

fn terminator_makes(terminator: &Terminator, kind: &EventKind, compiled: bool) -> bool {
    match terminator {
        Terminator::Branch { .. } => takes_one_of(2, kind),
        Terminator::Switch { cases, .. } => takes_one_of(cases.len() + 1, kind),
        Terminator::IndirectJump { targets, .. } => takes_one_of(targets.len(), kind),
        Terminator::Invoke { callee, .. } => call_makes(callee, kind, compiled),
        Terminator::Return(_) | Terminator::Resume => matches!(kind, EventKind::End),
        Terminator::Jump(_) | Terminator::Unreachable => false,
    }
}

fn takes_one_of(successors: usize, kind: &EventKind) -> bool {
    matches!(kind, EventKind::Branch { taken } if (*taken as usize) < successors)
}

fn sync_makes(op: SyncOp, kind: &EventKind) -> bool {
    use crate::LockMode as M;
    use EventKind as K;
    match op {
        SyncOp::MutexLock => matches!(kind, K::Lock { mode: M::Mutex, .. }),
        SyncOp::MutexTryLock => matches!(kind, K::TryLock { mode: M::Mutex, .. }),
        SyncOp::MutexUnlock => matches!(kind, K::Unlock { mode: M::Mutex, .. }),
        SyncOp::ReadLock => matches!(kind, K::Lock { mode: M::Read, .. }),
        SyncOp::TryReadLock => matches!(kind, K::TryLock { mode: M::Read, .. }),
        SyncOp::WriteLock => matches!(kind, K::Lock { mode: M::Write, .. }),
        SyncOp::TryWriteLock => matches!(kind, K::TryLock { mode: M::Write, .. }),
        SyncOp::RwUnlock => matches!(kind, K::Unlock { mode: M::Read | M::Write, .. }),
        SyncOp::Wait | SyncOp::TimedWait => {
            matches!(kind, K::WaitBegin { .. } | K::StopWaiting { .. } | K::WaitEnd { .. })
        }
        SyncOp::Signal => matches!(kind, K::Signal { .. }),
        SyncOp::Broadcast => matches!(kind, K::Broadcast { .. }),
        SyncOp::Acquire => matches!(kind, K::Acquire { .. }),
        SyncOp::TryAcquire => matches!(kind, K::TryAcquire { .. }),
        SyncOp::Release => matches!(kind, K::Release { .. }),
        SyncOp::TokenCount => matches!(kind, K::TokenCount { .. }),
        SyncOp::BarrierWait => matches!(kind, K::BarrierArrive { .. } | K::BarrierLeave { .. }),
        SyncOp::Join => matches!(kind, K::Join { .. }),
        SyncOp::TransactionBegin => matches!(kind, K::TransactionBegin),
        SyncOp::TransactionEnd => matches!(kind, K::TransactionEnd),
        SyncOp::ExclusiveBegin => matches!(kind, K::ExclusiveBegin),
        SyncOp::ExclusiveEnd => matches!(kind, K::ExclusiveEnd),
    }
}
