//! Syntax tree to checked program: names, types, limits.
//!
//! First all names of the top level are collected, since items may come in any order; then sizes and initial
//! values are computed; then bodies are checked. A part with an error is left out and the rest is still
//! checked, so that one file shows several errors.

mod body;
mod builtin;
mod call;
mod constant;
mod expression;
mod final_condition;
mod global;
mod operator;
mod place;
mod recursion;
mod statement;
mod suggest;

use crate::ast::{File, Function, ItemKind, Name, TypeName, TypeWord};
use crate::diagnostic::finish;
use crate::types::{IntType, Type};
use crate::{Diagnostic, Span, typed};
use ir::{FunctionId, GlobalId, SyncKind};
use std::collections::HashMap;

/// The most bytes that all shared variables together may take.
pub const MAX_MEMORY: u64 = 1 << 20;

/// The largest bound of a loop.
pub const MAX_BOUND: u32 = 1_000_000_000;

/// Checks a program.
pub fn check(file: &File) -> Result<typed::Program, Vec<Diagnostic>> {
    let mut checker = Checker::default();
    checker.collect(file);
    checker.globals(file);
    let program = checker.bodies(file);
    checker.recursion();
    if checker.errors.is_empty() { Ok(program) } else { Err(finish(checker.errors)) }
}

/// What a name of the top level stands for.
#[derive(Clone, Copy)]
enum Meaning {
    Shared(GlobalId),
    Sync(GlobalId),
    Function(FunctionId),
    Thread,
}

/// What the rest of the program must know of a global.
struct GlobalHead {
    /// The type of its values, or the kind of its objects.
    what: What,
    array: bool,
    atomic: bool,
}

#[derive(Clone, Copy)]
enum What {
    Value(Type),
    Object(SyncKind),
}

/// What the rest of the program must know of a function.
struct FunctionHead {
    name: String,
    span: Span,
    parameters: Vec<Type>,
    returns: Option<Type>,
    /// Whom it calls or forks, and where.
    callees: Vec<(FunctionId, Span)>,
}

#[derive(Default)]
struct Checker {
    names: HashMap<String, (Meaning, Span)>,
    global_heads: Vec<GlobalHead>,
    globals: Vec<typed::Global>,
    function_heads: Vec<FunctionHead>,
    errors: Vec<Diagnostic>,
}

impl Checker {
    fn error(&mut self, error: Diagnostic) {
        self.errors.push(error);
    }

    /// Enters all names of the top level.
    fn collect(&mut self, file: &File) {
        for item in &file.items {
            match &item.kind {
                ItemKind::Shared { atomic, word, declarators } => {
                    for declarator in declarators {
                        let ty = self.declared_type(*word, declarator.stars, declarator.name.span);
                        let id = GlobalId::new(self.global_heads.len());
                        let what = What::Value(ty);
                        let array = declarator.array.is_some();
                        self.global_heads.push(GlobalHead { what, array, atomic: *atomic });
                        self.enter(&declarator.name, Meaning::Shared(id));
                    }
                }
                ItemKind::Sync { kind, declarators } => {
                    for declarator in declarators {
                        let id = GlobalId::new(self.global_heads.len());
                        let what = What::Object(*kind);
                        let array = declarator.array.is_some();
                        self.global_heads.push(GlobalHead { what, array, atomic: false });
                        self.enter(&declarator.name, Meaning::Sync(id));
                    }
                }
                ItemKind::Function(function) => self.collect_function(function),
                ItemKind::Thread { name, .. } => {
                    self.function_head(name, vec![], None);
                    self.enter(name, Meaning::Thread);
                }
                ItemKind::Final { .. } => {}
            }
        }
    }

    fn collect_function(&mut self, function: &Function) {
        let parameters = function.parameters.iter().map(|p| self.type_of(&p.ty)).collect();
        let returns = function.returns.as_ref().map(|ty| self.type_of(ty));
        let id = self.function_head(&function.name, parameters, returns);
        self.enter(&function.name, Meaning::Function(id));
        if builtin::find(&function.name.text).is_some() || function.name.text == "alloc" {
            let name = &function.name;
            let message = format!("`{}` is a built-in operation and cannot be defined again", name.text);
            self.error(Diagnostic::new(name.span, message).help("choose another name"));
        }
    }

    fn function_head(&mut self, name: &Name, parameters: Vec<Type>, returns: Option<Type>) -> FunctionId {
        let id = FunctionId::new(self.function_heads.len());
        let (name, span) = (name.text.clone(), name.span);
        self.function_heads.push(FunctionHead { name, span, parameters, returns, callees: vec![] });
        id
    }

    fn enter(&mut self, name: &Name, meaning: Meaning) {
        if let Some((_, first)) = self.names.get(&name.text) {
            let what = if name.text == "main" {
                "a second `main`".to_owned()
            } else {
                format!("`{}` is declared twice", name.text)
            };
            let error = Diagnostic::new(name.span, what)
                .here("declared again here")
                .label(*first, "first declared here");
            self.error(error);
            return;
        }
        self.names.insert(name.text.clone(), (meaning, name.span));
    }

    fn type_of(&mut self, ty: &TypeName) -> Type {
        self.declared_type(ty.word, ty.stars, ty.span)
    }

    /// The type that a word and some stars stand for; an error gives `int`.
    fn declared_type(&mut self, word: TypeWord, stars: u8, span: Span) -> Type {
        let to = match word {
            TypeWord::Int | TypeWord::Local => IntType::I32,
            TypeWord::Sized(int) => int,
            TypeWord::Thread if stars == 0 => return Type::Thread,
            TypeWord::Thread => {
                self.error(Diagnostic::new(span, "there are no pointers to handles of threads"));
                return Type::Thread;
            }
        };
        if stars > 8 {
            self.error(Diagnostic::new(span, "a pointer has at most 8 stars"));
            return Type::Int(to);
        }
        if stars == 0 { Type::Int(to) } else { Type::Pointer { to, depth: stars } }
    }
}
