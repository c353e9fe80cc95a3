//! Items: shared variables, synchronisation objects, functions, threads, the final condition.

use super::{Parsed, Parser};
use crate::Diagnostic;
use crate::ast::{
    ArraySize, Declarator, File, Function, Initial, Item, ItemKind, Name, Parameter, TypeName, TypeWord,
};
use crate::types::IntType;
use ir::{Quantifier, SyncKind};

/// Keywords that begin an item and nothing inside a body, except `thread` and `atomic`.
const ITEM_WORDS: [&str; 10] =
    ["fn", "thread", "main", "exists", "forall", "mutex", "recursive", "rwlock", "cond", "semaphore"];

impl Parser<'_> {
    pub(super) fn file(&mut self) -> File {
        let mut items = vec![];
        while !self.at_end() {
            let before = self.at;
            match self.item() {
                Ok(item) => items.push(item),
                Err(_) => self.skip_item(before),
            }
        }
        File { items }
    }

    /// Goes on behind a broken item: behind the next `;` or `}` at top level, or before a word that begins an
    /// item.
    fn skip_item(&mut self, before: usize) {
        // Braces that the broken item has opened and not closed before the error.
        let mut open = 0_usize;
        for token in &self.tokens[before..self.at] {
            match token.kind {
                crate::lexer::TokenKind::Fixed("{") => open += 1,
                crate::lexer::TokenKind::Fixed("}") => open = open.saturating_sub(1),
                _ => {}
            }
        }
        if self.at == before {
            if self.is("{") {
                open += 1;
            }
            self.advance();
        }
        while !self.at_end() {
            let first_on_line = self.span().line > self.last().line;
            if open == 0 && ITEM_WORDS.iter().any(|w| self.is(w)) {
                return;
            }
            if open == 0 && first_on_line && self.type_word().is_some() {
                return;
            }
            if self.is("{") {
                open += 1;
            } else if self.is("}") {
                open = open.saturating_sub(1);
                if open == 0 {
                    self.advance();
                    return;
                }
            } else if self.is(";") && open == 0 {
                self.advance();
                return;
            }
            self.advance();
        }
    }

    fn item(&mut self) -> Parsed<Item> {
        let start = self.span();
        let kind = if self.is("fn") {
            ItemKind::Function(self.function()?)
        } else if self.is("thread") {
            self.thread()?
        } else if self.is("main") {
            let name = Name { text: "main".to_owned(), span: self.advance().span };
            ItemKind::Thread { name, main: true, body: self.block("the body of `main`")? }
        } else if self.is("exists") || self.is("forall") || self.is("~") {
            self.final_condition()?
        } else if let Some(kind) = self.sync_kind()? {
            let declarators = self.declarators("the declaration")?;
            ItemKind::Sync { kind, declarators }
        } else if self.is("atomic") || self.type_word().is_some() {
            let atomic = self.eat("atomic");
            if atomic && self.is("{") {
                let error = Diagnostic::new(start, "an `atomic` block stands outside every thread")
                    .help("put it into `thread NAME { … }`, `main { … }` or a function");
                return Err(self.report(error));
            }
            let Some(word) = self.type_word() else { return Err(self.expected("a type after `atomic`")) };
            self.advance();
            let declarators = self.declarators("the declaration")?;
            ItemKind::Shared { atomic, word, declarators }
        } else if self.is("local") {
            let error = Diagnostic::new(start, "a local is declared outside every thread")
                .help("write `int` for a shared variable, or move it into a thread or function");
            return Err(self.report(error));
        } else {
            let error = Diagnostic::new(start, format!("expected a declaration, found {}", self.found()))
                .help("at top level stand shared variables (`int x;`), `mutex m;`, `fn`, `thread`, `main` and `exists`");
            return Err(self.report(error));
        };
        Ok(Item { kind, span: start.to(self.last()) })
    }

    fn function(&mut self) -> Parsed<Function> {
        self.expect("fn", "")?;
        if self.is("main") {
            let span = self.advance().span;
            let error =
                Diagnostic::new(span, "`main` is no function").help("write `main { … }` for the main thread");
            return Err(self.report(error));
        }
        let name = self.name("the function's name")?;
        self.expect("(", "after the function's name")?;
        let mut parameters = vec![];
        while !self.is(")") {
            let Some(ty) = self.type_name() else { return Err(self.expected("a parameter's type")) };
            let name = self.name("a parameter's name")?;
            parameters.push(Parameter { ty, name });
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")", "after the parameters")?;
        let returns = if self.eat("->") {
            let ty = self.type_name();
            if ty.is_none() {
                return Err(self.expected("the type that the function returns"));
            }
            ty
        } else {
            None
        };
        let body = self.block("the function's body")?;
        Ok(Function { name, parameters, returns, body })
    }

    fn thread(&mut self) -> Parsed<ItemKind> {
        let start = self.expect("thread", "")?;
        let name = self.name("the thread's name")?;
        if self.is("=") || self.is(";") {
            let error = Diagnostic::new(start.to(name.span), "a thread's handle is declared at top level")
                .help("handles are locals: declare it in the thread that forks");
            return Err(self.report(error));
        }
        Ok(ItemKind::Thread { name, main: false, body: self.block("the thread's body")? })
    }

    fn final_condition(&mut self) -> Parsed<ItemKind> {
        let quantifier = if self.eat("~") {
            self.expect("exists", "after `~`")?;
            Quantifier::NotExists
        } else if self.eat("exists") {
            Quantifier::Exists
        } else {
            self.expect("forall", "")?;
            Quantifier::Forall
        };
        self.expect("(", "before the condition")?;
        let condition = self.expression()?;
        self.expect(")", "after the condition")?;
        self.eat(";");
        Ok(ItemKind::Final { quantifier, condition })
    }

    /// Takes the words for a synchronisation object, if they stand here.
    fn sync_kind(&mut self) -> Parsed<Option<SyncKind>> {
        if self.eat("recursive") {
            self.expect("mutex", "after `recursive`")?;
            return Ok(Some(SyncKind::RecursiveMutex));
        }
        let kinds =
            [SyncKind::Mutex, SyncKind::RwLock, SyncKind::Condition, SyncKind::Semaphore, SyncKind::Barrier];
        let kind = kinds.into_iter().find(|kind| self.is(kind.word()));
        if kind.is_some() {
            self.advance();
        }
        Ok(kind)
    }

    /// The names of a declaration and the `;` behind them.
    pub(super) fn declarators(&mut self, what: &str) -> Parsed<Vec<Declarator>> {
        let mut declarators = vec![self.declarator()?];
        while self.eat(",") {
            declarators.push(self.declarator()?);
        }
        self.semicolon(what)?;
        Ok(declarators)
    }

    fn declarator(&mut self) -> Parsed<Declarator> {
        let stars = self.stars();
        let name = self.name("a name")?;
        let array = if self.is("[") {
            let start = self.advance().span;
            let count = if self.is("]") { None } else { Some(self.expression()?) };
            let end = self.expect("]", "after the number of elements")?;
            Some(ArraySize { count, span: start.to(end) })
        } else {
            None
        };
        let initial = if self.eat("=") || self.eat(":=") { Some(self.initial()?) } else { None };
        Ok(Declarator { stars, name, array, initial })
    }

    fn initial(&mut self) -> Parsed<Initial> {
        if !self.is("{") {
            return Ok(Initial::Value(self.expression()?));
        }
        let start = self.advance().span;
        let mut values = vec![];
        while !self.is("}") {
            values.push(self.expression()?);
            if !self.eat(",") {
                break;
            }
        }
        let end = self.expect("}", "after the initial values")?;
        Ok(Initial::List { values, span: start.to(end) })
    }

    fn stars(&mut self) -> u8 {
        let mut stars = 0_u8;
        while self.is("*") {
            self.advance();
            stars = stars.saturating_add(1);
        }
        stars
    }

    /// The integer type word that stands here, if any.
    pub(super) fn type_word(&self) -> Option<TypeWord> {
        let sized = [
            ("i8", IntType::I8),
            ("i16", IntType::I16),
            ("i32", IntType::I32),
            ("i64", IntType::I64),
            ("u8", IntType::U8),
            ("u16", IntType::U16),
            ("u32", IntType::U32),
            ("u64", IntType::U64),
        ];
        if self.is("int") {
            return Some(TypeWord::Int);
        }
        sized.into_iter().find(|(word, _)| self.is(word)).map(|(_, ty)| TypeWord::Sized(ty))
    }

    /// Takes a type, if one stands here.
    pub(super) fn type_name(&mut self) -> Option<TypeName> {
        let word = if self.is("thread") { Some(TypeWord::Thread) } else { self.type_word() }?;
        let start = self.advance().span;
        let stars = self.stars();
        Some(TypeName { word, stars, span: start.to(self.last()) })
    }
}
