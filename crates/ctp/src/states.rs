//! Where a thread comes back to a state of its own: loops that only wait are known by that.

use crate::CtpError;
use crate::build::recorded;
use crate::layout::Layout;
use crate::walk::Walk;
use ir::{Program, SiteIndex};
use rustc_hash::{FxHashMap, FxHashSet};
use trace::Trace;

/// For each event of a trace the state of its thread that stands before it, as a number: two events of a thread with the same number are followed by
/// the same, as long as the thread reads the same. `None` where that is not known.
///
/// # Errors
/// If the trace is another program's, does not fit it, or has not all its events.
pub fn states(program: &Program, trace: &Trace) -> Result<Vec<Option<u64>>, CtpError> {
    trace.check_fits(program)?;
    if !trace.origin.logging.is_complete() {
        return Err(CtpError::Incomplete);
    }
    let sites = SiteIndex::new(program);
    let layout = Layout::new(&recorded(trace, trace.events.len()));
    let (aims, learned, interrupts) = (FxHashMap::default(), FxHashMap::default(), FxHashSet::default());
    let mut walk = Walk::new(program, trace, &sites, &layout, &aims, &learned, &interrupts);
    walk.states = Some(vec![None; trace.events.len()]);
    walk.run(None)?;
    Ok(walk.states.unwrap_or_default())
}
