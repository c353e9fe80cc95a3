//! Final states: what is left when all threads have ended, in the words of the source.

use crate::Result;
use crate::unfold::Unfolding;
use crate::unfold::memory::{global_at, heap_at};
use ir::{Global, GlobalId, Initial, Program, Shape, ShapeId, Width, eval};
use solver::{Bool, Bv, Solution};

/// A final state.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Serialize)]
pub struct Outcome {
    /// Shared variables and observed locals, by name.
    pub values: Vec<(String, String)>,
    /// Whether the formula of the final condition holds.
    pub condition: Option<bool>,
}

/// The terms whose values make up a final state.
pub(crate) fn terms(unfolding: &Unfolding) -> Vec<Bv> {
    let cells = unfolding.memory.globals.iter().flatten().map(|(_, cell)| *cell);
    let marks = unfolding.memory.heap.iter().map(|heap| heap.freed);
    let cells = cells.chain(marks).map(|cell| unfolding.memory.cells[cell.index()].last);
    cells.chain(unfolding.observed.iter().map(|&(_, term, ..)| term)).collect()
}

/// Says that a final state is another one than that of the model.
pub(crate) fn differs(unfolding: &mut Unfolding, terms: &[Bv]) -> Result<Bool> {
    let model = unfolding.solver.model();
    let values = model.map(|model| model.values(terms)).transpose()?.unwrap_or_default();
    let mut differences = vec![];
    for (&term, &value) in terms.iter().zip(&values) {
        let constant = unfolding.solver.bv_const(value, term.width())?;
        let same = unfolding.solver.bv_eq(term, constant)?;
        differences.push(unfolding.solver.not(same)?);
    }
    Ok(unfolding.solver.or(&differences)?)
}

/// The final state of a model.
pub(crate) fn read(program: &Program, unfolding: &Unfolding, model: &Solution<'_>) -> Result<Outcome> {
    let reader = Reader { program, unfolding, model };
    let mut values = vec![];
    for (g, global) in program.globals.iter().enumerate() {
        if !matches!(global.initial, Initial::Sync { .. }) {
            values.push((global.name.to_string(), reader.global(GlobalId::new(g), global)?));
        }
    }
    for (name, term, signed, is_address) in &unfolding.observed {
        let bits = model.value(*term)?;
        let text = match is_address {
            true => reader.address(bits as u64)?,
            false => integer(Width::new(term.width() as u8).unwrap_or(Width::W64), bits, *signed),
        };
        values.push((name.clone(), text));
    }
    let condition = unfolding.condition.map(|condition| model.holds(condition)).transpose()?;
    Ok(Outcome { values, condition })
}

/// An integer as it is shown.
pub(crate) fn integer(width: Width, bits: u128, signed: bool) -> String {
    if signed { eval::signed(width, bits).to_string() } else { bits.to_string() }
}

struct Reader<'a> {
    program: &'a Program,
    unfolding: &'a Unfolding,
    model: &'a Solution<'a>,
}

impl Reader<'_> {
    fn global(&self, id: GlobalId, global: &Global) -> Result<String> {
        let mut cells = self.unfolding.memory.globals[id.index()].iter().map(|&(_, cell)| cell.index());
        self.part(global.shape, &mut cells)
    }

    /// What stands in the next cells, by shape.
    fn part(&self, shape: ShapeId, cells: &mut dyn Iterator<Item = usize>) -> Result<String> {
        let mut bits = || -> Result<u128> {
            Ok(match cells.next() {
                Some(cell) => self.model.value(self.unfolding.memory.cells[cell].last)?,
                None => 0,
            })
        };
        Ok(match self.program.shape(shape) {
            Shape::Int { bytes, signed } => {
                integer(Width::new(bytes * 8).unwrap_or(Width::W64), bits()?, *signed)
            }
            Shape::Pointer { .. } => self.address(bits()? as u64)?,
            Shape::Array { element, count } => {
                let items: Vec<String> =
                    (0..*count).map(|_| self.part(*element, cells)).collect::<Result<_>>()?;
                format!("{{{}}}", items.join(", "))
            }
            Shape::Record { fields, .. } => {
                let mut items = vec![];
                for field in fields {
                    items.push(format!(".{} = {}", field.name, self.part(field.shape, cells)?));
                }
                format!("{{{}}}", items.join(", "))
            }
            _ => "?".to_owned(),
        })
    }

    /// What is at an address, in the words of the source.
    fn address(&self, address: u64) -> Result<String> {
        if address == 0 {
            return Ok("null".to_owned());
        }
        if let Some((global, offset)) = global_at(address) {
            let Some(named) = self.program.globals.get(global.index()) else {
                return Ok(format!("?{address:#x}"));
            };
            return Ok(match u64::try_from(offset) {
                Ok(offset) => format!("&{}{}", named.name, self.program.part_name(named.shape, offset)),
                Err(_) => format!("&{}{offset}", named.name),
            });
        }
        let Some((code, number, offset)) = heap_at(address) else { return Ok(format!("null+{address}")) };
        let owner = self.unfolding.threads.iter().find(|thread| thread.code() == code);
        let owner = owner.map_or("?", |thread| &thread.name);
        let base = address.wrapping_sub(offset as u64);
        let mut freed = "";
        for heap in &self.unfolding.memory.heap {
            let at = match heap.base.bits {
                crate::unfold::value::Bits::Known(bits) => bits,
                crate::unfold::value::Bits::Term(term) => self.model.value(term)?,
                crate::unfold::value::Bits::Flag(_) => 0,
            };
            let is_freed = self.model.value(self.unfolding.memory.cells[heap.freed.index()].last)? == 1;
            if at == u128::from(base) && self.model.holds(heap.exists)? && is_freed {
                freed = " (freed)";
            }
        }
        Ok(format!("heap<{owner}:{number}>{offset:+}{freed}"))
    }
}
