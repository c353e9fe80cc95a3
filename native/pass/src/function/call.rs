//! Calls.

use super::{Body, Result};
use crate::llvm::{Kind, Type as LlvmType, Value};
use ir::{BlockId, Callee, Op, Operand, Terminator, Type, ValueId, Width};

impl Body<'_> {
    pub(super) fn call(&mut self, call: Value) -> Result<()> {
        let callee = call.callee();
        match callee.kind() {
            Kind::Assembly => {
                let operands = self.valued_operands(call.arguments())?;
                self.opaque(call, "asm", operands, true)
            }
            Kind::Function if callee.is_intrinsic() => self.intrinsic(call, callee),
            _ => {
                let arguments = self.arguments(call)?;
                let callee = self.callee(call)?;
                let results = self.results(call)?;
                self.push(results, Op::Call { callee, arguments });
                Ok(())
            }
        }
    }

    /// A call that may throw; its result is known on the normal way only.
    pub(super) fn invoke(&mut self, invoke: Value, normal: BlockId, unwind: BlockId) -> Result<Terminator> {
        let arguments = self.arguments(invoke)?;
        let callee = match invoke.callee().kind() {
            // Somebody unknown: the IR has no opaque instruction that may throw.
            Kind::Assembly => Callee::Indirect(Operand::Unknown(Type::Ptr)),
            _ => self.callee(invoke)?,
        };
        let results = self.results(invoke)?;
        Ok(Terminator::Invoke { callee, arguments, results, normal, unwind })
    }

    fn results(&mut self, call: Value) -> Result<Vec<ValueId>> {
        Ok(match self.translator.ty(call.ty())? {
            Some(ty) => {
                let value = self.define(ty);
                self.known.insert(call, Operand::Value(value));
                vec![value]
            }
            None => vec![],
        })
    }

    /// Who is called. A function whose own type is another than the call's (further arguments, an old declaration) is
    /// called through its address, which says nothing of types.
    fn callee(&mut self, call: Value) -> Result<Callee> {
        let callee = call.callee();
        Ok(match callee.kind() {
            Kind::Function => match self.translator.functions.get(&callee) {
                Some(&id)
                    if callee.value_type() == call.called_type() && !call.called_type().is_variadic() =>
                {
                    Callee::Function(id)
                }
                Some(&id) => Callee::Indirect(Operand::Function(id)),
                None => Callee::External(callee.symbol().into()),
            },
            Kind::Alias => Callee::External(callee.symbol().into()),
            _ => {
                let operand = self.operand(callee)?;
                match self.type_of(&operand) {
                    Type::Ptr => Callee::Indirect(operand),
                    _ => Callee::Indirect(Operand::Unknown(Type::Ptr)),
                }
            }
        })
    }

    /// The arguments; objects that are passed by value are copied first, as the calling code does.
    fn arguments(&mut self, call: Value) -> Result<Vec<Operand>> {
        let mut operands = vec![];
        for (index, argument) in (0..).zip(call.arguments()) {
            if self.translator.ty(argument.ty())?.is_none() {
                continue;
            }
            let operand = self.operand(argument)?;
            operands.push(match call.copied_argument(index) {
                Some(ty) if self.type_of(&operand) == Type::Ptr => self.copy(ty, operand)?,
                _ => operand,
            });
        }
        Ok(operands)
    }

    fn copy(&mut self, ty: LlvmType, from: Operand) -> Result<Operand> {
        self.translator.ty(ty)?; // no size that is known only at run time
        let shape = self.translator.shapes.of(ty, None);
        let to = self.emit(Type::Ptr, Op::StackAlloc { shape, count: Operand::int(Width::W32, 1) });
        let bytes = Operand::int(Width::W64, self.translator.layout.store_bytes(ty).into());
        self.push(vec![], Op::MemoryCopy { to, from, bytes, overlap: false });
        Ok(to)
    }
}
