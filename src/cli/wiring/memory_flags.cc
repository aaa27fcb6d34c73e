#include "cli/wiring/memory_flags.h"

namespace dossier::cli {
namespace {

app::MemoryWish WishOf(const MemoryFlags& flags) {
  using Use = app::MemoryWish::Use;
  app::MemoryWish wish{.branch = flags.branch};
  if (!flags.store.empty()) wish.use = Use::kOn;
  if (flags.off) wish.use = Use::kOff;
  if (flags.store != kAnyStore) wish.store = flags.store;
  return wish;
}

Status CheckFlags(const MemoryFlags& flags, const app::MemoryConfig& config) {
  if (flags.off && !flags.store.empty()) {
    return MakeError(ErrorCode::kUsage, "--memory and --no-memory exclude each other");
  }
  if (!flags.branch.empty() && !app::IsOn(WishOf(flags), config)) {
    return MakeError(ErrorCode::kUsage, "--memory-branch {} needs --memory", flags.branch);
  }
  return {};
}

}  // namespace

Result<PromptMemory> OpenPromptMemory(const MemoryFlags& flags, const config::Config& config,
                                      MemoryNeed need) {
  DOSSIER_ASSIGN_OR_RETURN(const app::MemoryConfig settings, app::ReadMemoryConfig(config));
  DOSSIER_RETURN_IF_ERROR(CheckFlags(flags, settings));
  return app::OpenPromptMemory(WishOf(flags), config, need);
}

}  // namespace dossier::cli
