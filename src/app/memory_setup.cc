#include "cli/wiring/memory_setup.h"

#include <filesystem>

#include "base/files/file.h"
#include "base/files/regular_file.h"
#include "base/text/parse_time.h"
#include "cli/wiring/model_flags.h"
#include "memory/records/token_embedder.h"
#include "model/local/embedding_files.h"

namespace dossier::cli {
namespace {

class FixedClock final : public Clock {
 public:
  explicit FixedClock(Wall now) : now_(now) {}
  Steady Now() const override { return SystemClock()->Now(); }
  Wall WallNow() const override { return now_; }

 private:
  Wall now_;
};

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

std::string MemoryStorePath(const std::string& flag, const config::Config& config,
                            memory::OpenMode mode) {
  if (!flag.empty()) return flag;
  if (const auto named = Environment("DOSSIER_MEMORY"); named && !named->empty()) return *named;
  constexpr std::string_view kInFolder = "/memory/memory.sqlite";
  for (const std::string& folder : config.project_folders) {
    const std::string state = folder + "/.dossier";
    const std::string path = fmt::format("{}{}", state, kInFolder);
    const bool usable = mode == memory::OpenMode::kCreate ? IsFolder(state) : Exists(path);
    if (usable) return path;
  }
  return fmt::format("{}{}", config.user.data, kInFolder);
}

Result<memory::StoreOptions> StoreOptionsOf(const app::MemoryConfig& memory,
                                            const config::Config& config, std::string path) {
  DOSSIER_RETURN_IF_ERROR(CheckProjectStore(config, path));
  memory::StoreOptions options{.path = std::move(path),
                               .limits = memory.limits,
                               .use_fts = memory.use_fts,
                               .durability = memory.durability,
                               .redaction = memory.redaction};
  if (memory.embed_model == app::kNoEmbedModel) return options;
  DOSSIER_ASSIGN_OR_RETURN(const model::EmbeddingSource* const source,
                           model::FindEmbeddingSource(memory.embed_model));
  DOSSIER_ASSIGN_OR_RETURN(model::EmbeddingFiles files,
                           model::FindEmbedding(*source, config.user.data));
  options.embedder = memory::MakeTokenEmbedder({.name = memory.embed_model,
                                                .weights = std::move(files.weights),
                                                .tokenizer = std::move(files.tokenizer)});
  return options;
}

memory::CallLog CallLogOf(const app::MemoryConfig& memory, const std::string& store,
                          std::shared_ptr<const Clock> clock) {
  return memory::CallLog({.path = memory::CallLogPath(store),
                          .max_chars = memory.log_max_chars,
                          .redaction = memory.redaction,
                          .clock = std::move(clock)});
}

Result<std::shared_ptr<const Clock>> ClockOf(const std::string& now) {
  if (now.empty()) return SystemClock();
  const auto time = ParseTime(now);
  if (!time) return MakeError(ErrorCode::kUsage, "--now: {}", time.error().message);
  return std::make_shared<FixedClock>(*time);
}

Result<memory::Micros> ReadMoment(std::string_view flag, const std::string& text, DayEdge edge) {
  constexpr std::size_t kDay = 10;  // bytes of "2026-03-01"
  const std::string_view rest = edge == DayEdge::kBegin ? "T00:00:00Z" : "T23:59:59.999999Z";
  const auto time = ParseTime(text.size() == kDay ? fmt::format("{}{}", text, rest) : text);
  if (!time) {
    return MakeError(ErrorCode::kUsage,
                     "{} \"{}\" is no time: write 2026-03-01T10:00:00Z, or a day alone", flag,
                     text);
  }
  return std::chrono::floor<std::chrono::microseconds>(time->time_since_epoch()).count();
}

}  // namespace dossier::cli
