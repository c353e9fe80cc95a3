//! The encoding of one concurrent trace program, and the questions that can be put to it.

use crate::reasons::Reasons;
use crate::switches::Stretches;
use crate::sync::Sync;
use crate::terms::Terms;
use crate::{Mode, Model, Options};
use ctp::{Ctp, Event, EventIndex, Kind, LocationId, ThreadIndex};
use rustc_hash::FxHashMap;
use solver::{Answer, Bool, Bv, Interrupter, Limits, Point, Result, Solver};
use trace::EventId;

/// A value that is taken as recorded.
#[derive(Clone, Copy, Debug)]
pub struct Pin {
    /// The assumption.
    pub switch: Bool,
    pub event: EventId,
    /// The thread has come to it, and it does not hold.
    pub broken: Bool,
    /// Others may see effects that are not known if it does not hold.
    pub reaches_far: bool,
}

/// A concurrent trace program as constraints. See the crate's introduction for how to ask.
pub struct Encoding<'c> {
    pub(crate) ctp: &'c Ctp,
    pub(crate) solver: Solver,
    pub(crate) options: Options,
    /// Where the prefix ends.
    pub(crate) cut: Point,
    /// Before all events, once somebody needs it.
    pub(crate) beginning: Option<Point>,
    /// Per event; silent ones have none.
    pub(crate) points: Vec<Option<Point>>,
    pub(crate) inside: Vec<Bool>,
    /// Per event: its thread has come to it.
    pub(crate) reached: Vec<Bool>,
    /// The event comes out otherwise than recorded, and its thread stops behind it.
    pub(crate) departs: FxHashMap<EventIndex, Bool>,
    /// The event of the same thread that is before, silent ones left out.
    pub(crate) previous: Vec<Option<EventIndex>>,
    pub(crate) terms: Terms,
    pub(crate) reasons: Reasons,
    pub(crate) pins: Vec<Pin>,
    /// Pins that reach far and need not hold, once somebody asked.
    breakable: Option<Vec<EventId>>,
    pub(crate) sync: Sync,
    /// If switches are bounded.
    pub(crate) stretches: Option<Stretches>,
    pub(crate) contents_before: FxHashMap<EventIndex, FxHashMap<LocationId, Bv>>,
    pub(crate) contents_at_cut: FxHashMap<LocationId, Bv>,
}

impl<'c> Encoding<'c> {
    /// Encodes a concurrent trace program.
    ///
    /// # Errors
    /// If the solver refuses a part: too many points, or a fault of ours.
    pub fn new(ctp: &'c Ctp, options: Options) -> Result<Encoding<'c>> {
        let mut solver = Solver::new();
        let cut = solver.point()?;
        let count = ctp.events.len();
        let outside = solver.bool_const(false);
        let mut encoding = Encoding {
            ctp,
            solver,
            cut,
            beginning: None,
            points: vec![None; count],
            inside: vec![outside; count],
            reached: vec![outside; count],
            departs: FxHashMap::default(),
            previous: vec![None; count],
            terms: Terms::default(),
            reasons: Reasons::new(options.explain),
            pins: vec![],
            breakable: None,
            sync: Sync::default(),
            stretches: None,
            contents_before: FxHashMap::default(),
            contents_at_cut: FxHashMap::default(),
            options,
        };
        encoding.lay_out_time()?;
        encoding.make_values()?;
        encoding.find_departures()?;
        encoding.follow_paths()?;
        encoding.encode_memory()?;
        encoding.encode_sync()?;
        if encoding.options.mode == Mode::Full {
            encoding.require_all()?;
        }
        if let Some(most) = encoding.options.switches {
            encoding.bound_switches(most)?;
        }
        Ok(encoding)
    }

    /// The concurrent trace program.
    #[must_use]
    pub fn ctp(&self) -> &'c Ctp {
        self.ctp
    }

    /// How much of the program is looked at.
    #[must_use]
    pub fn model_kind(&self) -> Model {
        self.options.model
    }

    /// The solver, for terms of one's own.
    pub fn solver(&mut self) -> &mut Solver {
        &mut self.solver
    }

    /// Limits for the questions to come.
    pub fn set_limits(&mut self, limits: Limits) {
        self.solver.set_limits(limits);
    }

    /// Lets a handle stop the questions to come from another thread.
    pub fn set_interrupter(&mut self, interrupter: Interrupter) {
        self.solver.set_interrupter(interrupter);
    }

    /// Asks whether some feasible prefix has all this.
    ///
    /// # Errors
    /// If a term is another solver's.
    pub fn ask(&mut self, assumptions: &[Bool]) -> Result<Answer> {
        let all = self.with_own(assumptions);
        self.solver.solve(&all)
    }

    /// The same question as an SMT-LIB 2 script.
    ///
    /// # Errors
    /// As for [`Encoding::ask`].
    pub fn to_smtlib(&self, assumptions: &[Bool]) -> Result<String> {
        self.solver.to_smtlib(&self.with_own(assumptions))
    }

    /// What is assumed, and what each question assumes besides.
    fn with_own(&self, assumptions: &[Bool]) -> Vec<Bool> {
        let mut all = assumptions.to_vec();
        all.extend(self.switches());
        all.extend(self.pins.iter().map(|pin| pin.switch));
        all
    }

    /// The pins on which it depends that something is infeasible: those that the core needs, and those that some schedule breaks
    /// with effects on others that are not known.
    ///
    /// # Errors
    /// As for [`Encoding::ask`].
    pub fn pinned(&mut self, core: &[Bool]) -> Result<Vec<EventId>> {
        let needed = self.pins.iter().filter(|pin| core.contains(&pin.switch));
        let mut events: Vec<EventId> = needed.map(|pin| pin.event).collect();
        events.extend(self.breakable_pins()?);
        events.sort_unstable();
        events.dedup();
        Ok(events)
    }

    fn breakable_pins(&mut self) -> Result<Vec<EventId>> {
        if let Some(known) = &self.breakable {
            return Ok(known.clone());
        }
        let far: Vec<(Bool, EventId)> =
            self.pins.iter().filter(|pin| pin.reaches_far).map(|pin| (pin.broken, pin.event)).collect();
        let mut breakable = vec![];
        if self.options.mode == Mode::Full {
            // Where all events have to run, no schedule that is encoded breaks a pin; one that is not may.
            breakable.extend(far.into_iter().map(|(_, event)| event));
        } else if !far.is_empty() {
            let any: Vec<Bool> = far.iter().map(|&(broken, _)| broken).collect();
            let any = self.solver.or(&any)?;
            // In a full linearization all is behind the pins; what holds there if they do not is not known.
            let said = match self.options.mode {
                Mode::Prefixes => self.ask(&[any])?,
                Mode::Full => {
                    let all: Vec<Bool> = self.switches().chain([any]).collect();
                    self.solver.solve(&all)?
                }
            };
            match said {
                Answer::Unsat(_) => {}
                // One schedule names some of them.
                Answer::Sat => {
                    if let Some(model) = self.solver.model() {
                        for (broken, event) in far {
                            if model.holds(broken)? {
                                breakable.push(event);
                            }
                        }
                    }
                }
                Answer::Unknown(_) => breakable.extend(far.into_iter().map(|(_, event)| event)),
            }
        }
        self.breakable = Some(breakable.clone());
        Ok(breakable)
    }

    /// The event is in the prefix; false for silent ones.
    #[must_use]
    pub fn inside(&self, event: EventIndex) -> Bool {
        self.inside[event.index()]
    }

    /// Its thread has come to the event: it stands before it, or has done it.
    #[must_use]
    pub fn reached(&self, event: EventIndex) -> Bool {
        self.reached[event.index()]
    }

    /// The thread stands before the event when the prefix ends: it has come there, and has not done it.
    ///
    /// # Errors
    /// As for [`Encoding::ask`].
    pub fn next(&mut self, event: EventIndex) -> Result<Bool> {
        let (reached, inside) = (self.reached[event.index()], self.inside[event.index()]);
        let outside = self.solver.not(inside)?;
        self.solver.and(&[reached, outside])
    }

    /// One event is before another. Both are not silent.
    ///
    /// # Errors
    /// As for [`Encoding::ask`].
    pub fn before(&mut self, first: EventIndex, second: EventIndex) -> Result<Bool> {
        match (self.points[first.index()], self.points[second.index()]) {
            (Some(first), Some(second)) => self.solver.before(first, second),
            _ => Ok(self.solver.bool_const(false)),
        }
    }

    /// The event that follows in its thread, silent ones left out.
    #[must_use]
    pub fn following(&self, event: EventIndex) -> Option<EventIndex> {
        let events = &self.ctp.thread(self.event(event).thread).events;
        let at = events.partition_point(|&other| other <= event);
        events[at..].iter().copied().find(|&other| !self.event(other).silent)
    }

    /// The event before in its thread, silent ones left out.
    #[must_use]
    pub fn previous(&self, event: EventIndex) -> Option<EventIndex> {
        self.previous[event.index()]
    }

    /// No thread but `thread` is in a block that excludes all others when the prefix ends.
    ///
    /// # Errors
    /// As for [`Encoding::ask`].
    pub fn not_excluded(&mut self, thread: ThreadIndex) -> Result<Bool> {
        let blocks = self.sync.exclusive.clone();
        let mut parts = vec![];
        for (owner, begin, end) in blocks.into_iter().filter(|&(owner, ..)| owner != thread) {
            debug_assert_ne!(owner, thread);
            let entered = self.inside(begin);
            let left = end.map_or(self.solver.bool_const(false), |end| self.inside(end));
            parts.push(self.solver.implies(entered, left)?);
        }
        self.solver.and(&parts)
    }

    pub(crate) fn event(&self, event: EventIndex) -> &'c Event {
        &self.ctp.events[event.index()]
    }

    pub(crate) fn kind(&self, event: EventIndex) -> &'c Kind {
        &self.ctp.events[event.index()].kind
    }

    pub(crate) fn point(&self, event: EventIndex) -> Result<Point> {
        self.points[event.index()].ok_or(solver::Error::TooMany)
    }

    /// Whether values are looked at.
    pub(crate) fn has_values(&self) -> bool {
        self.options.model != Model::Cam
    }
}
