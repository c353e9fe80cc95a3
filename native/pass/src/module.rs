//! One module: the numbers of its functions and globals, and their translation one by one.

use crate::debug::Files;
use crate::function::{self, Origin};
use crate::llvm::{Definition, Kind, Layout, Module, Opcode, Type, TypeKind, Value};
use crate::shape::Shapes;
use abi::{Alias, AliasTarget, Linkage};
use ir::{FunctionId, Global, GlobalId, Initial, Program, Width};
use rustc_hash::{FxHashMap, FxHashSet};

/// Why a function cannot be translated.
#[derive(Debug)]
pub struct Unsupported(pub String);

/// A module that is being translated.
pub struct Translator {
    pub layout: Layout,
    pub shapes: Shapes,
    pub files: Files,
    pub functions: FxHashMap<Value, FunctionId>,
    pub globals: Vec<Global>,
    pub global_linkage: Vec<Linkage>,
    global_numbers: FxHashMap<Value, GlobalId>,
    /// Things that are only known by their symbol.
    symbols: FxHashMap<Box<str>, GlobalId>,
    types: FxHashMap<Type, Option<ir::Type>>,
}

/// A translated module.
pub struct Translated {
    pub layout: Layout,
    pub module: abi::Module<Program>,
    /// What the functions of its program come from.
    pub origins: Vec<Origin>,
    /// What the globals of its program come from; `None` for those that stand for other symbols.
    pub globals: Vec<Option<Value>>,
}

/// What became of a module, or the functions that must be left out of it, with the reasons.
pub type Outcome = Result<Translated, Vec<(Box<str>, String)>>;

/// Translates a module; the functions named by `excluded` are taken as declared only.
pub fn translate(module: &Module, excluded: &FxHashSet<Box<str>>) -> Outcome {
    let layout = module.layout();
    let mut translator = Translator {
        layout,
        shapes: Shapes::new(layout),
        files: Files::default(),
        functions: FxHashMap::default(),
        globals: vec![],
        global_linkage: vec![],
        global_numbers: FxHashMap::default(),
        symbols: FxHashMap::default(),
        types: FxHashMap::default(),
    };
    let mut defined = vec![];
    let mut function_linkage = vec![];
    let early = early(module);
    for function in module.functions() {
        if let Definition::Here(linkage) = function.definition()
            && !excluded.contains(&*function.symbol())
            && !early.contains(&function)
            && !function.has_attribute(c"naked")
        {
            translator.functions.insert(function, FunctionId::new(defined.len()));
            defined.push(function);
            function_linkage.push(linkage);
        }
    }
    translator.globals(module);
    let (mut functions, mut origins, mut failed) = (vec![], vec![], vec![]);
    for function in defined {
        match function::translate(&mut translator, function) {
            Ok((function, origin)) => {
                functions.push(function);
                origins.push(origin);
            }
            Err(Unsupported(reason)) => failed.push((function.symbol().into(), reason)),
        }
    }
    if !failed.is_empty() {
        return Err(failed);
    }
    let aliases = translator.aliases(module);
    let mut globals = vec![None; translator.globals.len()];
    translator.global_numbers.iter().for_each(|(&global, id)| globals[id.index()] = Some(global));
    let program = Program {
        name: module.source(),
        files: translator.files.finish(),
        shapes: translator.shapes.finish(),
        globals: translator.globals,
        functions,
        threads: vec![],
        final_condition: None,
    };
    let (functions, global_linkage) = (function_linkage, translator.global_linkage);
    Ok(Translated {
        layout,
        module: abi::Module { functions, globals: global_linkage, aliases, program },
        origins,
        globals,
    })
}

/// The functions that run before the program is loaded completely, to choose others (`ifunc`), and what these call. No
/// instrumentation can be in them, so they are external code.
fn early(module: &Module) -> FxHashSet<Value> {
    let mut early: FxHashSet<Value> = module.resolvers().collect();
    let mut rest: Vec<Value> = early.iter().copied().collect();
    while let Some(function) = rest.pop() {
        for instruction in function.blocks().flat_map(|block| block.instructions()) {
            if matches!(instruction.opcode(), Opcode::LLVMCall | Opcode::LLVMInvoke)
                && instruction.callee().kind() == Kind::Function
                && early.insert(instruction.callee())
            {
                rest.push(instruction.callee());
            }
        }
    }
    early
}

impl Translator {
    /// Numbers first: initial contents refer to each other.
    fn globals(&mut self, module: &Module) {
        // `llvm.used`, `llvm.global_ctors` and the like are not variables.
        let all: Vec<Value> = module.globals().filter(|g| !g.symbol().starts_with("llvm.")).collect();
        for &global in &all {
            let ty = global.value_type();
            let shape = match ty.is_sized() && self.ty(ty).is_ok() {
                true => {
                    let debug = global.global_variable().and_then(|variable| variable.variable_type());
                    self.shapes.of(ty, debug)
                }
                false => self.shapes.opaque(0),
            };
            let linkage = match global.definition() {
                Definition::Here(linkage) => linkage,
                Definition::Elsewhere => Linkage::Strong,
            };
            let position = global.global_variable().and_then(|variable| self.files.variable(variable));
            let name: Box<str> = global.symbol().into();
            let id = self.add_global(
                Global {
                    name: name.clone(),
                    shape,
                    initial: Initial::External,
                    thread_local: global.is_thread_local(),
                    constant: global.is_constant(),
                    position,
                },
                linkage,
            );
            self.symbols.insert(name, id);
            self.global_numbers.insert(global, id);
        }
        for global in all {
            if let Definition::Here(_) = global.definition() {
                let initial = crate::global::initial(self, global);
                let id = self.global_numbers[&global];
                self.globals[id.index()].initial = initial;
            }
        }
    }

    fn add_global(&mut self, global: Global, linkage: Linkage) -> GlobalId {
        let id = GlobalId::new(self.globals.len());
        self.globals.push(global);
        self.global_linkage.push(linkage);
        id
    }

    /// The number of a global variable.
    pub fn global(&self, global: Value) -> Option<GlobalId> {
        self.global_numbers.get(&global).copied()
    }

    /// The address of what the linker knows by a symbol and the program does not define: a global without a content.
    pub fn symbol(&mut self, name: &str) -> GlobalId {
        if let Some(&known) = self.symbols.get(name) {
            return known;
        }
        let name: Box<str> = name.into();
        let id = self.add_external(name.clone(), Linkage::Strong);
        self.symbols.insert(name, id);
        id
    }

    /// An address that nothing is known of, not even a symbol.
    pub fn nameless(&mut self, what: &str) -> GlobalId {
        self.add_external(what.into(), Linkage::Local)
    }

    fn add_external(&mut self, name: Box<str>, linkage: Linkage) -> GlobalId {
        let shape = self.shapes.opaque(0);
        let initial = Initial::External;
        let global = Global { name, shape, initial, thread_local: false, constant: false, position: None };
        self.add_global(global, linkage)
    }

    /// Second names of whole functions and globals. Others (in the middle of a global, chosen at the start) stay symbols.
    fn aliases(&self, module: &Module) -> Vec<Alias> {
        let mut aliases = vec![];
        for alias in module.aliases() {
            let (Definition::Here(linkage), Some(aliasee)) = (alias.definition(), alias.aliasee()) else {
                continue;
            };
            let target = match aliasee.kind() {
                Kind::Function => self.functions.get(&aliasee).map(|id| AliasTarget::Function(id.0)),
                Kind::Global => self.global(aliasee).map(|id| AliasTarget::Global(id.0)),
                _ => None,
            };
            aliases.extend(target.map(|target| Alias { name: alias.symbol().into(), linkage, target }));
        }
        aliases
    }

    /// The type of values of an LLVM type; `None` if it has none in the IR (`void`, tokens, metadata).
    pub fn ty(&mut self, ty: Type) -> Result<Option<ir::Type>, Unsupported> {
        if let Some(&known) = self.types.get(&ty) {
            return Ok(known);
        }
        let translated = match ty.kind() {
            TypeKind::LLVMVoidTypeKind
            | TypeKind::LLVMTokenTypeKind
            | TypeKind::LLVMMetadataTypeKind
            | TypeKind::LLVMLabelTypeKind => None,
            TypeKind::LLVMIntegerTypeKind => match u8::try_from(ty.bits()).ok().and_then(Width::new) {
                Some(width) => Some(ir::Type::Int(width)),
                None => Some(self.opaque(ty)?),
            },
            TypeKind::LLVMPointerTypeKind if ty.address_space() == 0 => Some(ir::Type::Ptr),
            TypeKind::LLVMScalableVectorTypeKind => return Err(Unsupported("scalable vectors".to_owned())),
            TypeKind::LLVMTargetExtTypeKind => return Err(Unsupported("a type of the target".to_owned())),
            TypeKind::LLVMStructTypeKind => {
                for index in 0..ty.field_count() {
                    self.ty(ty.field(index))?;
                }
                Some(self.opaque(ty)?)
            }
            TypeKind::LLVMArrayTypeKind => {
                self.ty(ty.element())?;
                Some(self.opaque(ty)?)
            }
            _ => Some(self.opaque(ty)?),
        };
        self.types.insert(ty, translated);
        Ok(translated)
    }

    fn opaque(&self, ty: Type) -> Result<ir::Type, Unsupported> {
        if !ty.is_sized() {
            return Err(Unsupported("a value of unknown size".to_owned()));
        }
        match u32::try_from(self.layout.store_bytes(ty)) {
            Ok(bytes) => Ok(ir::Type::Opaque(bytes)),
            Err(_) => Err(Unsupported("a value of more than 4 GiB".to_owned())),
        }
    }
}
