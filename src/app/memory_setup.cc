#include "app/memory_setup.h"

#include <filesystem>

#include "app/open_model.h"
#include "base/files/file.h"
#include "memory/records/embedder.h"
#include "model/local/local_pull.h"

namespace dossier::app {
namespace {

// A store that lies in a project is the user's own, not one that somebody planted or linked there.
Status CheckProjectStore(const config::Config& config, const std::string& path) {
  for (const std::string& folder : config.project_folders) {
    const std::string state = folder + "/.dossier";
    if (!path.starts_with(state + "/")) continue;
    DOSSIER_RETURN_IF_ERROR(CheckOwnPath(state, PathKind::kFolder));
    DOSSIER_RETURN_IF_ERROR(CheckOwnPath(path.substr(0, path.rfind('/')), PathKind::kFolder));
    return CheckOwnPath(path, PathKind::kFile);
  }
  return {};
}

bool IsFolder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

}  // namespace

std::string MemoryStorePath(const std::string& named, const config::Config& config,
                            memory::OpenMode mode) {
  if (!named.empty()) return named;
  if (const auto path = Environment("DOSSIER_MEMORY")) return *path;
  constexpr std::string_view kInFolder = "/memory/memory.sqlite";
  for (const std::string& folder : config.project_folders) {
    const std::string state = folder + "/.dossier";
    const std::string path = fmt::format("{}{}", state, kInFolder);
    const bool usable = mode == memory::OpenMode::kCreate ? IsFolder(state) : Exists(path);
    if (usable) return path;
  }
  return fmt::format("{}{}", config.user.data, kInFolder);
}

Result<memory::StoreOptions> StoreOptionsOf(const MemoryConfig& memory,
                                            const config::Config& config, std::string path) {
  DOSSIER_RETURN_IF_ERROR(CheckProjectStore(config, path));
  memory::StoreOptions options{.path = std::move(path),
                               .limits = memory.limits,
                               .use_fts = memory.use_fts,
                               .durability = memory.durability,
                               .redaction = memory.redaction};
  if (memory.embed_model == kNoEmbedModel) return options;
  DOSSIER_ASSIGN_OR_RETURN(const model::EmbeddingSource* const source,
                           model::FindEmbeddingSource(memory.embed_model));
  DOSSIER_ASSIGN_OR_RETURN(model::EmbeddingFiles files,
                           model::FindEmbedding(*source, config.user.data));
  options.embedder = memory::MakeTokenEmbedder({.name = memory.embed_model,
                                                .weights = std::move(files.weights),
                                                .tokenizer = std::move(files.tokenizer)});
  return options;
}

memory::CallLog CallLogOf(const MemoryConfig& memory, const std::string& store,
                          std::shared_ptr<const Clock> clock) {
  return memory::CallLog({.path = memory::CallLogPath(store),
                          .max_chars = memory.log_max_chars,
                          .redaction = memory.redaction,
                          .clock = std::move(clock)});
}

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
