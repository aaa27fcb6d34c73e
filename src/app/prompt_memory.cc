#include "app/prompt_memory.h"

#include "app/memory_setup.h"
#include "base/files/file.h"

namespace dossier::app {

bool IsOn(const MemoryWish& wish, const MemoryConfig& config) {
  if (wish.use != MemoryWish::Use::kByConfig) return wish.use == MemoryWish::Use::kOn;
  return config.enabled.value_or(false);
}

Result<PromptMemory> OpenPromptMemory(const MemoryWish& wish, const config::Config& config,
                                      MemoryNeed need) {
  PromptMemory memory{.branch = wish.branch};
  DOSSIER_ASSIGN_OR_RETURN(memory.config, ReadMemoryConfig(config));
  if (!IsOn(wish, memory.config)) return memory;
  const auto mode =
      need == MemoryNeed::kWritten ? memory::OpenMode::kCreate : memory::OpenMode::kExisting;
  const std::string path = MemoryStorePath(wish.store, config, mode);
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

}  // namespace dossier::app
