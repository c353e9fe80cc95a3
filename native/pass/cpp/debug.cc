// Debug information that the C API does not give: types with their parts, and which variable a value belongs to.

#include "llvm-c/Types.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/GlobalVariable.h"

using namespace llvm;

static const char *text(StringRef name, size_t *length) {
  *length = name.size();
  return name.data();
}

// The type that a pointer, member, typedef, qualifier or array is made of.
extern "C" LLVMMetadataRef threadbare_di_base(LLVMMetadataRef ref) {
  Metadata *type = unwrap(ref);
  if (auto *derived = dyn_cast<DIDerivedType>(type))
    return wrap(derived->getBaseType());
  if (auto *composite = dyn_cast<DICompositeType>(type))
    return wrap(composite->getBaseType());
  return nullptr;
}

// The `index`-th part of a struct, union, class or array; null behind the last.
extern "C" LLVMMetadataRef threadbare_di_element(LLVMMetadataRef ref, unsigned index) {
  auto *composite = dyn_cast<DICompositeType>(unwrap(ref));
  if (!composite)
    return nullptr;
  DINodeArray elements = composite->getElements();
  return elements && index < elements.size() ? wrap(elements[index]) : nullptr;
}

// The DWARF encoding of a basic type, 0 for all others.
extern "C" unsigned threadbare_di_encoding(LLVMMetadataRef ref) {
  auto *basic = dyn_cast<DIBasicType>(unwrap(ref));
  return basic ? basic->getEncoding() : 0;
}

// The number of elements in one dimension of an array; -1 if it is not constant.
extern "C" int64_t threadbare_di_count(LLVMMetadataRef ref) {
  auto *range = dyn_cast<DISubrange>(unwrap(ref));
  if (!range)
    return -1;
  auto count = range->getCount();
  if (auto *number = dyn_cast_if_present<ConstantInt *>(count))
    return number->getSExtValue();
  return -1;
}

// Whether a member is a bit-field, and if so where the unit that holds it begins, in bits.
extern "C" bool threadbare_di_bit_field(LLVMMetadataRef ref, uint64_t *unit) {
  auto *member = dyn_cast<DIDerivedType>(unwrap(ref));
  if (!member || !member->isBitField())
    return false;
  auto *storage = dyn_cast_or_null<ConstantInt>(member->getStorageOffsetInBits());
  *unit = storage ? storage->getZExtValue() : member->getOffsetInBits();
  return true;
}

// Whether a part of a class is a member with a place in each object.
extern "C" bool threadbare_di_is_field(LLVMMetadataRef ref) {
  auto *member = dyn_cast<DIDerivedType>(unwrap(ref));
  return member && !member->isStaticMember() &&
         (member->getTag() == dwarf::DW_TAG_member || member->getTag() == dwarf::DW_TAG_inheritance);
}

extern "C" const char *threadbare_di_variable_name(LLVMMetadataRef ref, size_t *length) {
  auto *variable = dyn_cast<DIVariable>(unwrap(ref));
  return text(variable ? variable->getName() : "", length);
}

extern "C" LLVMMetadataRef threadbare_di_variable_type(LLVMMetadataRef ref) {
  auto *variable = dyn_cast<DIVariable>(unwrap(ref));
  return variable ? wrap(variable->getType()) : nullptr;
}

// The variable of the source that a global is, wholly.
extern "C" LLVMMetadataRef threadbare_di_global(LLVMValueRef global) {
  SmallVector<DIGlobalVariableExpression *, 1> found;
  unwrap<GlobalVariable>(global)->getDebugInfo(found);
  for (auto *each : found)
    if (!each->getExpression() || each->getExpression()->getNumElements() == 0)
      return wrap(each->getVariable());
  return nullptr;
}

// The variable that a debug record is about, if it gives one value for all of it; `declares` tells that the value
// is the variable's address.
extern "C" LLVMMetadataRef threadbare_di_record(LLVMDbgRecordRef ref, LLVMValueRef *value, bool *declares) {
  auto *record = dyn_cast<DbgVariableRecord>(unwrap(ref));
  if (!record || record->hasArgList() || record->isKillLocation())
    return nullptr;
  if (record->getExpression()->getNumElements() != 0)
    return nullptr;
  *value = wrap(record->getVariableLocationOp(0));
  *declares = record->isDbgDeclare();
  return *value ? wrap(static_cast<Metadata *>(record->getVariable())) : nullptr;
}

// The variable whose memory a debug record gives the address of besides its value: with optimisation, clang replaces the
// declaration of a variable in memory by such records.
extern "C" LLVMMetadataRef threadbare_di_assigned(LLVMDbgRecordRef ref, LLVMValueRef *address) {
  auto *record = dyn_cast<DbgVariableRecord>(unwrap(ref));
  if (!record || !record->isDbgAssign() || record->isKillAddress())
    return nullptr;
  if (record->getExpression()->getNumElements() != 0 || record->getAddressExpression()->getNumElements() != 0)
    return nullptr;
  *address = wrap(record->getAddress());
  return *address ? wrap(static_cast<Metadata *>(record->getVariable())) : nullptr;
}
