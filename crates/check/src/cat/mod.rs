//! Memory models as data: a subset of herd's `cat` language (J. Alglave, L. Maranget, M. Tautschnig, TOPLAS 2014), and one construct of
//! ours for models in which each thread has a view of its own.
//!
//! A model names relations over the events of an execution and says which of them must be acyclic, irreflexive or empty. Each such
//! check is a rule that can be switched off by its name. `docs/memory-models.md` describes the language.

mod ast;
mod kinds;
mod lexer;
mod parser;

pub(crate) use ast::{Binding, CheckKind, Expr, ExprKind, Statement};
pub(crate) use kinds::{FUNCTIONS, SETS};
pub use lang::Diagnostic;

/// The models that are part of the program: name, source.
pub const SHIPPED: [(&str, &str); 10] = [
    ("sc", include_str!("../../models/sc.cat")),
    ("tso", include_str!("../../models/tso.cat")),
    ("pso", include_str!("../../models/pso.cat")),
    ("coherence", include_str!("../../models/coherence.cat")),
    ("pram", include_str!("../../models/pram.cat")),
    ("causal", include_str!("../../models/causal.cat")),
    ("processor", include_str!("../../models/processor.cat")),
    ("rc11", include_str!("../../models/rc11.cat")),
    ("common", include_str!("../../models/common.cat")),
    ("races", include_str!("../../models/races.cat")),
];

/// Files that are no models but parts of them.
const PARTS: [&str; 2] = ["common", "races"];

/// The names of the shipped models.
pub fn names() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|(name, _)| *name).filter(|name| !PARTS.contains(name))
}

/// Deepest nesting of includes.
const MAX_INCLUDES: usize = 10;

/// A model.
#[derive(Clone, Debug)]
pub struct Model {
    /// What it is called.
    pub name: String,
    pub(crate) statements: Vec<Statement>,
}

/// What is wrong with a model: the file, its text, and the errors in it.
#[derive(Clone, Debug)]
pub struct ModelError {
    /// The file, or the name of a shipped model.
    pub path: String,
    /// Its text.
    pub source: String,
    /// What is wrong.
    pub errors: Vec<Diagnostic>,
}

impl Model {
    /// A model that is part of the program.
    #[must_use]
    pub fn shipped(name: &str) -> Option<Model> {
        names().any(|known| known == name).then(|| Model::part(name)).flatten()
    }

    /// The definitions of happens-before and of races.
    pub(crate) fn races() -> Option<Model> {
        Model::part("races")
    }

    fn part(name: &str) -> Option<Model> {
        let (name, source) = SHIPPED.iter().find(|(known, _)| *known == name)?;
        Model::parse(name, source, &mut |_| None).ok()
    }

    /// Parses a model; `include` gives the text of an included file that is not a shipped one.
    ///
    /// # Errors
    /// With all that is wrong in the first file that is wrong.
    pub fn parse(
        path: &str,
        source: &str,
        include: &mut dyn FnMut(&str) -> Option<String>,
    ) -> Result<Model, Box<ModelError>> {
        let mut model = Model { name: path.to_owned(), statements: vec![] };
        let mut seen = vec![];
        model.read(path, source, include, &mut seen)?;
        Ok(model)
    }

    fn read(
        &mut self,
        path: &str,
        source: &str,
        include: &mut dyn FnMut(&str) -> Option<String>,
        open: &mut Vec<String>,
    ) -> Result<(), Box<ModelError>> {
        let wrong =
            |errors| Box::new(ModelError { path: path.to_owned(), source: source.to_owned(), errors });
        open.push(path.to_owned());
        let parsed = parser::parse(source).map_err(wrong)?;
        if let (Some(name), 1) = (parsed.name, open.len()) {
            self.name = name;
        }
        for statement in parsed.statements {
            let Statement::Include { name, span } = &statement else {
                self.statements.push(statement);
                continue;
            };
            let shipped = name.strip_suffix(".cat").unwrap_or(name);
            let shipped =
                SHIPPED.iter().find(|(known, _)| *known == shipped).map(|(_, text)| (*text).to_owned());
            let text = include(name).or(shipped);
            let error = match text {
                None => Some(format!("there is no file `{name}` to include")),
                Some(_) if open.len() > MAX_INCLUDES || open.contains(name) => {
                    Some(format!("`{name}` includes itself"))
                }
                Some(_) => None,
            };
            if let Some(message) = error {
                return Err(wrong(vec![Diagnostic::new(*span, message)]));
            }
            self.read(name, &text.unwrap_or_default(), include, open)?;
        }
        open.pop();
        let errors = kinds::check(&self.statements);
        if errors.is_empty() { Ok(()) } else { Err(wrong(errors)) }
    }

    /// The names of its rules.
    #[must_use]
    pub fn rules(&self) -> Vec<&str> {
        let rules = self.statements.iter().filter_map(|statement| match statement {
            Statement::Check { name, flag: false, .. } | Statement::Views { name, .. } => Some(&**name),
            _ => None,
        });
        rules.collect()
    }
}
