//! Reads that only decide: their value goes into the next branch (or assumption, or assertion) and nowhere else.
//!
//! Rule 4c of AV §3 is about such a read: another value that decides the same way makes no difference. "Goes nowhere else"
//! is checked on the code: from the read to the branch there is only computation, and nothing that was computed from the
//! value is needed after the branch. A condition with a further read in between is not of this kind: there the other
//! read's value is open too.

use crate::Machine;
use crate::code::{Code, Source};
use crate::liveness::{each_result, each_source, edges};
use crate::pure::{compute, is_pure};
use crate::state::State;
use ir::FunctionId;
use trace::ThreadId;

/// What a read decides, as a function of the value read.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Decision {
    function: FunctionId,
    /// The first instruction behind the read.
    from: u32,
    /// The register that the read sets.
    register: u32,
    /// The registers that the computation uses besides, with their values.
    others: Vec<(u32, u64)>,
}

impl Decision {
    /// The decision of the read that `thread` has just done, if it only decides.
    pub fn of(machine: &Machine, state: &State, thread: ThreadId) -> Option<Decision> {
        let thread = &state.threads[state.thread_index(thread)?];
        let frame = *thread.frames.last()?;
        let function = machine.code(frame.function);
        let Code::Load { to, .. } = function.code[frame.at.checked_sub(1)? as usize] else { return None };
        let mut derived = vec![to];
        let mut others: Vec<u32> = vec![];
        let mut at = frame.at as usize;
        loop {
            let code = &function.code[at];
            let mut uses = false;
            each_source(code, |source| match source {
                Source::Register(register) if derived.contains(&register) => uses = true,
                Source::Register(register) => others.push(register),
                Source::Constant(_) => {}
            });
            match code {
                _ if is_pure(code) => each_result(code, |to| {
                    derived.retain(|&register| register != to);
                    if uses {
                        derived.push(to);
                    }
                }),
                Code::Jump(edge) if edge.copies.is_empty() => {
                    at = edge.target as usize;
                    continue;
                }
                Code::Branch { .. } | Code::Switch { .. } => {
                    let after = edges(code)?;
                    let needed = after.iter().any(|edge| {
                        let live = &function.live[edge.target as usize];
                        let copied = edge.copies.iter().any(|&(_, source)| is_one_of(source, &derived));
                        copied || live.iter().any(|register| derived.contains(register))
                    });
                    if needed || !uses {
                        return None;
                    }
                    break;
                }
                Code::Check { .. } => {
                    if !uses || function.live[at + 1].iter().any(|register| derived.contains(register)) {
                        return None;
                    }
                    break;
                }
                _ => return None,
            }
            at += 1;
        }
        others.sort_unstable();
        others.dedup();
        let others = others.into_iter().map(|r| (r, thread.registers[(frame.base + r) as usize])).collect();
        Some(Decision { function: frame.function, from: frame.at, register: to, others })
    }

    /// How it would be decided if `value` had been read; `None` if the computation would fault.
    pub fn outcome(&self, machine: &Machine, value: u64) -> Option<u64> {
        let mut registers = self.others.clone();
        registers.push((self.register, value));
        let code = &machine.code(self.function).code;
        let mut at = self.from as usize;
        loop {
            // The latest value of a register is the last one in the list.
            let get = |source| match source {
                Source::Constant(value) => value,
                Source::Register(register) => {
                    registers.iter().rev().find(|&&(known, _)| known == register).map_or(0, |&(_, v)| v)
                }
            };
            match &code[at] {
                Code::Jump(edge) => at = edge.target as usize,
                Code::Branch { condition, .. } | Code::Check { condition, .. } => {
                    return Some(get(*condition) & 1);
                }
                Code::Switch { value, cases, .. } => {
                    let value = get(*value);
                    let taken = cases.iter().position(|&(case, _)| case == value);
                    return Some(taken.unwrap_or(cases.len()) as u64);
                }
                code => {
                    let set = compute(code, get)?.ok()?;
                    registers.push(set);
                    at += 1;
                }
            }
        }
    }

    pub fn write_key(&self, key: &mut Vec<u64>) {
        key.extend([1, u64::from(self.function.0), u64::from(self.from), self.others.len() as u64]);
        self.others.iter().for_each(|&(register, value)| key.extend([u64::from(register), value]));
    }
}

fn is_one_of(source: Source, registers: &[u32]) -> bool {
    matches!(source, Source::Register(register) if registers.contains(&register))
}
