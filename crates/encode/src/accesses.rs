//! Accesses as races and transactions see them: whether they touch the same memory, whether they write, what they leave behind.

use crate::Encoding;
use ctp::{Access, EventIndex, ExprId, Kind, ReadId};
use solver::{Bool, Bv, Result};
use trace::{AllocationId, EventKind};

impl Encoding<'_> {
    /// What an event gives back, if it is a free of memory that others may access.
    #[must_use]
    pub fn freed(&self, event: EventIndex) -> Option<AllocationId> {
        match self.kind(event) {
            Kind::Other(EventKind::Free { allocation }) => *allocation,
            _ => None,
        }
    }

    /// The address of an access as a number, if it is the same in all schedules.
    #[must_use]
    pub fn fixed_address(&self, access: &Access) -> Option<u64> {
        self.ctp.expressions.constant(access.address).map(|address| address as u64)
    }

    /// Without values an address may be any of its targets.
    fn may_overlap(a: &Access, b: &Access) -> bool {
        a.targets.iter().any(|x| {
            b.targets.iter().any(|y| {
                x.address < y.address.saturating_add(b.bytes) && y.address < x.address.saturating_add(a.bytes)
            })
        })
    }

    fn address(&mut self, access: &Access) -> Result<Bv> {
        match self.fixed_address(access) {
            Some(address) => self.solver.bv_const(u128::from(address), 64),
            None => self.term(access.address),
        }
    }

    /// Two accesses, or an access and a free, touch some byte in common.
    ///
    /// # Errors
    /// As for [`Encoding::ask`].
    pub fn overlap(&mut self, a: EventIndex, b: EventIndex) -> Result<Bool> {
        match (self.kind(a).access(), self.kind(b).access()) {
            (Some(a), Some(b)) => {
                if !self.has_values() {
                    return Ok(self.solver.bool_const(Self::may_overlap(a, b)));
                }
                if let (Some(x), Some(y)) = (self.fixed_address(a), self.fixed_address(b)) {
                    let overlap = x < y.saturating_add(b.bytes) && y < x.saturating_add(a.bytes);
                    return Ok(self.solver.bool_const(overlap));
                }
                let (x, y) = (self.address(a)?, self.address(b)?);
                let (x_bytes, y_bytes) =
                    (self.solver.bv_const(a.bytes.into(), 64)?, self.solver.bv_const(b.bytes.into(), 64)?);
                let (x_end, y_end) = (self.solver.bv_add(x, x_bytes)?, self.solver.bv_add(y, y_bytes)?);
                let (one, other) = (self.solver.bv_ult(x, y_end)?, self.solver.bv_ult(y, x_end)?);
                self.solver.and(&[one, other])
            }
            (Some(access), None) => self.hits_freed(access, b),
            (None, Some(access)) => self.hits_freed(access, a),
            (None, None) => Ok(self.solver.bool_const(false)),
        }
    }

    fn hits_freed(&mut self, access: &Access, free: EventIndex) -> Result<Bool> {
        let freed = self.freed(free);
        let mut any = vec![];
        for target in access.targets.iter().filter(|target| Some(target.place.allocation) == freed) {
            any.push(match target.when.filter(|_| self.has_values()) {
                Some(when) => self.condition(when)?,
                None => self.solver.bool_const(true),
            });
        }
        self.solver.or(&any)
    }

    /// Two accesses are of the same bytes.
    ///
    /// # Errors
    /// As for [`Encoding::ask`].
    pub fn same_bytes(&mut self, a: EventIndex, b: EventIndex) -> Result<Bool> {
        match (self.kind(a).access(), self.kind(b).access()) {
            (Some(a), Some(b)) if !self.has_values() => {
                Ok(self.solver.bool_const(a.bytes == b.bytes && Self::may_overlap(a, b)))
            }
            (Some(a), Some(b)) if a.bytes == b.bytes => {
                let (x, y) = (self.address(a)?, self.address(b)?);
                self.solver.bv_eq(x, y)
            }
            _ => Ok(self.solver.bool_const(false)),
        }
    }

    /// Two accesses begin at the same address.
    pub(crate) fn same_address(&mut self, a: EventIndex, b: EventIndex) -> Result<Bool> {
        match (self.kind(a).access(), self.kind(b).access()) {
            // Only what is certain orders events.
            (Some(a), Some(b)) if !self.has_values() => {
                let same = self.fixed_address(a).is_some_and(|x| self.fixed_address(b) == Some(x));
                Ok(self.solver.bool_const(same))
            }
            (Some(a), Some(b)) => {
                let (x, y) = (self.address(a)?, self.address(b)?);
                self.solver.bv_eq(x, y)
            }
            _ => Ok(self.solver.bool_const(false)),
        }
    }

    /// The access hits the memory of a target, and that has not been given back when the prefix ends.
    ///
    /// # Errors
    /// As for [`Encoding::ask`].
    pub fn can_access_at_cut(&mut self, event: EventIndex) -> Result<Bool> {
        let Some(access) = self.kind(event).access() else { return Ok(self.solver.bool_const(true)) };
        let mut all = vec![];
        if let Some(hits) = access.hits.filter(|_| self.has_values()) {
            all.push(self.condition(hits)?);
        }
        let faults = self.uses_freed_at_cut(event)?;
        all.push(self.solver.not(faults)?);
        self.solver.and(&all)
    }

    /// The access hits memory that has been given back when the prefix ends.
    ///
    /// # Errors
    /// As for [`Encoding::ask`].
    pub fn uses_freed_at_cut(&mut self, event: EventIndex) -> Result<Bool> {
        let Some(access) = self.kind(event).access() else { return Ok(self.solver.bool_const(false)) };
        let mut any = vec![];
        for target in &access.targets {
            for &free in self.ctp.freed.get(&target.place.allocation).into_iter().flatten() {
                let inside = self.inside(free);
                match target.when {
                    Some(when) if self.has_values() => {
                        let when = self.condition(when)?;
                        any.push(self.solver.and(&[inside, when])?);
                    }
                    Some(_) => {}
                    None => any.push(inside),
                }
            }
        }
        self.solver.or(&any)
    }

    /// This memory has been given back when the prefix ends, by other events than `but`.
    ///
    /// # Errors
    /// As for [`Encoding::ask`].
    pub fn freed_at_cut(&mut self, allocation: trace::AllocationId, but: Option<EventIndex>) -> Result<Bool> {
        let frees = self.ctp.freed.get(&allocation).into_iter().flatten().copied();
        let any: Vec<Bool> = frees.filter(|&free| Some(free) != but).map(|free| self.inside(free)).collect();
        self.solver.or(&any)
    }

    /// The access writes, if it happens: a compare-and-exchange does so if it succeeds.
    ///
    /// # Errors
    /// As for [`Encoding::ask`].
    pub fn writes(&mut self, event: EventIndex) -> Result<Bool> {
        match self.kind(event) {
            Kind::Read(_) => Ok(self.solver.bool_const(false)),
            // Without values it may come out either way.
            Kind::CompareExchange { .. } if !self.has_values() => Ok(self.solver.bool_var()),
            Kind::CompareExchange { equal, .. } => self.condition(*equal),
            Kind::Write(_) | Kind::Update(_) => Ok(self.solver.bool_const(true)),
            _ => Ok(self.solver.bool_const(self.freed(event).is_some())),
        }
    }

    /// The access would write if it were done when the prefix ends.
    ///
    /// # Errors
    /// As for [`Encoding::ask`].
    pub fn would_write_at_cut(&mut self, event: EventIndex) -> Result<Bool> {
        match self.kind(event) {
            Kind::CompareExchange { access, equal, .. } if self.has_values() => {
                // What is compared is the content now, not what the event reads when it happens.
                let reads = access.targets.iter().flat_map(|target| &target.reads).copied();
                self.condition_at_cut(*equal, &reads.collect::<Vec<_>>())
            }
            _ => self.writes(event),
        }
    }

    /// Whether a one-bit expression would be 1 if these of its reads were done when the prefix ends.
    ///
    /// # Errors
    /// As for [`Encoding::ask`].
    pub fn condition_at_cut(&mut self, condition: ExprId, reads: &[ReadId]) -> Result<Bool> {
        let now = reads.iter().filter_map(|&read| {
            let content = self.contents_at_cut.get(&self.ctp.read(read).location)?;
            Some((read, *content))
        });
        let now = now.collect();
        self.condition_with(condition, now)
    }

    /// What a read has read is still there when the prefix ends, if it has read anything.
    ///
    /// # Errors
    /// As for [`Encoding::ask`].
    pub fn unchanged_at_cut(&mut self, read: ReadId) -> Result<Bool> {
        let ctp::Read { location, when, .. } = *self.ctp.read(read);
        let Some(&content) = self.contents_at_cut.get(&location) else {
            return Ok(self.solver.bool_const(true));
        };
        let same = self.solver.bv_eq(self.terms.reads[read.index()], content)?;
        match when {
            None => Ok(same),
            Some(when) => {
                let when = self.condition(when)?;
                self.solver.implies(when, same)
            }
        }
    }

    /// The value that the memory of an access has after it.
    ///
    /// # Errors
    /// As for [`Encoding::ask`].
    pub fn content_after(&mut self, event: EventIndex) -> Result<Option<Bv>> {
        let kind = self.kind(event);
        let Some(access) = kind.access() else { return Ok(None) };
        let (old, new) = (access.old, access.new);
        match kind {
            Kind::Read(_) => old.map(|old| self.term(old)).transpose(),
            Kind::CompareExchange { equal, .. } => {
                let (Some(old), Some(new)) = (old, new) else { return Ok(None) };
                let equal = self.condition(*equal)?;
                let (old, new) = (self.term(old)?, self.term(new)?);
                Ok(Some(self.solver.bv_ite(equal, new, old)?))
            }
            _ => new.map(|new| self.term(new)).transpose(),
        }
    }
}
