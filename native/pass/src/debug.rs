//! Source files and positions, from debug information.

use crate::llvm::{Meta, Value};
use ir::{FileId, Position, SourceFile};
use rustc_hash::FxHashMap;

/// The source files of a module.
#[derive(Default)]
pub struct Files {
    files: Vec<SourceFile>,
    of_path: FxHashMap<String, FileId>,
    of_file: FxHashMap<Meta, FileId>,
    of_scope: FxHashMap<Meta, Option<FileId>>,
}

impl Files {
    /// All files.
    pub fn finish(self) -> Vec<SourceFile> {
        self.files
    }

    /// Where an instruction comes from.
    pub fn instruction(&mut self, instruction: Value) -> Option<Position> {
        let location = instruction.location()?;
        let (line, column) = location.line_and_column();
        let file = self.scope(location.scope()?)?;
        position(file, line, column)
    }

    /// Where a function is defined.
    pub fn function(&mut self, function: Value) -> Option<Position> {
        let subprogram = function.subprogram()?;
        let file = self.scope(subprogram)?;
        position(file, subprogram.subprogram_line(), 1)
    }

    /// Where a variable is declared.
    pub fn variable(&mut self, variable: Meta) -> Option<Position> {
        let (file, line) = variable.variable_place();
        let file = self.file(file?);
        position(file, line, 1)
    }

    fn scope(&mut self, scope: Meta) -> Option<FileId> {
        if let Some(&known) = self.of_scope.get(&scope) {
            return known;
        }
        let file = scope.scope_file().map(|file| self.file(file));
        self.of_scope.insert(scope, file);
        file
    }

    fn file(&mut self, file: Meta) -> FileId {
        if let Some(&known) = self.of_file.get(&file) {
            return known;
        }
        let path = file.path();
        let id = match self.of_path.get(&path) {
            Some(&id) => id,
            None => {
                let id = FileId::new(self.files.len());
                self.files.push(SourceFile { path: path.clone() });
                self.of_path.insert(path, id);
                id
            }
        };
        self.of_file.insert(file, id);
        id
    }
}

/// Line 0 is code that the compiler made up; column 0 is an unknown one.
fn position(file: FileId, line: u32, column: u32) -> Option<Position> {
    (line > 0).then_some(Position { file, line, column: column.max(1) })
}
