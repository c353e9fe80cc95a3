//! What is taken and given back: mutexes, read-write locks, semaphores.
//!
//! - mutex: the owner (from 1) in the high byte, the depth in the low one; 0 is free;
//! - rwlock: the writer in the high byte, how often it is held for reading in the low one; and for each thread that reads a
//!   word of its own;
//! - semaphore: its tokens.

use super::{Operation, Target};
use crate::Result;
use crate::event::{Carrier, ThreadIndex};
use crate::rule::Rule;
use crate::unfold::value::Value;
use crate::unfold::walk::Walker;
use ir::{BinaryOp, Predicate, SyncKind, SyncOp, Width};
use solver::{Bool, Bv};

/// Where the owner begins in the word of a lock.
const OWNER: u32 = 8;

impl Walker<'_, '_> {
    /// Whether this thread owns the lock with this word.
    fn owns(&mut self, old: &Value) -> Result<Bool> {
        let owner = self.changed(BinaryOp::Lshr, old, u128::from(OWNER))?;
        self.builder.terms.equals_bits(&owner, self.me())
    }

    /// When an operation takes what is to be had if `free`: one that blocks needs that, another one says whether it was so.
    fn takes(
        &mut self,
        operation: &Operation,
        target: Target<'_>,
        (rule, free): (Rule, Bool),
        blocks: bool,
    ) -> Result<(Bool, Option<Value>)> {
        if blocks {
            self.require(operation, rule, target.when, free)?;
            return Ok((self.builder.terms.yes, None));
        }
        Ok((free, Some(self.as_int(free)?)))
    }

    /// Writes the word of what is taken, and takes up what was left with it; gives when.
    fn acquire(
        &mut self,
        operation: &Operation,
        target: Target<'_>,
        (term, new): (Bv, Value),
        takes: Bool,
    ) -> Result<Bool> {
        let (word, when) = (target.object.word, target.when);
        self.touch(operation, word, when, term, Some((new, takes)))?;
        let acquired = self.builder.terms.and(when, takes)?;
        self.take(operation, Carrier::Object(word), acquired);
        Ok(acquired)
    }

    /// A thread that gives back a lock must hold it. Without mutual exclusion nobody knows who does.
    fn must_hold(&mut self, operation: &mut Operation, target: Target<'_>, holds: Bool) -> Result<()> {
        let open = self.builder.terms.not(self.builder.rules[&Rule::MutualExclusion])?;
        let allowed = self.builder.terms.or(holds, open)?;
        let fine = self.builder.terms.solver.implies(target.hit, allowed)?;
        operation.fine = self.builder.terms.and(operation.fine, fine)?;
        Ok(())
    }

    /// Acquires a mutex; a blocking lock needs it free.
    pub(super) fn lock(
        &mut self,
        operation: &Operation,
        target: Target<'_>,
        blocks: bool,
    ) -> Result<Option<Value>> {
        let (old, term) = self.word(target.object.word)?;
        let mut free = self.builder.terms.equals_bits(&old, 0)?;
        let mut new = Value::known(Width::W16, self.me() << OWNER | 1);
        if target.object.kind == SyncKind::RecursiveMutex {
            let mine = self.owns(&old)?;
            let deeper = self.changed(BinaryOp::Add, &old, 1)?;
            new = self.builder.terms.choose(mine, &deeper, &new)?;
            free = self.builder.terms.or(free, mine)?;
        }
        let (takes, result) = self.takes(operation, target, (Rule::MutualExclusion, free), blocks)?;
        self.acquire(operation, target, (term, new), takes)?;
        Ok(result)
    }

    /// Releases a mutex that this thread must own.
    pub(super) fn unlock(&mut self, operation: &mut Operation, target: Target<'_>) -> Result<()> {
        let (word, when) = (target.object.word, target.when);
        let (old, term) = self.word(word)?;
        let mine = self.owns(&old)?;
        self.must_hold(operation, target, mine)?;
        let single = Value::known(Width::W16, self.me() << OWNER | 1);
        let last = self.builder.terms.equals(&old, &single)?;
        let higher = self.changed(BinaryOp::Sub, &old, 1)?;
        let new = self.builder.terms.choose(last, &Value::known(Width::W16, 0), &higher)?;
        self.touch(operation, word, when, term, Some((new, mine)))?;
        let released = self.builder.terms.and(when, mine)?;
        self.leave(operation, Carrier::Object(word), released);
        Ok(())
    }

    /// Acquires a read-write lock for reading.
    pub(super) fn read_lock(
        &mut self,
        operation: &Operation,
        target: Target<'_>,
        blocks: bool,
    ) -> Result<Option<Value>> {
        let word = target.object.word;
        let held = self.builder.held_by(word, self.thread.unwrap_or(ThreadIndex(0)))?;
        let (old, term) = self.word(word)?;
        let free = self.builder.terms.compare(Predicate::Ult, &old, &Value::known(Width::W16, 1 << OWNER))?;
        let free = self.builder.terms.truth(&free)?;
        let (takes, result) = self.takes(operation, target, (Rule::MutualExclusion, free), blocks)?;
        let more = self.changed(BinaryOp::Add, &old, 1)?;
        self.acquire(operation, target, (term, more), takes)?;
        let (mine, mine_term) = self.word(held)?;
        let deeper = self.changed(BinaryOp::Add, &mine, 1)?;
        self.touch(operation, held, target.when, mine_term, Some((deeper, takes)))?;
        Ok(result)
    }

    /// Acquires a read-write lock for writing.
    pub(super) fn write_lock(
        &mut self,
        operation: &Operation,
        target: Target<'_>,
        blocks: bool,
    ) -> Result<Option<Value>> {
        let word = target.object.word;
        let (old, term) = self.word(word)?;
        let free = self.builder.terms.equals_bits(&old, 0)?;
        let (takes, result) = self.takes(operation, target, (Rule::MutualExclusion, free), blocks)?;
        let me = Value::known(Width::W16, self.me() << OWNER);
        let acquired = self.acquire(operation, target, (term, me), takes)?;
        self.take(operation, Carrier::Readers(word), acquired);
        Ok(result)
    }

    /// Releases a read-write lock that this thread must hold, one way or the other.
    pub(super) fn rw_unlock(&mut self, operation: &mut Operation, target: Target<'_>) -> Result<()> {
        let (word, when) = (target.object.word, target.when);
        let held = self.builder.held_by(word, self.thread.unwrap_or(ThreadIndex(0)))?;
        let (old, term) = self.word(word)?;
        let writes = self.owns(&old)?;
        let (mine, mine_term) = self.word(held)?;
        let none = self.builder.terms.equals_bits(&mine, 0)?;
        let (not_writing, some) = (self.builder.terms.not(writes)?, self.builder.terms.not(none)?);
        let reads = self.builder.terms.and(not_writing, some)?;
        let holds = self.builder.terms.or(writes, reads)?;
        self.must_hold(operation, target, holds)?;
        let fewer = self.changed(BinaryOp::Sub, &old, 1)?;
        let new = self.builder.terms.choose(writes, &Value::known(Width::W16, 0), &fewer)?;
        self.touch(operation, word, when, term, Some((new, holds)))?;
        let less = self.changed(BinaryOp::Sub, &mine, 1)?;
        self.touch(operation, held, when, mine_term, Some((less, reads)))?;
        let (written, read) = (self.builder.terms.and(when, writes)?, self.builder.terms.and(when, reads)?);
        self.leave(operation, Carrier::Object(word), written);
        self.leave(operation, Carrier::Readers(word), read);
        Ok(())
    }

    /// Takes a token, gives one back, or counts them.
    pub(super) fn semaphore(
        &mut self,
        operation: &Operation,
        target: Target<'_>,
        op: SyncOp,
    ) -> Result<Option<Value>> {
        let (word, when) = (target.object.word, target.when);
        let (old, term) = self.word(word)?;
        match op {
            SyncOp::TokenCount => {
                self.touch(operation, word, when, term, None)?;
                Ok(Some(old))
            }
            SyncOp::Release => {
                let more = self.changed(BinaryOp::Add, &old, 1)?;
                self.touch(operation, word, when, term, Some((more, self.builder.terms.yes)))?;
                self.leave(operation, Carrier::Object(word), when);
                Ok(None)
            }
            _ => {
                let empty = self.builder.terms.equals_bits(&old, 0)?;
                let some = self.builder.terms.not(empty)?;
                let blocks = op == SyncOp::Acquire;
                let (takes, result) = self.takes(operation, target, (Rule::Tokens, some), blocks)?;
                let fewer = self.changed(BinaryOp::Sub, &old, 1)?;
                self.acquire(operation, target, (term, fewer), takes)?;
                Ok(result)
            }
        }
    }
}
