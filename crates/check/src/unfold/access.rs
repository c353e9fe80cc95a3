//! Accesses of memory: which cells they may hit.
//!
//! An address that is a constant hits one cell. One that depends on what was read, an index or a pointer, may hit
//! several: the event then has an access for each, which happens when the address is that cell's. Heap memory is known only
//! when all threads have been walked, so such accesses stay open until then.

use super::Builder;
use super::memory::{self, Heap};
use super::value::{Terms, Value};
use super::walk::{Path, Place, Walker};
use crate::Result;
use crate::event::{Access, Action, CellId, Check, EventId};
use crate::rule::Rule;
use ir::{Order, Width};
use solver::{Bool, Bv};

/// An access whose cells are not known yet.
pub struct Open {
    event: EventId,
    address: Value,
    width: Width,
    /// Holds if the address leads somewhere; a variable.
    leads: Bool,
    read: Option<Bv>,
    write: Option<(Bv, Bool)>,
    /// Gives the memory back instead.
    frees: bool,
}

/// What an access does.
pub struct How {
    pub action: Action,
    pub width: Width,
    pub order: Option<Order>,
    /// Whether it reads.
    pub reads: bool,
}

impl Walker<'_, '_> {
    /// Makes the event of an access; `written` says what it writes and whether, given what it reads. Gives what it reads.
    pub fn access(
        &mut self,
        path: &mut Path,
        place: Place<'_>,
        address: &Value,
        how: How,
        written: impl FnOnce(&mut Walker<'_, '_>, &Value) -> Result<Option<(Value, Bool)>>,
    ) -> Result<Value> {
        let (event, happens) = self.event(path, how.action, Some(place))?;
        let read = if how.reads { Some(self.builder.terms.solver.bv_var(how.width.bits())?) } else { None };
        let sources = [event].into_iter().collect::<std::collections::BTreeSet<_>>();
        let seen = match read {
            Some(term) => Value::term(how.width, term, std::rc::Rc::new(sources)),
            None => Value::known(how.width, 0),
        };
        let write = match written(self, &seen)? {
            None => None,
            Some((value, when)) => {
                let value = self.builder.ruled(Rule::Computation, &value)?;
                self.builder.events[event.index()].data = value.sources.clone();
                Some((self.builder.terms.bv(&value)?, when))
            }
        };
        let made = &mut self.builder.events[event.index()];
        (made.order, made.address) = (how.order, address.sources.clone());
        let cell = address
            .constant()
            .and_then(|a| u64::try_from(a).ok())
            .and_then(|a| self.builder.memory.at.get(&a));
        match cell.copied() {
            Some(cell) if self.builder.memory.cells[cell.index()].width == how.width => {
                let access = self.builder.one(cell, happens, read, write)?;
                self.builder.events[event.index()].accesses.push(access);
            }
            _ => {
                let leads = self.builder.terms.solver.bool_var();
                let address = address.clone();
                self.builder.open.push(Open {
                    event,
                    address,
                    width: how.width,
                    leads,
                    read,
                    write,
                    frees: false,
                });
                self.must(path, place, leads, None, "access to memory that is not there")?;
            }
        }
        match read {
            Some(_) => self.builder.ruled(Rule::LocalReadValue, &seen),
            None => Ok(seen),
        }
    }

    /// Gives memory back.
    pub fn free(&mut self, path: &mut Path, place: Place<'_>, address: &Value) -> Result<()> {
        let (event, _) = self.event(path, Action::Free, Some(place))?;
        self.builder.events[event.index()].address = address.sources.clone();
        let leads = self.builder.terms.solver.bool_var();
        let address = address.clone();
        let (width, read, write) = (Width::W1, None, None);
        self.builder.open.push(Open { event, address, width, leads, read, write, frees: true });
        self.must(path, place, leads, None, "free of what is not there to be given back")
    }

    /// A condition that must hold for the thread to go on.
    pub fn must(
        &mut self,
        path: &mut Path,
        place: Place<'_>,
        holds: Bool,
        kind: Option<ir::CheckKind>,
        what: &'static str,
    ) -> Result<()> {
        if holds == self.builder.terms.yes && kind.is_none_or(|kind| kind == ir::CheckKind::Bound) {
            return Ok(());
        }
        if self.thread.is_some() {
            self.event(path, Action::Check(Check { kind, holds, what }), Some(place))?;
        }
        path.guard = self.builder.terms.and(path.guard, holds)?;
        Ok(())
    }

    /// What the final condition reads at an address.
    pub fn last(&mut self, path: &mut Path, address: &Value, width: Width) -> Result<Value> {
        let mut leads = self.builder.terms.no;
        let mut value = Value::known(width, 0);
        for (cell, hit, flag) in self.builder.candidates(address, width)? {
            let mut hit = hit;
            if let Some(flag) = flag {
                let freed = self.builder.memory.cells[flag.index()].last;
                let live = is_zero(&mut self.builder.terms, freed)?;
                hit = self.builder.terms.and(hit, live)?;
            }
            let last = self.builder.memory.cells[cell.index()].last;
            let content = Value::term(width, last, address.sources.clone());
            value = self.builder.terms.choose(hit, &content, &value)?;
            leads = self.builder.terms.or(leads, hit)?;
        }
        path.guard = self.builder.terms.and(path.guard, leads)?;
        Ok(value)
    }
}

fn is_zero(terms: &mut Terms, term: Bv) -> Result<Bool> {
    let zero = terms.solver.bv_const(0, term.width())?;
    Ok(terms.solver.bv_eq(term, zero)?)
}

impl Builder<'_> {
    /// An access of one cell.
    fn one(
        &mut self,
        cell: CellId,
        when: Bool,
        read: Option<Bv>,
        write: Option<(Bv, Bool)>,
    ) -> Result<Access> {
        let write = match write {
            Some((value, also)) => Some((value, self.terms.and(when, also)?)),
            None => None,
        };
        Ok(Access { cell, when, read, write })
    }

    /// The cells of a width that an address may be, each with the condition that it is, and the mark of its being freed.
    fn candidates(&mut self, address: &Value, width: Width) -> Result<Vec<(CellId, Bool, Option<CellId>)>> {
        let mut found = vec![];
        let globals = self.memory.globals.clone();
        for (g, cells) in globals.iter().enumerate() {
            let base = memory::of_global(ir::GlobalId::new(g));
            if address.piece.is_some_and(|piece| piece != base) {
                continue;
            }
            for &(at, cell) in cells {
                if self.memory.cells[cell.index()].width == width {
                    let hit = self.terms.equals_bits(address, u128::from(at))?;
                    found.push((cell, hit, None));
                }
            }
        }
        if address.piece.is_none() {
            for heap in self.memory.heap.clone() {
                for &(offset, cell) in &heap.cells {
                    if self.memory.cells[cell.index()].width == width {
                        let hit = self.hits(address, &heap, offset)?;
                        found.push((cell, hit, self.frees.then_some(heap.freed)));
                    }
                }
            }
        }
        found.retain(|&(_, hit, _)| hit != self.terms.no);
        Ok(found)
    }

    /// Whether an address lies so far into heap memory that was allocated.
    fn hits(&mut self, address: &Value, heap: &Heap, offset: u64) -> Result<Bool> {
        let offset = Value::known(Width::W64, u128::from(offset));
        let (at, _) = self.terms.binary(ir::BinaryOp::Add, &heap.base, &offset)?;
        let same = self.terms.equals(address, &at)?;
        self.terms.and(same, heap.exists)
    }

    /// Gives open accesses their cells.
    pub fn close_accesses(&mut self) -> Result<()> {
        for open in std::mem::take(&mut self.open) {
            let leads = if open.frees { self.close_free(&open)? } else { self.close_access(&open)? };
            let defined = self.terms.solver.iff(open.leads, leads)?;
            self.terms.solver.assert(defined)?;
        }
        Ok(())
    }

    fn close_access(&mut self, open: &Open) -> Result<Bool> {
        let happens = self.events[open.event.index()].happens;
        let mut leads = self.terms.no;
        let mut marks: Vec<(CellId, Bool, Bv)> = vec![];
        for (cell, hit, flag) in self.candidates(&open.address, open.width)? {
            let mut hit = hit;
            if let Some(flag) = flag {
                let freed = match marks.iter_mut().find(|(mark, ..)| *mark == flag) {
                    Some((_, any, freed)) => {
                        *any = self.terms.or(*any, hit)?;
                        *freed
                    }
                    None => {
                        let freed = self.terms.solver.bv_var(1)?;
                        marks.push((flag, hit, freed));
                        freed
                    }
                };
                let live = is_zero(&mut self.terms, freed)?;
                hit = self.terms.and(hit, live)?;
            }
            leads = self.terms.or(leads, hit)?;
            let when = self.terms.and(happens, hit)?;
            let read = match open.read {
                None => None,
                Some(result) => {
                    let here = self.terms.solver.bv_var(open.width.bits())?;
                    let same = self.terms.solver.bv_eq(here, result)?;
                    let tied = self.terms.solver.implies(when, same)?;
                    self.terms.solver.assert(tied)?;
                    Some(here)
                }
            };
            let access = self.one(cell, when, read, open.write)?;
            self.events[open.event.index()].accesses.push(access);
        }
        for (cell, hit, freed) in marks {
            let when = self.terms.and(happens, hit)?;
            self.events[open.event.index()].accesses.push(Access {
                cell,
                when,
                read: Some(freed),
                write: None,
            });
        }
        Ok(leads)
    }

    fn close_free(&mut self, open: &Open) -> Result<Bool> {
        let happens = self.events[open.event.index()].happens;
        let mut leads = self.terms.equals_bits(&open.address, 0)?;
        let one = self.terms.solver.bv_const(1, 1)?;
        for heap in self.memory.heap.clone() {
            let hit = self.hits(&open.address, &heap, 0)?;
            if hit == self.terms.no {
                continue;
            }
            let freed = self.terms.solver.bv_var(1)?;
            let live = is_zero(&mut self.terms, freed)?;
            let valid = self.terms.and(hit, live)?;
            leads = self.terms.or(leads, valid)?;
            let (when, writes) = (self.terms.and(happens, hit)?, self.terms.and(happens, valid)?);
            let write = Some((one, writes));
            self.events[open.event.index()].accesses.push(Access {
                cell: heap.freed,
                when,
                read: Some(freed),
                write,
            });
        }
        Ok(leads)
    }
}
