//! The full log is packed (`abi::pack`) before it is written.

use abi::pack::{MOST_UNITS, NEIGHBOURS, Neighbours, PACKED, Packer, most_bytes};
use abi::unit::{BYTES, SITE_BITS, Unit};

/// What packs units for the log, with the memory for the result.
pub struct Packing {
    /// None until there is something to pack: a short run has no use for it, and would take longer to get it than for all else.
    memory: Option<Memory>,
    /// So many units there were, at least.
    first: usize,
    /// So many buffers are taken not to repeat, and so many the next time that one does not.
    wait: u32,
    next_wait: u32,
}

struct Memory {
    /// For loops.
    periods: Packer,
    /// For what does not repeat.
    neighbours: Neighbours,
    piece: Box<[u8]>,
}

/// The first units of a run, so many, are written as they are.
const FIRST: usize = MOST_UNITS / 8;

/// So are fewer units than this at once.
const FEWEST: usize = 256;

/// Units that take at most so many bytes each repeat.
const WORTHWHILE: usize = 1;

/// At most so many buffers are taken not to repeat before it is tried again. Each try also learns what is in memory.
const MOST_WAIT: u32 = 64;

impl Packing {
    /// Nothing was packed yet.
    pub fn new() -> Packing {
        Packing { memory: None, first: 0, wait: 0, next_wait: 1 }
    }

    /// The piece of a log that has these units, unless they are better written as they are.
    pub fn pack(&mut self, units: &[Unit]) -> Option<&[u8]> {
        if units.len() < FEWEST {
            return None;
        }
        self.first = self.first.saturating_add(units.len());
        if self.first < FIRST {
            return None;
        }
        let memory = self.memory.get_or_insert_with(|| Memory {
            periods: Packer::default(),
            neighbours: Neighbours::default(),
            piece: vec![0; BYTES + most_bytes(MOST_UNITS) + BYTES].into_boxed_slice(),
        });
        let (head, rest) = memory.piece.split_at_mut(BYTES);
        let (length, way) = match self.wait {
            0 => {
                let length = memory.periods.pack(units, rest);
                if length > WORTHWHILE * units.len() {
                    self.wait = self.next_wait;
                    self.next_wait = (2 * self.next_wait).min(MOST_WAIT);
                } else {
                    self.next_wait = 1;
                }
                (length, PACKED)
            }
            _ => {
                self.wait -= 1;
                (memory.neighbours.pack(units, rest), PACKED | NEIGHBOURS)
            }
        };
        let filled = length.next_multiple_of(BYTES);
        rest[length..filled].fill(0);
        let (count, bytes) = head.split_at_mut(8);
        count.copy_from_slice(&((units.len() as u64) << SITE_BITS).to_le_bytes());
        bytes.copy_from_slice(&(way | length as u64).to_le_bytes());
        Some(&memory.piece[..BYTES + filled])
    }
}
