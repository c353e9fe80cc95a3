//! Arithmetic on values.

use super::Walker;
use super::address::{Stand, of_function, of_global};
use super::frame::{Frame, Thread};
use super::value::{Value, mask};
use ir::{CastKind, Function, Op, Operand, Type, Width, eval};

impl Walker<'_> {
    /// The value of an operand in an activation of a thread.
    pub fn operand(&mut self, me: &Thread, frame: &Frame, operand: &Operand) -> Value {
        match *operand {
            Operand::Value(value) => frame.values[value.index()],
            Operand::Const { bits, .. } => Value::plain(bits),
            Operand::Null => Value::plain(0),
            Operand::Global(global) => {
                let own = me.own_globals.get(&global).or_else(|| self.globals.get(&global));
                Value::plain(own.copied().unwrap_or_else(|| of_global(global)).into())
            }
            Operand::Function(function) => {
                let known = self.functions.get(&function).copied();
                Value::plain(known.unwrap_or_else(|| of_function(function)).into())
            }
            Operand::Unknown(_) => Value::unknown(self.reasons.get("constants that are no integers")),
        }
    }

    /// The type of an operand.
    pub fn type_of(function: &Function, operand: &Operand) -> Type {
        match operand {
            Operand::Value(value) => function.value(*value).ty,
            Operand::Const { width, .. } => Type::Int(*width),
            Operand::Null | Operand::Global(_) | Operand::Function(_) => Type::Ptr,
            Operand::Unknown(ty) => *ty,
        }
    }

    /// The result of an instruction that does nothing but compute; `None` if it does more.
    pub fn compute(&mut self, me: &Thread, frame: &Frame, op: &Op, ty: Type) -> Option<Value> {
        let linked = self.linked;
        let function = linked.program.function(frame.function);
        let width_of = |operand: &Operand| Self::type_of(function, operand).width().unwrap_or(Width::W64);
        Some(match op {
            Op::Binary { op, lhs, rhs } => {
                let width = width_of(lhs);
                let (lhs, rhs) = (self.operand(me, frame, lhs), self.operand(me, frame, rhs));
                let bits = |l, r| eval::binary(*op, width, l, r);
                self.both(lhs, rhs, bits)
            }
            Op::Compare { predicate, lhs, rhs } => {
                let width = width_of(lhs);
                let (lhs, rhs) = (self.operand(me, frame, lhs), self.operand(me, frame, rhs));
                if lhs.bits != rhs.bits && (self.stands(lhs) || self.stands(rhs)) {
                    let pin = self.reasons.get("addresses that the log does not tell");
                    return Some(Value::unknown(pin).depending(lhs).depending(rhs));
                }
                self.both(lhs, rhs, |l, r| Some(eval::compare(*predicate, width, l, r).into()))
            }
            Op::Cast { kind, value } => {
                let from = Self::type_of(function, value);
                let value = self.operand(me, frame, value);
                if *kind == CastKind::PtrToInt && self.stands(value) {
                    // As a number it would meet real addresses.
                    let pin = self.reasons.get("addresses that the log does not tell");
                    return Some(Value::unknown(pin).depending(value));
                }
                match (from.width(), ty.width()) {
                    (Some(from), Some(to)) => match eval::cast(*kind, from, to, value.bits) {
                        Some(bits) if value.known => Value { bits, ..value },
                        _ => Value { bits: 0, known: false, ..value },
                    },
                    // The same bytes, seen as something else: known here, though no expression says so.
                    _ if from.bytes() <= 16 => {
                        let pin = self.reasons.get("bytes seen as another type");
                        let value = Value { bits: value.bits & mask(ty), ..value };
                        value.depending(Value { pin, ..Value::plain(0) })
                    }
                    _ => Value::unknown(self.reasons.get("values of more than 16 bytes")).depending(value),
                }
            }
            Op::Select { condition, then, otherwise } => {
                let condition = self.operand(me, frame, condition);
                let (then, otherwise) = (self.operand(me, frame, then), self.operand(me, frame, otherwise));
                let chosen = match (condition.known, condition.bits & 1) {
                    (true, 1) => then,
                    (true, _) => otherwise,
                    (false, _) => Value { bits: 0, known: false, ..then.depending(otherwise) },
                };
                chosen.depending(condition)
            }
            Op::Address { base, offset, terms } => {
                let mut address = self.operand(me, frame, base);
                let mut sum = (address.bits as u64).wrapping_add_signed(*offset);
                for (index, stride) in terms {
                    let width = width_of(index);
                    let index = self.operand(me, frame, index);
                    address.known &= index.known;
                    address = address.depending(index);
                    let index = eval::signed(width, index.bits) as i64;
                    sum = sum.wrapping_add_signed(index.wrapping_mul(*stride));
                }
                Value { bits: if address.known { sum.into() } else { 0 }, ..address }
            }
            _ => return None,
        })
    }

    fn stands(&self, value: Value) -> bool {
        value.known && self.stand(value.bits as u64).is_some_and(|stand| !matches!(stand, Stand::Local(_)))
    }

    fn both(&mut self, lhs: Value, rhs: Value, bits: impl Fn(u128, u128) -> Option<u128>) -> Value {
        let depending = lhs.depending(rhs);
        let result = match lhs.known && rhs.known {
            true => bits(lhs.bits, rhs.bits),
            false => None,
        };
        match result {
            Some(bits) => Value { bits, known: true, ..depending },
            None => Value { bits: 0, known: false, ..depending },
        }
    }
}
