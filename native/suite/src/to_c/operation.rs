//! Synchronisation: POSIX has a function for each operation of the model.

use super::{LeftOut, Result, words};
use crate::to_c::statement::Body;
use ir::{FunctionId, SyncOp};
use lang::Span;
use lang::typed::{Expr, SyncOperand};
use lang::types::Type;

impl Body<'_> {
    /// An operation without a result.
    pub fn operate(&mut self, op: SyncOp, operands: &[SyncOperand], at: Span) -> Result<()> {
        let objects: Vec<String> =
            operands.iter().map(|operand| self.object(operand)).collect::<Result<_>>()?;
        let function = match op {
            SyncOp::MutexLock => "pthread_mutex_lock",
            SyncOp::MutexTryLock => "pthread_mutex_trylock",
            SyncOp::MutexUnlock => "pthread_mutex_unlock",
            SyncOp::ReadLock => "pthread_rwlock_rdlock",
            SyncOp::TryReadLock => "pthread_rwlock_tryrdlock",
            SyncOp::WriteLock => "pthread_rwlock_wrlock",
            SyncOp::TryWriteLock => "pthread_rwlock_trywrlock",
            SyncOp::RwUnlock => "pthread_rwlock_unlock",
            SyncOp::Wait if objects.len() == 2 => "pthread_cond_wait",
            SyncOp::Wait => return Err(LeftOut("a wait without a mutex")),
            SyncOp::TimedWait => return Err(LeftOut("a timed wait")),
            SyncOp::Signal => "pthread_cond_signal",
            SyncOp::Broadcast => "pthread_cond_broadcast",
            SyncOp::Acquire => "sem_wait",
            SyncOp::TryAcquire => "sem_trywait",
            SyncOp::Release => "sem_post",
            SyncOp::BarrierWait => "pthread_barrier_wait",
            SyncOp::Join => {
                self.lines.event(&format!("pthread_join({}, 0);", objects.join(", ")), at);
                return Ok(());
            }
            SyncOp::TokenCount | SyncOp::TransactionBegin | SyncOp::TransactionEnd => {
                return Err(LeftOut("an operation that is none of POSIX"));
            }
            SyncOp::ExclusiveBegin | SyncOp::ExclusiveEnd => return Err(LeftOut("an exclusive block")),
        };
        self.lines.event(&format!("{function}({});", objects.join(", ")), at);
        Ok(())
    }

    /// The result of an operation.
    pub fn asked(&mut self, op: SyncOp, operands: &[SyncOperand], at: Span) -> Result<String> {
        let function = match op {
            SyncOp::MutexTryLock => "pthread_mutex_trylock",
            SyncOp::TryReadLock => "pthread_rwlock_tryrdlock",
            SyncOp::TryWriteLock => "pthread_rwlock_trywrlock",
            SyncOp::TryAcquire => "sem_trywait",
            SyncOp::TokenCount => "sem_getvalue",
            _ => return Err(LeftOut("a result that POSIX does not give")),
        };
        let [operand] = operands else { return Err(LeftOut("an operation on several objects")) };
        let object = self.object(operand)?;
        if op == SyncOp::TokenCount {
            let name = self.lines.name();
            self.lines.push(&format!("int {name};"));
            self.lines.event(&format!("{function}({object}, &{name});"), at);
            return Ok(name);
        }
        Ok(self.give(Type::INT, &format!("{function}({object}) == 0"), at))
    }

    fn object(&mut self, operand: &SyncOperand) -> Result<String> {
        match operand {
            SyncOperand::Handle(handle) => self.value(handle),
            SyncOperand::Object { global, index: None, .. } => {
                Ok(format!("&{}", self.program.globals[global.index()].name))
            }
            SyncOperand::Object { .. } => Err(LeftOut("an array of objects")),
        }
    }

    /// A call.
    pub fn call(&mut self, function: FunctionId, arguments: &[Expr]) -> Result<String> {
        let arguments: Vec<String> =
            arguments.iter().map(|argument| self.value(argument)).collect::<Result<_>>()?;
        Ok(format!("{}({})", self.program.functions[function.index()].name, arguments.join(", ")))
    }

    /// The handle of a new thread.
    pub fn fork(&mut self, function: FunctionId, arguments: &[Expr], at: Span) -> Result<String> {
        let argument = match arguments {
            [] => "0".to_owned(),
            [one] => format!("(void *)(intptr_t){}", self.value(one)?),
            _ => return Err(LeftOut("a thread with several arguments")),
        };
        let (handle, name) = (self.lines.name(), &self.program.functions[function.index()].name);
        self.lines.push(&format!("{} {handle};", words::ty(Type::Thread)));
        self.lines.event(&format!("pthread_create(&{handle}, 0, start_{name}, {argument});"), at);
        Ok(handle)
    }
}
