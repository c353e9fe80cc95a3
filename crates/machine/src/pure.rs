//! Instructions that only compute: no event, no memory, no control.

use crate::code::{Code, Source};
use ir::eval;
use trace::FaultKind;

/// The register that a computing instruction sets, and its value; `None` for all other instructions.
#[inline]
pub fn compute(code: &Code, value: impl Fn(Source) -> u64) -> Option<Result<(u32, u64), FaultKind>> {
    Some(Ok(match code {
        Code::Binary { op, width, to, lhs, rhs } => {
            match eval::binary(*op, *width, value(*lhs).into(), value(*rhs).into()) {
                Some(result) => (*to, result as u64),
                None => return Some(Err(FaultKind::DivisionByZero)),
            }
        }
        Code::Compare { predicate, width, to, lhs, rhs } => {
            let holds = eval::compare(*predicate, *width, value(*lhs).into(), value(*rhs).into());
            (*to, u64::from(holds))
        }
        Code::Cast { kind, from, width, to, value: source } => {
            match eval::cast(*kind, *from, *width, value(*source).into()) {
                Some(result) => (*to, result as u64),
                // Casts without a value are refused when the program is loaded.
                None => return Some(Err(FaultKind::Unreachable)),
            }
        }
        Code::Select { to, condition, then, otherwise } => {
            (*to, value(if value(*condition) & 1 == 1 { *then } else { *otherwise }))
        }
        Code::Address { to, base, offset, terms } => {
            let mut address = value(*base).wrapping_add_signed(*offset);
            for (index, width, stride) in terms {
                let index = eval::signed(*width, value(*index).into()) as i64;
                address = address.wrapping_add_signed(index.wrapping_mul(*stride));
            }
            (*to, address)
        }
        _ => return None,
    }))
}
