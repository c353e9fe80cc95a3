//! Instructions that only compute: no event, no memory, no control.

use crate::address;
use crate::code::{Code, Source};
use ir::eval;
use trace::FaultKind;

/// Whether an instruction only computes.
pub fn is_pure(code: &Code) -> bool {
    matches!(
        code,
        Code::Binary { .. }
            | Code::Compare { .. }
            | Code::Cast { .. }
            | Code::Select { .. }
            | Code::Address { .. }
    )
}

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
            let mut by = i128::from(*offset);
            for (index, width, stride) in terms {
                by = by.saturating_add(eval::signed(*width, value(*index).into()) * i128::from(*stride));
            }
            (*to, address::advance(value(*base), by))
        }
        _ => return None,
    }))
}
