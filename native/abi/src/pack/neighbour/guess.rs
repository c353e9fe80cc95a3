//! Guessing the next unit, and learning from one that was guessed wrongly: the same on both sides.

use super::tables::{At, Guesser, Place, Value, is_mark};
use super::{place, value};
use crate::unit::Unit;

/// A value that was wrong so often in a row is told from then on, without a literal.
const TOLD: u8 = 3;

/// Either side's part in following the guesses.
pub(super) trait Side {
    /// Whether this is the first word.
    fn place(&mut self, guess: u64) -> bool;
    /// Whether this is the value.
    fn value(&mut self, guess: u64) -> bool;
    /// The value, told by its distance from the last one in so many bytes; this is in memory. `None` if it is not.
    fn told(&mut self, last: u64, width: u8, memory: u64) -> Option<u64>;
}

impl Guesser {
    /// Goes on by a guess, if it is right.
    #[inline(always)]
    pub(super) fn follow(&mut self, at: &mut At, side: &mut impl Side) -> bool {
        let place = self.behind(at).place(at);
        if !side.place(place) {
            return false;
        }
        let (behind, memory) = self.parts(at, place);
        match behind.value_by {
            Value::Mark => {
                let value = behind.last();
                if !side.value(value) {
                    return false;
                }
                behind.value = value;
                at.go_on::<false>(Unit { place, value });
            }
            Value::BeforeMark => {
                let value = at.value.wrapping_add(behind.before as u64);
                if !side.value(value) {
                    return false;
                }
                at.go_on::<false>(Unit { place, value });
            }
            Value::ToldMark => {
                let Some(value) = side.told(behind.value, behind.width, behind.value) else { return false };
                behind.value = value;
                at.go_on::<false>(Unit { place, value });
            }
            Value::Last => {
                let value = behind.last();
                if !side.value(value) {
                    return false;
                }
                behind.value = value;
                *memory = value;
                at.go_on::<true>(Unit { place, value });
            }
            Value::Memory => {
                let value = *memory;
                if !side.value(value) {
                    return false;
                }
                at.go_on::<true>(Unit { place, value });
            }
            Value::Before => {
                let value = at.value.wrapping_add(behind.before as u64);
                if !side.value(value) {
                    return false;
                }
                *memory = value;
                at.go_on::<true>(Unit { place, value });
            }
            Value::Told => {
                let Some(value) = side.told(behind.value, behind.width, *memory) else { return false };
                behind.value = value;
                *memory = value;
                at.go_on::<true>(Unit { place, value });
            }
        }
        behind.missed = 0;
        true
    }

    /// The value that is guessed for a first word.
    #[inline(always)]
    pub(super) fn value(&self, at: &At, place: u64) -> u64 {
        let behind = self.behind(at);
        match behind.value_by {
            Value::Memory => self.memory(place),
            Value::Before | Value::BeforeMark => at.value.wrapping_add(behind.before as u64),
            _ => behind.last(),
        }
    }

    /// Learns from a literal.
    #[inline(always)]
    pub(super) fn learn(&mut self, at: &mut At, unit: Unit, place_code: u8, value_code: u8) {
        let Unit { place, value } = unit;
        let (behind, memory) = self.parts(at, place);
        let is_mark = is_mark(place);
        let missed = behind.missed;
        // What is new here is not yet wrong.
        let is_new = missed != 0 && place_code != place::RIGHT;
        behind.missed = if is_new { 1 } else { TOLD.min(missed + 1) };
        // Once is no reason to guess otherwise: the other outcome of a branch, or one value out of line.
        if missed == 0 && place_code != place::RIGHT {
            return at.go_on_behind(unit, memory);
        }
        if missed == 0 && matches!(behind.value_by, Value::Last | Value::Mark) {
            behind.value = behind.last();
            return at.go_on_behind(unit, memory);
        }
        if value_code != value::RIGHT {
            let before = value.wrapping_sub(at.value);
            let growth = value.wrapping_sub(behind.value);
            let grows = growth as u16 == behind.grew;
            // The outcomes of a branch are not told: most are as last time.
            let is_outcome = is_mark && value <= 1;
            let is_told = (1..8).contains(&value_code) && place_code == place::RIGHT && !is_outcome;
            behind.width = match is_told {
                false => 0,
                true if missed < 2 => value_code,
                true => behind.width.max(value_code),
            };
            behind.value_by = match () {
                () if grows => Value::Last,
                () if *memory == value && !is_mark => Value::Memory,
                () if behind.before as u64 == before => Value::Before,
                () if behind.missed == TOLD && is_told => Value::Told,
                () => Value::Last,
            };
            behind.growth = if grows { growth } else { behind.growth };
            (behind.grew, behind.before) = (growth as u16, before as i16);
        }
        behind.value = value;
        if place_code != place::RIGHT {
            let offs = at.bases.map(|base| place.wrapping_sub(base));
            behind.place_by = match () {
                () if is_mark || behind.offs[0] == offs[0] => Place::Same,
                () if behind.offs[1] == offs[1] => Place::Pointed,
                () if behind.offs[2] == offs[2] => Place::Step,
                () if behind.offs[3] == offs[3] => Place::Further,
                () if behind.offs[4] == offs[4] => Place::PointedBefore,
                () if behind.place_by == Place::Pointed => Place::Pointed,
                () => Place::Step,
            };
            behind.offs = offs;
        }
        behind.value_by = match (behind.value_by, is_mark) {
            (Value::Told | Value::ToldMark, true) => Value::ToldMark,
            (Value::Before | Value::BeforeMark, true) => Value::BeforeMark,
            (_, true) => Value::Mark,
            (Value::ToldMark, false) => Value::Told,
            (Value::BeforeMark, false) => Value::Before,
            (Value::Mark, false) => Value::Last,
            (by, false) => by,
        };
        at.go_on_behind(unit, memory);
    }
}
