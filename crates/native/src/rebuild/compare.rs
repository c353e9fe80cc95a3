//! What was computed beside what the log has: the same, a mismatch, or something that only now becomes known.

use super::address::Stand;
use super::frame::Thread;
use super::statistics::Mismatch;
use super::value::{Reason, Value};
use super::{Item, Walker};
use ir::{GlobalId, Operand};

impl Walker<'_> {
    /// Compares an address with the one in the log; gives why it was not computed. What only now turns out to lie there is learnt.
    pub fn address(
        &mut self,
        me: &mut Thread,
        pointer: &Operand,
        computed: Value,
        at: u64,
    ) -> Result<(), Reason> {
        let Some(address) = computed.address() else { return Err(computed.pin) };
        if address == at {
            return Ok(());
        }
        match self.stand(address) {
            Some(Stand::Global(global, offset)) => {
                self.learn(me, global, at.wrapping_add_signed(-offset));
                Ok(())
            }
            Some(Stand::Local(_)) => Err(self.reasons.get("arguments that are passed by value")),
            _ => {
                // A thread-local that has moved: each coroutine or library may have its own idea.
                if let Operand::Global(global) = *pointer
                    && self.linked.program.global(global).thread_local
                {
                    self.learn(me, global, at);
                    return Ok(());
                }
                let site = self.site_now;
                self.statistics.mismatch(Mismatch {
                    event: self.event,
                    site,
                    what: "an address",
                    rebuilt: address.into(),
                    recorded: at.into(),
                });
                Ok(())
            }
        }
    }

    fn learn(&mut self, me: &mut Thread, global: GlobalId, at: u64) {
        match self.linked.program.global(global).thread_local {
            true => me.own_globals.insert(global, at),
            false => self.globals.insert(global, at),
        };
    }

    pub fn checked(&self, address: Value) -> Result<(), Reason> {
        if address.known { Ok(()) } else { Err(address.pin) }
    }

    /// Compares a value with the one in the log; gives why it was not computed.
    pub fn compare(
        &mut self,
        value: Value,
        recorded: u128,
        mask: u128,
        what: &'static str,
    ) -> Result<(), Reason> {
        if !value.known {
            return Err(value.pin);
        }
        let (rebuilt, recorded) = (value.bits & mask, recorded & mask);
        if rebuilt == recorded {
            return Ok(());
        }
        // The address of something that the log has not mentioned yet.
        match self.stand(value.bits as u64) {
            Some(Stand::Global(global, offset)) if !self.linked.program.global(global).thread_local => {
                self.globals.insert(global, (recorded as u64).wrapping_add_signed(-offset));
                Ok(())
            }
            Some(Stand::Function(function, 0)) => {
                self.functions.insert(function, recorded as u64);
                self.function_at.insert(recorded as u64, function);
                Ok(())
            }
            Some(_) => Err(self.reasons.get("addresses that the log does not tell")),
            None => {
                let (event, site) = (self.event, self.site_now);
                self.statistics.mismatch(Mismatch { event, site, what, rebuilt, recorded });
                Ok(())
            }
        }
    }

    pub fn mismatch(&mut self, what: &'static str, rebuilt: u128, recorded: u128, item: &Item) {
        let (event, site) = (self.event, item.site);
        self.statistics.mismatch(Mismatch { event, site, what, rebuilt, recorded });
    }

    /// Counts an access.
    pub fn count(&mut self, address: Result<(), Reason>, value: Option<Result<(), Reason>>) {
        self.statistics.accesses += 1;
        match address.and(value.unwrap_or(Ok(()))) {
            Ok(()) => self.statistics.rebuilt += 1,
            Err(reason) => *self.statistics.counts.pinned.entry(reason).or_default() += 1,
        }
    }
}
