//! Atomic blocks (MM §6): can an operation of another thread come between those of a block, so that it
//! matters?
//!
//! `isViolation` in three kinds. *Strong* is the paper's: any access or synchronisation of another thread. *Window*: only accesses of
//! variables that the block accesses in that execution. *Serializable*: only if no order of the same conflicting accesses
//! has the block in one piece, which is when an access of the block leads, through conflicts and other threads' program order, back to
//! an access of the block.
//!
//! The paper's block reaches from its first operation to its last; here it has events of its own for enter and exit, and reaches
//! from the first operation *that happens* to the last. So a block whose first operation sits in a branch that is not taken is not missed.

use crate::event::{Action, BlockId, Event};
use crate::execution::Execution;
use crate::time::Timed;
use crate::unfold::Options;
use crate::{Error, Result, describe};
use ir::{Position, Program, SiteId};
use solver::{Answer, Bool};

/// When an operation between those of a block is a violation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// Always.
    Strong,
    /// If it touches a variable that the block touches.
    Window,
    /// If the block could not have run in one piece to the same effect.
    Serializable,
}

/// A block that another thread can break into.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The thread of the block.
    pub thread: String,
    /// Where the block begins.
    pub position: Option<Position>,
    /// The thread that breaks in.
    pub intruder: String,
    /// What it does, in words.
    pub what: String,
    /// Its instruction.
    pub site: Option<SiteId>,
    /// Where that stands.
    pub intrudes_at: Option<Position>,
    /// An execution up to the end of the violation.
    pub execution: Execution,
}

/// The blocks of a program that are not atomic, each once.
pub(crate) fn violations(program: &Program, options: Options, kind: Kind) -> Result<Vec<Violation>> {
    let mut timed = Timed::new(program, Options { prefix: true, explained: false, ..options })?;
    let mut found: Vec<Violation> = vec![];
    for block in 0..timed.unfolding.blocks.len() as u32 {
        let block = BlockId(block);
        let own = &timed.unfolding.blocks[block.index()];
        let (thread, position) = (own.thread, own.position);
        if found.iter().any(|v| v.position == position) {
            continue;
        }
        let members: Vec<usize> = (0..timed.unfolding.events.len())
            .filter(|&e| {
                timed.unfolding.events[e].block == Some(block) && is_operation(&timed.unfolding.events[e])
            })
            .collect();
        let reached = match kind {
            Kind::Serializable => reached(&mut timed, &members)?,
            _ => vec![],
        };
        for k in 0..timed.unfolding.events.len() {
            let event = &timed.unfolding.events[k];
            if event.thread == thread || !is_operation(event) {
                continue;
            }
            let Some(question) = question(&mut timed, kind, &members, k, &reached)? else { continue };
            match timed.unfolding.solver.solve(&question)? {
                Answer::Unknown(stop) => return Err(Error::Stopped(stop)),
                Answer::Unsat(_) => continue,
                Answer::Sat => {}
            }
            let model = timed.unfolding.solver.model().expect("asked only after an answer `Sat`");
            let event = &timed.unfolding.events[k];
            found.push(Violation {
                thread: timed.unfolding.threads[thread.index()].name.clone(),
                position,
                intruder: timed.unfolding.threads[event.thread.index()].name.clone(),
                what: describe::event(&timed.unfolding, event, Some(&model))?,
                site: event.site,
                intrudes_at: event.position,
                execution: timed.execution()?,
            });
            break;
        }
    }
    Ok(found)
}

/// Accesses and synchronisation: what the paper calls operations, without control and computation.
fn is_operation(event: &Event) -> bool {
    event.is_access() || matches!(event.action, Action::Sync(_) | Action::Fork(_) | Action::Join(_))
}

/// When the operation `k` violates the block; `None` if it cannot.
fn question(
    timed: &mut Timed,
    kind: Kind,
    members: &[usize],
    k: usize,
    reached: &[Bool],
) -> Result<Option<Vec<Bool>>> {
    let happens = timed.unfolding.events[k].happens;
    if kind == Kind::Serializable {
        // Back into the block: `k` is reached from it and conflicts with a later access of it.
        let mut back = vec![];
        for &b in members {
            if let Some(conflict) = conflict(timed, k, b)? {
                back.push(conflict);
            }
        }
        if back.is_empty() {
            return Ok(None);
        }
        let back = timed.unfolding.solver.or(&back)?;
        return Ok(Some(vec![happens, reached[k], back]));
    }
    let (mut after, mut before) = (vec![], vec![]);
    for &e in members {
        let s = &mut timed.unfolding.solver;
        let member = timed.unfolding.events[e].happens;
        let (later, earlier) =
            (s.before(timed.points[e], timed.points[k])?, s.before(timed.points[k], timed.points[e])?);
        after.push(s.and(&[member, later])?);
        before.push(s.and(&[member, earlier])?);
    }
    let s = &mut timed.unfolding.solver;
    let mut question = vec![happens, s.or(&after)?, s.or(&before)?];
    if kind == Kind::Window {
        let mut common = vec![];
        for &e in members {
            common.extend(same_cell(timed, k, e, false)?);
        }
        question.push(timed.unfolding.solver.or(&common)?);
    }
    Ok(Some(question))
}

/// When two events access one variable; with `conflicting`, one of them writing.
fn same_cell(timed: &mut Timed, a: usize, b: usize, conflicting: bool) -> Result<Option<Bool>> {
    let mut common = vec![];
    let unfolding = &mut timed.unfolding;
    for x in unfolding.events[a].accesses.clone() {
        for y in unfolding.events[b].accesses.clone() {
            if x.cell != y.cell || unfolding.memory.cells[x.cell.index()].internal {
                continue;
            }
            let mut literals = vec![x.when, y.when];
            if conflicting {
                let writes: Vec<Bool> =
                    [x.write, y.write].into_iter().flatten().map(|(_, when)| when).collect();
                literals.push(unfolding.solver.or(&writes)?);
            }
            common.push(unfolding.solver.and(&literals)?);
        }
    }
    if common.is_empty() { Ok(None) } else { Ok(Some(unfolding.solver.or(&common)?)) }
}

/// When `a` is before `b` and they conflict.
fn conflict(timed: &mut Timed, a: usize, b: usize) -> Result<Option<Bool>> {
    let Some(same) = same_cell(timed, a, b, true)? else { return Ok(None) };
    let before = timed.unfolding.solver.before(timed.points[a], timed.points[b])?;
    Ok(Some(timed.unfolding.solver.and(&[same, before])?))
}

/// For each event a literal that can hold only if it is reached from the block by conflicts and program order. Each step goes forward in time,
/// so nothing supports itself.
fn reached(timed: &mut Timed, members: &[usize]) -> Result<Vec<Bool>> {
    let count = timed.unfolding.events.len();
    let reached: Vec<Bool> = (0..count).map(|_| timed.unfolding.solver.bool_var()).collect();
    let own = members.first().map(|&e| timed.unfolding.events[e].thread);
    for e in 0..count {
        let event = &timed.unfolding.events[e];
        let (thread, happens) = (event.thread, event.happens);
        let mut causes = vec![];
        if Some(thread) != own {
            for &a in members {
                causes.extend(conflict(timed, a, e)?);
            }
            let events = timed.unfolding.threads[thread.index()].events.clone();
            let earlier = events.iter().take_while(|id| id.index() < e).map(|id| id.index());
            for a in earlier {
                let happened = timed.unfolding.events[a].happens;
                causes.push(timed.unfolding.solver.and(&[reached[a], happened])?);
            }
            for (a, &there) in reached.iter().enumerate() {
                let other = timed.unfolding.events[a].thread;
                if Some(other) != own
                    && other != thread
                    && let Some(conflict) = conflict(timed, a, e)?
                {
                    causes.push(timed.unfolding.solver.and(&[there, conflict])?);
                }
            }
        }
        let s = &mut timed.unfolding.solver;
        let caused = s.or(&causes)?;
        let supported = s.and(&[happens, caused])?;
        let only = s.implies(reached[e], supported)?;
        s.assert(only)?;
    }
    Ok(reached)
}
