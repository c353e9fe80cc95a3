//! Joining modules by the rules of the linker.
//!
//! A name that is known to all modules means the strong definition, or else the first weak one; definitions that lose
//! are left out, and what used them uses the winner. Local names (`static`) never meet: two modules' functions of the
//! same name stay two functions. What no module defines stays external.
//!
//! Code of a definition that loses may still run, where the compiler has put it into its callers. Its sites are those of
//! the winner if that is the same code; otherwise it stays as a function that nobody calls.

use crate::NativeError;
use crate::demangle::short_name;
use crate::names::{Names, Place};
use crate::record::Module;
use crate::rewrite::{Map, Target, same_outline};
use crate::shapes::Shapes;
use abi::{AliasTarget, Linkage};
use ir::{FileId, Function, FunctionId, Global, GlobalId, Initial, Program, ShapeId, SourceFile};
use std::collections::HashMap;

/// What became of a module's functions and globals.
pub struct Links {
    /// For each function the one that its code is in, and whether it is that code.
    pub code: Vec<(FunctionId, bool)>,
    /// For each function what its name means.
    pub functions: Vec<Target>,
    /// For each global what its name means.
    pub globals: Vec<Target>,
}

/// Joins the modules of a binary into one program.
pub fn link(modules: &[Module], name: &str) -> Result<(Program, Vec<Links>), NativeError> {
    let names = Names::new(modules);
    let mut linker = Linker { name: name.to_owned(), ..Linker::default() };
    for (number, module) in modules.iter().enumerate() {
        linker.number(&names, number, module);
    }
    let mut maps = vec![];
    for (number, module) in modules.iter().enumerate() {
        maps.push(linker.map(&names, number, module));
    }
    let code: Vec<_> = (0..modules.len()).map(|number| linker.code(&names, modules, number)).collect();
    let mut functions: Vec<Function> = linker
        .definitions
        .iter()
        .map(|&(module, f)| maps[module].function(&modules[module].program.functions[f as usize]))
        .collect();
    for (number, module) in modules.iter().enumerate() {
        linker.globals(number, module, &maps[number]);
    }
    let signatures: Vec<_> = functions.iter().map(crate::rewrite::signature).collect();
    functions.iter_mut().for_each(|function| crate::rewrite::fit_calls(function, &signatures));
    let program = Program {
        name: linker.name,
        files: linker.files,
        shapes: linker.shapes.all,
        globals: linker.globals,
        functions,
        threads: vec![],
        final_condition: None,
    };
    if let Err(errors) = ir::verify(&program) {
        return Err(NativeError::Mismatch(errors.first().map_or_else(String::new, ToString::to_string)));
    }
    let links = maps.into_iter().zip(code);
    let links = links.map(|(map, code)| Links { code, functions: map.functions, globals: map.globals });
    Ok((program, links.collect()))
}

/// The program that is being made.
#[derive(Default)]
struct Linker {
    name: String,
    files: Vec<SourceFile>,
    file_numbers: HashMap<String, FileId>,
    shapes: Shapes,
    globals: Vec<Global>,
    /// The functions of the program: which module's, which of them.
    definitions: Vec<(usize, u32)>,
    /// The numbers of definitions that are taken.
    functions: HashMap<Place, FunctionId>,
    global_numbers: HashMap<Place, GlobalId>,
    /// The numbers of what no module defines, by symbol.
    external: HashMap<Box<str>, GlobalId>,
}

impl Linker {
    /// Numbers the functions and globals of a module that are taken.
    fn number(&mut self, names: &Names<'_>, number: usize, module: &Module) {
        for f in 0..module.program.functions.len() as u32 {
            let place = Place { module: number, target: AliasTarget::Function(f) };
            if names.winner(place) == place {
                let id = self.define(number, f);
                self.functions.insert(place, id);
            }
        }
        for (g, global) in (0..).zip(&module.program.globals) {
            let place = Place { module: number, target: AliasTarget::Global(g) };
            if global.initial != Initial::External && names.winner(place) == place {
                let id = self.add(global);
                self.global_numbers.insert(place, id);
            }
        }
    }

    fn define(&mut self, module: usize, function: u32) -> FunctionId {
        self.definitions.push((module, function));
        FunctionId::new(self.definitions.len() - 1)
    }

    /// For each function of a module the one that its code is in, and whether it is that code. To be asked when all functions
    /// are numbered.
    fn code(&mut self, names: &Names<'_>, modules: &[Module], number: usize) -> Vec<(FunctionId, bool)> {
        let mut code = vec![];
        for (f, function) in (0..).zip(&modules[number].program.functions) {
            let place = Place { module: number, target: AliasTarget::Function(f) };
            let winner = names.winner(place);
            let same = match winner.target {
                AliasTarget::Function(f) => {
                    same_outline(function, &modules[winner.module].program.functions[f as usize])
                }
                AliasTarget::Global(_) => false,
            };
            code.push(match self.functions.get(&winner) {
                Some(&id) if winner == place || same => (id, winner == place),
                _ => (self.define(number, f), true),
            });
        }
        code
    }

    /// Makes room for a global; shapes, positions and addresses in it are those of its module until `globals`.
    fn add(&mut self, global: &Global) -> GlobalId {
        self.globals.push(global.clone());
        GlobalId::new(self.globals.len() - 1)
    }

    /// What the numbers of a module become.
    fn map(&mut self, names: &Names<'_>, number: usize, module: &Module) -> Map {
        let program = &module.program;
        let shapes = self.shapes.add(&program.shapes);
        let files = program.files.iter().map(|file| self.file(file)).collect();
        let mut functions = vec![];
        for (f, function) in (0..).zip(&program.functions) {
            let place = names.winner(Place { module: number, target: AliasTarget::Function(f) });
            functions.push(match self.target(place) {
                Some(target) => target,
                None => Target::Global(self.external(&function.name, Linkage::Strong)),
            });
        }
        let mut globals = vec![];
        for (g, global) in (0..).zip(&program.globals) {
            let linkage = module.globals[g as usize];
            let own = Place { module: number, target: AliasTarget::Global(g) };
            let place = match (&global.initial, linkage) {
                (Initial::External, Linkage::Local) => None,
                (Initial::External, _) => names.find(number, &global.name),
                _ => Some(names.winner(own)),
            };
            let target = match place.and_then(|place| self.target(place)) {
                Some(target) => target,
                None => Target::Global(self.external_global(global, &shapes, linkage)),
            };
            globals.push(target);
        }
        let mut callees = HashMap::new();
        for name in crate::rewrite::external_callees(program) {
            if let Some(Target::Function(function)) =
                names.find(number, name).and_then(|place| self.target(place))
            {
                callees.insert(Box::from(name), function);
            }
        }
        Map { shapes, files, functions, globals, callees }
    }

    fn target(&self, place: Place) -> Option<Target> {
        match place.target {
            AliasTarget::Function(_) => self.functions.get(&place).map(|&id| Target::Function(id)),
            AliasTarget::Global(_) => self.global_numbers.get(&place).map(|&id| Target::Global(id)),
        }
    }

    fn file(&mut self, file: &SourceFile) -> FileId {
        if let Some(&known) = self.file_numbers.get(&file.path) {
            return known;
        }
        let id = FileId::new(self.files.len());
        self.files.push(file.clone());
        self.file_numbers.insert(file.path.clone(), id);
        id
    }

    /// A global that no module defines, with what this module knows of it.
    fn external_global(&mut self, global: &Global, shapes: &[ShapeId], linkage: Linkage) -> GlobalId {
        let id = self.external(&global.name, linkage);
        let joined = &mut self.globals[id.index()];
        joined.thread_local |= global.thread_local;
        joined.constant |= global.constant;
        let shape = shapes[global.shape.index()];
        if !matches!(self.shapes.all[shape.index()], ir::Shape::Opaque { bytes: 0 }) {
            joined.shape = shape;
        }
        id
    }

    /// The address of a symbol that no module defines as a global; one for all modules, unless it is no real symbol.
    fn external(&mut self, name: &str, linkage: Linkage) -> GlobalId {
        if linkage != Linkage::Local
            && let Some(&known) = self.external.get(name)
        {
            return known;
        }
        let shape = self.shapes.add(&[ir::Shape::Opaque { bytes: 0 }])[0];
        let id = self.add(&Global {
            name: name.into(),
            shape,
            initial: Initial::External,
            thread_local: false,
            constant: false,
            position: None,
        });
        if linkage != Linkage::Local {
            self.external.insert(name.into(), id);
        }
        id
    }

    /// Brings the globals of a module into the numbers of the program.
    fn globals(&mut self, number: usize, module: &Module, map: &Map) {
        for (g, global) in (0..).zip(&module.program.globals) {
            let place = Place { module: number, target: AliasTarget::Global(g) };
            if let Some(id) = self.global_numbers.get(&place) {
                self.globals[id.index()] = guard(map.global(global));
            }
        }
    }
}

/// A guard of C++ is called after the variable that it guards.
fn guard(mut global: Global) -> Global {
    let guards = global.name.starts_with("_ZGV").then(|| short_name(&global.name));
    if let Some(variable) = guards.as_deref().and_then(|name| name.strip_prefix("guard variable for ")) {
        global.name = format!("guard of {variable}").into();
    }
    global
}
