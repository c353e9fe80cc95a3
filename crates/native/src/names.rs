//! What each name means: the definition that the linker takes for it.

use crate::record::Module;
use abi::{AliasTarget, Linkage};
use ir::Initial;
use std::collections::HashMap;

/// A definition: which module, which of its functions or globals.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    pub module: usize,
    pub target: AliasTarget,
}

/// The names that all modules know, and for each module those that only it knows.
pub struct Names<'m> {
    modules: &'m [Module],
    shared: HashMap<&'m str, (Place, Linkage)>,
    local: HashMap<(usize, &'m str), Place>,
}

impl<'m> Names<'m> {
    /// Collects all names: a strong definition beats weak ones, the first of equals is taken.
    pub fn new(modules: &'m [Module]) -> Names<'m> {
        let mut names = Names { modules, shared: HashMap::new(), local: HashMap::new() };
        for (number, module) in modules.iter().enumerate() {
            let place = |target| Place { module: number, target };
            for (f, function) in (0..).zip(&module.program.functions) {
                names.define(&function.name, module.functions[f as usize], place(AliasTarget::Function(f)));
            }
            for (g, global) in (0..).zip(&module.program.globals) {
                if global.initial != Initial::External {
                    names.define(&global.name, module.globals[g as usize], place(AliasTarget::Global(g)));
                }
            }
            for alias in &module.aliases {
                names.define(&alias.name, alias.linkage, place(alias.target));
            }
        }
        names
    }

    fn define(&mut self, name: &'m str, linkage: Linkage, place: Place) {
        if linkage == Linkage::Local {
            self.local.entry((place.module, name)).or_insert(place);
            return;
        }
        let known = self.shared.entry(name).or_insert((place, linkage));
        if known.1 == Linkage::Weak && linkage == Linkage::Strong {
            *known = (place, linkage);
        }
    }

    /// The definition of a name that a module uses without defining it.
    pub fn find(&self, module: usize, name: &str) -> Option<Place> {
        let local = self.local.get(&(module, name)).copied();
        let place = local.or_else(|| self.shared.get(name).map(|&(place, _)| place))?;
        Some(self.winner(place))
    }

    /// The definition that is taken where this one is meant: itself, or the one that it lost against.
    pub fn winner(&self, place: Place) -> Place {
        let mut place = place;
        // An alias can win a name, and its target lose its own; more than a few such steps do not occur.
        for _ in 0..4 {
            let module = &self.modules[place.module];
            let (name, linkage) = match place.target {
                AliasTarget::Function(f) => {
                    (&module.program.functions[f as usize].name, module.functions[f as usize])
                }
                AliasTarget::Global(g) => {
                    let global = &module.program.globals[g as usize];
                    match global.initial {
                        Initial::External => return place,
                        _ => (&global.name, module.globals[g as usize]),
                    }
                }
            };
            match self.shared.get(&**name) {
                Some(&(winner, _)) if linkage != Linkage::Local && winner != place => place = winner,
                _ => break,
            }
        }
        place
    }
}
