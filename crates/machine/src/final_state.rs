//! Final states: what is left when all threads have ended, in the words of the source.

use crate::Machine;
use crate::address::{self, Named};
use crate::state::{Phase, State};
use crate::step::Nobody;
use ir::{Global, GlobalId, Initial, Shape, ShapeId, Width, eval};

/// Events that the evaluation of a final condition may take: it has no loops, so this is plenty.
const MAX_STEPS: usize = 100_000;

impl Machine {
    /// The value of each shared variable and of each local that the final condition observes, by name.
    pub(crate) fn final_values(&self, state: &State) -> Vec<(String, String)> {
        let globals = self
            .program()
            .globals
            .iter()
            .enumerate()
            .filter(|(_, global)| !matches!(global.initial, Initial::Sync { .. }));
        let shared = globals
            .map(|(g, global)| (global.name.to_string(), self.show_global(state, GlobalId::new(g), global)));
        shared.chain(self.observed_values(state)).collect()
    }

    fn observed_values(&self, state: &State) -> Vec<(String, String)> {
        let Some(condition) = &self.program().final_condition else { return vec![] };
        let mut values: Vec<(String, String)> = vec![];
        for observed in &condition.observed {
            let start = &self.program().threads[observed.thread as usize];
            let result = &self.program().function(start.function).results[observed.result as usize];
            let name = format!("{}.{}", start.name, result.name.as_deref().unwrap_or("?"));
            let bits = self.observed(state, observed.thread, observed.result);
            let text = match result.ty {
                ir::Type::Ptr => self.show_address(state, bits),
                ty => show_int(ty.width().unwrap_or(Width::W64), bits, result.signed),
            };
            if !values.iter().any(|(known, _)| *known == name) {
                values.push((name, text));
            }
        }
        values
    }

    fn observed(&self, state: &State, thread: u32, result: u32) -> u64 {
        let (id, _) = self.starts()[thread as usize];
        let thread = state.thread_index(id).map(|t| &state.threads[t]);
        match thread {
            Some(thread) if matches!(thread.phase, Phase::Ended) => {
                thread.registers.get(result as usize).copied().unwrap_or(0)
            }
            _ => 0,
        }
    }

    fn show_global(&self, state: &State, id: GlobalId, global: &Global) -> String {
        let start = self.layout().start(id);
        self.show_memory(state, &state.memory.globals[start..], global.shape)
    }

    fn show_memory(&self, state: &State, bytes: &[u8], shape: ShapeId) -> String {
        let word = |bytes_used: usize| {
            let mut word = [0; 8];
            word[..bytes_used].copy_from_slice(&bytes[..bytes_used]);
            u64::from_le_bytes(word)
        };
        match self.program().shape(shape) {
            Shape::Int { bytes, signed } if *bytes <= 8 => {
                let width = Width::new(bytes * 8).unwrap_or(Width::W64);
                show_int(width, word(*bytes as usize), *signed)
            }
            Shape::Pointer { .. } => self.show_address(state, word(8)),
            Shape::Array { element, count } => {
                let size = self.program().shape_bytes(*element) as usize;
                let items: Vec<String> = (0..*count as usize)
                    .map(|i| self.show_memory(state, &bytes[i * size..], *element))
                    .collect();
                format!("{{{}}}", items.join(", "))
            }
            Shape::Record { fields, .. } => {
                let items = fields.iter().map(|field| {
                    let value = self.show_memory(state, &bytes[field.offset as usize..], field.shape);
                    format!(".{} = {value}", field.name)
                });
                format!("{{{}}}", items.collect::<Vec<_>>().join(", "))
            }
            _ => "?".to_owned(),
        }
    }

    /// What is at an address, in the words of the source.
    pub(crate) fn show_place(&self, state: &State, address: u64) -> String {
        let shown = self.show_address(state, address);
        shown.strip_prefix('&').map_or(shown.clone(), str::to_owned)
    }

    fn show_address(&self, state: &State, address: u64) -> String {
        match address::decode(address) {
            Named::Null if address == 0 => "null".to_owned(),
            Named::Null => format!("null+{address}"),
            Named::Global(global, offset) => match self.program().globals.get(global.index()) {
                Some(named) => match u64::try_from(offset) {
                    Ok(offset) => format!("&{}{}", named.name, self.program().part_name(named.shape, offset)),
                    Err(_) => format!("&{}{offset}", named.name),
                },
                None => format!("?{address:#x}"),
            },
            Named::Allocation(base, offset) => {
                let block = state.memory.blocks.iter().find(|block| block.base == base);
                let (owner, number) = address::allocation_at(base);
                let owner = owner.map_or_else(|| "?".to_owned(), |thread| thread.to_string());
                let freed = if block.is_some_and(|block| block.freed) { " (freed)" } else { "" };
                format!("heap<{owner}:{number}>{offset:+}{freed}")
            }
        }
    }

    /// Whether the formula of the final condition holds; `None` if there is none. A formula that faults, because it divides
    /// by zero or goes through a pointer that leads nowhere, does not hold.
    pub(crate) fn final_condition(&self, state: &State) -> Option<bool> {
        let condition = self.program().final_condition.as_ref()?;
        let arguments: Vec<u64> =
            condition.observed.iter().map(|o| self.observed(state, o.thread, o.result)).collect();
        Some(self.evaluate(state, condition.function, &arguments).is_some_and(|bit| bit & 1 == 1))
    }

    /// Evaluates a function that only reads, on a copy of the state in which it is the only thread.
    fn evaluate(&self, state: &State, function: ir::FunctionId, arguments: &[u64]) -> Option<u64> {
        let mut copy = state.clone();
        copy.threads.clear();
        copy.exclusive = None;
        self.start_alone(&mut copy, function, arguments);
        for _ in 0..MAX_STEPS {
            match copy.threads[0].phase {
                Phase::Ended => return copy.threads[0].registers.first().copied(),
                _ if copy.ending.is_some() => return None,
                _ => self.step(&mut copy, 0, None, &mut Nobody),
            }
        }
        None
    }
}

fn show_int(width: Width, bits: u64, signed: bool) -> String {
    match signed {
        true => eval::signed(width, u128::from(bits)).to_string(),
        false => bits.to_string(),
    }
}
