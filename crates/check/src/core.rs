//! Why an outcome is forbidden: a minimal set of rules, and of events, that forbid it already.
//!
//! With these rules alone the outcome stays forbidden; with any one of them removed it does not. The same holds for the events, given
//! these rules. Both are found by leaving out one after the other (deletion), helped by the solver's own cores.

use crate::{Error, Result};
use solver::{Answer, Bool, Solver};

/// The rules and the events that forbid something.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Core {
    /// Names of rules, with their meaning.
    pub rules: Vec<(String, String)>,
    /// Events in words, with the thread and the line of each.
    pub events: Vec<(String, String, Option<u32>)>,
    /// That time is one order was taken for granted, because there are too many events to leave that out.
    pub order_is_given: bool,
}

/// Those of `candidates` that are needed for the assumptions to be impossible together with `always`; `None` if they are possible.
pub(crate) fn minimal(
    solver: &mut Solver,
    always: &[Bool],
    candidates: &[Bool],
) -> Result<Option<Vec<Bool>>> {
    let mut kept = match ask(solver, always, candidates)? {
        None => return Ok(None),
        Some(core) => restrict(candidates, &core),
    };
    // What is needed for a set is needed for each part of it that is still impossible: nothing is looked at twice.
    let mut needed: Vec<Bool> = vec![];
    while let Some(candidate) = kept.iter().copied().find(|c| !needed.contains(c)) {
        let fewer: Vec<Bool> = kept.iter().copied().filter(|&c| c != candidate).collect();
        match ask(solver, always, &fewer)? {
            None => needed.push(candidate),
            Some(core) => kept = restrict(&fewer, &core),
        }
    }
    Ok(Some(kept))
}

fn restrict(candidates: &[Bool], core: &[Bool]) -> Vec<Bool> {
    candidates.iter().copied().filter(|c| core.contains(c)).collect()
}

/// The core, or nothing if it is possible.
fn ask(solver: &mut Solver, always: &[Bool], candidates: &[Bool]) -> Result<Option<Vec<Bool>>> {
    let assumptions: Vec<Bool> = always.iter().chain(candidates).copied().collect();
    match solver.solve(&assumptions)? {
        Answer::Sat => Ok(None),
        Answer::Unsat(core) => Ok(Some(core)),
        Answer::Unknown(stop) => Err(Error::Stopped(stop)),
    }
}
