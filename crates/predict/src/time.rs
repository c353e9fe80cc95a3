//! How the time that a prediction is given is shared: to the concurrent trace program, to questions, to re-runs.
//!
//! A trace that is too long for the time is not refused: a beginning of it is looked at, which is a run like any other, and the coverage
//! says how much was left out.

use crate::prediction::Options;
use ctp::{Ctp, CtpError};
use ir::Program;
use std::borrow::Cow;
use std::time::{Duration, Instant};
use trace::Trace;

/// Of the time that is left, so much goes to making the concurrent trace program.
const SHARE_OF_BUILDING: f64 = 0.25;
/// Of the time that is left then, so much goes to questions; the rest to running the program again.
const SHARE_OF_SOLVING: f64 = 0.7;
/// A trace is walked along so often, if not more; and what comes after that takes a few times as long.
const USUAL_WALKS: u64 = 6;

/// The concurrent trace program of as much of a trace as there is time for, and that much of the trace.
pub fn build<'t>(
    program: &Program,
    trace: &'t Trace,
    options: &Options,
) -> Result<(Ctp, Cow<'t, Trace>), CtpError> {
    let mut looked_at = Cow::Borrowed(trace);
    loop {
        let until = left(options.until).map(|left| Instant::now() + left.mul_f64(SHARE_OF_BUILDING));
        match Ctp::build(program, &looked_at, &ctp::Options { until, ..options.ctp }) {
            // An empty one takes no time.
            Err(CtpError::Time { walked }) => {
                let fits = (walked / USUAL_WALKS) as usize;
                looked_at = Cow::Owned(trace.beginning(fits.min(looked_at.events.len() / 2)));
            }
            other => return Ok((other?, looked_at)),
        }
    }
}

/// How much of the time that is left goes to questions.
pub fn for_questions(options: &Options) -> Option<Duration> {
    let share = left(options.until).map(|left| left.mul_f64(SHARE_OF_SOLVING));
    match (share, options.engine.total_time) {
        (Some(share), Some(given)) => Some(share.min(given)),
        (share, given) => share.or(given),
    }
}

fn left(until: Option<Instant>) -> Option<Duration> {
    until.map(|until| until.saturating_duration_since(Instant::now()))
}
