//! Patterns of the user (PLAN §4.2): events in an order that is given in part, all executed, and goals in temporal logic as terms.
//!
//! The states of a run that a formula can tell apart are the one before its first step and those behind each of the formula's events. So "later" is "behind
//! an event of the prefix that comes later", and what a formula means in each state is a term over orders and over who is in the prefix.

use super::{Fact, Question, Symbolic};
use claim::{Formula, Pattern};
use ctp::EventIndex;
use encode::{Bool, Result};
use rustc_hash::FxHashMap;
use trace::EventId;

/// A state: at the begin, or behind an event.
type Moment = Option<EventIndex>;

impl Symbolic<'_> {
    pub(super) fn pattern(&mut self, pattern: &Pattern) -> Result<Question> {
        let index: FxHashMap<EventId, EventIndex> = (pattern.events.iter())
            .filter_map(|&event| Some((event, self.encoding.ctp().find(event)?)))
            .collect();
        let of = |event: EventId| index.get(&event).copied();
        let inside = pattern.required().into_iter().filter_map(of);
        let mut facts: Vec<Fact> = inside.map(Fact::Inside).collect();
        let ordered = pattern.ordered();
        facts.extend(
            ordered.filter_map(|(first, second)| of(first).zip(of(second))).map(|(a, b)| Fact::Before(a, b)),
        );
        if let Some(goal) = &pattern.goal {
            let events: Vec<EventIndex> = goal.events().into_iter().filter_map(of).collect();
            let mut meaning = Meaning { engine: self, index: &index, events, known: FxHashMap::default() };
            facts.push(Fact::Term(meaning.term(goal, None)?));
        }
        Ok(Question { facts, ..Question::default() })
    }
}

/// What formulas mean in the states of a run.
struct Meaning<'a, 'c> {
    engine: &'a mut Symbolic<'c>,
    index: &'a FxHashMap<EventId, EventIndex>,
    /// The events of the formula, behind each of which there is a state.
    events: Vec<EventIndex>,
    known: FxHashMap<(Formula, Moment), Bool>,
}

impl Meaning<'_, '_> {
    /// The formula holds in a state, if there is that state.
    fn term(&mut self, formula: &Formula, at: Moment) -> Result<Bool> {
        if let Some(&known) = self.known.get(&(formula.clone(), at)) {
            return Ok(known);
        }
        let term = match formula {
            Formula::Constant(value) => self.engine.encoding.solver().bool_const(*value),
            Formula::Happened(event) => match self.index.get(event).copied() {
                Some(event) if at == Some(event) => self.engine.encoding.solver().bool_const(true),
                Some(event) => self.is_done(event, at)?,
                None => self.engine.encoding.solver().bool_const(false),
            },
            Formula::Not(one) => {
                let one = self.term(one, at)?;
                self.engine.encoding.solver().not(one)?
            }
            Formula::And(all) => {
                let all = all.iter().map(|one| self.term(one, at)).collect::<Result<Vec<Bool>>>()?;
                self.engine.encoding.solver().and(&all)?
            }
            Formula::Or(all) => {
                let all = all.iter().map(|one| self.term(one, at)).collect::<Result<Vec<Bool>>>()?;
                self.engine.encoding.solver().or(&all)?
            }
            Formula::Eventually(one) => self.until(&Formula::Constant(true), one, at)?,
            Formula::Always(one) => {
                let broken = self.until(&Formula::Constant(true), &!(**one).clone(), at)?;
                self.engine.encoding.solver().not(broken)?
            }
            Formula::Until(one, other) => self.until(one, other, at)?,
        };
        self.known.insert((formula.clone(), at), term);
        Ok(term)
    }

    /// The second holds now or in a later state, and the first in all states from now until then.
    fn until(&mut self, one: &Formula, other: &Formula, at: Moment) -> Result<Bool> {
        let mut ways = vec![self.term(other, at)?];
        for then in self.events.clone() {
            if at == Some(then) {
                continue;
            }
            let mut all = vec![self.follows(at, then)?, self.term(other, Some(then))?, self.term(one, at)?];
            for between in self.events.clone() {
                if at != Some(between) && between != then {
                    let (after, before) = (self.follows(at, between)?, self.follows(Some(between), then)?);
                    let is_between = self.engine.encoding.solver().and(&[after, before])?;
                    let holds = self.term(one, Some(between))?;
                    all.push(self.engine.encoding.solver().implies(is_between, holds)?);
                }
            }
            ways.push(self.engine.encoding.solver().and(&all)?);
        }
        self.engine.encoding.solver().or(&ways)
    }

    /// The state behind an event is one of the run, and later than another.
    fn follows(&mut self, at: Moment, then: EventIndex) -> Result<Bool> {
        let inside = self.engine.encoding.inside(then);
        let Some(at) = at else { return Ok(inside) };
        let later = self.engine.encoding.before(at, then)?;
        self.engine.encoding.solver().and(&[inside, later])
    }

    /// An event has happened before a state that is not the one behind it.
    fn is_done(&mut self, event: EventIndex, at: Moment) -> Result<Bool> {
        let Some(at) = at else { return Ok(self.engine.encoding.solver().bool_const(false)) };
        let inside = self.engine.encoding.inside(event);
        let earlier = self.engine.encoding.before(event, at)?;
        self.engine.encoding.solver().and(&[inside, earlier])
    }
}
