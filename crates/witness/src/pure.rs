//! Instructions that only compute, on plain integers.

use crate::address;
use ir::{Op, Width, eval};
use trace::FaultKind;

/// What an instruction gives for its operands (in the order of [`Op::for_each_operand`], each with its width); `None` if it is
/// not one that only computes. A value that is not known gives one that is not known.
pub fn compute(
    op: &Op,
    compiled: bool,
    operands: &[(Option<u128>, Width)],
    width: Width,
) -> Option<Result<Option<u128>, FaultKind>> {
    let pure = matches!(
        op,
        Op::Binary { .. } | Op::Compare { .. } | Op::Cast { .. } | Op::Select { .. } | Op::Address { .. }
    );
    if !pure {
        return None;
    }
    let known: Option<Vec<u128>> = operands.iter().map(|&(value, _)| value).collect();
    let Some(values) = known else { return Some(Ok(None)) };
    let of = operands.first().map_or(width, |&(_, width)| width);
    let value = match (op, &values[..]) {
        (Op::Binary { op, .. }, &[a, b]) => match eval::binary(*op, of, a, b) {
            Some(value) => Some(value),
            None => return Some(Err(FaultKind::DivisionByZero)),
        },
        (Op::Compare { predicate, .. }, &[a, b]) => Some(u128::from(eval::compare(*predicate, of, a, b))),
        (Op::Cast { kind, .. }, &[a]) => eval::cast(*kind, of, width, a).or((of == width).then_some(a)),
        (Op::Select { .. }, &[condition, then, otherwise]) => {
            Some(if condition & 1 == 1 { then } else { otherwise })
        }
        (Op::Address { offset, terms, .. }, &[base, ref indices @ ..]) => {
            let mut by = i128::from(*offset);
            for ((&index, &(_, width)), &(_, stride)) in indices.iter().zip(&operands[1..]).zip(terms) {
                by = by.saturating_add(eval::signed(width, index) * i128::from(stride));
            }
            Some(u128::from(match compiled {
                true => (base as u64).wrapping_add(by as u64),
                false => address::advance(base as u64, by),
            }))
        }
        _ => None,
    };
    Some(Ok(value))
}
