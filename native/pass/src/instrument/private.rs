//! Memory that needs no log: stack memory that only its function can reach, and constants.

use crate::llvm::{Kind, Opcode, Value};
use rustc_hash::FxHashMap;

/// What is known of the stack memory of a function.
#[derive(Default)]
pub struct Private {
    known: FxHashMap<Value, bool>,
}

impl Private {
    /// Whether an access needs no log: nobody else can see or change what is there.
    pub fn is_hidden(&mut self, pointer: Value) -> bool {
        let base = base(pointer);
        match base.kind() {
            Kind::Global => base.is_constant(),
            Kind::Local => self.is_private(base),
            _ => false,
        }
    }

    /// Whether an instruction makes stack memory whose address stays in the function. Only what is reached by constant
    /// ways counts, so that each access either hits private memory or does not.
    pub fn is_private(&mut self, stack: Value) -> bool {
        if !stack.is_instruction() || stack.opcode() != Opcode::LLVMAlloca {
            return false;
        }
        *self.known.entry(stack).or_insert_with(|| stays(stack))
    }
}

/// What an address was computed from.
fn base(pointer: Value) -> Value {
    let mut value = pointer;
    while is_step(value) {
        value = value.operand(0);
    }
    value
}

fn is_step(value: Value) -> bool {
    (value.is_instruction() || value.kind() == Kind::Expression)
        && matches!(value.opcode(), Opcode::LLVMGetElementPtr | Opcode::LLVMBitCast)
        && value.ty().kind() == crate::llvm::TypeKind::LLVMPointerTypeKind
}

fn stays(stack: Value) -> bool {
    let mut rest = vec![stack];
    while let Some(address) = rest.pop() {
        for user in address.users() {
            let stays = match user.opcode() {
                Opcode::LLVMLoad | Opcode::LLVMICmp => true,
                Opcode::LLVMStore | Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => {
                    let pointer = if user.opcode() == Opcode::LLVMStore { 1 } else { 0 };
                    (0..user.operand_count()).all(|n| n == pointer || user.operand(n) != address)
                }
                _ if is_step(user) && user.operand(0) == address => {
                    rest.push(user);
                    true
                }
                Opcode::LLVMCall | Opcode::LLVMInvoke => passes(user, address),
                _ => false,
            };
            if !stays {
                return false;
            }
        }
    }
    true
}

/// Whether a call gets only what stands at the address, not the address.
fn passes(call: Value, address: Value) -> bool {
    let callee = call.callee();
    if callee.kind() == Kind::Function && callee.is_intrinsic() {
        let name = callee.symbol();
        let names = ["llvm.memcpy.", "llvm.memmove.", "llvm.memset.", "llvm.lifetime."];
        return names.iter().any(|start| name.starts_with(start));
    }
    let mut arguments = (0..).zip(call.arguments());
    callee != address
        && arguments.all(|(index, argument)| argument != address || call.copied_argument(index).is_some())
}
