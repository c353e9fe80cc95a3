//! Expressions: a hash-consed DAG of bit-vector operations over the values of shared reads.
//!
//! Equal expressions have equal ids, and an expression is made after those that it consists of, so ids are in a topological
//! order. Each carries the value that it had in the recorded run: what is rebuilt from the program can be compared with
//! what was recorded at each step on the way. Building simplifies (`fold`): what does not depend on a shared read is a constant.

use crate::{ExprId, ReadId};
use ir::{BinaryOp, Predicate, Width, eval};
use rustc_hash::FxHashMap;

/// One expression. Operations mean what [`ir::eval`] says.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Expr {
    /// A constant.
    Const(u128),
    /// The value of a shared read.
    Read(ReadId),
    /// The value that a [`Decision`](crate::Decision) is a function of. Nothing else contains it.
    Hole,
    /// A value that is the same in all schedules that are looked at, and that nobody knows.
    Unknown,
    /// Any value: what a way that was not taken leaves behind. Each number is one such value.
    Any(u32),
    /// Arithmetic on two values of one width. A divisor is not zero wherever the event that it belongs to happens:
    /// a [`Require`](crate::Kind::Require) stands before it.
    Binary(BinaryOp, ExprId, ExprId),
    /// Comparison, one bit.
    Compare(Predicate, ExprId, ExprId),
    /// Widened with zeros.
    Zext(ExprId),
    /// Widened with the sign.
    Sext(ExprId),
    /// The bits from `low` on, as many as the width says.
    Extract {
        /// Of what.
        value: ExprId,
        /// The first bit.
        low: u32,
    },
    /// The bits of `high` above those of `low`.
    Concat {
        /// The upper part.
        high: ExprId,
        /// The lower part.
        low: ExprId,
    },
    /// `condition ? then : otherwise`.
    Select {
        /// One bit.
        condition: ExprId,
        /// If 1.
        then: ExprId,
        /// If 0.
        otherwise: ExprId,
    },
}

impl Expr {
    /// The same operation on other operands.
    pub(crate) fn renamed(self, at: impl Fn(ExprId) -> ExprId) -> Expr {
        match self {
            Expr::Const(_) | Expr::Read(_) | Expr::Hole | Expr::Unknown | Expr::Any(_) => self,
            Expr::Binary(op, a, b) => Expr::Binary(op, at(a), at(b)),
            Expr::Compare(predicate, a, b) => Expr::Compare(predicate, at(a), at(b)),
            Expr::Zext(a) => Expr::Zext(at(a)),
            Expr::Sext(a) => Expr::Sext(at(a)),
            Expr::Extract { value, low } => Expr::Extract { value: at(value), low },
            Expr::Concat { high, low } => Expr::Concat { high: at(high), low: at(low) },
            Expr::Select { condition, then, otherwise } => {
                Expr::Select { condition: at(condition), then: at(then), otherwise: at(otherwise) }
            }
        }
    }

    /// The expressions that it consists of.
    pub fn operands(&self) -> impl Iterator<Item = ExprId> + use<> {
        let three = match *self {
            Expr::Const(_) | Expr::Read(_) | Expr::Hole | Expr::Unknown | Expr::Any(_) => [None; 3],
            Expr::Binary(_, a, b) | Expr::Compare(_, a, b) | Expr::Concat { high: a, low: b } => {
                [Some(a), Some(b), None]
            }
            Expr::Zext(a) | Expr::Sext(a) | Expr::Extract { value: a, .. } => [Some(a), None, None],
            Expr::Select { condition, then, otherwise } => [Some(condition), Some(then), Some(otherwise)],
        };
        three.into_iter().flatten()
    }
}

/// The width of so many bytes, 1 to 16.
#[must_use]
pub fn bytes_width(bytes: u32) -> Width {
    Width::new((8 * bytes.clamp(1, 16)) as u8).unwrap_or(Width::W64)
}

#[derive(Clone, Copy, Debug)]
struct Node {
    expr: Expr,
    width: Width,
    /// Depends on a shared read or on the hole.
    symbolic: bool,
    /// Whether `recorded` is known.
    known: bool,
    recorded: u128,
}

/// All expressions of a concurrent trace program.
#[derive(Clone, Debug, Default)]
pub struct Expressions {
    nodes: Vec<Node>,
    known: FxHashMap<(Expr, Width), ExprId>,
}

impl Expressions {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The expression with this id.
    #[must_use]
    #[inline]
    pub fn get(&self, id: ExprId) -> Expr {
        self.nodes[id.index()].expr
    }

    /// Its width.
    #[must_use]
    #[inline]
    pub fn width(&self, id: ExprId) -> Width {
        self.nodes[id.index()].width
    }

    /// Its value in the recorded run; `None` if it is not known.
    #[must_use]
    #[inline]
    pub fn recorded(&self, id: ExprId) -> Option<u128> {
        let node = &self.nodes[id.index()];
        node.known.then_some(node.recorded)
    }

    /// Its value, if it is a constant.
    #[must_use]
    #[inline]
    pub fn constant(&self, id: ExprId) -> Option<u128> {
        match self.get(id) {
            Expr::Const(bits) => Some(bits),
            _ => None,
        }
    }

    /// Whether it depends on a shared read.
    #[must_use]
    #[inline]
    pub fn is_symbolic(&self, id: ExprId) -> bool {
        self.nodes[id.index()].symbolic
    }

    /// Whether nothing is known of it.
    #[must_use]
    #[inline]
    pub fn is_unknown(&self, id: ExprId) -> bool {
        self.get(id) == Expr::Unknown
    }

    /// A constant, cut to its width.
    pub fn int(&mut self, width: Width, bits: u128) -> ExprId {
        let bits = bits & width.mask();
        self.add(Expr::Const(bits), width, false, Some(bits))
    }

    /// A truth value.
    pub fn bit(&mut self, value: bool) -> ExprId {
        self.int(Width::W1, u128::from(value))
    }

    /// The value of a read.
    pub fn read(&mut self, read: ReadId, width: Width, recorded: u128) -> ExprId {
        self.add(Expr::Read(read), width, true, Some(recorded & width.mask()))
    }

    /// The hole of a decision.
    pub fn hole(&mut self, width: Width) -> ExprId {
        self.add(Expr::Hole, width, true, None)
    }

    /// A value that nobody knows.
    pub fn unknown(&mut self, width: Width) -> ExprId {
        self.add(Expr::Unknown, width, false, None)
    }

    /// A value of which nothing is known, another one each time.
    pub fn any(&mut self, width: Width) -> ExprId {
        self.add(Expr::Any(self.nodes.len() as u32), width, true, None)
    }

    /// Adds an operation whose operands are there; the recorded value follows from theirs.
    pub(crate) fn operation(&mut self, expr: Expr, width: Width) -> ExprId {
        if let Some(&id) = self.known.get(&(expr, width)) {
            return id;
        }
        let symbolic = expr.operands().any(|operand| self.is_symbolic(operand));
        let recorded = self.value(expr, width);
        self.add(expr, width, symbolic, recorded)
    }

    fn add(&mut self, expr: Expr, width: Width, symbolic: bool, recorded: Option<u128>) -> ExprId {
        let next = ExprId::new(self.nodes.len());
        let id = *self.known.entry((expr, width)).or_insert(next);
        if id == next {
            let (known, recorded) = (recorded.is_some(), recorded.unwrap_or(0));
            self.nodes.push(Node { expr, width, symbolic, known, recorded });
        }
        id
    }

    /// The recorded value of an operation; `None` if it is not known or divides by zero.
    pub(crate) fn value(&self, expr: Expr, width: Width) -> Option<u128> {
        self.value_of(expr, width, |operand| self.recorded(operand))
    }

    /// The value of an operation, given the values of its operands; `None` if one is not known or it divides by zero.
    pub fn value_of(&self, expr: Expr, width: Width, value: impl Fn(ExprId) -> Option<u128>) -> Option<u128> {
        Some(match expr {
            Expr::Const(bits) => bits,
            Expr::Read(_) | Expr::Hole | Expr::Unknown | Expr::Any(_) => return None,
            Expr::Binary(op, a, b) => eval::binary(op, width, value(a)?, value(b)?)?,
            Expr::Compare(predicate, a, b) => {
                u128::from(eval::compare(predicate, self.width(a), value(a)?, value(b)?))
            }
            Expr::Zext(a) => value(a)?,
            Expr::Sext(a) => eval::cut(width, eval::signed(self.width(a), value(a)?)),
            Expr::Extract { value: a, low } => (value(a)? >> low) & width.mask(),
            Expr::Concat { high, low } => (value(high)? << self.width(low).bits()) | value(low)?,
            Expr::Select { condition, then, otherwise } => {
                if value(condition)? & 1 == 1 {
                    value(then)?
                } else {
                    value(otherwise)?
                }
            }
        })
    }

    /// The value of an expression if the reads had these values; `None` if that is not known or divides by zero.
    #[must_use]
    pub fn evaluate(&self, root: ExprId, mut read: impl FnMut(ReadId) -> Option<u128>) -> Option<u128> {
        let mut values: FxHashMap<ExprId, Option<u128>> = FxHashMap::default();
        for id in self.reachable([root]) {
            let value = match self.get(id) {
                Expr::Read(of) => read(of),
                expr => {
                    self.value_of(expr, self.width(id), |operand| values.get(&operand).copied().flatten())
                }
            };
            values.insert(id, value);
        }
        values.get(&root).copied().flatten()
    }

    /// The reads that some expressions depend on, ascending.
    #[must_use]
    pub fn reads_of(&self, roots: impl IntoIterator<Item = ExprId>) -> Vec<ReadId> {
        let mut reads: Vec<ReadId> = (self.reachable(roots).into_iter())
            .filter_map(|id| match self.get(id) {
                Expr::Read(read) => Some(read),
                _ => None,
            })
            .collect();
        reads.sort_unstable();
        reads
    }

    /// All expressions that some consist of, themselves included, each after its operands.
    #[must_use]
    pub fn reachable(&self, roots: impl IntoIterator<Item = ExprId>) -> Vec<ExprId> {
        let mut seen: rustc_hash::FxHashSet<ExprId> = roots.into_iter().collect();
        let mut work: Vec<ExprId> = seen.iter().copied().collect();
        while let Some(id) = work.pop() {
            for operand in self.get(id).operands() {
                if seen.insert(operand) {
                    work.push(operand);
                }
            }
        }
        let mut all: Vec<ExprId> = seen.into_iter().collect();
        all.sort_unstable();
        all
    }

    /// Only what some expressions consist of, and for each old id the new one (meaningless for what is gone).
    pub(crate) fn keep(&self, roots: Vec<ExprId>) -> (Expressions, Vec<ExprId>) {
        let mut needed = vec![false; self.nodes.len()];
        roots.into_iter().for_each(|root| needed[root.index()] = true);
        // Operands come before what consists of them.
        for n in (0..self.nodes.len()).rev() {
            if needed[n] {
                self.nodes[n].expr.operands().for_each(|operand| needed[operand.index()] = true);
            }
        }
        let mut kept = Expressions::default();
        let mut new = vec![ExprId(0); self.nodes.len()];
        for (n, node) in self.nodes.iter().enumerate().filter(|&(n, _)| needed[n]) {
            let expr = node.expr.renamed(|id| new[id.index()]);
            let recorded = node.known.then_some(node.recorded);
            new[n] = kept.add(expr, node.width, node.symbolic, recorded);
        }
        (kept, new)
    }
}
