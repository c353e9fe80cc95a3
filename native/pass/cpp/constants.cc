// Constants that the C API does not give: kinds it does not know, and bits beyond 64.

#include "llvm-c/Types.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/GlobalIFunc.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instruction.h"

using namespace llvm;

// The numbers are those of `Kind` in llvm.rs.
extern "C" unsigned threadbare_kind(LLVMValueRef ref) {
  Value *value = unwrap(ref);
  if (isa<Instruction>(value) || isa<Argument>(value))
    return 1;
  if (isa<ConstantInt>(value))
    return 2;
  if (isa<ConstantPointerNull>(value))
    return 3;
  if (isa<Function>(value))
    return 4;
  if (isa<GlobalVariable>(value))
    return 5;
  if (isa<GlobalAlias>(value) || isa<GlobalIFunc>(value))
    return 6;
  if (isa<ConstantExpr>(value))
    return 7;
  if (isa<UndefValue>(value)) // poison too
    return 8;
  if (isa<ConstantFP>(value))
    return 9;
  if (isa<ConstantAggregateZero>(value))
    return 10;
  if (isa<ConstantDataSequential>(value))
    return 11;
  if (isa<ConstantAggregate>(value))
    return 12;
  if (isa<BlockAddress>(value))
    return 13;
  if (isa<InlineAsm>(value))
    return 14;
  return 0;
}

// The bits of an integer or float constant of at most 128 bits; false if it is wider.
extern "C" bool threadbare_constant_bits(LLVMValueRef ref, uint64_t *low, uint64_t *high) {
  Value *value = unwrap(ref);
  APInt bits;
  if (auto *number = dyn_cast<ConstantInt>(value))
    bits = number->getValue();
  else if (auto *number = dyn_cast<ConstantFP>(value))
    bits = number->getValueAPF().bitcastToAPInt();
  else
    return false;
  if (bits.getBitWidth() > 128)
    return false;
  *low = bits.getRawData()[0];
  *high = bits.getNumWords() > 1 ? bits.getRawData()[1] : 0;
  return true;
}

// The bytes of an array or vector of numbers.
extern "C" const char *threadbare_data(LLVMValueRef ref, size_t *length) {
  StringRef bytes = unwrap<ConstantDataSequential>(ref)->getRawDataValues();
  *length = bytes.size();
  return bytes.data();
}

// The memory that a function touches, as LLVM encodes it: two bits (read, write) for each kind of memory.
extern "C" unsigned threadbare_memory_effects(LLVMValueRef function) {
  return unwrap<Function>(function)->getMemoryEffects().toIntValue();
}
