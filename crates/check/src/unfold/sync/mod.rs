//! Synchronisation operations as atomic updates of words.
//!
//! What each operation needs and does is what docs/design/feasibility.md says and the machine does; "needs"
//! becomes a rule about the value that is read, so that it can be switched off by name. What is taken and
//! given back is in [`taking`], what is waited for in [`waiting`]; both are made from the steps here: an
//! event, the words that it reads and writes, what it passes on.

mod taking;
mod waiting;

use super::memory::Object;
use super::value::{Sources, Value};
use super::walk::{Path, Place, Walker};
use crate::event::{Access, Action, Carrier, CellId, EventId};
use crate::rule::Rule;
use crate::{Error, Result};
use ir::{BinaryOp, Order, SyncKind, SyncOp, Width};
use solver::{Bool, Bv};

/// An operation that is being built: its event, and whether it goes wrong.
struct Operation {
    event: EventId,
    happens: Bool,
    /// Holds if the thread may go on.
    fine: Bool,
}

/// An object that an operation may be about.
#[derive(Clone, Copy)]
struct Target<'o> {
    object: &'o Object,
    /// Holds if the operand is this object.
    hit: Bool,
    /// Holds if the operation happens and is about it.
    when: Bool,
}

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
            let target = self.target(&operation, &object, hit)?;
            let given = match op {
                SyncOp::MutexLock => self.lock(&operation, target, true)?,
                SyncOp::MutexTryLock => self.lock(&operation, target, false)?,
                SyncOp::MutexUnlock => self.unlock(&mut operation, target).map(|()| None)?,
                SyncOp::ReadLock => self.read_lock(&operation, target, true)?,
                SyncOp::TryReadLock => self.read_lock(&operation, target, false)?,
                SyncOp::WriteLock => self.write_lock(&operation, target, true)?,
                SyncOp::TryWriteLock => self.write_lock(&operation, target, false)?,
                SyncOp::RwUnlock => self.rw_unlock(&mut operation, target).map(|()| None)?,
                SyncOp::Signal => self.signal(&operation, target, false).map(|()| None)?,
                SyncOp::Broadcast => self.signal(&operation, target, true).map(|()| None)?,
                _ => self.semaphore(&operation, target, op)?,
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

    fn target<'o>(&mut self, operation: &Operation, object: &'o Object, hit: Bool) -> Result<Target<'o>> {
        Ok(Target { object, hit, when: self.builder.terms.and(operation.happens, hit)? })
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

    /// A word after an operation with a constant.
    fn changed(&mut self, op: BinaryOp, old: &Value, by: u128) -> Result<Value> {
        let (new, _) = self.builder.terms.binary(op, old, &Value::known(old.width, by))?;
        Ok(new)
    }

    fn as_int(&mut self, flag: Bool) -> Result<Value> {
        let (one, zero) = (Value::known(Width::W32, 1), Value::known(Width::W32, 0));
        self.builder.terms.choose(flag, &one, &zero)
    }
}
