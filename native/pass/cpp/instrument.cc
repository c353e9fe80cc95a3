// What instrumentation needs beyond LLVM's C API: splitting blocks and edges, alias scopes, attributes, constructors.

#include "llvm-c/Types.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

// Splits the block before an instruction and puts a block in between that is entered, rarely, if the condition holds; gives
// that block's end.
extern "C" LLVMValueRef threadbare_rarely(LLVMValueRef condition, LLVMValueRef before) {
  auto *instruction = unwrap<Instruction>(before);
  MDNode *rare = MDBuilder(instruction->getContext()).createUnlikelyBranchWeights();
  return wrap(SplitBlockAndInsertIfThen(unwrap(condition), instruction->getIterator(), false, rare));
}

// The instruction before which code stands that runs only if control goes from a terminator to its `index`-th successor;
// null if there can be none.
extern "C" LLVMValueRef threadbare_on_edge(LLVMValueRef ref, unsigned index) {
  auto *terminator = unwrap<Instruction>(ref);
  BasicBlock *to = terminator->getSuccessor(index);
  if (!to->getSinglePredecessor()) {
    if (isa<IndirectBrInst>(terminator) || to->isEHPad())
      return nullptr;
    to = SplitKnownCriticalEdge(terminator, index, CriticalEdgeSplittingOptions().setMergeIdenticalEdges());
    if (!to)
      return nullptr;
  }
  return wrap(&*to->getFirstInsertionPt());
}

// Puts all stack memory of constant size that the entry block makes to its head, so that splitting the block leaves it there:
// elsewhere it would be made anew each time. Gives the first instruction behind it.
extern "C" LLVMValueRef threadbare_stack_first(LLVMValueRef function) {
  BasicBlock &entry = unwrap<Function>(function)->getEntryBlock();
  auto behind = entry.begin();
  while (isa<AllocaInst>(*behind))
    ++behind;
  for (auto at = behind; at != entry.end();) {
    auto *alloca = dyn_cast<AllocaInst>(&*at++);
    if (alloca && isa<ConstantInt>(alloca->getArraySize()))
      alloca->moveBefore(behind);
  }
  return wrap(&*behind);
}

// Two kinds of memory: the words that are shared with the runtime, and the units of the log. Neither is memory of the program.
extern "C" void threadbare_scopes(LLVMModuleRef module, LLVMMetadataRef *words, LLVMMetadataRef *units,
                                  LLVMMetadataRef *both) {
  LLVMContext &context = unwrap(module)->getContext();
  MDBuilder builder(context);
  MDNode *domain = builder.createAnonymousAliasScopeDomain("threadbare");
  MDNode *word = builder.createAnonymousAliasScope(domain, "words");
  MDNode *unit = builder.createAnonymousAliasScope(domain, "units");
  *words = wrap(MDNode::get(context, {word}));
  *units = wrap(MDNode::get(context, {unit}));
  *both = wrap(MDNode::get(context, {word, unit}));
}

// Says which scopes an access belongs to (or null), and to which it does not.
extern "C" void threadbare_scoped(LLVMValueRef ref, LLVMMetadataRef scope, LLVMMetadataRef not_in) {
  auto *instruction = dyn_cast<Instruction>(unwrap(ref));
  if (!instruction)
    return;
  if (scope)
    instruction->setMetadata(LLVMContext::MD_alias_scope, unwrap<MDNode>(scope));
  MDNode *before = instruction->getMetadata(LLVMContext::MD_noalias);
  instruction->setMetadata(LLVMContext::MD_noalias, MDNode::concatenate(before, unwrap<MDNode>(not_in)));
}

// Takes back what the source promises of functions and what holds no more: that they touch no memory, do not synchronise.
extern "C" void threadbare_drop_promises(LLVMModuleRef module) {
  AttributeMask promises;
  for (auto kind : {Attribute::Memory, Attribute::NoSync, Attribute::NoFree, Attribute::Speculatable, Attribute::NoCallback})
    promises.addAttribute(kind);
  for (Function &function : *unwrap(module)) {
    if (function.isIntrinsic())
      continue;
    function.removeFnAttrs(promises);
    for (Instruction &instruction : instructions(function))
      if (auto *call = dyn_cast<CallBase>(&instruction))
        if (!call->getCalledFunction() || !call->getCalledFunction()->isIntrinsic())
          call->removeFnAttrs(promises);
  }
}

// Drops the bodies of functions that another object defines: which of the two copies runs is up to optimisation. Those that
// must be inlined may have no other copy.
extern "C" void threadbare_drop_copies(LLVMModuleRef module) {
  for (Function &function : *unwrap(module))
    if (function.hasAvailableExternallyLinkage() && !function.hasFnAttribute(Attribute::AlwaysInline))
      function.deleteBody();
}

// Hides inline functions from other objects, as `-fvisibility-inlines-hidden` does: whether a library calls its own copy of one or
// ours would be up to optimisation, and ours would run without being entered.
extern "C" void threadbare_hide_inlines(LLVMModuleRef module) {
  for (Function &function : *unwrap(module))
    if (function.hasLinkOnceODRLinkage() && function.hasDefaultVisibility())
      function.setVisibility(GlobalValue::HiddenVisibility);
}

// Takes back promises about arithmetic (no overflow and the like) for all that these values are computed from: a reader computes
// them as the processor does, and optimisation must not conclude anything else.
extern "C" void threadbare_exact(LLVMValueRef *values, size_t count) {
  SmallPtrSet<Value *, 32> seen;
  SmallVector<Value *, 32> rest;
  for (size_t n = 0; n < count; n++)
    rest.push_back(unwrap(values[n]));
  while (!rest.empty()) {
    auto *instruction = dyn_cast<Instruction>(rest.pop_back_val());
    if (!instruction || !seen.insert(instruction).second)
      continue;
    bool computes = isa<BinaryOperator, CastInst, CmpInst, SelectInst, PHINode, GetElementPtrInst, FreezeInst,
                        ExtractValueInst, IntrinsicInst>(instruction);
    if (!computes)
      continue;
    instruction->dropPoisonGeneratingFlags();
    for (Value *operand : instruction->operands())
      rest.push_back(operand);
  }
}

// Makes the program call a function before all others of its object.
extern "C" void threadbare_constructor(LLVMModuleRef module, LLVMValueRef function) {
  appendToGlobalCtors(*unwrap(module), unwrap<Function>(function), 0);
}

// Whether another definition may take the place of a function that is defined here.
extern "C" bool threadbare_replaceable(LLVMValueRef function) {
  return unwrap<Function>(function)->isInterposable();
}

// Whether inline assembly is empty: a barrier for the compiler only.
extern "C" bool threadbare_empty_assembly(LLVMValueRef assembly) {
  return unwrap<InlineAsm>(assembly)->getAsmString().empty();
}
