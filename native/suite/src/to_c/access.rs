//! Accesses of shared memory.

use super::{Result, words};
use crate::to_c::statement::Body;
use ir::{Order, UpdateOp};
use lang::Span;
use lang::typed::{Expr, Place, PlaceBase};
use lang::types::Type;

impl Body<'_> {
    /// A place as C names it, after what its address depends on.
    pub fn place(&mut self, place: &Place) -> Result<String> {
        let base = match &place.base {
            PlaceBase::Global(global) => {
                let global = &self.program.globals[global.index()];
                if global.count.is_none() && place.index.is_none() {
                    return Ok(global.name.clone());
                }
                global.name.clone()
            }
            PlaceBase::Pointer(pointer) => self.value(pointer)?,
        };
        Ok(match &place.index {
            Some(index) => format!("{base}[{}]", self.value(index)?),
            None => format!("{base}[0]"),
        })
    }

    /// A local that holds what an event gives.
    pub fn give(&mut self, ty: Type, event: &str, at: Span) -> String {
        let name = self.lines.name();
        self.lines.event(&format!("{} {name} = {event};", words::ty(ty)), at);
        name
    }

    /// What is read from a place.
    pub fn load(&mut self, place: &str, ty: Type, order: Option<Order>, at: Span) -> String {
        let event = match order {
            None => format!("READ({place})"),
            Some(order) => format!("__atomic_load_n(&{place}, {})", words::order(order)),
        };
        self.give(ty, &event, at)
    }

    /// Writes to a place.
    pub fn store(&mut self, place: &str, value: &str, order: Option<Order>, at: Span) {
        let event = match order {
            None => format!("{place} = {value};"),
            Some(order) => format!("__atomic_store_n(&{place}, {value}, {});", words::order(order)),
        };
        self.lines.event(&event, at);
    }

    /// What an atomic update finds.
    pub fn update(
        &mut self,
        op: UpdateOp,
        place: &Place,
        value: &Expr,
        order: Order,
        at: Span,
    ) -> Result<String> {
        let (target, value) = (self.place(place)?, self.value(value)?);
        let event = format!("{}(&{target}, {value}, {})", words::update(op)?, words::order(order));
        Ok(self.give(place.ty, &event, at))
    }

    /// Whether a compare-and-swap has swapped.
    pub fn compare_and_swap(
        &mut self,
        place: &Place,
        (expected, new): (&Expr, &Expr),
        (success, failure): (Order, Order),
        at: Span,
    ) -> Result<String> {
        let target = self.place(place)?;
        let (expected, new) = (self.value(expected)?, self.value(new)?);
        let found = self.lines.name();
        self.lines.push(&format!("{} {found} = {expected};", words::ty(place.ty)));
        let (success, failure) = (words::order(success), words::order(failure));
        let event =
            format!("__atomic_compare_exchange_n(&{target}, &{found}, {new}, 0, {success}, {failure})");
        Ok(self.give(Type::INT, &event, at))
    }
}
