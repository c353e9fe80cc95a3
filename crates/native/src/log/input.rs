//! The bytes of a log as units, whether they are packed or not.
//!
//! Packed pieces (`abi::pack`) and plain units follow one another; a note may begin in a piece and end in what is behind it. So
//! there is one buffer, of the piece that is read now, to which is added what a note needs.

use super::Damage;
use abi::pack::{Unpacker, piece_bytes};
use abi::unit::{BYTES, Unit};

/// The bytes of a log, read from the front.
pub struct Input<'l> {
    /// The log, and up to where it has been read or unpacked.
    bytes: &'l [u8],
    at: usize,
    /// The piece that is read, and up to where.
    piece: Vec<u8>,
    read: usize,
    /// What the pieces so far have taught.
    unpacker: Unpacker,
    units: Vec<Unit>,
    damage: Option<Damage>,
}

impl<'l> Input<'l> {
    /// Reads from the beginning.
    pub fn new(bytes: &'l [u8]) -> Input<'l> {
        let mut input = Input {
            bytes,
            at: 0,
            piece: vec![],
            read: 0,
            unpacker: Unpacker::default(),
            units: vec![],
            damage: None,
        };
        input.open();
        input
    }

    /// The next unit, or the head of a note.
    #[inline]
    pub fn peek(&self) -> Option<Unit> {
        match self.piece.is_empty() {
            true => unit_at(self.bytes, self.at),
            false => unit_at(&self.piece, self.read),
        }
    }

    /// The byte of the log up to which it was read or unpacked.
    pub fn at(&self) -> usize {
        self.at
    }

    /// What is wrong with the piece that comes next.
    pub fn damage(&mut self) -> Option<Damage> {
        self.damage.take()
    }

    /// So many bytes behind the next unit, if there are.
    pub fn bytes_behind(&mut self, length: usize) -> Option<&[u8]> {
        if self.piece.is_empty() {
            let start = self.at + BYTES;
            return self.bytes.get(start..start.checked_add(length)?);
        }
        let start = self.read + BYTES;
        let end = start.checked_add(length)?;
        let missing = end.checked_next_multiple_of(BYTES)?.saturating_sub(self.piece.len());
        self.piece.extend_from_slice(self.bytes.get(self.at..self.at.checked_add(missing)?)?);
        self.at += missing;
        self.piece.get(start..end)
    }

    /// Goes on behind so many bytes, which are there but for what fills the last unit of a log up.
    #[inline]
    pub fn advance(&mut self, bytes: usize) {
        match self.piece.is_empty() {
            true => self.at = (self.at + bytes).min(self.bytes.len()),
            false => {
                self.read += bytes;
                if self.read < self.piece.len() {
                    return;
                }
                self.piece.clear();
            }
        }
        self.open();
    }

    /// Nothing follows.
    pub fn end(&mut self) {
        self.bytes = &self.bytes[..self.at];
        self.piece.clear();
    }

    /// Unpacks the next piece, if one is next, and then the one behind it if it has no units.
    fn open(&mut self) {
        while self.piece.is_empty()
            && let Some(head) = unit_at(self.bytes, self.at)
            && let Some(length) = piece_bytes(head)
        {
            if self.unpack(head, length).is_none() {
                let what = "packed units cannot be unpacked".to_owned();
                self.damage = Some(Damage { at: self.at, what });
                self.end();
            }
        }
    }

    fn unpack(&mut self, head: Unit, length: usize) -> Option<()> {
        let start = self.at + BYTES;
        let end = start.checked_add(length)?;
        self.unpacker.unpack(head, self.bytes.get(start..end)?, &mut self.units)?;
        self.at = end.next_multiple_of(BYTES).min(self.bytes.len());
        self.piece.clear();
        self.read = 0;
        for unit in &self.units {
            self.piece.extend_from_slice(&unit.place.to_le_bytes());
            self.piece.extend_from_slice(&unit.value.to_le_bytes());
        }
        Some(())
    }
}

#[inline]
fn unit_at(bytes: &[u8], at: usize) -> Option<Unit> {
    let (place, value) = bytes.get(at..at + BYTES)?.split_first_chunk::<8>()?;
    let value = value.first_chunk::<8>()?;
    Some(Unit { place: u64::from_le_bytes(*place), value: u64::from_le_bytes(*value) })
}
