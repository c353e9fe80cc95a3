//! What is waited for: condition variables, barriers, the ends of threads.
//!
//! - condition variable: one bit for each thread that waits and was not woken;
//! - barrier: all arrivals so far.

use super::{Operation, Target};
use crate::Result;
use crate::event::{Action, Carrier, ThreadIndex};
use crate::rule::Rule;
use crate::unfold::memory::Object;
use crate::unfold::value::{Sources, Value};
use crate::unfold::walk::{Path, Place, Walker};
use ir::{BinaryOp, Predicate, SyncKind, Width};
use solver::{Bool, Bv};

impl Walker<'_, '_> {
    /// Wakes one thread that waits, or all.
    pub(super) fn signal(&mut self, operation: &Operation, target: Target<'_>, all: bool) -> Result<()> {
        let (word, when) = (target.object.word, target.when);
        let (old, term) = self.word(word)?;
        let chosen = match all {
            true => term,
            false => self.choose_waiter(operation, &old, when)?,
        };
        let chosen_value = Value::term(Width::W32, chosen, Sources::default());
        let (new, _) = self.builder.terms.binary(BinaryOp::Xor, &old, &chosen_value)?;
        self.touch(operation, word, when, term, Some((new, self.builder.terms.yes)))?;
        self.leave(operation, Carrier::Signal(word, chosen), when);
        Ok(())
    }

    /// One of the bits that are set, if there is one.
    fn choose_waiter(&mut self, operation: &Operation, old: &Value, when: Bool) -> Result<Bv> {
        let chosen = self.builder.terms.solver.bv_var(32)?;
        let value = Value::term(Width::W32, chosen, Sources::default());
        let less = self.changed(BinaryOp::Sub, &value, 1)?;
        let terms = &mut self.builder.terms;
        let (others, _) = terms.binary(BinaryOp::And, &value, &less)?;
        let single = terms.equals_bits(&others, 0)?;
        let (inside, _) = terms.binary(BinaryOp::And, &value, old)?;
        let inside = terms.equals(&inside, &value)?;
        let (nobody, nothing) = (terms.equals_bits(old, 0)?, terms.equals_bits(&value, 0)?);
        let lost = terms.solver.iff(nobody, nothing)?;
        for holds in [single, inside, lost] {
            self.require(operation, Rule::Signals, when, holds)?;
        }
        Ok(chosen)
    }

    /// Begin, perhaps the end without a signal, and end of a wait.
    pub(super) fn wait(
        &mut self,
        place: Place<'_>,
        path: &mut Path,
        timed: bool,
        operands: &[Value],
    ) -> Result<Option<Value>> {
        let bit = 1_u128 << (self.me() - 1);
        let conditions = self.objects(&operands[0], &[SyncKind::Condition])?;
        let mutexes = match operands.get(1) {
            None => vec![],
            Some(mutex) => self.objects(mutex, &[SyncKind::Mutex, SyncKind::RecursiveMutex])?,
        };
        let any = |walker: &mut Self, objects: &[(Object, Bool)]| -> Result<Bool> {
            let hits: Vec<Bool> = objects.iter().map(|&(_, hit)| hit).collect();
            Ok(walker.builder.terms.solver.or(&hits)?)
        };
        let mut begin = self.operation(place, path, "wait begins", &operands[0])?;
        let mut found = any(self, &conditions)?;
        if operands.len() > 1 {
            let held = any(self, &mutexes)?;
            found = self.builder.terms.and(found, held)?;
        }
        for (mutex, hit) in &mutexes {
            let target = self.target(&begin, mutex, *hit)?;
            self.unlock(&mut begin, target)?;
        }
        // Who takes the mutex next must find this thread waiting: the mark comes first.
        let released = std::mem::take(&mut self.builder.events[begin.event.index()].accesses);
        for (condition, hit) in &conditions {
            let target = self.target(&begin, condition, *hit)?;
            self.mark(&begin, target, begin.fine, bit, true)?;
        }
        self.builder.events[begin.event.index()].accesses.extend(released);
        self.finish(place, path, &begin, found)?;
        let expired = if timed {
            self.stop_waiting(place, path, operands, &conditions, bit)?
        } else {
            self.builder.terms.no
        };
        if self.builder.options.spurious {
            self.stop_waiting(place, path, operands, &conditions, bit)?;
        }
        let end = self.operation(place, path, "wait ends", &operands[0])?;
        for (mutex, hit) in &mutexes {
            let target = self.target(&end, mutex, *hit)?;
            self.lock(&end, target, true)?;
        }
        for (condition, hit) in &conditions {
            let when = self.target(&end, condition, *hit)?.when;
            let (old, term) = self.word(condition.word)?;
            let waits = self.has_bit(&old, bit)?;
            let woken = self.builder.terms.not(waits)?;
            self.require(&end, Rule::Signals, when, woken)?;
            self.touch(&end, condition.word, when, term, None)?;
            self.take(&end, Carrier::Signal(condition.word, term), when);
        }
        let signalled = self.builder.terms.not(expired)?;
        let result = self.as_int(signalled)?;
        Ok(timed.then(|| self.seen(end.event, result)))
    }

    /// Whether a bit is set.
    fn has_bit(&mut self, word: &Value, bit: u128) -> Result<Bool> {
        let masked = self.changed(BinaryOp::And, word, bit)?;
        let unset = self.builder.terms.equals_bits(&masked, 0)?;
        self.builder.terms.not(unset)
    }

    /// Sets or clears this thread's bit in a condition variable; gives whether it was set.
    fn mark(
        &mut self,
        operation: &Operation,
        target: Target<'_>,
        also: Bool,
        bit: u128,
        set: bool,
    ) -> Result<Bool> {
        let (old, term) = self.word(target.object.word)?;
        let (op, mask) = if set { (BinaryOp::Or, bit) } else { (BinaryOp::And, !bit) };
        let new = self.changed(op, &old, mask & Width::W32.mask())?;
        self.touch(operation, target.object.word, target.when, term, Some((new, also)))?;
        self.has_bit(&old, bit)
    }

    /// The wait may be over though nobody has signalled; says whether it is.
    fn stop_waiting(
        &mut self,
        place: Place<'_>,
        path: &Path,
        operands: &[Value],
        conditions: &[(Object, Bool)],
        bit: u128,
    ) -> Result<Bool> {
        let stops = self.builder.terms.solver.bool_var();
        let guard = self.builder.terms.and(path.guard, stops)?;
        let optional = Path { guard, ..path.clone() };
        let stop = self.operation(place, &optional, "wait expires", &operands[0])?;
        for (condition, hit) in conditions {
            let target = self.target(&stop, condition, *hit)?;
            let waited = self.mark(&stop, target, self.builder.terms.yes, bit, false)?;
            self.require(&stop, Rule::Signals, target.when, waited)?;
        }
        Ok(stops)
    }

    /// Arrival and leaving; rounds are formed by arrival.
    pub(super) fn barrier(&mut self, place: Place<'_>, path: &mut Path, operand: &Value) -> Result<()> {
        let objects = self.objects(operand, &[SyncKind::Barrier])?;
        let arrive = self.operation(place, path, "arrive", operand)?;
        let (mut found, mut rounds) = (self.builder.terms.no, vec![]);
        for (object, hit) in &objects {
            found = self.builder.terms.or(found, *hit)?;
            let when = self.target(&arrive, object, *hit)?.when;
            let (old, term) = self.word(object.word)?;
            let new = self.changed(BinaryOp::Add, &old, 1)?;
            self.touch(&arrive, object.word, when, term, Some((new, self.builder.terms.yes)))?;
            let parties = u128::from(object.count.max(1));
            let round = self.changed(BinaryOp::UDiv, &old, parties)?;
            let round_term = self.builder.terms.bv(&round)?;
            self.leave(&arrive, Carrier::Round(object.word, round_term), when);
            rounds.push((round, round_term, parties));
        }
        self.finish(place, path, &arrive, found)?;
        let leave = self.operation(place, path, "leave", operand)?;
        for ((object, hit), (round, round_term, parties)) in objects.iter().zip(rounds) {
            let when = self.target(&leave, object, *hit)?.when;
            let (now, term) = self.word(object.word)?;
            let rounds_now = self.changed(BinaryOp::UDiv, &now, parties)?;
            let over = self.builder.terms.compare(Predicate::Ugt, &rounds_now, &round)?;
            let over = self.builder.terms.truth(&over)?;
            self.require(&leave, Rule::Barriers, when, over)?;
            self.touch(&leave, object.word, when, term, None)?;
            self.take(&leave, Carrier::Round(object.word, round_term), when);
        }
        Ok(())
    }

    /// A join: of each thread that the handle may be.
    pub(super) fn join_thread(&mut self, place: Place<'_>, path: &mut Path, handle: &Value) -> Result<()> {
        let (event, happens) = self.event(path, Action::Join(vec![]), Some(place))?;
        let (mut found, mut joined) = (self.builder.terms.no, vec![]);
        for thread in 0..self.builder.threads.len() as u32 {
            let hit = self.builder.terms.equals_bits(handle, u128::from(thread) + 1)?;
            if hit != self.builder.terms.no {
                found = self.builder.terms.or(found, hit)?;
                joined.push((ThreadIndex(thread), self.builder.terms.and(happens, hit)?));
            }
        }
        self.builder.events[event.index()].action = Action::Join(joined);
        self.must(path, place, found, None, "join of what is no thread")
    }
}
