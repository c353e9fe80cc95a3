//! Synchronisation operations as atomic updates of words.
//!
//! What each operation needs and does is what DESIGN §9 says and the machine does; "needs" becomes a rule about the value
//! that is read, so that it can be switched off by name:
//!
//! - mutex: the owner (from 1) in the high byte, the depth in the low one; 0 is free;
//! - rwlock: the writer in the high byte, how often it is held for reading in the low one; and for each thread that reads a
//!   word of its own;
//! - condition variable: one bit for each thread that waits and was not woken;
//! - semaphore: its tokens; barrier: all arrivals so far.

use super::memory::Object;
use super::value::{Sources, Value};
use super::walk::{Path, Place, Walker};
use crate::event::{Access, Action, Carrier, CellId, EventId};
use crate::rule::Rule;
use crate::{Error, Result};
use ir::{BinaryOp, Order, Predicate, SyncKind, SyncOp, Width};
use solver::{Bool, Bv};

/// An operation that is being built: its event, and whether it goes wrong.
struct Operation {
    event: EventId,
    happens: Bool,
    /// Holds if the thread may go on.
    fine: Bool,
}

/// The owner of a mutex word.
const OWNER: u32 = 8;

impl Walker<'_, '_> {
    /// Does an operation on synchronisation objects; gives its result.
    pub fn synchronise(
        &mut self,
        place: Place<'_>,
        path: &mut Path,
        op: SyncOp,
        operands: &[Value],
    ) -> Result<Option<Value>> {
        match op {
            SyncOp::Join => self.join_thread(place, path, &operands[0]).map(|()| None),
            SyncOp::Wait | SyncOp::TimedWait => self.wait(place, path, op == SyncOp::TimedWait, operands),
            SyncOp::BarrierWait => self.barrier(place, path, &operands[0]).map(|()| None),
            SyncOp::ExclusiveBegin | SyncOp::ExclusiveEnd => Err(Error::Unsupported {
                what: "a block that excludes all other threads".to_owned(),
                position: place.instruction.position,
            }),
            _ => self.simple(place, path, op, &operands[0]),
        }
    }

    /// Operations of one event.
    fn simple(
        &mut self,
        place: Place<'_>,
        path: &mut Path,
        op: SyncOp,
        operand: &Value,
    ) -> Result<Option<Value>> {
        let (word, kinds): (&'static str, &[SyncKind]) = match op {
            SyncOp::MutexLock => ("lock", &[SyncKind::Mutex, SyncKind::RecursiveMutex]),
            SyncOp::MutexTryLock => ("trylock", &[SyncKind::Mutex, SyncKind::RecursiveMutex]),
            SyncOp::MutexUnlock => ("unlock", &[SyncKind::Mutex, SyncKind::RecursiveMutex]),
            SyncOp::ReadLock => ("rdlock", &[SyncKind::RwLock]),
            SyncOp::TryReadLock => ("tryrdlock", &[SyncKind::RwLock]),
            SyncOp::WriteLock => ("wrlock", &[SyncKind::RwLock]),
            SyncOp::TryWriteLock => ("trywrlock", &[SyncKind::RwLock]),
            SyncOp::RwUnlock => ("unlock", &[SyncKind::RwLock]),
            SyncOp::Signal => ("signal", &[SyncKind::Condition]),
            SyncOp::Broadcast => ("broadcast", &[SyncKind::Condition]),
            SyncOp::Acquire => ("acquire", &[SyncKind::Semaphore]),
            SyncOp::TryAcquire => ("tryacquire", &[SyncKind::Semaphore]),
            SyncOp::Release => ("release", &[SyncKind::Semaphore]),
            _ => ("value", &[SyncKind::Semaphore]),
        };
        let mut operation = self.operation(place, path, word, operand)?;
        let mut result: Option<Value> = None;
        let mut found = self.builder.terms.no;
        for (object, hit) in self.objects(operand, kinds)? {
            found = self.builder.terms.or(found, hit)?;
            let when = self.builder.terms.and(operation.happens, hit)?;
            let given = match op {
                SyncOp::MutexLock => self.lock(&mut operation, &object, when, true)?,
                SyncOp::MutexTryLock => self.lock(&mut operation, &object, when, false)?,
                SyncOp::MutexUnlock => self.unlock(&mut operation, &object, when, hit)?,
                SyncOp::ReadLock => self.read_lock(&mut operation, &object, when, true)?,
                SyncOp::TryReadLock => self.read_lock(&mut operation, &object, when, false)?,
                SyncOp::WriteLock => self.write_lock(&mut operation, &object, when, true)?,
                SyncOp::TryWriteLock => self.write_lock(&mut operation, &object, when, false)?,
                SyncOp::RwUnlock => self.rw_unlock(&mut operation, &object, when, hit)?,
                SyncOp::Signal => self.signal(&mut operation, &object, when, false)?,
                SyncOp::Broadcast => self.signal(&mut operation, &object, when, true)?,
                _ => self.semaphore(&mut operation, &object, when, op)?,
            };
            result = match (result, given) {
                (Some(result), Some(given)) => Some(self.builder.terms.choose(hit, &given, &result)?),
                (result, given) => given.or(result),
            };
        }
        self.finish(place, path, &operation, found)?;
        Ok(result.map(|value| self.seen(operation.event, value)))
    }

    /// A result that depends on what the event has read.
    fn seen(&self, event: EventId, value: Value) -> Value {
        Value { sources: std::rc::Rc::new([event].into_iter().collect()), ..value }
    }

    fn operation(
        &mut self,
        place: Place<'_>,
        path: &Path,
        word: &'static str,
        operand: &Value,
    ) -> Result<Operation> {
        let (event, happens) = self.event(path, Action::Sync(word), Some(place))?;
        let made = &mut self.builder.events[event.index()];
        made.address = operand.sources.clone();
        made.order = Some(Order::SeqCst);
        Ok(Operation { event, happens, fine: self.builder.terms.yes })
    }

    fn finish(
        &mut self,
        place: Place<'_>,
        path: &mut Path,
        operation: &Operation,
        found: Bool,
    ) -> Result<()> {
        let fine = self.builder.terms.and(operation.fine, found)?;
        self.must(path, place, fine, None, "wrong use of a synchronisation object")
    }

    /// The objects of these kinds that an address may be, each with the condition that it is.
    fn objects(&mut self, address: &Value, kinds: &[SyncKind]) -> Result<Vec<(Object, Bool)>> {
        let mut found = vec![];
        for object in self.builder.memory.objects.clone() {
            if kinds.contains(&object.kind) {
                let hit = self.builder.terms.equals_bits(address, u128::from(object.address))?;
                if hit != self.builder.terms.no {
                    found.push((object, hit));
                }
            }
        }
        Ok(found)
    }

    /// Reads a word.
    fn word(&mut self, cell: CellId) -> Result<(Value, Bv)> {
        let width = self.builder.memory.cells[cell.index()].width;
        let term = self.builder.terms.solver.bv_var(width.bits())?;
        Ok((Value::term(width, term, Sources::default()), term))
    }

    fn touch(
        &mut self,
        operation: &Operation,
        cell: CellId,
        when: Bool,
        read: Bv,
        write: Option<(Value, Bool)>,
    ) -> Result<()> {
        let write = match write {
            None => None,
            Some((value, also)) => {
                let also = self.builder.terms.and(when, also)?;
                Some((self.builder.terms.bv(&value)?, also))
            }
        };
        let access = Access { cell, when, read: Some(read), write };
        self.builder.events[operation.event.index()].accesses.push(access);
        Ok(())
    }

    fn require(&mut self, operation: &Operation, rule: Rule, when: Bool, holds: Bool) -> Result<()> {
        let needed = self.builder.terms.solver.implies(when, holds)?;
        self.builder.events[operation.event.index()].requires.push((rule, needed));
        Ok(())
    }

    fn leave(&mut self, operation: &Operation, carrier: Carrier, when: Bool) {
        self.builder.events[operation.event.index()].leaves.push((carrier, when));
    }

    fn take(&mut self, operation: &Operation, carrier: Carrier, when: Bool) {
        self.builder.events[operation.event.index()].takes.push((carrier, when));
    }

    fn me(&self) -> u128 {
        self.thread.map_or(0, |thread| u128::from(thread.0)) + 1
    }

    /// Whether this thread owns the mutex with this word.
    fn owns(&mut self, old: &Value) -> Result<Bool> {
        let shift = Value::known(old.width, u128::from(OWNER));
        let (owner, _) = self.builder.terms.binary(BinaryOp::Lshr, old, &shift)?;
        self.builder.terms.equals_bits(&owner, self.me())
    }

    /// Acquires a mutex; a blocking lock needs it free.
    fn lock(
        &mut self,
        operation: &mut Operation,
        object: &Object,
        when: Bool,
        blocks: bool,
    ) -> Result<Option<Value>> {
        let (old, term) = self.word(object.word)?;
        let mut free = self.builder.terms.equals_bits(&old, 0)?;
        let mut new = Value::known(Width::W16, self.me() << OWNER | 1);
        if object.kind == SyncKind::RecursiveMutex {
            let mine = self.owns(&old)?;
            let one = Value::known(Width::W16, 1);
            let (deeper, _) = self.builder.terms.binary(BinaryOp::Add, &old, &one)?;
            new = self.builder.terms.choose(mine, &deeper, &new)?;
            free = self.builder.terms.or(free, mine)?;
        }
        let carrier = Carrier::Object(object.word);
        if blocks {
            self.require(operation, Rule::MutualExclusion, when, free)?;
            self.touch(operation, object.word, when, term, Some((new, self.builder.terms.yes)))?;
            self.take(operation, carrier, when);
            return Ok(None);
        }
        self.touch(operation, object.word, when, term, Some((new, free)))?;
        let acquired = self.builder.terms.and(when, free)?;
        self.take(operation, carrier, acquired);
        Ok(Some(self.as_int(free)?))
    }

    fn as_int(&mut self, flag: Bool) -> Result<Value> {
        let (one, zero) = (Value::known(Width::W32, 1), Value::known(Width::W32, 0));
        self.builder.terms.choose(flag, &one, &zero)
    }

    /// Releases a mutex that this thread must own.
    fn unlock(
        &mut self,
        operation: &mut Operation,
        object: &Object,
        when: Bool,
        hit: Bool,
    ) -> Result<Option<Value>> {
        let (old, term) = self.word(object.word)?;
        let mine = self.owns(&old)?;
        // Without mutual exclusion nobody knows who the owner is.
        let open = self.builder.terms.not(self.builder.rules[&Rule::MutualExclusion])?;
        let allowed = self.builder.terms.or(mine, open)?;
        let fine = self.builder.terms.solver.implies(hit, allowed)?;
        operation.fine = self.builder.terms.and(operation.fine, fine)?;
        let single = Value::known(Width::W16, self.me() << OWNER | 1);
        let last = self.builder.terms.equals(&old, &single)?;
        let one = Value::known(Width::W16, 1);
        let (higher, _) = self.builder.terms.binary(BinaryOp::Sub, &old, &one)?;
        let new = self.builder.terms.choose(last, &Value::known(Width::W16, 0), &higher)?;
        self.touch(operation, object.word, when, term, Some((new, mine)))?;
        let released = self.builder.terms.and(when, mine)?;
        self.leave(operation, Carrier::Object(object.word), released);
        Ok(None)
    }

    fn read_lock(
        &mut self,
        operation: &mut Operation,
        object: &Object,
        when: Bool,
        blocks: bool,
    ) -> Result<Option<Value>> {
        let thread = self.thread.unwrap_or(crate::event::ThreadIndex(0));
        let held = self.builder.held_by(object.word, thread)?;
        let (old, term) = self.word(object.word)?;
        let free = self.builder.terms.compare(Predicate::Ult, &old, &Value::known(Width::W16, 1 << OWNER))?;
        let free = self.builder.terms.truth(&free)?;
        if blocks {
            self.require(operation, Rule::MutualExclusion, when, free)?;
        }
        let acquires = if blocks { self.builder.terms.yes } else { free };
        let (more, _) = self.builder.terms.binary(BinaryOp::Add, &old, &Value::known(Width::W16, 1))?;
        self.touch(operation, object.word, when, term, Some((more, acquires)))?;
        let (mine, mine_term) = self.word(held)?;
        let (deeper, _) = self.builder.terms.binary(BinaryOp::Add, &mine, &Value::known(Width::W8, 1))?;
        self.touch(operation, held, when, mine_term, Some((deeper, acquires)))?;
        let acquired = self.builder.terms.and(when, acquires)?;
        self.take(operation, Carrier::Object(object.word), acquired);
        if blocks { Ok(None) } else { Ok(Some(self.as_int(free)?)) }
    }

    fn write_lock(
        &mut self,
        operation: &mut Operation,
        object: &Object,
        when: Bool,
        blocks: bool,
    ) -> Result<Option<Value>> {
        let (old, term) = self.word(object.word)?;
        let free = self.builder.terms.equals_bits(&old, 0)?;
        if blocks {
            self.require(operation, Rule::MutualExclusion, when, free)?;
        }
        let acquires = if blocks { self.builder.terms.yes } else { free };
        let me = Value::known(Width::W16, self.me() << OWNER);
        self.touch(operation, object.word, when, term, Some((me, acquires)))?;
        let acquired = self.builder.terms.and(when, acquires)?;
        self.take(operation, Carrier::Object(object.word), acquired);
        self.take(operation, Carrier::Readers(object.word), acquired);
        if blocks { Ok(None) } else { Ok(Some(self.as_int(free)?)) }
    }

    fn rw_unlock(
        &mut self,
        operation: &mut Operation,
        object: &Object,
        when: Bool,
        hit: Bool,
    ) -> Result<Option<Value>> {
        let thread = self.thread.unwrap_or(crate::event::ThreadIndex(0));
        let held = self.builder.held_by(object.word, thread)?;
        let (old, term) = self.word(object.word)?;
        let writes = self.owns(&old)?;
        let (mine, mine_term) = self.word(held)?;
        let none = self.builder.terms.equals_bits(&mine, 0)?;
        let not_writing = self.builder.terms.not(writes)?;
        let some = self.builder.terms.not(none)?;
        let reads = self.builder.terms.and(not_writing, some)?;
        let holds = self.builder.terms.or(writes, reads)?;
        let open = self.builder.terms.not(self.builder.rules[&Rule::MutualExclusion])?;
        let allowed = self.builder.terms.or(holds, open)?;
        let fine = self.builder.terms.solver.implies(hit, allowed)?;
        operation.fine = self.builder.terms.and(operation.fine, fine)?;
        let (fewer, _) = self.builder.terms.binary(BinaryOp::Sub, &old, &Value::known(Width::W16, 1))?;
        let new = self.builder.terms.choose(writes, &Value::known(Width::W16, 0), &fewer)?;
        self.touch(operation, object.word, when, term, Some((new, holds)))?;
        let (less, _) = self.builder.terms.binary(BinaryOp::Sub, &mine, &Value::known(Width::W8, 1))?;
        self.touch(operation, held, when, mine_term, Some((less, reads)))?;
        let (written, read) = (self.builder.terms.and(when, writes)?, self.builder.terms.and(when, reads)?);
        self.leave(operation, Carrier::Object(object.word), written);
        self.leave(operation, Carrier::Readers(object.word), read);
        Ok(None)
    }

    fn signal(
        &mut self,
        operation: &mut Operation,
        object: &Object,
        when: Bool,
        all: bool,
    ) -> Result<Option<Value>> {
        let (old, term) = self.word(object.word)?;
        let chosen = match all {
            true => term,
            false => self.choose_waiter(operation, &old, when)?,
        };
        let chosen_value = Value::term(Width::W32, chosen, Sources::default());
        let (new, _) = self.builder.terms.binary(BinaryOp::Xor, &old, &chosen_value)?;
        self.touch(operation, object.word, when, term, Some((new, self.builder.terms.yes)))?;
        self.leave(operation, Carrier::Signal(object.word, chosen), when);
        Ok(None)
    }

    /// One of the bits that are set, if there is one.
    fn choose_waiter(&mut self, operation: &Operation, old: &Value, when: Bool) -> Result<Bv> {
        let chosen = self.builder.terms.solver.bv_var(32)?;
        let value = Value::term(Width::W32, chosen, Sources::default());
        let terms = &mut self.builder.terms;
        let one = Value::known(Width::W32, 1);
        let (less, _) = terms.binary(BinaryOp::Sub, &value, &one)?;
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

    fn semaphore(
        &mut self,
        operation: &mut Operation,
        object: &Object,
        when: Bool,
        op: SyncOp,
    ) -> Result<Option<Value>> {
        let (old, term) = self.word(object.word)?;
        let one = Value::known(Width::W32, 1);
        let empty = self.builder.terms.equals_bits(&old, 0)?;
        let some = self.builder.terms.not(empty)?;
        let (more, _) = self.builder.terms.binary(BinaryOp::Add, &old, &one)?;
        let (fewer, _) = self.builder.terms.binary(BinaryOp::Sub, &old, &one)?;
        let yes = self.builder.terms.yes;
        let (write, result) = match op {
            SyncOp::TokenCount => (None, Some(old)),
            SyncOp::Release => (Some((more, yes)), None),
            SyncOp::TryAcquire => (Some((fewer, some)), Some(self.as_int(some)?)),
            _ => {
                self.require(operation, Rule::Tokens, when, some)?;
                (Some((fewer, yes)), None)
            }
        };
        self.touch(operation, object.word, when, term, write)?;
        let carrier = Carrier::Object(object.word);
        match op {
            SyncOp::Release => self.leave(operation, carrier, when),
            SyncOp::Acquire => self.take(operation, carrier, when),
            SyncOp::TryAcquire => {
                let took = self.builder.terms.and(when, some)?;
                self.take(operation, carrier, took);
            }
            _ => {}
        }
        Ok(result)
    }

    /// Begin, perhaps the end without a signal, and end of a wait.
    fn wait(
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
            let when = self.builder.terms.and(begin.happens, *hit)?;
            self.unlock(&mut begin, mutex, when, *hit)?;
        }
        // Who takes the mutex next must find this thread waiting: the mark comes first.
        let released = std::mem::take(&mut self.builder.events[begin.event.index()].accesses);
        for (condition, hit) in &conditions {
            let when = self.builder.terms.and(begin.happens, *hit)?;
            self.mark(&begin, condition, when, begin.fine, bit, true)?;
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
        let mut end = self.operation(place, path, "wait ends", &operands[0])?;
        for (mutex, hit) in &mutexes {
            let when = self.builder.terms.and(end.happens, *hit)?;
            self.lock(&mut end, mutex, when, true)?;
        }
        for (condition, hit) in &conditions {
            let when = self.builder.terms.and(end.happens, *hit)?;
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

    fn has_bit(&mut self, word: &Value, bit: u128) -> Result<Bool> {
        let mask = Value::known(Width::W32, bit);
        let (masked, _) = self.builder.terms.binary(BinaryOp::And, word, &mask)?;
        let unset = self.builder.terms.equals_bits(&masked, 0)?;
        self.builder.terms.not(unset)
    }

    /// Sets or clears this thread's bit in a condition variable; gives whether it was set.
    fn mark(
        &mut self,
        operation: &Operation,
        condition: &Object,
        when: Bool,
        also: Bool,
        bit: u128,
        set: bool,
    ) -> Result<Bool> {
        let (old, term) = self.word(condition.word)?;
        let (op, mask) = if set { (BinaryOp::Or, bit) } else { (BinaryOp::And, !bit) };
        let mask = Value::known(Width::W32, mask & Width::W32.mask());
        let (new, _) = self.builder.terms.binary(op, &old, &mask)?;
        self.touch(operation, condition.word, when, term, Some((new, also)))?;
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
            let when = self.builder.terms.and(stop.happens, *hit)?;
            let waited = self.mark(&stop, condition, when, self.builder.terms.yes, bit, false)?;
            self.require(&stop, Rule::Signals, when, waited)?;
        }
        Ok(stops)
    }

    /// Arrival and leaving; rounds are formed by arrival.
    fn barrier(&mut self, place: Place<'_>, path: &mut Path, operand: &Value) -> Result<()> {
        let objects = self.objects(operand, &[SyncKind::Barrier])?;
        let arrive = self.operation(place, path, "arrive", operand)?;
        let (mut found, mut rounds) = (self.builder.terms.no, vec![]);
        for (object, hit) in &objects {
            found = self.builder.terms.or(found, *hit)?;
            let when = self.builder.terms.and(arrive.happens, *hit)?;
            let (old, term) = self.word(object.word)?;
            let one = Value::known(Width::W16, 1);
            let (new, _) = self.builder.terms.binary(BinaryOp::Add, &old, &one)?;
            self.touch(&arrive, object.word, when, term, Some((new, self.builder.terms.yes)))?;
            let parties = Value::known(Width::W16, u128::from(object.count.max(1)));
            let (round, _) = self.builder.terms.binary(BinaryOp::UDiv, &old, &parties)?;
            let round_term = self.builder.terms.bv(&round)?;
            self.leave(&arrive, Carrier::Round(object.word, round_term), when);
            rounds.push((round, round_term, parties));
        }
        self.finish(place, path, &arrive, found)?;
        let leave = self.operation(place, path, "leave", operand)?;
        for ((object, hit), (round, round_term, parties)) in objects.iter().zip(rounds) {
            let when = self.builder.terms.and(leave.happens, *hit)?;
            let (now, term) = self.word(object.word)?;
            let (rounds_now, _) = self.builder.terms.binary(BinaryOp::UDiv, &now, &parties)?;
            let over = self.builder.terms.compare(Predicate::Ugt, &rounds_now, &round)?;
            let over = self.builder.terms.truth(&over)?;
            self.require(&leave, Rule::Barriers, when, over)?;
            self.touch(&leave, object.word, when, term, None)?;
            self.take(&leave, Carrier::Round(object.word, round_term), when);
        }
        Ok(())
    }

    fn join_thread(&mut self, place: Place<'_>, path: &mut Path, handle: &Value) -> Result<()> {
        let (event, happens) = self.event(path, Action::Join(vec![]), Some(place))?;
        let (mut found, mut joined) = (self.builder.terms.no, vec![]);
        for thread in 0..self.builder.threads.len() as u32 {
            let hit = self.builder.terms.equals_bits(handle, u128::from(thread) + 1)?;
            if hit != self.builder.terms.no {
                found = self.builder.terms.or(found, hit)?;
                joined.push((crate::event::ThreadIndex(thread), self.builder.terms.and(happens, hit)?));
            }
        }
        self.builder.events[event.index()].action = Action::Join(joined);
        self.must(path, place, found, None, "join of what is no thread")
    }
}
