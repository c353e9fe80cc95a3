//! Deadlocks (docs/design/candidates.md, "Deadlocks"): threads that wait for each other in a circle, or all
//! live threads blocked.
//!
//! They are not generated as candidates first: which events a circle consists of is left to the solver. It is asked for *some* circle,
//! the one that it shows is reported, and the next question excludes it, until there is none left.

use super::{Fact, Question, Symbolic};
use claim::{Answer, Candidate, Deadlock, Unknown};
use ctp::{EventIndex, Kind, ThreadIndex};
use encode::{Blocked, Bool, Result};
use trace::{EventId, EventKind};

/// A place where a thread may be stuck: it stands before this event, and what that waits for.
struct Place {
    event: EventIndex,
    thread: ThreadIndex,
    next: Bool,
    blocked: Blocked,
}

impl Symbolic<'_> {
    /// The question whether these events can all be blocked, as the deadlock says.
    pub(super) fn deadlock(&mut self, deadlock: &Deadlock, events: &[EventIndex]) -> Result<Question> {
        let threads: Vec<ThreadIndex> = events.iter().map(|&event| self.event(event).thread).collect();
        let mut facts = vec![];
        for &event in events {
            facts.push(Fact::Next(event));
            let blocked = self.encoding.blocked(event, self.timed.contains(&event))?;
            facts.push(Fact::Term(match deadlock {
                Deadlock::AllBlocked(_) => blocked.blocked,
                Deadlock::Circle(_) => {
                    let by = blocked.by.iter().filter(|(thread, _)| threads.contains(thread));
                    let by: Vec<Bool> = by.map(|&(_, blocks)| blocks).collect();
                    self.encoding.solver().or(&by)?
                }
            }));
        }
        if let Deadlock::AllBlocked(_) = deadlock {
            for n in 0..self.encoding.ctp().threads.len() {
                if !threads.contains(&ThreadIndex::new(n)) {
                    facts.push(Fact::Term(self.is_over(ThreadIndex::new(n))?));
                }
            }
            facts.push(Fact::Term(self.nobody_departs()?));
        }
        Ok(Question { facts, standing: events.to_vec(), ..Question::default() })
    }

    /// All deadlocks, at most so many, each with its answer. The last answer is another than *feasible* if the search ended by a limit.
    ///
    /// # Errors
    /// By a fault of ours: the solver refuses a term.
    pub fn deadlocks(&mut self, most: usize) -> Result<Vec<(Candidate, Answer)>> {
        self.encoding.open_scope();
        let found = self.find_deadlocks(most);
        self.encoding.close_scope()?;
        found
    }

    fn find_deadlocks(&mut self, most: usize) -> Result<Vec<(Candidate, Answer)>> {
        let places = self.places()?;
        let mut found = vec![];
        for all in [false, true] {
            let stuck = if all { self.all_blocked(&places)? } else { self.some_circle(&places)? };
            while found.len() < most {
                let question =
                    Question { facts: vec![Fact::Term(stuck)], alone: true, ..Question::default() };
                match self.decide(question)? {
                    Answer::Feasible(_) => {}
                    Answer::Infeasible(_) => break,
                    unknown @ Answer::Unknown(_) => {
                        found.push((Candidate::Deadlock(Deadlock::AllBlocked(vec![])), unknown));
                        return Ok(found);
                    }
                }
                let Some(shown) = self.shown(&places, all)? else {
                    let unknown = Answer::Unknown(Unknown::NotInTrace("a circle".to_owned()));
                    found.push((Candidate::Deadlock(Deadlock::AllBlocked(vec![])), unknown));
                    return Ok(found);
                };
                let events: Vec<EventIndex> = shown.iter().map(|&at| places[at].event).collect();
                let witness = self.encoding.witness(&events, None)?;
                let mut ids: Vec<EventId> = events.iter().map(|&event| self.event(event).id).collect();
                ids.sort_unstable();
                let deadlock = if all { Deadlock::AllBlocked(ids) } else { Deadlock::Circle(ids) };
                let answer = witness.map_or(Answer::Unknown(Unknown::Interrupted), Answer::Feasible);
                found.push((Candidate::Deadlock(deadlock), answer));
                let mut not_again = vec![];
                for &at in &shown {
                    not_again.push(self.encoding.solver().not(places[at].next)?);
                }
                // A circle stands whatever the others do; but with all blocked, others are blocked elsewhere in another one.
                for n in 0..if all { self.encoding.ctp().threads.len() } else { 0 } {
                    if !shown.iter().any(|&at| places[at].thread.index() == n) {
                        let over = self.is_over(ThreadIndex::new(n))?;
                        not_again.push(self.encoding.solver().not(over)?);
                    }
                }
                let not_again = self.encoding.solver().or(&not_again)?;
                self.encoding.solver().assert(not_again)?;
            }
        }
        Ok(found)
    }

    /// Where threads may be stuck.
    fn places(&mut self) -> Result<Vec<Place>> {
        let ctp = self.encoding.ctp();
        let exclusive = ctp.events.iter().any(|e| matches!(e.kind, Kind::Other(EventKind::ExclusiveBegin)));
        let mut places = vec![];
        for event in (0..ctp.events.len()).map(EventIndex::new).filter(|&at| !ctp.event(at).silent) {
            let blocks = matches!(&ctp.event(event).kind, Kind::Other(kind) if kind.may_wait());
            if blocks || exclusive {
                let blocked = self.encoding.blocked(event, self.timed.contains(&event))?;
                let next = self.encoding.next(event)?;
                places.push(Place { event, thread: ctp.event(event).thread, next, blocked });
            }
        }
        Ok(places)
    }

    /// There is a set of threads, not empty, each of which waits for one of them: then there is a circle.
    fn some_circle(&mut self, places: &[Place]) -> Result<Bool> {
        let threads = self.encoding.ctp().threads.len();
        let solver = self.encoding.solver();
        let member: Vec<Bool> = (0..threads).map(|_| solver.bool_var()).collect();
        for n in 0..threads {
            let mut clause = vec![self.encoding.solver().not(member[n])?];
            for place in places.iter().filter(|place| place.thread.index() == n) {
                for &(thread, blocks) in &place.blocked.by {
                    clause.push(self.encoding.solver().and(&[place.next, blocks, member[thread.index()]])?);
                }
            }
            let clause = self.encoding.solver().or(&clause)?;
            self.encoding.solver().assert(clause)?;
        }
        self.encoding.solver().or(&member)
    }

    /// All threads that have not ended are blocked, and there is one.
    fn all_blocked(&mut self, places: &[Place]) -> Result<Bool> {
        let mut all = vec![self.nobody_departs()?];
        let mut any = vec![];
        for n in 0..self.encoding.ctp().threads.len() {
            let mut stuck = vec![];
            for place in places.iter().filter(|place| place.thread.index() == n) {
                stuck.push(self.encoding.solver().and(&[place.next, place.blocked.blocked])?);
            }
            any.extend(&stuck);
            stuck.push(self.is_over(ThreadIndex::new(n))?);
            all.push(self.encoding.solver().or(&stuck)?);
        }
        all.push(self.encoding.solver().or(&any)?);
        self.encoding.solver().and(&all)
    }

    /// A thread has ended, or has not been forked.
    fn is_over(&mut self, thread: ThreadIndex) -> Result<Bool> {
        let ctp = self.encoding.ctp();
        let described = ctp.thread(thread);
        let fork = described.forked_by.and_then(|fork| ctp.find(fork));
        let last = described.events.last().copied();
        let end = last.filter(|&last| matches!(ctp.event(last).kind, Kind::Other(EventKind::End)));
        let mut any = vec![];
        if let Some(fork) = fork {
            let forked = self.encoding.inside(fork);
            any.push(self.encoding.solver().not(forked)?);
        }
        any.extend(end.map(|end| self.encoding.inside(end)));
        self.encoding.solver().or(&any)
    }

    fn nobody_departs(&mut self) -> Result<Bool> {
        let departed = self.encoding.departures()?;
        let any = self.encoding.solver().or(&departed)?;
        self.encoding.solver().not(any)
    }

    /// The circle, or all blocked events, that the model shows; indices into the places.
    fn shown(&mut self, places: &[Place], all: bool) -> Result<Option<Vec<usize>>> {
        let Some(model) = self.encoding.solver().model() else { return Ok(None) };
        let mut standing: Vec<(usize, ThreadIndex, Vec<ThreadIndex>)> = vec![];
        for (n, place) in places.iter().enumerate() {
            if !model.holds(place.next)? || !model.holds(place.blocked.blocked)? {
                continue;
            }
            let mut by = vec![];
            for &(thread, blocks) in &place.blocked.by {
                if model.holds(blocks)? {
                    by.push(thread);
                }
            }
            standing.push((n, place.thread, by));
        }
        if all {
            return Ok(Some(standing.into_iter().map(|(n, ..)| n).collect()));
        }
        Ok(circle(&standing))
    }
}

/// A shortest circle among threads that stand somewhere and wait for others.
fn circle(standing: &[(usize, ThreadIndex, Vec<ThreadIndex>)]) -> Option<Vec<usize>> {
    let of = |thread: ThreadIndex| standing.iter().position(|&(_, whose, _)| whose == thread);
    let mut best: Option<Vec<usize>> = None;
    for start in 0..standing.len() {
        // Breadth first, with the way that led there.
        let mut ways: Vec<Vec<usize>> = vec![vec![start]];
        let mut seen = vec![false; standing.len()];
        while let Some(way) = ways.first().cloned() {
            ways.remove(0);
            let here = way[way.len() - 1];
            for to in standing[here].2.iter().filter_map(|&thread| of(thread)) {
                if to == start {
                    if best.as_ref().is_none_or(|best| best.len() > way.len()) {
                        best = Some(way.clone());
                    }
                } else if !std::mem::replace(&mut seen[to], true) {
                    ways.push([&way[..], &[to]].concat());
                }
            }
        }
    }
    best.map(|way| way.into_iter().map(|at| standing[at].0).collect())
}
