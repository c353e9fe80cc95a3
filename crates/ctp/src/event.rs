//! The events of a concurrent trace program (docs/design/concurrent-trace-programs.md, "Events"; AV §2): what
//! is left of a trace when all that no other thread can notice has become a part of expressions.

use crate::{ExprId, LocationId, ReadId, ThreadIndex};
use ir::{Order, SiteId};
use serde::{Deserialize, Serialize};
use std::fmt;
use trace::{AccessKind, EventId, EventKind, FaultKind};

/// One event.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Event {
    /// The event of the trace. For a silent one (see [`Event::silent`]) the next event of the thread that the trace has, which
    /// cannot come before it; if there is none, the number that it would have.
    pub id: EventId,
    /// It is no event of the trace: a condition that the program evaluates between two of them, or a write by code that the trace
    /// does not see. It happens at once with the event before it in its thread.
    pub silent: bool,
    /// Whose.
    pub thread: ThreadIndex,
    /// The instruction.
    pub site: SiteId,
    /// What.
    pub kind: Kind,
}

/// What an event does. All expressions are over the values of reads that are before it in its own thread, or in the thread
/// that forked it before the fork.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Kind {
    /// A read of memory that others may write.
    Read(Access),
    /// A write of memory that others may access.
    Write(Access),
    /// An atomic read-modify-write.
    Update(Access),
    /// An atomic compare-and-exchange. It writes exactly if `equal`; its thread goes on along the recorded path only if
    /// that came out as recorded.
    CompareExchange {
        /// Where, and what.
        access: Access,
        /// One bit: the old value equals the expected one.
        equal: ExprId,
        /// The recorded outcome.
        success: bool,
    },
    /// A branch or switch whose outcome depends on a shared read; the thread goes on along the recorded path only if it comes
    /// out as recorded.
    Branch {
        /// One bit: it comes out as recorded.
        as_recorded: ExprId,
        /// What is branched on: one bit, or the value of a switch.
        condition: ExprId,
        /// The recorded successor.
        taken: u32,
    },
    /// An assertion whose condition depends on a shared read, or one that did not hold. The process ends if it does not.
    Assert {
        /// One bit.
        condition: ExprId,
        /// The recorded outcome.
        held: bool,
    },
    /// An assumption that depends on a shared read: the thread stops *before* it if it does not hold.
    Assume {
        /// One bit.
        condition: ExprId,
    },
    /// A silent condition that depends on a shared read: without it the thread does not come to its next event.
    Require {
        /// One bit.
        condition: ExprId,
        /// What happens if it does not hold.
        otherwise: Otherwise,
    },
    /// A value is taken as recorded because it cannot be expressed (docs/design/concurrent-trace-programs.md,
    /// "Pins"). Silent. The thread's later events are known only as far as this holds: it is an assumption of
    /// ours, not a condition of the program.
    Pin {
        /// One bit: what the value depends on is as recorded.
        holds: ExprId,
        /// Why.
        why: PinReason,
    },
    /// A fence.
    Fence(Order),
    /// Everything else as the trace has it: locks, waits, semaphores, barriers, fork, join, end, allocation and free,
    /// boundaries of transactions and exclusive blocks, external calls, faults.
    Other(EventKind),
}

/// A memory access.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Access {
    /// The address, 64 bits; a constant if it does not depend on shared reads.
    pub address: ExprId,
    /// Where it was in the recorded run.
    pub recorded: trace::Location,
    /// How many bytes.
    pub bytes: u64,
    /// Atomic with this order, or plain.
    pub order: Option<Order>,
    /// What it may hit (AV §3 rules 2 and 3): one target if the address is constant, else one for each address that it may
    /// have, the recorded one first. At most one of them is hit.
    pub targets: Vec<Target>,
    /// One bit: some target is hit; `None` if that is certain. Otherwise the event is a fault, see `faults`.
    pub hits: Option<ExprId>,
    /// If the address is not constant: what happens instead if no target is hit, with the condition for each, one bit. They
    /// exclude each other.
    pub faults: Vec<(FaultKind, ExprId)>,
    /// The value that is read, if it is one of at most 16 bytes; its width is 8 times `bytes`.
    pub old: Option<ExprId>,
    /// The value that is written (by a compare-and-exchange: if it is), if it is one of at most 16 bytes; of the same width.
    pub new: Option<ExprId>,
    /// For a read that only decides: what (AV §3 rule 4c).
    pub decision: Option<Decision>,
}

/// One address that an access may have, and what it then does.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Target {
    /// The address as a number.
    pub address: u64,
    /// The same as a place.
    pub place: trace::Location,
    /// One bit: this target is hit; `None` if that is certain.
    pub when: Option<ExprId>,
    /// The reads, by ascending address; of shared locations only.
    pub reads: Vec<ReadId>,
    /// The writes, by ascending address; of shared locations only.
    pub writes: Vec<Write>,
}

/// A write of one location.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Write {
    /// Of which.
    pub location: LocationId,
    /// What, as wide as the location.
    pub value: ExprId,
    /// One bit: it happens if its event does; `None` if that is certain. (The target is hit, the compare-and-exchange succeeds.)
    pub when: Option<ExprId>,
}

/// What a read decides that only decides, as a function of the value read: [`Hole`](crate::Expr::Hole) stands for it, as wide as
/// the access's `old`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Decision {
    /// The outcome: one bit, or the index of the case of a switch.
    pub outcome: ExprId,
    /// One bit: the computation of the outcome does not fault.
    pub defined: ExprId,
}

/// What happens if a silent condition does not hold.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Otherwise {
    /// The thread's next event is this fault, at the condition's site.
    Fault(FaultKind),
    /// A loop has reached its bound: the thread stops.
    Bound,
    /// The thread goes another way that the trace does not have.
    OtherPath {
        /// Where control goes.
        address: ExprId,
    },
    /// An address leaves the offsets of what it points to; an access through it is out of bounds.
    FarAddress,
}

/// Why a value is taken as recorded.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum PinReason {
    /// The result of an operation that is not followed: floats, vectors, assembly.
    Opaque(String),
    /// The argument of a function whose code is not known.
    External(String),
    /// An address that may be too many things.
    Address {
        /// How many, or more.
        targets: u64,
    },
    /// An address whose values are not known.
    UnknownAddress,
    /// The address of a synchronisation object.
    Object,
    /// The size of an allocation, or of a copy or fill.
    Size,
    /// The address of memory that is given back.
    Freed,
    /// The thread that is joined.
    Joined,
    /// A value that was rebuilt and is not the recorded one: a fault of ours.
    Mismatch,
}

impl fmt::Display for PinReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PinReason::Opaque(what) => write!(f, "the result of {what}"),
            PinReason::External(name) => write!(f, "given to {name}"),
            PinReason::Address { targets } => write!(f, "an address that may be {targets} things or more"),
            PinReason::UnknownAddress => f.write_str("an address that is not known"),
            PinReason::Object => f.write_str("the address of a synchronisation object"),
            PinReason::Size => f.write_str("the size of an allocation, copy or fill"),
            PinReason::Freed => f.write_str("the address of memory that is given back"),
            PinReason::Joined => f.write_str("the thread that is joined"),
            PinReason::Mismatch => f.write_str("rebuilt otherwise than recorded: a fault of ours"),
        }
    }
}

impl Kind {
    /// The access, if it is one.
    #[must_use]
    pub fn access(&self) -> Option<&Access> {
        match self {
            Kind::Read(access) | Kind::Write(access) | Kind::Update(access) => Some(access),
            Kind::CompareExchange { access, .. } => Some(access),
            _ => None,
        }
    }

    /// Whether another thread can notice the event, or its thread may have to wait for it: a place to switch. An assertion counts as
    /// one that holds.
    #[must_use]
    pub fn is_noticed(&self) -> bool {
        match self {
            Kind::Read(_) | Kind::Write(_) | Kind::Update(_) | Kind::CompareExchange { .. } => true,
            Kind::Other(other) => !matches!(
                other,
                EventKind::TransactionBegin | EventKind::TransactionEnd | EventKind::Alloc { .. }
            ),
            _ => false,
        }
    }

    /// Visits all expressions, to read or to change them.
    pub(crate) fn for_each_expr(&mut self, visit: &mut dyn FnMut(&mut ExprId)) {
        match self {
            Kind::Read(access) | Kind::Write(access) | Kind::Update(access) => access.for_each_expr(visit),
            Kind::CompareExchange { access, equal, .. } => {
                access.for_each_expr(visit);
                visit(equal);
            }
            Kind::Branch { as_recorded, condition, .. } => {
                visit(as_recorded);
                visit(condition);
            }
            Kind::Require { condition, otherwise } => {
                visit(condition);
                if let Otherwise::OtherPath { address } = otherwise {
                    visit(address);
                }
            }
            Kind::Assert { condition, .. } | Kind::Assume { condition } => visit(condition),
            Kind::Pin { holds, .. } => visit(holds),
            Kind::Fence(_) | Kind::Other(_) => {}
        }
    }

    /// Whether the access reads, writes, or both; a compare-and-exchange as it came out in the recorded run.
    #[must_use]
    pub fn access_kind(&self) -> Option<AccessKind> {
        match self {
            Kind::Read(_) => Some(AccessKind::Read),
            Kind::Write(_) => Some(AccessKind::Write),
            Kind::Update(_) => Some(AccessKind::Update),
            Kind::CompareExchange { success, .. } => {
                Some(if *success { AccessKind::Update } else { AccessKind::Read })
            }
            _ => None,
        }
    }

    /// The condition under which the thread goes on along the recorded path *behind* this event, if it has one. Assumptions
    /// and silent conditions stand before: without them the event itself does not happen.
    #[must_use]
    pub fn condition_behind(&self) -> Option<(ExprId, bool)> {
        match self {
            Kind::Branch { as_recorded, .. } => Some((*as_recorded, true)),
            Kind::CompareExchange { equal, success, .. } => Some((*equal, *success)),
            Kind::Assert { condition, .. } => Some((*condition, true)),
            _ => None,
        }
    }
}

impl Access {
    fn for_each_expr(&mut self, visit: &mut dyn FnMut(&mut ExprId)) {
        visit(&mut self.address);
        for target in &mut self.targets {
            target.when.iter_mut().for_each(&mut *visit);
            for write in &mut target.writes {
                visit(&mut write.value);
                write.when.iter_mut().for_each(&mut *visit);
            }
        }
        self.hits.iter_mut().for_each(&mut *visit);
        self.faults.iter_mut().for_each(|(_, condition)| visit(condition));
        self.old.iter_mut().chain(&mut self.new).for_each(&mut *visit);
        if let Some(decision) = &mut self.decision {
            visit(&mut decision.outcome);
            visit(&mut decision.defined);
        }
    }
}
