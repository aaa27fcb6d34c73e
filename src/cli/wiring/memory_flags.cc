#include "cli/wiring/memory_flags.h"

#include "base/files/file.h"
#include "cli/wiring/memory_setup.h"

namespace dossier::cli {
namespace {

bool IsOn(const MemoryFlags& flags, const app::MemoryConfig& config) {
  return !flags.off && (!flags.store.empty() || config.enabled.value_or(false));
}

Status CheckFlags(const MemoryFlags& flags, const app::MemoryConfig& config) {
  if (flags.off && !flags.store.empty()) {
    return MakeError(ErrorCode::kUsage, "--memory and --no-memory exclude each other");
  }
  if (!flags.branch.empty() && !IsOn(flags, config)) {
    return MakeError(ErrorCode::kUsage, "--memory-branch {} needs --memory", flags.branch);
  }
  return {};
}

}  // namespace

Result<PromptMemory> OpenPromptMemory(const MemoryFlags& flags, const config::Config& config,
                                      MemoryNeed need) {
  PromptMemory memory{.branch = flags.branch};
  DOSSIER_ASSIGN_OR_RETURN(memory.config, app::ReadMemoryConfig(config));
  DOSSIER_RETURN_IF_ERROR(CheckFlags(flags, memory.config));
  if (!IsOn(flags, memory.config)) return memory;
  const auto mode =
      need == MemoryNeed::kWritten ? memory::OpenMode::kCreate : memory::OpenMode::kExisting;
  const std::string path =
      MemoryStorePath(flags.store == kAnyStore ? "" : flags.store, config, mode);
  if (need == MemoryNeed::kLookedAt && !Exists(path)) return memory;
  DOSSIER_ASSIGN_OR_RETURN(memory::StoreOptions options,
                           StoreOptionsOf(memory.config, config, path));
  options.mode = mode;
  DOSSIER_ASSIGN_OR_RETURN(memory.store, memory::Store::Open(std::move(options)));
  if (memory.config.auto_consolidate) {
    memory.consolidate_from = memory.config.consolidation_trigger;
  }
  if (memory.config.log_enabled && need == MemoryNeed::kWritten) {
    memory.calls = std::make_shared<const memory::CallLog>(CallLogOf(memory.config, path));
  }
  return memory;
}

}  // namespace dossier::cli
