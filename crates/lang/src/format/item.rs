//! Items in canonical form.

use super::Printer;
use crate::ast::{File, Item, ItemKind};
use ir::{Quantifier, SyncKind};

impl Printer<'_> {
    pub(super) fn file(&mut self, file: &File) {
        let mut before: Option<&Item> = None;
        for item in &file.items {
            // A tree that comes from no text has no blank lines of its own.
            let bare = |item: &Item| matches!(item.kind, ItemKind::Shared { .. } | ItemKind::Sync { .. });
            if let Some(before) = before
                && item.span.line == 0
                && !(bare(before) && bare(item))
            {
                self.separate();
            }
            self.start_line(item.span);
            self.item(item);
            self.end_line(item.span);
            before = Some(item);
        }
    }

    fn item(&mut self, item: &Item) {
        match &item.kind {
            ItemKind::Shared { atomic, word, declarators } => {
                if *atomic {
                    self.write("atomic ");
                }
                self.declaration(*word, declarators);
                self.write(";");
            }
            ItemKind::Sync { kind, declarators } => {
                self.write(match kind {
                    SyncKind::RecursiveMutex => "recursive mutex",
                    other => other.word(),
                });
                self.write(" ");
                self.declarators(declarators);
                self.write(";");
            }
            ItemKind::Function(function) => {
                self.write("fn ");
                self.comments_before(function.name.span);
                self.write(&function.name.text);
                self.write("(");
                for (n, parameter) in function.parameters.iter().enumerate() {
                    if n > 0 {
                        self.write(", ");
                    }
                    self.comments_before(parameter.ty.span);
                    self.write(parameter.ty.word.word());
                    self.write(" ");
                    self.comments_before(parameter.name.span);
                    self.write(&"*".repeat(usize::from(parameter.ty.stars)));
                    self.write(&parameter.name.text);
                }
                self.write(") ");
                if let Some(returns) = &function.returns {
                    self.write("-> ");
                    self.type_name(returns);
                    self.write(" ");
                }
                self.block(&function.body);
            }
            ItemKind::Thread { name, main, body } => {
                if !main {
                    self.write("thread ");
                }
                self.comments_before(name.span);
                self.write(&name.text);
                self.write(" ");
                self.block(body);
            }
            ItemKind::Final { quantifier, condition } => {
                self.write(match quantifier {
                    Quantifier::Exists => "exists (",
                    Quantifier::NotExists => "~exists (",
                    Quantifier::Forall => "forall (",
                });
                self.expression(condition);
                self.write(")");
            }
        }
    }
}
