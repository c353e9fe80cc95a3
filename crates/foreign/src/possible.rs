//! Whether a recording can have happened: locks exclude, threads begin once and end once.
//!
//! A trace that breaks these rules is not a trace of any run; what is predicted from it would be nonsense. Reentrant locks are the rule
//! in Java: whoever has a lock may take it again, and gives it back as often.

use crate::recording::Recording;
use crate::{Complaint, LockId, Operation, Record, ThreadNumber};

#[derive(Clone, Copy, Default)]
struct Thread {
    /// The lines of its first event, of its fork and of its first join; 0 if there is none.
    first: u32,
    forked: u32,
    joined: u32,
    /// Blocks that are open.
    blocks: u32,
}

#[derive(Clone, Copy, Default)]
struct Held {
    /// By whom, how often, and the line of the first time.
    by: Option<ThreadNumber>,
    times: u32,
    since: u32,
}

impl Recording {
    /// Whether it can have happened.
    ///
    /// # Errors
    /// The first event that cannot.
    pub fn check_possible(&self) -> Result<(), Complaint> {
        let mut threads = vec![Thread::default(); self.threads.len()];
        let mut locks = vec![Held::default(); self.locks.len()];
        for record in &self.records {
            self.happens(record, &mut threads, &mut locks)?;
        }
        Ok(())
    }

    fn happens(&self, record: &Record, threads: &mut [Thread], locks: &mut [Held]) -> Result<(), Complaint> {
        let Record { thread, operation, line, .. } = *record;
        let name = |of: ThreadNumber| self.threads.name(of);
        let me = &mut threads[usize::from(thread)];
        let wrong = |message: String| Complaint::new(line, message);
        if me.joined > 0 {
            return Err(wrong(format!("{} goes on after its end", name(thread)))
                .because(me.joined, format!("{} has ended here", name(thread))));
        }
        if me.first == 0 {
            me.first = line;
        }
        match operation {
            Operation::Read { .. } | Operation::Write { .. } | Operation::Update(_) => {}
            Operation::Begin => me.blocks = me.blocks.saturating_add(1),
            Operation::End => {
                me.blocks = me
                    .blocks
                    .checked_sub(1)
                    .ok_or_else(|| wrong(format!("{} ends a block that has not begun", name(thread))))?;
            }
            Operation::Acquire(lock) => self.acquire(record, lock, &mut locks[usize::from(lock)])?,
            Operation::Release(lock) => self.release(record, lock, &mut locks[usize::from(lock)])?,
            Operation::Fork(child) if child == thread => {
                return Err(wrong(format!("{} forks itself", name(thread))));
            }
            Operation::Fork(child) => {
                let child_name = name(child);
                let child = &mut threads[usize::from(child)];
                let before = [
                    (child.forked, "is forked a second time", "forked here for the first time"),
                    (child.first, "is forked after it has begun", "it has begun here"),
                    (child.joined, "is forked after its end", "it has ended here"),
                ];
                if let Some(&(at, what, why)) = before.iter().find(|(at, ..)| *at > 0) {
                    return Err(wrong(format!("{child_name} {what}")).because(at, why));
                }
                child.forked = line;
            }
            Operation::Join(child) if child == thread => {
                return Err(wrong(format!("{} waits for its own end", name(thread))));
            }
            Operation::Join(child) => {
                let child = &mut threads[usize::from(child)];
                if child.joined == 0 {
                    child.joined = line;
                }
            }
        }
        Ok(())
    }

    fn acquire(&self, record: &Record, lock: LockId, held: &mut Held) -> Result<(), Complaint> {
        match held.by {
            Some(owner) if owner != record.thread => {
                let (me, other) = (self.threads.name(record.thread), self.threads.name(owner));
                let lock = self.locks.name(lock);
                Err(Complaint::new(record.line, format!("{me} acquires `{lock}`, which {other} holds"))
                    .because(held.since, format!("{other} has acquired it here")))
            }
            Some(_) => {
                held.times = held.times.saturating_add(1);
                Ok(())
            }
            None => {
                *held = Held { by: Some(record.thread), times: 1, since: record.line };
                Ok(())
            }
        }
    }

    fn release(&self, record: &Record, lock: LockId, held: &mut Held) -> Result<(), Complaint> {
        let (me, lock) = (self.threads.name(record.thread), self.locks.name(lock));
        match held.by {
            None => {
                let wrong =
                    Complaint::new(record.line, format!("{me} releases `{lock}`, which nobody holds"));
                Err(match held.since {
                    0 => wrong,
                    since => wrong.because(since, "it was acquired here, and has been released since"),
                })
            }
            Some(owner) if owner != record.thread => {
                let other = self.threads.name(owner);
                Err(Complaint::new(record.line, format!("{me} releases `{lock}`, which {other} holds"))
                    .because(held.since, format!("{other} has acquired it here")))
            }
            Some(_) => {
                held.times -= 1;
                if held.times == 0 {
                    held.by = None;
                }
                Ok(())
            }
        }
    }
}
