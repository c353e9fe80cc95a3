//! The full log is packed (`abi::pack`) before it is written.

use abi::pack::{MOST_UNITS, NEIGHBOURS, Neighbours, PACKED, Packer, most_bytes};
use abi::unit::{BYTES, SITE_BITS, Unit};

/// What packs units for the log, with the memory for the result.
pub struct Packing {
    /// For loops.
    periods: Packer,
    /// For what does not repeat.
    neighbours: Neighbours,
    piece: Box<[u8]>,
    /// So many buffers are taken not to repeat, and so many the next time that one does not.
    wait: u32,
    next_wait: u32,
}

/// Units that take at most so many bytes each repeat.
const WORTHWHILE: usize = 1;

/// At most so many buffers are taken not to repeat before it is tried again. Each try also learns what is in memory.
const MOST_WAIT: u32 = 64;

impl Packing {
    /// Nothing was packed yet.
    pub fn new() -> Packing {
        Packing {
            periods: Packer::default(),
            neighbours: Neighbours::default(),
            piece: vec![0; BYTES + most_bytes(MOST_UNITS) + BYTES].into_boxed_slice(),
            wait: 0,
            next_wait: 1,
        }
    }

    /// The piece of a log that has these units.
    pub fn pack(&mut self, units: &[Unit]) -> &[u8] {
        let (head, rest) = self.piece.split_at_mut(BYTES);
        let (length, way) = match self.wait {
            0 => {
                let length = self.periods.pack(units, rest);
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
                (self.neighbours.pack(units, rest), PACKED | NEIGHBOURS)
            }
        };
        let filled = length.next_multiple_of(BYTES);
        rest[length..filled].fill(0);
        let (count, bytes) = head.split_at_mut(8);
        count.copy_from_slice(&((units.len() as u64) << SITE_BITS).to_le_bytes());
        bytes.copy_from_slice(&(way | length as u64).to_le_bytes());
        &self.piece[..BYTES + filled]
    }
}
