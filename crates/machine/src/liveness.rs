//! Which registers an instruction and all that may follow it still need.
//!
//! A state of the machine is compared by what it can still do; values that nobody will read again must not
//! make two states different. Plain backward data flow on the flat code.

use crate::code::{Code, Edge, Source};
use ir::{BinaryOp, CheckKind};

/// For each instruction the registers that are live just before it, in ascending order.
pub fn live_before(code: &[Code], registers: usize) -> Box<[Box<[u32]>]> {
    before(code, registers, |_, _| true)
}

/// The same without those that only count how often loops go round: what checks a bound does not count, nor what computes what nobody needs.
pub fn needed_before(code: &[Code], registers: usize) -> Box<[Box<[u32]>]> {
    before(code, registers, |code, needed_after| match code {
        Code::Check { kind: CheckKind::Bound, .. } => false,
        // Who divides may fault.
        Code::Binary { op: BinaryOp::UDiv | BinaryOp::SDiv | BinaryOp::URem | BinaryOp::SRem, .. } => true,
        Code::Binary { to, .. } => has(needed_after, *to),
        Code::Compare { to, .. } | Code::Cast { to, .. } | Code::Select { to, .. } => has(needed_after, *to),
        _ => true,
    })
}

/// The registers that are live before each instruction; `counts` says whether an instruction uses what it uses, by what is live behind it.
fn before(code: &[Code], registers: usize, counts: impl Fn(&Code, &[u64]) -> bool) -> Box<[Box<[u32]>]> {
    let words = registers.div_ceil(64);
    let mut live = vec![vec![0u64; words]; code.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for at in (0..code.len()).rev() {
            let mut set = vec![0u64; words];
            match edges(&code[at]) {
                Some(edges) => {
                    for edge in edges {
                        let after = &live[edge.target as usize];
                        let mut before = after.clone();
                        edge.copies.iter().for_each(|&(to, _)| clear(&mut before, to));
                        let used = edge.copies.iter().filter(|&&(to, _)| has(after, to));
                        used.for_each(|&(_, source)| add(&mut before, source));
                        set.iter_mut().zip(&before).for_each(|(a, b)| *a |= b);
                    }
                }
                None if at + 1 < code.len() => set.copy_from_slice(&live[at + 1]),
                None => {}
            }
            let is_used = counts(&code[at], &set);
            each_result(&code[at], |to| clear(&mut set, to));
            if is_used {
                each_source(&code[at], |source| add(&mut set, source));
            }
            if set != live[at] {
                live[at] = set;
                changed = true;
            }
        }
    }
    live.iter().map(|set| (0..registers as u32).filter(|&r| has(set, r)).collect()).collect()
}

fn has(set: &[u64], register: u32) -> bool {
    set[register as usize / 64] >> (register % 64) & 1 == 1
}

fn clear(set: &mut [u64], register: u32) {
    set[register as usize / 64] &= !(1 << (register % 64));
}

fn add(set: &mut [u64], source: Source) {
    if let Source::Register(register) = source {
        set[register as usize / 64] |= 1 << (register % 64);
    }
}

/// The edges of a terminator; `None` for what falls through to the next instruction.
pub fn edges(code: &Code) -> Option<Vec<&Edge>> {
    Some(match code {
        Code::Jump(edge) => vec![edge],
        Code::Branch { then, otherwise, .. } => vec![then, otherwise],
        Code::Switch { cases, default, .. } => cases.iter().map(|(_, edge)| edge).chain([default]).collect(),
        Code::Return(_) | Code::Unreachable => vec![],
        _ => return None,
    })
}

pub fn each_result(code: &Code, mut f: impl FnMut(u32)) {
    match code {
        Code::Binary { to, .. }
        | Code::Compare { to, .. }
        | Code::Cast { to, .. }
        | Code::Select { to, .. }
        | Code::Address { to, .. }
        | Code::Load { to, .. }
        | Code::Update { to, .. }
        | Code::StackAlloc { to, .. }
        | Code::HeapAlloc { to, .. }
        | Code::Fork { to, .. }
        | Code::ForkIndirect { to, .. }
        | Code::Sync { to: Some(to), .. } => f(*to),
        Code::CompareExchange { old, ok, .. } => {
            f(*old);
            f(*ok);
        }
        Code::Call { results, .. } | Code::CallIndirect { results, .. } => {
            results.iter().copied().for_each(f)
        }
        _ => {}
    }
}

pub fn each_source(code: &Code, mut f: impl FnMut(Source)) {
    match code {
        Code::Binary { lhs, rhs, .. } | Code::Compare { lhs, rhs, .. } => {
            f(*lhs);
            f(*rhs);
        }
        Code::Cast { value, .. } => f(*value),
        Code::Select { condition, then, otherwise, .. } => {
            f(*condition);
            f(*then);
            f(*otherwise);
        }
        Code::Address { base, terms, .. } => {
            f(*base);
            terms.iter().for_each(|&(index, ..)| f(index));
        }
        Code::Load { pointer, .. } | Code::Free { pointer } => f(*pointer),
        Code::Store { pointer, value, .. } | Code::Update { pointer, value, .. } => {
            f(*pointer);
            f(*value);
        }
        Code::CompareExchange { pointer, expected, new, .. } => {
            f(*pointer);
            f(*expected);
            f(*new);
        }
        Code::StackAlloc { count, .. } | Code::HeapAlloc { count, .. } => f(*count),
        Code::MemoryCopy { into, from, bytes } => {
            f(*into);
            f(*from);
            f(*bytes);
        }
        Code::MemorySet { into, byte, bytes } => {
            f(*into);
            f(*byte);
            f(*bytes);
        }
        Code::Call { arguments, .. } | Code::Fork { arguments, .. } => arguments.iter().copied().for_each(f),
        Code::CallIndirect { pointer, arguments, .. } | Code::ForkIndirect { pointer, arguments, .. } => {
            f(*pointer);
            arguments.iter().copied().for_each(f);
        }
        Code::Sync { operands, .. } => operands.iter().copied().for_each(f),
        Code::Check { condition, .. } | Code::Branch { condition, .. } => f(*condition),
        Code::Switch { value, .. } => f(*value),
        Code::Return(values) => values.iter().copied().for_each(f),
        Code::Fence { .. } | Code::Jump(_) | Code::Unreachable => {}
    }
}
