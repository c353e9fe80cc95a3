//! Long traces (docs/design/engines.md, "Long traces"): the recorded run is kept up to a cut, and only a
//! window behind it is put in a new order.
//!
//! A short trace is encoded as a whole, and every answer is final. Of a long one each candidate is asked in a window that contains its
//! events. What a window shows is real, because a prefix of the recorded run is always feasible. What it does not show may be feasible
//! with another beginning: that is *unknown (window)*, unless the window is all there is. Candidates whose events lie too far apart for a
//! window are tried by going along the recorded run without one thread (`far`).

mod long;

pub(crate) use long::is_sliced;

use crate::candidates::deadlock::circles;
use crate::far::Far;
use crate::symbolic::{Options, Symbolic};
use claim::{Answer, Candidate, Deadlock, Unknown, Witness};
use ctp::{Ctp, EventIndex, Slices};
use encode::{Context, Result};
use ir::Program;
use long::{MOST_EVENTS, is_long};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Instant;
use trace::{EventId, Trace};

/// How many events windows have: those that are tried first, and those that are tried later.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sizes {
    /// The small ones.
    pub small: usize,
    /// The large ones.
    pub large: usize,
    /// The largest, which are tried if a trace as long as they are would be encoded as a whole.
    pub largest: usize,
}

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes { small: 256, large: 1024, largest: 4096 }
    }
}

/// Decides candidates of one concurrent trace program, be it short or long.
pub struct Windows<'c> {
    program: &'c Program,
    trace: &'c Trace,
    ctp: &'c Ctp,
    options: Options,
    /// When the time for all questions is over.
    deadline: Option<Instant>,
    view: View<'c>,
    /// Events that re-runs have shown to depend on what came before them, and on how much of it.
    ties: BTreeMap<EventId, Context>,
}

enum View<'c> {
    Whole(Box<Symbolic<'c>>),
    Sliced(Box<Slices<'c>>, Sizes),
}

/// So many conflicts end the first search in a small window: going along the recorded run is cheaper than a long one.
const FEW_CONFLICTS: u32 = 1_000;

/// So many candidates are decided in one go.
const AT_ONCE: usize = 250;

/// With fewer events than this a trace is gone along before anything is asked.
const SOON_GONE_ALONG: usize = 20_000;

/// So many of the largest windows are tried for candidates that are decided in one go.
const FEW_WINDOWS: usize = 8;

/// A window: from which event to before which.
type Window = (EventIndex, EventIndex);

impl<'c> Windows<'c> {
    /// An engine for questions about these candidates.
    ///
    /// # Errors
    /// If the trace is too large for the solver, or by a fault of ours.
    pub fn new(
        program: &'c Program,
        trace: &'c Trace,
        ctp: &'c Ctp,
        candidates: &[Candidate],
        options: Options,
    ) -> Result<Windows<'c>> {
        if is_sliced(ctp, &options) {
            return Ok(Windows::sliced(program, trace, ctp, options, Sizes::default()));
        }
        let view = View::Whole(Box::new(Symbolic::new(program, ctp, candidates, options.clone())?));
        Ok(Windows { program, trace, ctp, options, deadline: None, view, ties: BTreeMap::new() })
    }

    /// An engine that looks at a trace through windows of these sizes, be it long or short.
    #[must_use]
    pub fn sliced(
        program: &'c Program,
        trace: &'c Trace,
        ctp: &'c Ctp,
        options: Options,
        sizes: Sizes,
    ) -> Windows<'c> {
        let deadline = options.total_time.map(|total| Instant::now() + total);
        let view = View::Sliced(Box::new(Slices::new(ctp)), sizes);
        Windows { program, trace, ctp, options, deadline, view, ties: BTreeMap::new() }
    }

    /// Decides candidates; `decided` is told of each answer.
    ///
    /// # Errors
    /// By a fault of ours: the solver refuses a term.
    pub fn answer_all(
        &mut self,
        candidates: &[Candidate],
        decided: &mut dyn FnMut(&Answer),
    ) -> Result<Vec<Answer>> {
        let mut answers: Vec<Answer> = vec![];
        let sizes = match &mut self.view {
            View::Sliced(_, sizes) => *sizes,
            View::Whole(engine) => {
                for candidate in candidates {
                    let answer = engine.answer(candidate)?;
                    decided(&answer);
                    answers.push(answer);
                }
                return Ok(answers);
            }
        };
        answers.resize(candidates.len(), self.not_in_window());
        let mut all: Vec<usize> = (0..candidates.len()).collect();
        // What has few events but many that may touch each other is sooner gone along than asked about.
        let far_first = self.ctp.events.len() < SOON_GONE_ALONG;
        if far_first {
            all = self.answer_far(candidates, &all, &mut answers);
        }
        // Each access is a fault that may be, so these are many; torn blocks are few. No kind is to use up the time of the others.
        let mut kinds: BTreeMap<u8, Vec<usize>> = BTreeMap::new();
        for n in all {
            kinds.entry(kind(&candidates[n])).or_default().push(n);
        }
        let (deadline, so_many) = (self.deadline, kinds.len());
        for (done, group) in kinds.into_values().enumerate() {
            let share = 1.0 / (so_many - done) as f64;
            let until = deadline.map(|deadline| part_until(deadline, share));
            // Those that are asked about first are of different places: no place is to use up the time of all.
            for (done, some) in group.chunks(AT_ONCE).enumerate() {
                let remaining = group.len() - done * AT_ONCE;
                let share = (2.0 * some.len() as f64 / remaining as f64).min(1.0);
                self.deadline = until.map(|until| part_until(until, share));
                let result = self.answer_some(sizes, candidates, some, &mut answers, far_first);
                self.deadline = deadline;
                result?;
                some.iter().for_each(|&n| decided(&answers[n]));
            }
        }
        Ok(answers)
    }

    /// Decides some candidates of a long trace: in small windows and without a long search, by going along the recorded run, and in large
    /// windows, each what those before have left open.
    fn answer_some(
        &mut self,
        sizes: Sizes,
        candidates: &[Candidate],
        some: &[usize],
        answers: &mut [Answer],
        was_far: bool,
    ) -> Result<()> {
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            some.iter().for_each(|&n| answers[n] = self.over());
            return Ok(());
        }
        let given = self.options.limits;
        let few = given.conflicts.map_or(FEW_CONFLICTS, |given| given.min(FEW_CONFLICTS));
        self.options.limits.conflicts = Some(few);
        let open = self.answer_in(sizes.small, candidates, some, answers);
        self.options.limits = given;
        let mut open = open?;
        if !was_far {
            open = self.answer_far(candidates, &open, answers);
        }
        // What happens-before orders grows with the square of the window. The same two accesses are asked about as both next.
        open.retain(|&n| !matches!(candidates[n], Candidate::UnorderedRace { .. }));
        let open = self.answer_in(sizes.large, candidates, &open, answers)?;
        self.answer_in_few(sizes.largest, candidates, &open, answers)
    }

    /// Asks in those windows of a size that are not too long to be encoded, and that most candidates lie in.
    fn answer_in_few(
        &self,
        size: usize,
        candidates: &[Candidate],
        asked: &[usize],
        answers: &mut [Answer],
    ) -> Result<()> {
        let View::Sliced(slices, _) = &self.view else { return Ok(()) };
        let (groups, _) = self.windows(size, candidates, asked);
        let mut groups: Vec<(Window, Vec<usize>)> = groups.into_iter().collect();
        groups.sort_by_key(|(_, members)| Reverse(members.len()));
        for ((from, to), members) in groups.into_iter().take(FEW_WINDOWS) {
            if to.index() - from.index() <= MOST_EVENTS && !is_long(&slices.slice(from, to)) {
                self.answer_in(size, candidates, &members, answers)?;
            }
        }
        Ok(())
    }

    /// The windows of a size that candidates lie in, and the candidates that lie in none.
    fn windows(
        &self,
        size: usize,
        candidates: &[Candidate],
        asked: &[usize],
    ) -> (BTreeMap<Window, Vec<usize>>, Vec<usize>) {
        let mut groups: BTreeMap<Window, Vec<usize>> = BTreeMap::new();
        let mut others: Vec<usize> = vec![];
        for &n in asked {
            match self.window(&candidates[n], size) {
                Some(window) => groups.entry(window).or_default().push(n),
                None => others.push(n),
            }
        }
        (groups, others)
    }

    /// Asks in windows of a size; gives those candidates that are still open.
    fn answer_in(
        &self,
        size: usize,
        candidates: &[Candidate],
        asked: &[usize],
        answers: &mut [Answer],
    ) -> Result<Vec<usize>> {
        let (groups, mut open) = self.windows(size, candidates, asked);
        for (window, members) in groups {
            let here: Vec<&Candidate> = members.iter().map(|&n| &candidates[n]).collect();
            for (n, answer) in members.into_iter().zip(self.ask_in(window, &here, false)?) {
                if is_open(&answer) {
                    open.push(n);
                }
                answers[n] = answer;
            }
        }
        open.sort_unstable();
        Ok(open)
    }

    /// Decides a candidate again, with a small witness if it is feasible.
    ///
    /// # Errors
    /// As for [`Windows::answer_all`].
    pub fn answer_small(&mut self, candidate: &Candidate) -> Result<Answer> {
        if let View::Whole(engine) = &mut self.view {
            return engine.answer_small(candidate);
        }
        let View::Sliced(_, sizes) = &self.view else { return Ok(self.not_in_window()) };
        // In a large one that would take long.
        let Some(window) = self.window(candidate, sizes.small) else { return Ok(self.not_in_window()) };
        let mut found = self.ask_in(window, &[candidate], true)?;
        Ok(found.pop().unwrap_or_else(|| self.not_in_window()))
    }

    /// Ties an event to what came before it in the recorded run, or to more of it than before, because a re-run has shown that it depends on
    /// it. False if it is tied to everything already.
    ///
    /// # Errors
    /// As for [`Windows::answer_all`].
    pub fn tie(&mut self, event: EventId) -> Result<bool> {
        let context = match self.ties.get(&event) {
            None => Context::Calls,
            Some(context) => match context.stronger() {
                Some(stronger) => stronger,
                None => return Ok(false),
            },
        };
        self.ties.insert(event, context);
        if let View::Whole(engine) = &mut self.view {
            engine.tie(event, context)?;
        }
        Ok(true)
    }

    /// Whether some event is tied.
    #[must_use]
    pub fn is_tied(&self) -> bool {
        !self.ties.is_empty()
    }

    /// All deadlocks of a short trace, at most so many. Of a long one only circles of two locks are looked for; that there may be others
    /// is an answer of its own.
    ///
    /// # Errors
    /// As for [`Windows::answer_all`].
    pub fn deadlocks(&mut self, most: usize) -> Result<Vec<(Candidate, Answer)>> {
        if let View::Whole(engine) = &mut self.view {
            return engine.deadlocks(most);
        }
        let mut circles = circles(self.ctp, 16);
        circles.truncate(most);
        let answers = self.answer_all(&circles, &mut |_| {})?;
        let others = (Candidate::Deadlock(Deadlock::AllBlocked(vec![])), self.not_in_window());
        Ok(circles.into_iter().zip(answers).chain([others]).collect())
    }

    /// There is no time left.
    fn over(&self) -> Answer {
        Answer::Unknown(Unknown::Time(self.options.total_time.unwrap_or_default()))
    }

    fn not_in_window(&self) -> Answer {
        let size = match &self.view {
            View::Sliced(_, sizes) => sizes.large,
            View::Whole(_) => self.ctp.events.len(),
        };
        Answer::Unknown(Unknown::Window(size as u64))
    }

    /// The window of about this size that a candidate is asked in; `None` if its events lie too far apart. Windows begin at certain
    /// places, so that candidates share them. The largest are few, and begin some way before the candidate: what leads to it may have to
    /// come in another order too.
    fn window(&self, candidate: &Candidate, size: usize) -> Option<Window> {
        let View::Sliced(slices, sizes) = &self.view else { return None };
        let (first, last) = self.span(candidate)?;
        if last.index() - first.index() >= size / 2 {
            return None;
        }
        let (stride, before) = if size == sizes.largest { (size / 4, size / 4) } else { (size / 2, 0) };
        let start = first.index().saturating_sub(before) / stride * stride;
        let from = slices.cut_before(EventIndex::new(start));
        let to = (start + size).min(self.ctp.events.len());
        (to - from.index() <= 2 * size).then_some((from, EventIndex::new(to)))
    }

    /// The first and the last of a candidate's events in the recorded run. What fails may do so in place of an event, in something
    /// silent before it.
    fn span(&self, candidate: &Candidate) -> Option<(EventIndex, EventIndex)> {
        let events: Vec<EventIndex> = match candidate {
            Candidate::Assertion { event } | Candidate::Fault { event, .. } => {
                self.ctp.events_at(*event).collect()
            }
            _ => candidate.events().into_iter().map(|id| self.ctp.find(id)).collect::<Option<_>>()?,
        };
        Some((*events.iter().min()?, *events.iter().max()?))
    }

    fn ask_in(&self, window: Window, candidates: &[&Candidate], small: bool) -> Result<Vec<Answer>> {
        let (View::Sliced(slices, _), (from, to)) = (&self.view, window) else { return Ok(vec![]) };
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            // There may be thousands of windows, each of which would first be encoded.
            return Ok(vec![self.over(); candidates.len()]);
        }
        let slice = slices.slice(from, to);
        let is_all = from.index() == 0 && to.index() == self.ctp.events.len();
        let asked: Vec<Candidate> = candidates.iter().map(|&candidate| candidate.clone()).collect();
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let options = Options { total_time: left, ..self.options.clone() };
        let mut engine = Symbolic::new(self.program, &slice, &asked, options)?;
        for (&event, &context) in &self.ties {
            engine.tie(event, context)?;
        }
        let recorded = last_before(self.ctp, from);
        asked
            .iter()
            .map(|candidate| {
                let answer =
                    if small { engine.answer_small(candidate)? } else { engine.answer(candidate)? };
                Ok(match answer {
                    Answer::Feasible(witness) => Answer::Feasible(Witness { recorded, ..witness }),
                    Answer::Infeasible(_) if !is_all => {
                        Answer::Unknown(Unknown::Window((to.index() - from.index()) as u64))
                    }
                    other => other,
                })
            })
            .collect()
    }

    /// Tries candidates by going along the recorded run; gives those that are still open. The independent checker is the judge.
    fn answer_far(&self, candidates: &[Candidate], far: &[usize], answers: &mut [Answer]) -> Vec<usize> {
        let View::Sliced(slices, _) = &self.view else { return far.to_vec() };
        let mut tried: Vec<(usize, Witness)> = vec![];
        // Checking takes about twice as long as finding.
        let now = Instant::now();
        let until = self.deadline.map(|deadline| now + deadline.saturating_duration_since(now) / 3);
        for &n in far {
            if self.options.interrupter.is_set() {
                answers[n] = Answer::Unknown(Unknown::Interrupted);
                continue;
            }
            if until.is_some_and(|until| Instant::now() >= until) {
                break;
            }
            let witnesses = Far::new(self.ctp, slices, self.options.model).witnesses(&candidates[n]);
            tried.extend(witnesses.into_iter().map(|witness| (n, witness)));
        }
        let asked: Vec<(&Candidate, &Witness)> =
            tried.iter().map(|(n, witness)| (&candidates[*n], witness)).collect();
        if asked.is_empty() {
            return far.to_vec();
        }
        let rules = witness::Rules::of(self.trace);
        let Ok(checked) = witness::check_all(self.program, self.trace, rules, &asked) else {
            return far.to_vec();
        };
        for ((n, witness), result) in tried.into_iter().zip(checked) {
            if result.is_ok() && !matches!(answers[n], Answer::Feasible(_)) {
                answers[n] = Answer::Feasible(witness);
            }
        }
        far.iter().copied().filter(|&n| is_open(&answers[n])).collect()
    }
}

/// Whether another way to ask may give an answer.
fn is_open(answer: &Answer) -> bool {
    matches!(answer, Answer::Unknown(Unknown::Window(_) | Unknown::Conflicts(_)))
}

/// The last event before a cut that the trace has.
pub(crate) fn last_before(ctp: &Ctp, cut: EventIndex) -> Option<trace::EventId> {
    ctp.events[..cut.index()].iter().rev().find(|event| !event.silent).map(|event| event.id)
}

/// Candidates of one kind share their time; those that say most about a failure come first.
fn kind(candidate: &Candidate) -> u8 {
    match candidate {
        Candidate::Atomicity { .. } | Candidate::Pattern(_) => 0,
        Candidate::Wakeup { .. } | Candidate::Deadlock(_) => 1,
        Candidate::CoEnabledRace { .. } | Candidate::UnorderedRace { .. } => 2,
        Candidate::Assertion { .. } => 3,
        Candidate::Fault { .. } => 4,
    }
}

/// When a part of the time is over that is left until then.
fn part_until(then: Instant, part: f64) -> Instant {
    let now = Instant::now();
    now + then.saturating_duration_since(now).mul_f64(part)
}
