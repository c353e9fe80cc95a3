//! Places: what can be assigned to, and what has an address.

use super::What;
use super::body::{Body, Found};
use crate::ast::{self, UnaryOp};
use crate::typed::{Expr, ExprKind, LocalId, Place, PlaceBase};
use crate::types::Type;
use crate::{Diagnostic, Span};
use ir::GlobalId;

/// What an assignment changes.
pub(super) enum Target {
    Local(LocalId),
    Place(Place),
}

impl Body<'_> {
    /// What an assignment to this expression changes.
    pub(super) fn target(&mut self, expr: &ast::Expr) -> Option<Target> {
        match &expr.kind {
            ast::ExprKind::Paren(inner) => self.target(inner),
            ast::ExprKind::Name(name) => match self.find(name, expr.span)? {
                Found::Local(local) => Some(Target::Local(local)),
                _ => self.place(expr, "a variable").map(Target::Place),
            },
            _ => self.place(expr, "a variable").map(Target::Place),
        }
    }

    /// The memory that an expression names; `wanted` is what a wrong name is not.
    pub(super) fn place(&mut self, expr: &ast::Expr, wanted: &str) -> Option<Place> {
        match &expr.kind {
            ast::ExprKind::Paren(inner) => self.place(inner, wanted),
            ast::ExprKind::Name(name) => self.named_place(name, expr.span, wanted),
            ast::ExprKind::Index { base, index } => self.element(base, index, expr.span),
            ast::ExprKind::Unary { op: UnaryOp::Dereference, operand } => {
                let pointer = self.value(operand)?;
                let Some(ty) = pointer.ty.pointee() else {
                    let message = format!("`*` needs a pointer, but this is of type `{}`", pointer.ty);
                    self.error(Diagnostic::new(operand.span, message));
                    return None;
                };
                Some(Place {
                    base: PlaceBase::Pointer(Box::new(pointer)),
                    index: None,
                    ty,
                    atomic: false,
                    span: expr.span,
                })
            }
            _ => {
                let error = Diagnostic::new(expr.span, "this is a value, not a variable")
                    .help("variables are `x`, `a[i]`, `*p` and `p[i]`");
                self.error(error);
                None
            }
        }
    }

    fn named_place(&mut self, name: &str, span: Span, wanted: &str) -> Option<Place> {
        match self.find(name, span)? {
            Found::Local(_) => {
                let error = self.wrong_kind(name, span, "a shared variable");
                let help = "locals are no memory: nobody else can see them, and they have no address; declare it shared";
                self.error(error.help(help));
                None
            }
            Found::Shared(id) => {
                let head = &self.checker.global_heads[id.index()];
                match head.what {
                    What::Value(ty) if !head.array => Some(Place {
                        base: PlaceBase::Global(id),
                        index: None,
                        ty,
                        atomic: head.atomic,
                        span,
                    }),
                    _ => {
                        let error = self.wrong_kind(name, span, "a single variable");
                        self.error(error.help(format!("say which element: `{name}[0]`")));
                        None
                    }
                }
            }
            Found::Sync(_) => {
                let error = self.wrong_kind(name, span, wanted);
                self.error(error);
                None
            }
            Found::Function => {
                let error = self.wrong_kind(name, span, wanted);
                self.error(error.help(format!("call it: `{name}(…)`")));
                None
            }
            Found::Thread => {
                let error = self.wrong_kind(name, span, wanted);
                self.error(error);
                None
            }
        }
    }

    /// `a[i]` and `p[i]`
    fn element(&mut self, base: &ast::Expr, index: &ast::Expr, span: Span) -> Option<Place> {
        let mut inner = base;
        while let ast::ExprKind::Paren(next) = &inner.kind {
            inner = next;
        }
        if let ast::ExprKind::Name(name) = &inner.kind {
            match self.find(name, inner.span)? {
                Found::Shared(id) if self.checker.global_heads[id.index()].array => {
                    let index = self.integer(index, "an index")?;
                    let head = &self.checker.global_heads[id.index()];
                    let What::Value(ty) = head.what else { return None };
                    let atomic = head.atomic;
                    return Some(Place {
                        base: PlaceBase::Global(id),
                        index: Some(Box::new(index)),
                        ty,
                        atomic,
                        span,
                    });
                }
                Found::Shared(_) | Found::Local(_) => {}
                Found::Sync(_) | Found::Function | Found::Thread => {
                    let error = self.wrong_kind(name, inner.span, "an array of values");
                    self.error(error);
                    return None;
                }
            }
        }
        let pointer = self.value(base);
        let index = self.integer(index, "an index");
        let (pointer, index) = (pointer?, index?);
        let Some(ty) = pointer.ty.pointee() else {
            let mut error = Diagnostic::new(span, format!("{} has no elements", pointer.ty.with_article()))
                .here("indexed here")
                .help("arrays are declared at top level: `int a[4];`");
            if let ast::ExprKind::Name(name) = &inner.kind
                && let (words, Some(declared)) = self.describe(name)
            {
                error = error.label(declared, format!("`{name}` is {words}"));
            }
            self.error(error);
            return None;
        };
        Some(Place {
            base: PlaceBase::Pointer(Box::new(pointer)),
            index: Some(Box::new(index)),
            ty,
            atomic: false,
            span,
        })
    }

    /// The address of an array's first element, which the array's name stands for.
    pub(super) fn array_address(&mut self, id: GlobalId, span: Span) -> Option<Expr> {
        let What::Value(ty) = self.checker.global_heads[id.index()].what else { return None };
        let place = Place { base: PlaceBase::Global(id), index: None, ty, atomic: false, span };
        Some(Expr { kind: ExprKind::AddressOf(place), ty: ty.pointer()?, span })
    }

    pub(super) fn address_of(&mut self, operand: &ast::Expr, span: Span) -> Option<Expr> {
        let place = self.place(operand, "a variable that has an address")?;
        let Some(ty) = place.ty.pointer() else {
            self.error(Diagnostic::new(span, "this address has too many stars"));
            return None;
        };
        if let Type::Pointer { depth, .. } = ty
            && depth > 8
        {
            self.error(Diagnostic::new(span, "a pointer has at most 8 stars"));
            return None;
        }
        Some(Expr { kind: ExprKind::AddressOf(place), ty, span })
    }
}
