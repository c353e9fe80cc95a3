//! Addresses of what the log never mentions: variables that stay in their function, constants, functions that nobody registers.
//!
//! They get numbers of their own, far from every real address, so that arithmetic on them works. When the log shows where such
//! a thing really is, that is learnt; until then nothing is compared with them.

use ir::{FunctionId, GlobalId};

const KIND: u32 = 60;
const NUMBER: u32 = 36;
const MIDDLE: u64 = 1 << (NUMBER - 1);

/// What such a number stands for, and how far from its start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stand {
    /// A global.
    Global(GlobalId, i64),
    /// A function.
    Function(FunctionId, i64),
    /// The n-th piece of memory that only its function sees.
    Local(u32),
}

fn make(kind: u64, number: u64) -> u64 {
    kind << KIND | (number & ((1 << (KIND - NUMBER)) - 1)) << NUMBER | MIDDLE
}

/// The number for a global.
pub fn of_global(global: GlobalId) -> u64 {
    make(9, u64::from(global.0))
}

/// The number for a function.
pub fn of_function(function: FunctionId) -> u64 {
    make(10, u64::from(function.0))
}

/// The number for the n-th piece of memory that only its function sees.
pub fn of_local(n: u64) -> u64 {
    make(11, n)
}

/// What an address stands for, if it is one of these.
pub fn stands_for(address: u64) -> Option<Stand> {
    let number = (address >> NUMBER) as u32 & ((1 << (KIND - NUMBER)) - 1);
    let offset = (address & ((1 << NUMBER) - 1)) as i64 - MIDDLE as i64;
    match address >> KIND {
        9 => Some(Stand::Global(GlobalId(number), offset)),
        10 => Some(Stand::Function(FunctionId(number), offset)),
        11 => Some(Stand::Local(number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_say_what_they_stand_for_and_real_addresses_for_nothing() {
        assert_eq!(stands_for(of_global(GlobalId(7)) - 8), Some(Stand::Global(GlobalId(7), -8)));
        assert_eq!(stands_for(of_function(FunctionId(3))), Some(Stand::Function(FunctionId(3), 0)));
        assert_eq!(stands_for(of_local(99) + 4), Some(Stand::Local(99)));
        for real in [0, 8, 0x5555_5555_4000, 0x7fff_ffff_e000, u64::MAX] {
            assert_eq!(stands_for(real), None);
        }
    }
}
