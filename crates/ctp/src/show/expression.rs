//! Expressions as the source would write them.

use super::names::Names;
use crate::{EventIndex, Expr, ExprId};
use ir::{BinaryOp, Predicate, Width, eval};

impl Names<'_> {
    /// An expression as an event sees it.
    pub fn expression(&self, id: ExprId, by: EventIndex) -> String {
        let expressions = &self.ctp.expressions;
        if let Some(local) = self.held(id, by) {
            return local.to_owned();
        }
        let sub = |id: ExprId| {
            let text = self.expression(id, by);
            // Widening is not shown, so what is widened decides.
            let mut inner = id;
            while let Expr::Zext(of) | Expr::Sext(of) = expressions.get(inner)
                && self.held(inner, by).is_none()
            {
                inner = of;
            }
            match expressions.get(inner) {
                _ if self.held(inner, by).is_some() => text,
                Expr::Binary(..) | Expr::Compare(..) | Expr::Select { .. } => format!("({text})"),
                _ => text,
            }
        };
        match expressions.get(id) {
            Expr::Const(bits) => self.constant(expressions.width(id), bits),
            Expr::Read(read) => self.read(read),
            Expr::Hole => "□".to_owned(),
            Expr::Unknown => "?".to_owned(),
            Expr::Any(_) => "*".to_owned(),
            Expr::Binary(op, a, b) => {
                // Subtraction of a constant is kept as an addition.
                if let (BinaryOp::Add, Some(bits)) = (op, expressions.constant(b)) {
                    let by = eval::signed(expressions.width(b), bits);
                    if by < 0 {
                        return format!("{} - {}", sub(a), by.unsigned_abs());
                    }
                }
                format!("{} {} {}", sub(a), binary(op, expressions.width(a)), sub(b))
            }
            Expr::Compare(predicate, a, b) => format!("{} {} {}", sub(a), compare(predicate), sub(b)),
            // Widening changes no value that anybody reads here.
            Expr::Zext(a) | Expr::Sext(a) => self.expression(a, by),
            Expr::Extract { value, low } => {
                let high = low + expressions.width(id).bits() - 1;
                format!("{}[{high}:{low}]", sub(value))
            }
            Expr::Concat { high, low } => format!("{}·{}", sub(high), sub(low)),
            Expr::Select { condition, then, otherwise } => {
                format!("{} ? {} : {}", sub(condition), sub(then), sub(otherwise))
            }
        }
    }

    /// A number; an address by what it points to.
    fn constant(&self, width: Width, bits: u128) -> String {
        if width == Width::W1 {
            return if bits == 1 { "true" } else { "false" }.to_owned();
        }
        if width == Width::W64
            && let Some(name) = self.pointee(bits as u64)
        {
            return format!("&{name}");
        }
        eval::signed(width, bits).to_string()
    }

    fn pointee(&self, address: u64) -> Option<String> {
        let allocation = self
            .trace
            .allocations
            .iter()
            .find(|a| a.address <= address && address - a.address < a.bytes.max(1))?;
        let place = trace::Location { allocation: allocation.id, offset: address - allocation.address };
        Some(self.trace.location_name(self.program, place))
    }
}

fn binary(op: BinaryOp, width: Width) -> &'static str {
    let bit = width == Width::W1;
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::UDiv => "/u",
        BinaryOp::SDiv => "/",
        BinaryOp::URem => "%u",
        BinaryOp::SRem => "%",
        BinaryOp::Shl => "<<",
        BinaryOp::Lshr => ">>u",
        BinaryOp::Ashr => ">>",
        BinaryOp::And if bit => "∧",
        BinaryOp::And => "&",
        BinaryOp::Or if bit => "∨",
        BinaryOp::Or => "|",
        BinaryOp::Xor => "^",
    }
}

fn compare(predicate: Predicate) -> &'static str {
    match predicate {
        Predicate::Eq => "=",
        Predicate::Ne => "≠",
        Predicate::Ult => "<u",
        Predicate::Ule => "≤u",
        Predicate::Ugt => ">u",
        Predicate::Uge => "≥u",
        Predicate::Slt => "<",
        Predicate::Sle => "≤",
        Predicate::Sgt => ">",
        Predicate::Sge => "≥",
    }
}
