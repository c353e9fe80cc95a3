//! LLVM's intrinsics: left out if they do nothing, exact if the IR can say what they do, opaque otherwise.

use super::{Body, Result};
use crate::llvm::Value;
use ir::{BinaryOp, CastKind, Op, Operand, Predicate, Type, Width};

impl Body<'_> {
    pub(super) fn intrinsic(&mut self, call: Value, callee: Value) -> Result<()> {
        let symbol = callee.symbol();
        let name = plain(&symbol);
        if does_nothing(name) {
            return Ok(());
        }
        let operands = self.valued_operands(call.arguments())?;
        if let Some(result) = self.same(name, &operands) {
            self.known.insert(call, result);
            return Ok(());
        }
        if self.memory_intrinsic(name, &operands) || self.overflowing(call, name, &operands)? {
            return Ok(());
        }
        if let Some(ty) = self.translator.ty(call.ty())?
            && let Some(result) = self.exact(name, ty, &operands)
        {
            self.known.insert(call, result);
            return Ok(());
        }
        let memory = callee.touches_memory() && !matches!(name, "prefetch" | "trap" | "debugtrap");
        self.opaque(call, symbol.trim_start_matches("llvm."), operands, memory)
    }

    /// Intrinsics whose result is an operand.
    fn same(&self, name: &str, operands: &[Operand]) -> Option<Operand> {
        let is_same = matches!(
            name,
            "expect"
                | "expect.with.probability"
                | "launder.invariant.group"
                | "strip.invariant.group"
                | "threadlocal.address"
                | "annotation"
                | "ptr.annotation"
                | "ssa.copy"
                | "preserve.array.access.index"
                | "arithmetic.fence"
        );
        operands.first().copied().filter(|_| is_same)
    }

    /// `memcpy`, `memmove`, `memset`.
    fn memory_intrinsic(&mut self, name: &str, operands: &[Operand]) -> bool {
        let types: Vec<Type> = operands.iter().map(|operand| self.type_of(operand)).collect();
        let op = match (name, operands, &types[..]) {
            (
                "memcpy" | "memcpy.inline" | "memmove",
                &[to, from, bytes, ..],
                [Type::Ptr, Type::Ptr, Type::Int(_), ..],
            ) => Op::MemoryCopy { to, from, bytes, overlap: name == "memmove" },
            (
                "memset" | "memset.inline",
                &[to, byte, bytes, ..],
                [Type::Ptr, Type::Int(Width::W8), Type::Int(_), ..],
            ) => Op::MemorySet { to, byte, bytes },
            _ => return false,
        };
        self.push(vec![], op);
        true
    }

    /// Intrinsics on integers that arithmetic can say exactly.
    fn exact(&mut self, name: &str, ty: Type, operands: &[Operand]) -> Option<Operand> {
        let width = match self.type_of(operands.first()?) {
            Type::Int(width) => width,
            Type::Ptr if name == "ptrmask" => return self.mask(*operands.get(1)?, operands[0]),
            _ => return None,
        };
        let a = operands[0];
        let b = operands.get(1).copied();
        Some(match name {
            "umax" => self.pick(Predicate::Ugt, a, b?),
            "umin" => self.pick(Predicate::Ult, a, b?),
            "smax" => self.pick(Predicate::Sgt, a, b?),
            "smin" => self.pick(Predicate::Slt, a, b?),
            "abs" => {
                let zero = Operand::int(width, 0);
                let negative = self.compare(Predicate::Slt, a, zero);
                let negated = self.binary(BinaryOp::Sub, zero, a);
                self.select(negative, negated, a)
            }
            "ucmp" | "scmp" => {
                let Type::Int(result) = ty else { return None };
                let (less, greater) = match name {
                    "ucmp" => (Predicate::Ult, Predicate::Ugt),
                    _ => (Predicate::Slt, Predicate::Sgt),
                };
                let (less, greater) = (self.compare(less, a, b?), self.compare(greater, a, b?));
                let (minus, zero, one) =
                    (Operand::int(result, -1), Operand::int(result, 0), Operand::int(result, 1));
                let positive = self.select(greater, one, zero);
                self.select(less, minus, positive)
            }
            "fshl" | "fshr" => self.funnel(name == "fshl", a, b?, *operands.get(2)?),
            "bswap" => self.byte_swap(a, width)?,
            "bitreverse" => self.bit_reverse(a, width)?,
            "ctpop" => self.population(a, width)?,
            "cttz" => self.trailing_zeros(a, width)?,
            "ctlz" => self.leading_zeros(a, width)?,
            "uadd.sat" => {
                let (sum, wraps) = self.overflow("uadd", width, a, b?)?;
                self.select(wraps, Operand::int(width, -1), sum)
            }
            "usub.sat" => {
                let (difference, wraps) = self.overflow("usub", width, a, b?)?;
                self.select(wraps, Operand::int(width, 0), difference)
            }
            "sadd.sat" | "ssub.sat" => {
                let (result, wraps) = self.overflow(&name[..4], width, a, b?)?;
                let least = Operand::Const { width, bits: 1 << (width.bits() - 1) };
                let most = Operand::Const { width, bits: width.mask() >> 1 };
                let negative = self.compare(Predicate::Slt, a, Operand::int(width, 0));
                let limit = self.select(negative, least, most);
                self.select(wraps, limit, result)
            }
            _ => return None,
        })
    }

    fn mask(&mut self, mask: Operand, pointer: Operand) -> Option<Operand> {
        if self.type_of(&mask) != Type::Int(Width::W64) {
            return None;
        }
        let number = self.emit(Type::Int(Width::W64), Op::Cast { kind: CastKind::PtrToInt, value: pointer });
        let value = self.binary(BinaryOp::And, number, mask);
        Some(self.emit(Type::Ptr, Op::Cast { kind: CastKind::IntToPtr, value }))
    }

    /// Arithmetic on two operands of one type.
    pub(super) fn binary(&mut self, op: BinaryOp, lhs: Operand, rhs: Operand) -> Operand {
        self.emit(self.type_of(&lhs), Op::Binary { op, lhs, rhs })
    }

    /// A comparison.
    pub(super) fn compare(&mut self, predicate: Predicate, lhs: Operand, rhs: Operand) -> Operand {
        self.emit(Type::BOOL, Op::Compare { predicate, lhs, rhs })
    }

    /// A choice.
    pub(super) fn select(&mut self, condition: Operand, then: Operand, otherwise: Operand) -> Operand {
        self.emit(self.type_of(&then), Op::Select { condition, then, otherwise })
    }

    fn pick(&mut self, predicate: Predicate, a: Operand, b: Operand) -> Operand {
        let first = self.compare(predicate, a, b);
        self.select(first, a, b)
    }
}

/// The name of an intrinsic without `llvm.` and without the types that it is for, if these are integers and addresses.
fn plain(symbol: &str) -> &str {
    let mut name = symbol.strip_prefix("llvm.").unwrap_or(symbol);
    while let Some((before, last)) = name.rsplit_once('.')
        && let Some(number) = last.strip_prefix(['i', 'p'])
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
    {
        name = before;
    }
    name
}

/// Intrinsics that only tell the optimiser something.
fn does_nothing(name: &str) -> bool {
    name.starts_with("dbg.")
        || matches!(
            name,
            "lifetime.start"
                | "lifetime.end"
                | "assume"
                | "donothing"
                | "sideeffect"
                | "pseudoprobe"
                | "var.annotation"
                | "experimental.noalias.scope.decl"
                | "invariant.end"
                | "stackrestore"
                | "fake.use"
        )
}
