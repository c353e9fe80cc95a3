//! The syntax of models.

use lang::Span;

/// What a check demands of a relation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CheckKind {
    Acyclic,
    Irreflexive,
    Empty,
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Statement {
    /// `let x = e and f(y) = e`
    Let { recursive: bool, bindings: Vec<Binding> },
    /// `acyclic e as name`; with `flag`, it forbids nothing and is only reported
    Check { kind: CheckKind, negated: bool, flag: bool, expr: Expr, name: String },
    /// `views e agreeing e as name`
    Views { respecting: Expr, agreeing: Option<Expr>, name: String },
    /// `include "file"`
    Include { name: String, span: Span },
}

/// A definition.
#[derive(Clone, Debug)]
pub struct Binding {
    pub name: String,
    pub parameters: Vec<String>,
    pub expr: Expr,
}

/// An expression and where it stands.
#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug)]
pub enum ExprKind {
    Name(String),
    Call(String, Vec<Expr>),
    /// `_`: all events
    All,
    /// `0`
    Nothing,
    /// `[e]`
    Identity(Box<Expr>),
    Union(Box<Expr>, Box<Expr>),
    Intersection(Box<Expr>, Box<Expr>),
    Difference(Box<Expr>, Box<Expr>),
    Sequence(Box<Expr>, Box<Expr>),
    Product(Box<Expr>, Box<Expr>),
    Inverse(Box<Expr>),
    Plus(Box<Expr>),
    Star(Box<Expr>),
    Optional(Box<Expr>),
    Complement(Box<Expr>),
}
