//! Bodies of functions and threads: scopes, and the way from a name to what it stands for.

use super::{Checker, Meaning, What, suggest};
use crate::ast::{Block, Declarator, File, Function, ItemKind, Name, Parameter};
use crate::typed::{self, LocalId};
use crate::types::Type;
use crate::{Diagnostic, Span};
use ir::{FunctionId, GlobalId};
use std::collections::HashMap;

/// Where an expression stands, which says what may be in it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    /// In a function or thread.
    Code,
    /// In an initial value or a size.
    Constant,
    /// In the final condition.
    Final,
}

/// The state while one body is checked.
pub(super) struct Body<'c> {
    pub(super) checker: &'c mut Checker,
    pub(super) context: Context,
    /// The function that is checked; calls are noted under it.
    pub(super) function: Option<FunctionId>,
    pub(super) returns: Option<Type>,
    pub(super) locals: Vec<typed::Local>,
    /// Names in scope, innermost last.
    pub(super) scopes: Vec<HashMap<String, (LocalId, Span)>>,
    pub(super) labels: HashMap<String, Span>,
    pub(super) loops: u32,
    /// In a final condition: the local that stands for a thread's local, by (thread, index of its result).
    pub(super) observed: Vec<(u32, u32)>,
    /// In a final condition: what threads have.
    pub(super) threads: Vec<ThreadLocals>,
}

/// The locals of a thread that a final condition may ask for.
pub(super) struct ThreadLocals {
    pub(super) name: String,
    pub(super) span: Span,
    /// Name, local, type, place of declaration; only those of the outermost scope.
    pub(super) locals: Vec<(String, LocalId, Type, Span)>,
    /// What the final condition asks for.
    pub(super) observed: Vec<LocalId>,
}

/// What a name stands for inside a body.
pub(super) enum Found {
    Local(LocalId),
    Shared(GlobalId),
    Sync(GlobalId),
    Function,
    Thread,
}

impl Checker {
    /// A checker of expressions or statements.
    pub(super) fn body(&mut self, context: Context, function: Option<FunctionId>) -> Body<'_> {
        let returns = function.and_then(|f| self.function_heads[f.index()].returns);
        Body {
            checker: self,
            context,
            function,
            returns,
            locals: vec![],
            scopes: vec![HashMap::new()],
            labels: HashMap::new(),
            loops: 0,
            observed: vec![],
            threads: vec![],
        }
    }

    /// Checks all bodies and the final condition.
    pub(super) fn bodies(&mut self, file: &File) -> typed::Program {
        let mut program = typed::Program { globals: std::mem::take(&mut self.globals), ..Default::default() };
        let mut threads = vec![];
        let mut conditions = vec![];
        for item in &file.items {
            match &item.kind {
                ItemKind::Function(Function { name, parameters, body, .. }) => {
                    let (function, _) = self.function_body(program.functions.len(), name, parameters, body);
                    program.functions.push(function);
                }
                ItemKind::Thread { name, main, body } => {
                    let id = FunctionId::new(program.functions.len());
                    let (function, locals) = self.function_body(id.index(), name, &[], body);
                    program.functions.push(function);
                    program.threads.push(typed::Thread {
                        name: name.text.clone(),
                        function: id,
                        main: *main,
                    });
                    threads.push(locals);
                }
                ItemKind::Final { quantifier, condition } => {
                    conditions.push((*quantifier, condition, item.span))
                }
                _ => {}
            }
        }
        if program.threads.is_empty() {
            let span = file.items.last().map_or(Span::default(), |item| item.span);
            let error = Diagnostic::new(span, "the program has no thread")
                .help("add `main { … }` or `thread NAME { … }`");
            self.error(error);
        }
        if let Some(&(quantifier, condition, span)) = conditions.first() {
            let (checked, threads) = self.final_condition(quantifier, condition, span, threads);
            for (thread, locals) in program.threads.iter().zip(threads) {
                program.functions[thread.function.index()].observed = locals.observed;
            }
            program.final_condition = checked;
        }
        for (_, _, second) in conditions.iter().skip(1) {
            let error = Diagnostic::new(*second, "a second final condition")
                .label(conditions[0].2, "the first one stands here")
                .help("a program asks one question; join the conditions with `&&` or `||`");
            self.error(error);
        }
        program
    }

    fn function_body(
        &mut self,
        index: usize,
        name: &Name,
        parameters: &[Parameter],
        body: &Block,
    ) -> (typed::Function, ThreadLocals) {
        let id = FunctionId::new(index);
        let types = self.function_heads[index].parameters.clone();
        let mut checking = self.body(Context::Code, Some(id));
        for (parameter, ty) in parameters.iter().zip(types) {
            checking.declare(&parameter.name, ty);
        }
        let statements = checking.statements(&body.statements);
        let scope = checking.scopes.pop().unwrap_or_default();
        let mut outer: Vec<_> = scope
            .into_iter()
            .map(|(name, (local, span))| (name, local, checking.locals[local.index()].ty, span))
            .collect();
        outer.sort_by_key(|(_, local, ..)| local.0);
        let locals = std::mem::take(&mut checking.locals);
        let returns = checking.returns;
        let function = typed::Function {
            name: name.text.clone(),
            span: name.span,
            locals,
            parameters: parameters.len(),
            returns,
            observed: vec![],
            body: statements,
            end: body.end,
        };
        let thread =
            ThreadLocals { name: name.text.clone(), span: name.span, locals: outer, observed: vec![] };
        (function, thread)
    }
}

impl Body<'_> {
    pub(super) fn error(&mut self, error: Diagnostic) {
        self.checker.error(error);
    }

    /// Enters a local into the innermost scope.
    pub(super) fn declare(&mut self, name: &Name, ty: Type) -> LocalId {
        let id = LocalId(self.locals.len() as u32);
        self.locals.push(typed::Local { name: name.text.clone(), ty });
        let scope = self.scopes.last_mut();
        // There is always a scope: blocks pop only what they have pushed.
        let before = scope.and_then(|scope| scope.insert(name.text.clone(), (id, name.span)));
        if let Some((_, first)) = before {
            let error = Diagnostic::new(name.span, format!("`{}` is declared twice in one scope", name.text))
                .here("declared again here")
                .label(first, "first declared here");
            self.error(error);
        }
        id
    }

    /// The type of a local declaration; arrays are refused.
    pub(super) fn local_type(&mut self, word: crate::ast::TypeWord, declarator: &Declarator) -> Type {
        if let Some(array) = &declarator.array {
            let error = Diagnostic::new(array.span, "locals cannot be arrays")
                .help("declare the array at top level, or use `alloc`");
            self.error(error);
        }
        self.checker.declared_type(word, declarator.stars, declarator.name.span)
    }

    /// Finds what a name stands for, or reports that nothing does.
    pub(super) fn find(&mut self, name: &str, span: Span) -> Option<Found> {
        for scope in self.scopes.iter().rev() {
            if let Some((local, _)) = scope.get(name) {
                return Some(Found::Local(*local));
            }
        }
        match self.checker.names.get(name) {
            Some((Meaning::Shared(id), _)) => Some(Found::Shared(*id)),
            Some((Meaning::Sync(id), _)) => Some(Found::Sync(*id)),
            Some((Meaning::Function(_), _)) => Some(Found::Function),
            Some((Meaning::Thread, _)) => Some(Found::Thread),
            None => {
                self.undeclared(name, span);
                None
            }
        }
    }

    fn undeclared(&mut self, name: &str, span: Span) {
        let mut error = Diagnostic::new(span, format!("`{name}` is not declared"));
        let owner = self.threads.iter().find(|t| t.locals.iter().any(|(local, ..)| local == name));
        if let Some(thread) = owner {
            error =
                error.help(format!("a thread's local is written with its thread: `{}.{name}`", thread.name));
        } else {
            let locals = self.scopes.iter().flat_map(|scope| scope.keys());
            let known = locals.chain(self.checker.names.keys()).map(String::as_str);
            match suggest::similar(name, known) {
                Some(meant) => error = error.help(format!("do you mean `{meant}`?")),
                None if self.context == Context::Code => {
                    error = error.help(format!(
                        "declare it: `int {name};` in this body for a local, at top level for a shared variable"
                    ));
                }
                None => {}
            }
        }
        self.error(error);
    }

    /// Whether a local of this name is in scope.
    pub(super) fn is_local(&self, name: &str) -> bool {
        self.scopes.iter().any(|scope| scope.contains_key(name))
    }

    /// What a name stands for, in words, and where it was declared.
    pub(super) fn describe(&self, name: &str) -> (String, Option<Span>) {
        for scope in self.scopes.iter().rev() {
            if let Some((local, span)) = scope.get(name) {
                let ty = self.locals[local.index()].ty;
                return (format!("a local of type `{ty}`"), Some(*span));
            }
        }
        let Some((meaning, span)) = self.checker.names.get(name) else { return ("nothing".to_owned(), None) };
        let words = match meaning {
            Meaning::Shared(id) | Meaning::Sync(id) => {
                let head = &self.checker.global_heads[id.index()];
                match (head.what, head.array) {
                    (What::Value(ty), false) => format!("a shared variable of type `{ty}`"),
                    (What::Value(ty), true) => format!("a shared array of `{ty}`"),
                    (What::Object(kind), false) => object_words(kind).to_owned(),
                    (What::Object(kind), true) => {
                        format!("an array of {}", objects_words(kind))
                    }
                }
            }
            Meaning::Function(_) => "a function".to_owned(),
            Meaning::Thread => "a thread".to_owned(),
        };
        (words, Some(*span))
    }

    /// An error about a name that stands for the wrong kind of thing.
    pub(super) fn wrong_kind(&mut self, name: &str, span: Span, wanted: &str) -> Diagnostic {
        let (words, declared) = self.describe(name);
        let error = Diagnostic::new(span, format!("`{name}` is {words}, not {wanted}"));
        match declared {
            Some(declared) => error.label(declared, "declared here"),
            None => error,
        }
    }
}

/// A synchronisation object in words.
pub(super) fn object_words(kind: ir::SyncKind) -> &'static str {
    match kind {
        ir::SyncKind::Mutex => "a mutex",
        ir::SyncKind::RecursiveMutex => "a recursive mutex",
        ir::SyncKind::RwLock => "an rwlock",
        ir::SyncKind::Condition => "a condition variable",
        ir::SyncKind::Semaphore => "a semaphore",
        ir::SyncKind::Barrier => "a barrier",
    }
}

/// Several of them.
fn objects_words(kind: ir::SyncKind) -> &'static str {
    match kind {
        ir::SyncKind::Mutex => "mutexes",
        ir::SyncKind::RecursiveMutex => "recursive mutexes",
        ir::SyncKind::RwLock => "rwlocks",
        ir::SyncKind::Condition => "condition variables",
        ir::SyncKind::Semaphore => "semaphores",
        ir::SyncKind::Barrier => "barriers",
    }
}
