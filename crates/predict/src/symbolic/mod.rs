//! The symbolic engine (docs/design/engines.md, "Symbolic"; AV §4, §5): each candidate is a question about
//! one encoding of the trace.

mod atomicity;
mod deadlock;
mod facts;
mod failure;
mod independence;
mod minimise;
mod pattern;
mod race;
mod wakeup;

use crate::candidates::{may_write, reads};
use crate::wakeups::look;
use claim::{Answer, Because, Candidate, Property, Unknown};
use ctp::{Ctp, EventIndex, Kind};
use encode::{Bool, Context, Encoding, Interrupter, Limits, Mode, Model, OtherOrders, Result, Stop};
use facts::{Core, Fact};
use ir::{Op, Program, SiteIndex};
use rustc_hash::FxHashSet;
use std::time::{Duration, Instant};
use trace::EventId;

/// How the engine works.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Which schedules count.
    pub mode: Mode,
    /// How much of the program is looked at.
    pub model: Model,
    /// Whether *infeasible* comes with reasons.
    pub explain: bool,
    /// Only schedules with at most so many context switches; they are counted between events that other threads can notice.
    pub switches: Option<u32>,
    /// Limits for each question. A candidate that reaches one is *unknown*, and the next one is asked.
    pub limits: Limits,
    /// Time for all questions together, from when the engine is made. What is not decided by then is *unknown* ([`Unknown::Time`]).
    pub total_time: Option<Duration>,
    /// A handle by which another thread ends the search: keep a clone, and call [`Interrupter::interrupt`]. What is not decided by
    /// then is *unknown* ([`Unknown::Interrupted`]); answers that were given stay.
    pub interrupter: Interrupter,
}

/// The engine, for one concurrent trace program.
pub struct Symbolic<'c> {
    encoding: Encoding<'c>,
    options: Options,
    /// When the time for all questions is over.
    deadline: Option<Instant>,
    /// Orders of compare-and-exchanges that come out otherwise.
    others: OtherOrders,
    /// Waits that may end by themselves.
    timed: FxHashSet<EventIndex>,
    /// What is known to be infeasible together.
    cores: Vec<Core>,
    asked: usize,
    /// Whether witnesses are to be made small.
    small: bool,
}

/// One question: what is assumed, where the threads of interest then stand, and what they do last.
#[derive(Default)]
struct Question {
    facts: Vec<Fact>,
    standing: Vec<EventIndex>,
    last: Option<EventIndex>,
    /// It rests on assertions of its own, so that its core says nothing of other questions.
    alone: bool,
    /// What some of its facts stand for, as reasons.
    reasons: Vec<(Bool, Because)>,
}

impl<'c> Symbolic<'c> {
    /// An engine for questions about these candidates (and about others that need no more).
    ///
    /// # Errors
    /// If the trace is too large for the solver, or by a fault of ours.
    pub fn new(
        program: &Program,
        ctp: &'c Ctp,
        candidates: &[Candidate],
        options: Options,
    ) -> Result<Symbolic<'c>> {
        let mut needs = encode::Options {
            mode: options.mode,
            model: options.model,
            explain: options.explain,
            switches: options.switches,
            ..encode::Options::default()
        };
        let deadline = options.total_time.map(|total| Instant::now() + total);
        for candidate in candidates {
            need(ctp, candidate, &mut needs);
        }
        let mut encoding = Encoding::new(ctp, needs)?;
        encoding.set_interrupter(options.interrupter.clone());
        let sites = SiteIndex::new(program);
        let (mut others, mut timed) = (OtherOrders::default(), FxHashSet::default());
        for (at, event) in ctp.events.iter().enumerate() {
            if let (
                Kind::CompareExchange { success, .. },
                Some(Op::CompareExchange { success: yes, failure: no, .. }),
            ) = (&event.kind, sites.op(program, event.site))
            {
                others.insert(EventIndex::new(at), if *success { *no } else { *yes });
            }
            if matches!(&event.kind, Kind::Other(kind) if kind.may_wait())
                && sites.has_deadline(program, event.site)
            {
                timed.insert(EventIndex::new(at));
            }
        }
        Ok(Symbolic { encoding, options, deadline, others, timed, cores: vec![], asked: 0, small: false })
    }

    /// The encoding.
    pub fn encoding(&mut self) -> &mut Encoding<'c> {
        &mut self.encoding
    }

    /// Ties an event to more of what came before it in the recorded run, because a re-run has shown that it depends on it.
    ///
    /// # Errors
    /// As for [`Symbolic::answer`].
    pub fn tie(&mut self, event: EventId, context: Context) -> Result<()> {
        self.encoding.tie(event, context)
    }

    /// How many questions the solver was asked, those for smaller witnesses and reasons left out.
    #[must_use]
    pub fn asked(&self) -> usize {
        self.asked
    }

    /// Decides a candidate.
    ///
    /// # Errors
    /// By a fault of ours: the solver refuses a term.
    pub fn answer(&mut self, candidate: &Candidate) -> Result<Answer> {
        if let Some(why) = self.out_of_time() {
            return Ok(Answer::Unknown(why));
        }
        let mut events = vec![];
        for id in candidate.events() {
            match self.encoding.ctp().find(id) {
                Some(event) => events.push(event),
                None if candidate.property() == Property::Assertion => {}
                None => return Ok(Answer::Unknown(Unknown::NotInTrace(format!("event {id}")))),
            }
        }
        match (candidate, &events[..]) {
            (Candidate::UnorderedRace { .. }, &[first, second]) => self.unordered(first, second),
            (Candidate::Fault { event, kind }, _) => self.fault(*event, *kind),
            (Candidate::Assertion { event }, _)
                if self.encoding.ctp().failing_at(*event).next().is_some() =>
            {
                self.failing_assertion(*event)
            }
            (candidate, events) => match self.question(candidate, events)? {
                Some(question) => self.decide(question),
                None => Ok(Answer::Unknown(Unknown::NotInTrace("a candidate without its events".to_owned()))),
            },
        }
    }

    /// The question that a candidate is, if it is one.
    fn question(&mut self, candidate: &Candidate, events: &[EventIndex]) -> Result<Option<Question>> {
        Ok(Some(match (candidate, events) {
            (Candidate::Atomicity { .. }, &[before, between, after]) => {
                self.atomicity(before, between, after)?
            }
            (Candidate::CoEnabledRace { .. }, &[first, second]) => self.co_enabled(first, second)?,
            (Candidate::Assertion { .. }, &[event]) => return self.assertion(event),
            (Candidate::Deadlock(deadlock), events) => self.deadlock(deadlock, events)?,
            (Candidate::Wakeup { .. }, &[_, wake]) => return self.wakeup(wake),
            (Candidate::Pattern(pattern), _) => self.pattern(pattern)?,
            _ => return Ok(None),
        }))
    }

    /// The question that a candidate is, as an SMT-LIB 2 script; `None` if it is several questions.
    ///
    /// # Errors
    /// As for [`Symbolic::answer`].
    pub fn to_smtlib(&mut self, candidate: &Candidate) -> Result<Option<String>> {
        let events: Option<Vec<EventIndex>> =
            candidate.events().into_iter().map(|id| self.encoding.ctp().find(id)).collect();
        let Some(events) = events else { return Ok(None) };
        let Some(question) = self.question(candidate, &events)? else { return Ok(None) };
        let assumptions =
            question.facts.iter().map(|&fact| self.term(fact)).collect::<Result<Vec<Bool>>>()?;
        self.encoding.to_smtlib(&assumptions).map(Some)
    }

    /// Asks, and makes the answer of what the solver says.
    fn decide(&mut self, question: Question) -> Result<Answer> {
        let Question { facts, standing, last, alone, reasons } = question;
        if let Some(why) = self.out_of_time() {
            return Ok(Answer::Unknown(why));
        }
        if let Some(because) = self.known_core(&facts) {
            return Ok(Answer::Infeasible(because.to_vec()));
        }
        self.limit();
        self.asked += 1;
        let mut assumptions = facts.iter().map(|&fact| self.term(fact)).collect::<Result<Vec<Bool>>>()?;
        let said = self.encoding.ask(&assumptions)?;
        if self.small && said == encode::Answer::Sat {
            self.shrink(&mut assumptions)?;
        }
        Ok(match said {
            encode::Answer::Sat => match self.encoding.witness(&standing, last)? {
                Some(witness) => Answer::Feasible(witness),
                None => Answer::Unknown(Unknown::Interrupted),
            },
            encode::Answer::Unsat(core) => match self.encoding.pinned(&core)? {
                pins if pins.is_empty() => {
                    let because = self.encoding.because(&assumptions, &core, &reasons)?;
                    if !alone {
                        let needed =
                            facts.into_iter().zip(&assumptions).filter(|(_, term)| core.contains(term));
                        self.learn(needed.map(|(fact, _)| fact).collect(), because.clone());
                    }
                    Answer::Infeasible(because)
                }
                pins => Answer::Unknown(Unknown::Pinned(pins)),
            },
            encode::Answer::Unknown(stop) => Answer::Unknown(self.stopped(stop)),
        })
    }

    /// Why nothing more is to be asked.
    fn out_of_time(&self) -> Option<Unknown> {
        if self.options.interrupter.is_set() {
            return Some(Unknown::Interrupted);
        }
        let over = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        over.then(|| Unknown::Time(self.options.total_time.unwrap_or_default()))
    }

    /// Sets the limits of the next question: what is left of the time, at most.
    fn limit(&mut self) {
        let mut limits = self.options.limits;
        if let Some(deadline) = self.deadline {
            let left = deadline.saturating_duration_since(Instant::now());
            limits.time = Some(limits.time.map_or(left, |time| time.min(left)));
        }
        self.encoding.set_limits(limits);
    }

    fn stopped(&self, stop: Stop) -> Unknown {
        let limits = self.options.limits;
        match stop {
            Stop::Time => {
                let total = self.options.total_time.filter(|_| self.out_of_time().is_some());
                Unknown::Time(total.or(limits.time).unwrap_or_default())
            }
            Stop::Conflicts => Unknown::Conflicts(limits.conflicts.unwrap_or_default().into()),
            Stop::Memory => Unknown::Memory(limits.memory.unwrap_or_default() as u64),
            Stop::Interrupted => Unknown::Interrupted,
        }
    }

    fn event(&self, event: EventIndex) -> &'c ctp::Event {
        self.encoding.ctp().event(event)
    }
}

/// The first answer that is feasible, or the weakest of the others.
fn either(first: Answer, second: Answer) -> Answer {
    match (first, second) {
        (feasible @ Answer::Feasible(_), _) | (_, feasible @ Answer::Feasible(_)) => feasible,
        (unknown @ Answer::Unknown(_), _) | (_, unknown @ Answer::Unknown(_)) => unknown,
        (Answer::Infeasible(mut because), Answer::Infeasible(more)) => {
            because.extend(more);
            because.sort_unstable();
            because.dedup();
            Answer::Infeasible(because)
        }
    }
}

/// Which contents of memory the question about a candidate needs.
fn need(ctp: &Ctp, candidate: &Candidate, needs: &mut encode::Options) {
    let find = |id: EventId| ctp.find(id);
    match candidate {
        Candidate::Atomicity { before, between, after } => {
            for (first, second) in [(before, between), (between, after)] {
                let (Some(first), Some(second)) = (find(*first), find(*second)) else { continue };
                if matches!(ctp.event(first).kind, Kind::Write(_)) && reads(&ctp.event(second).kind) {
                    needs.contents_before.insert(first);
                }
            }
        }
        Candidate::CoEnabledRace { first, second } | Candidate::UnorderedRace { first, second } => {
            for (one, other) in [(first, second), (second, first)] {
                let (Some(one), Some(other)) = (find(*one), find(*other)) else { continue };
                let (kind, other) = (&ctp.event(one).kind, &ctp.event(other).kind);
                if let (Kind::CompareExchange { access, .. }, false) = (kind, may_write(other)) {
                    let reads = access.targets.iter().flat_map(|target| &target.reads);
                    needs.contents_at_cut.extend(reads.map(|&read| ctp.read(read).location));
                }
            }
        }
        Candidate::Wakeup { wake, .. } => {
            if let Some(look) = find(*wake).and_then(|wake| look(ctp, wake)) {
                needs.contents_at_cut.extend(look.reads.iter().map(|&read| ctp.read(read).location));
            }
        }
        _ => {}
    }
}
