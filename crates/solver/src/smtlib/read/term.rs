//! Reading terms.

use super::super::sexpr::Sexpr;
use super::{Meaning, Script};
use crate::error::Result;
use crate::order::Point;
use crate::terms::{Bool, Bv};

/// Terms nested deeper than this, through definitions too, are refused: reading them recurses.
const MAX_DEPTH: usize = 2200;

/// More uses of definitions that mention order in one command are refused.
const MAX_EXPANSIONS: usize = 100_000;

/// A term of either sort.
enum Value {
    Bool(Bool),
    Bv(Bv),
    Point(Point),
}

impl Script {
    /// A definition: evaluated at once, or kept as text if it mentions order.
    pub(super) fn define(&mut self, body: &Sexpr) -> Result<Meaning> {
        if self.mentions_order(body) {
            return Ok(Meaning::Open(body.clone()));
        }
        Ok(match self.term(body, None)? {
            Value::Bool(b) => Meaning::Bool(b),
            Value::Bv(v) => Meaning::Bv(v),
            Value::Point(p) => Meaning::Point(p),
        })
    }

    fn mentions_order(&self, expr: &Sexpr) -> bool {
        match (expr.atom(), expr.list()) {
            (Some(name), _) => matches!(self.names.get(name), Some(Meaning::Point(_) | Meaning::Open(_))),
            (_, Some(items)) => items.iter().any(|i| self.mentions_order(i)),
            _ => false,
        }
    }

    /// A formula; `positive` says with which sign it is used.
    pub(super) fn formula(&mut self, expr: &Sexpr, positive: bool) -> Result<Bool> {
        match self.term(expr, Some(positive))? {
            Value::Bool(b) => Ok(b),
            _ => expr.error("a formula is expected here"),
        }
    }

    fn word(&mut self, expr: &Sexpr) -> Result<Bv> {
        match self.term(expr, None)? {
            Value::Bv(v) => Ok(v),
            _ => expr.error("a bit-vector is expected here"),
        }
    }

    fn point(&mut self, expr: &Sexpr) -> Result<Point> {
        match self.term(expr, None)? {
            Value::Point(p) => Ok(p),
            _ => expr.error("an integer constant that was declared is expected here"),
        }
    }

    /// `sign` is `None` where a formula is used with both signs.
    fn term(&mut self, expr: &Sexpr, sign: Option<bool>) -> Result<Value> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return expr.error("definitions nested too deeply");
        }
        let value = self.term_inside(expr, sign);
        self.depth -= 1;
        value
    }

    fn term_inside(&mut self, expr: &Sexpr, sign: Option<bool>) -> Result<Value> {
        if let Some(name) = expr.atom() {
            return self.atom(expr, name, sign);
        }
        let items = expr.list().unwrap_or(&[]);
        let Some((head, arguments)) = items.split_first() else {
            return expr.error("an empty list is not a term");
        };
        if let Some([underscore, name, rest @ ..]) = head.list()
            && underscore.atom() == Some("_")
        {
            return self.indexed(expr, name, rest, arguments);
        }
        let Some(op) = head.atom() else { return head.error("an operator is expected") };
        if op == "_" {
            return self.constant(expr, arguments);
        }
        self.apply(expr, op, arguments, sign)
    }

    fn atom(&mut self, expr: &Sexpr, name: &str, sign: Option<bool>) -> Result<Value> {
        match self.names.get(name) {
            Some(Meaning::Bool(b)) => return Ok(Value::Bool(*b)),
            Some(Meaning::Bv(v)) => return Ok(Value::Bv(*v)),
            Some(Meaning::Point(p)) => return Ok(Value::Point(*p)),
            Some(Meaning::Open(body)) => {
                let body = body.clone();
                self.expansions += 1;
                if self.expansions > MAX_EXPANSIONS {
                    return expr.error("too many uses of definitions that mention order");
                }
                return self.term(&body, sign);
            }
            None => {}
        }
        let digits = |text: &str, radix: u32, bits: usize| {
            let width = text.len() * bits;
            (1..=128)
                .contains(&width)
                .then(|| u128::from_str_radix(text, radix).ok())
                .flatten()
                .map(|v| (v, width))
        };
        let literal = match (name.strip_prefix("#b"), name.strip_prefix("#x")) {
            (Some(text), _) => digits(text, 2, 1),
            (_, Some(text)) => digits(text, 16, 4),
            _ => None,
        };
        match (name, literal) {
            ("true", _) => Ok(Value::Bool(self.solver.bool_const(true))),
            ("false", _) => Ok(Value::Bool(self.solver.bool_const(false))),
            (_, Some((value, width))) => Ok(Value::Bv(self.solver.bv_const(value, width as u32)?)),
            _ => expr.error(format!("{name} is not declared")),
        }
    }

    /// `(_ bv5 8)`.
    fn constant(&mut self, expr: &Sexpr, arguments: &[Sexpr]) -> Result<Value> {
        if let [number, width] = arguments
            && let Some(value) =
                number.atom().and_then(|n| n.strip_prefix("bv")).and_then(|n| n.parse::<u128>().ok())
            && let Some(width) = width.atom().and_then(|w| w.parse::<u32>().ok())
        {
            let constant = self.solver.bv_const(value, width).or_else(|e| expr.error(e.to_string()))?;
            return Ok(Value::Bv(constant));
        }
        expr.error("only (_ bvN width) is read here")
    }

    /// `((_ extract 7 0) x)` and the like.
    fn indexed(
        &mut self,
        expr: &Sexpr,
        name: &Sexpr,
        numbers: &[Sexpr],
        arguments: &[Sexpr],
    ) -> Result<Value> {
        let numbers: Option<Vec<u32>> = numbers.iter().map(|n| n.atom()?.parse().ok()).collect();
        let (Some(numbers), [argument]) = (numbers, arguments) else {
            return expr.error("an indexed operator with one argument is expected");
        };
        let a = self.word(argument)?;
        let result = match (name.atom(), &numbers[..]) {
            (Some("extract"), &[high, low]) => self.solver.bv_extract(a, high, low),
            (Some("zero_extend"), &[by]) => self.solver.bv_zero_extend(a, a.width().saturating_add(by)),
            (Some("sign_extend"), &[by]) => self.solver.bv_sign_extend(a, a.width().saturating_add(by)),
            _ => return expr.error("this indexed operator is not read here"),
        };
        result.map(Value::Bv).or_else(|e| expr.error(e.to_string()))
    }

    fn apply(&mut self, expr: &Sexpr, op: &str, arguments: &[Sexpr], sign: Option<bool>) -> Result<Value> {
        let boolean = |b: Bool| Ok(Value::Bool(b));
        match (op, arguments) {
            ("not", [a]) => {
                let a = self.formula_signed(a, sign.map(|s| !s))?;
                boolean(self.solver.not(a)?)
            }
            ("and" | "or", _) => {
                let mut parts = Vec::with_capacity(arguments.len());
                for a in arguments {
                    parts.push(self.formula_signed(a, sign)?);
                }
                boolean(if op == "and" { self.solver.and(&parts)? } else { self.solver.or(&parts)? })
            }
            ("=>", [conditions @ .., last]) => {
                let mut parts = Vec::with_capacity(arguments.len());
                for a in conditions {
                    let a = self.formula_signed(a, sign.map(|s| !s))?;
                    parts.push(self.solver.not(a)?);
                }
                parts.push(self.formula_signed(last, sign)?);
                boolean(self.solver.or(&parts)?)
            }
            ("<" | ">", [a, b]) => {
                let (a, b) = (self.point(a)?, self.point(b)?);
                let (a, b) = if op == "<" { (a, b) } else { (b, a) };
                if sign != Some(true) {
                    return expr
                        .error("order may only be used positively: integers may be equal, points may not");
                }
                // True only if the points are in order; when false, nothing is said, as with integers.
                let holds = self.solver.bool_var();
                self.solver.before_if(holds, a, b)?;
                boolean(holds)
            }
            ("ite", [c, t, e]) => {
                let c = self.formula_signed(c, None)?;
                match (self.term(t, sign)?, self.term(e, sign)?) {
                    (Value::Bool(t), Value::Bool(e)) => boolean(self.solver.ite(c, t, e)?),
                    (Value::Bv(t), Value::Bv(e)) => {
                        self.solver.bv_ite(c, t, e).map(Value::Bv).or_else(|e| expr.error(e.to_string()))
                    }
                    _ => expr.error("the branches of an ite differ in sort"),
                }
            }
            ("=" | "distinct" | "xor", [a, b]) => {
                let equal = match (self.term(a, None)?, self.term(b, None)?) {
                    (Value::Bool(a), Value::Bool(b)) => self.solver.iff(a, b)?,
                    (Value::Bv(a), Value::Bv(b)) if op != "xor" => {
                        self.solver.bv_eq(a, b).or_else(|e| expr.error(e.to_string()))?
                    }
                    _ => return expr.error("equality of these sorts is not read here"),
                };
                boolean(if op == "=" { equal } else { self.solver.not(equal)? })
            }
            ("bvnot" | "bvneg", [a]) => {
                let a = self.word(a)?;
                Ok(Value::Bv(if op == "bvnot" { self.solver.bv_not(a)? } else { self.solver.bv_neg(a)? }))
            }
            (_, [first, rest @ ..]) if !rest.is_empty() => self.words(expr, op, first, rest),
            _ => expr.error(format!("{op} with {} arguments is not read here", arguments.len())),
        }
    }

    fn formula_signed(&mut self, expr: &Sexpr, sign: Option<bool>) -> Result<Bool> {
        match self.term(expr, sign)? {
            Value::Bool(b) => Ok(b),
            _ => expr.error("a formula is expected here"),
        }
    }

    /// Operations on words of two arguments; those that associate take more.
    fn words(&mut self, expr: &Sexpr, op: &str, first: &Sexpr, rest: &[Sexpr]) -> Result<Value> {
        let mut a = self.word(first)?;
        let chains = matches!(op, "bvadd" | "bvmul" | "bvand" | "bvor" | "bvxor" | "concat");
        if rest.len() > 1 && !chains {
            return expr.error(format!("{op} takes two arguments"));
        }
        for argument in rest {
            let b = self.word(argument)?;
            let s = &mut self.solver;
            let compared = match op {
                "bvult" => Some(s.bv_ult(a, b)),
                "bvule" => Some(s.bv_ule(a, b)),
                "bvugt" => Some(s.bv_ult(b, a)),
                "bvuge" => Some(s.bv_ule(b, a)),
                "bvslt" => Some(s.bv_slt(a, b)),
                "bvsle" => Some(s.bv_sle(a, b)),
                "bvsgt" => Some(s.bv_slt(b, a)),
                "bvsge" => Some(s.bv_sle(b, a)),
                _ => None,
            };
            if let Some(compared) = compared {
                return compared.map(Value::Bool).or_else(|e| expr.error(e.to_string()));
            }
            let result = match op {
                "bvadd" => s.bv_add(a, b),
                "bvsub" => s.bv_sub(a, b),
                "bvmul" => s.bv_mul(a, b),
                "bvudiv" => s.bv_udiv(a, b),
                "bvurem" => s.bv_urem(a, b),
                "bvsdiv" => s.bv_sdiv(a, b),
                "bvsrem" => s.bv_srem(a, b),
                "bvand" => s.bv_and(a, b),
                "bvor" => s.bv_or(a, b),
                "bvxor" => s.bv_xor(a, b),
                "bvshl" => s.bv_shl(a, b),
                "bvlshr" => s.bv_lshr(a, b),
                "bvashr" => s.bv_ashr(a, b),
                "concat" => s.bv_concat(a, b),
                _ => return expr.error(format!("{op} is not read here")),
            };
            a = result.or_else(|e| expr.error(e.to_string()))?;
        }
        Ok(Value::Bv(a))
    }
}
