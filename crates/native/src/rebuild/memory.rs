//! Memory that the log does not see: variables that stay in their function, byte by byte, and constants.

use super::Walker;
use super::address::{Stand, of_function, of_global};
use super::frame::Frame;
use super::value::{Reason, Value};
use ir::{GlobalId, Initial, RelocationTarget};

/// A byte.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    byte: u8,
    known: bool,
    shared: bool,
    pin: Reason,
}

/// Values of more bytes are not followed.
const MOST_BYTES: u32 = 16;

/// Copies and fills of more bytes are not followed.
pub const MOST_COPIED: u64 = 1 << 20;

impl Walker<'_> {
    /// What stands at an address that the log does not see.
    pub fn hidden_load(&mut self, frame: &Frame, address: Value, bytes: u32) -> Value {
        let Some(at) = address.address() else { return address };
        if bytes > MOST_BYTES {
            return Value::unknown(self.reasons.get("values of more than 16 bytes"));
        }
        let value = match self.stand(at) {
            Some(Stand::Global(global, offset)) => self.constant(global, offset, bytes),
            _ => self.cells(frame, at, bytes),
        };
        value.depending(address)
    }

    fn cells(&mut self, frame: &Frame, at: u64, bytes: u32) -> Value {
        let mut value = Value::plain(0);
        for n in 0..bytes {
            let Some(cell) = frame.cells.get(&at.wrapping_add(n.into())) else {
                return Value::unknown(self.reasons.get("memory that was never written"));
            };
            value.bits |= u128::from(cell.byte) << (8 * n);
            let part = Value { bits: 0, known: cell.known, shared: cell.shared, pin: cell.pin };
            value = Value { known: value.known && cell.known, ..value.depending(part) };
        }
        if !value.known {
            value.bits = 0;
        }
        value
    }

    /// Part of the content of a constant.
    fn constant(&mut self, global: GlobalId, offset: i64, bytes: u32) -> Value {
        let unknown = Value::unknown(self.reasons.get("constants whose content is not known"));
        let program = &self.linked.program;
        let Ok(offset) = u64::try_from(offset) else { return unknown };
        let Some(global) = program.globals.get(global.index()) else { return unknown };
        if !global.constant {
            return Value::unknown(
                self.reasons.get("the address of a thread-local variable or one of a library"),
            );
        }
        match &global.initial {
            Initial::Zero => Value::plain(0),
            Initial::Bytes { bytes: content, relocations } => {
                let end = offset.saturating_add(bytes.into());
                let touched = |at: u64| at < end && offset < at.saturating_add(8);
                if let Some(relocation) = relocations.iter().find(|relocation| touched(relocation.offset)) {
                    if relocation.offset != offset || bytes != 8 {
                        return unknown;
                    }
                    let base = match relocation.target {
                        RelocationTarget::Global(global) => {
                            self.globals.get(&global).copied().unwrap_or(of_global(global))
                        }
                        RelocationTarget::Function(function) => {
                            self.functions.get(&function).copied().unwrap_or(of_function(function))
                        }
                    };
                    return Value::plain(base.wrapping_add_signed(relocation.addend).into());
                }
                let byte = |at: u64| content.get(at as usize).copied().unwrap_or(0);
                let bits = (0..bytes).map(|n| u128::from(byte(offset + u64::from(n))) << (8 * n));
                Value::plain(bits.fold(0, |all, byte| all | byte))
            }
            Initial::Sync { .. } | Initial::External => unknown,
        }
    }

    /// Writes to an address that the log does not see.
    pub fn hidden_store(&mut self, frame: &mut Frame, address: Value, value: Value, bytes: u32) {
        let Some(at) = address.address() else { return };
        for n in 0..bytes {
            let byte = if n < MOST_BYTES { (value.bits >> (8 * n)) as u8 } else { 0 };
            let known = value.known && n < MOST_BYTES;
            let cell = Cell { byte, known, shared: value.shared, pin: value.pin };
            frame.cells.insert(at.wrapping_add(n.into()), cell);
        }
    }

    /// Writes bytes that the log has shown.
    pub fn hidden_write(&mut self, frame: &mut Frame, address: Value, content: &[u8], shared: bool) {
        let Some(at) = address.address() else { return };
        for (n, &byte) in (0..MOST_COPIED).zip(content) {
            frame.cells.insert(at.wrapping_add(n), Cell { byte, known: true, shared, pin: Reason::NONE });
        }
    }

    /// Copies between addresses that the log does not see.
    pub fn hidden_copy(&mut self, frame: &mut Frame, to: Value, from: Value, bytes: Value) {
        let (Some(to), Some(from), Some(bytes)) = (to.address(), from.address(), bytes.address()) else {
            return;
        };
        let from_constant = matches!(self.stand(from), Some(Stand::Global(..)));
        let cells: Vec<Option<Cell>> = (0..bytes.min(MOST_COPIED))
            .map(|n| {
                let at = from.wrapping_add(n);
                if from_constant {
                    let Value { bits, known, shared, pin } =
                        self.hidden_load(frame, Value::plain(at.into()), 1);
                    return Some(Cell { byte: bits as u8, known, shared, pin });
                }
                frame.cells.get(&at).copied()
            })
            .collect();
        for (n, cell) in (0..).zip(cells) {
            match cell {
                Some(cell) => frame.cells.insert(to.wrapping_add(n), cell),
                None => frame.cells.remove(&to.wrapping_add(n)),
            };
        }
    }
}
