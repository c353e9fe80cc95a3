//! Memory that needs no log: stack and heap memory that only its function can reach, and constants.

use crate::llvm::{Kind, Opcode, Value};
use rustc_hash::FxHashMap;

/// Functions that give memory with nothing in it that a reader of the log would have to know. That they were called is in the log.
const ALLOCATE: [&str; 5] = ["_Znam", "_Znwm", "aligned_alloc", "malloc", "memalign"];

/// Functions that take it back.
const FREE: [&str; 5] = ["_ZdaPv", "_ZdaPvm", "_ZdlPv", "_ZdlPvm", "free"];

/// What is known of the memory that a function makes.
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
            Kind::Local => self.is_private(base) || self.is_private_heap(base),
            _ => false,
        }
    }

    /// The same for memory from the heap: what a call gives that goes nowhere but back. Copies and fills are left to the log: readers
    /// follow them for what has no address in it.
    fn is_private_heap(&mut self, block: Value) -> bool {
        let is_call = block.is_instruction() && is_call(block);
        is_call
            && calls_one_of(block, &ALLOCATE)
            && *self.known.entry(block).or_insert_with(|| stays(block, |call, _| calls_one_of(call, &FREE)))
    }

    /// Whether an instruction makes stack memory whose address stays in the function. Only what is reached by constant
    /// ways counts, so that each access either hits private memory or does not.
    pub fn is_private(&mut self, stack: Value) -> bool {
        if !stack.is_instruction() || stack.opcode() != Opcode::LLVMAlloca {
            return false;
        }
        *self.known.entry(stack).or_insert_with(|| stays(stack, passes))
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

fn is_call(value: Value) -> bool {
    matches!(value.opcode(), Opcode::LLVMCall | Opcode::LLVMInvoke)
}

fn calls_one_of(call: Value, names: &[&str]) -> bool {
    let callee = call.callee();
    callee.kind() == Kind::Function && names.contains(&callee.symbol().as_ref())
}

/// Whether the address of memory stays in its function; `may_get` says which calls may get it.
fn stays(memory: Value, may_get: impl Fn(Value, Value) -> bool) -> bool {
    let mut rest = vec![memory];
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
                Opcode::LLVMCall | Opcode::LLVMInvoke => may_get(user, address),
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
