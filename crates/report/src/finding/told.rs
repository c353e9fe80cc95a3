//! A run of which something is to be told: where its events are, and which say something. Made once, since many findings may be told of one
//! long run.

use trace::{Event, EventKind, Places, Trace};

/// A run and what there is to tell of it.
pub(super) struct Told<'t> {
    pub run: &'t Trace,
    pub places: Places<'t>,
    /// For each place in the run, how many events before it say something.
    before: Vec<u32>,
}

impl<'t> Told<'t> {
    pub fn new(run: &'t Trace) -> Told<'t> {
        let mut so_far = 0;
        let mut before = vec![0];
        before.extend(run.events.iter().map(|event| {
            so_far += u32::from(tells(event));
            so_far
        }));
        Told { run, places: Places::new(run), before }
    }

    /// How many events from one place to before another say something.
    pub fn between(&self, from: usize, to: usize) -> u64 {
        u64::from(self.before[to].saturating_sub(self.before[from]))
    }
}

/// Whether an event says something by itself.
pub(super) fn tells(event: &Event) -> bool {
    !matches!(
        event.kind,
        EventKind::Entry { .. }
            | EventKind::External { .. }
            | EventKind::Landing
            | EventKind::System { .. }
            | EventKind::Alloc { .. }
            | EventKind::End
            | EventKind::Assert { held: true }
    )
}
