// The part of the plugin that LLVM's C API cannot express: registering a pass, and warning through clang.
//
// The pass stands at the start of the pipeline, before any optimisation could add, move or remove accesses, but
// after SROA, so that locals whose address nobody takes are values. Coroutines are split first: until then their body
// is not the code that runs.

#include "llvm-c/Types.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Plugins/PassPlugin.h"
#include "llvm/Transforms/Coroutines/CoroCleanup.h"
#include "llvm/Transforms/Coroutines/CoroConditionalWrapper.h"
#include "llvm/Transforms/Coroutines/CoroEarly.h"
#include "llvm/Transforms/Coroutines/CoroSplit.h"
#include "llvm/Transforms/Scalar/SROA.h"

using namespace llvm;

extern "C" void threadbare_run(LLVMModuleRef module); // lib.rs

namespace {

struct EmbedPass : PassInfoMixin<EmbedPass> {
  PreservedAnalyses run(Module &module, ModuleAnalysisManager &) {
    threadbare_run(wrap(&module));
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};

void addPasses(ModulePassManager &manager) {
  ModulePassManager split;
  split.addPass(CoroEarlyPass());
  split.addPass(createModuleToPostOrderCGSCCPassAdaptor(CoroSplitPass()));
  split.addPass(CoroCleanupPass());
  manager.addPass(CoroConditionalWrapper(std::move(split)));
  manager.addPass(createModuleToFunctionPassAdaptor(SROAPass(SROAOptions::PreserveCFG)));
  manager.addPass(EmbedPass());
}

void registerPasses(PassBuilder &builder) {
  builder.registerPipelineStartEPCallback(
      [](ModulePassManager &manager, OptimizationLevel) { addPasses(manager); });
  builder.registerPipelineParsingCallback(
      [](StringRef name, ModulePassManager &manager, ArrayRef<PassBuilder::PipelineElement>) {
        if (name != "threadbare")
          return false;
        addPasses(manager);
        return true;
      });
}

} // namespace

extern "C" void threadbare_plugin_info(PassPluginLibraryInfo *info) {
  *info = {LLVM_PLUGIN_API_VERSION, "threadbare", "0.1", registerPasses, nullptr};
}

extern "C" void threadbare_warn(LLVMModuleRef module, const char *text, size_t length) {
  std::string message(text, length);
  unwrap(module)->getContext().diagnose(DiagnosticInfoGeneric(message, DS_Warning));
}
