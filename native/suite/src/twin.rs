//! A model program and its twin in C.

use crate::to_c::{LeftOut, places, to_c};
use ir::{Op, SiteId, SiteIndex};
use lang::ast::{File, Function, ItemKind};
use lang::typed;
use std::collections::BTreeMap;

/// Two texts of one program.
#[derive(Clone, Debug)]
pub struct Twin {
    /// In the model language.
    pub model: String,
    /// The same as program IR.
    pub program: ir::Program,
    /// In C.
    pub c: String,
}

impl Twin {
    /// Of a program in which the main thread forks all others: those that exist from the start are forked first, and joined last.
    ///
    /// # Errors
    /// If it has something that has no form in C.
    ///
    /// # Panics
    /// If the program is not well formed.
    pub fn new(file: &File) -> Result<Twin, LeftOut> {
        let model = forked(file);
        let parsed = lang::parse(&model).expect("what was printed parses");
        let checked: typed::Program =
            lang::check(&parsed).unwrap_or_else(|errors| panic!("{errors:?}\n{model}"));
        let options =
            lang::LowerOptions { name: "twin.tb".into(), path: "twin.tb".into(), ..Default::default() };
        let c = to_c(&checked)?;
        Ok(Twin { program: lang::lower(&checked, &options), model, c })
    }

    /// Both texts, for whoever looks into a difference.
    #[must_use]
    pub fn show(&self) -> String {
        let numbered = self.c.lines().zip(1..).map(|(line, n)| format!("{n:4} {line}\n"));
        format!("{}\n{}", self.model, numbered.collect::<String>())
    }
}

fn forked(file: &File) -> String {
    let mut file = file.clone();
    let mut names = vec![];
    for item in &mut file.items {
        if let ItemKind::Thread { name, main: false, body } = &item.kind {
            names.push(name.text.clone());
            let (name, body) = (name.clone(), body.clone());
            item.kind = ItemKind::Function(Function { name, parameters: vec![], returns: None, body });
        }
    }
    let mut text = lang::print(&file);
    if !names.is_empty() {
        let forks = names.iter().map(|name| format!("    thread of_{name} = fork {name}();\n"));
        let joins = names.iter().map(|name| format!("    join(of_{name});\n"));
        text += &format!("\nmain {{\n{}}}\n", forks.chain(joins).collect::<String>());
    }
    text
}

/// What both texts call an instruction: where it stands in the model, and whether it reads or writes (`x += 1` stands there for both).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column; 0 if the line is one of the C text that stands for nothing in the model.
    pub column: u32,
    /// What it does.
    pub does: &'static str,
}

/// The instructions of one of the two programs.
pub struct Places<'p> {
    program: &'p ir::Program,
    sites: SiteIndex,
    /// What lines of C stand for.
    lines: Option<BTreeMap<u32, (u32, u32)>>,
}

impl<'p> Places<'p> {
    /// Of the model program.
    #[must_use]
    pub fn of_model(program: &'p ir::Program) -> Places<'p> {
        Places { program, sites: SiteIndex::new(program), lines: None }
    }

    /// Of the program in C.
    #[must_use]
    pub fn of_c(program: &'p ir::Program, text: &str) -> Places<'p> {
        Places { program, sites: SiteIndex::new(program), lines: Some(places(text)) }
    }

    /// What an instruction is called.
    #[must_use]
    pub fn place(&self, site: SiteId) -> Place {
        let does = match self.sites.op(self.program, site) {
            Some(Op::Load { .. }) => "reads",
            Some(Op::Store { .. }) => "writes",
            _ => "",
        };
        let position = self.sites.source(self.program, site).0;
        let (line, column) = position.map_or((0, 0), |position| match &self.lines {
            None => (position.line, position.column),
            Some(lines) => lines.get(&position.line).copied().unwrap_or((position.line, 0)),
        });
        Place { line, column, does }
    }
}
