#include "app/memory_setup.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "app/open_model.h"
#include "assembly/assemble.h"
#include "assembly/layout/yaml_fields.h"
#include "base/files/file.h"
#include "base/random.h"
#include "base/text/text.h"
#include "driver/caller.h"
#include "memory/records/embedder.h"
#include "model/client/ledger.h"
#include "model/local/local_pull.h"

namespace dossier::app {
namespace {

// Checks that a project's store is the user's own, not one that somebody planted or linked there.
Status CheckProjectStore(const config::Config& config, const std::string& path) {
  for (const std::string& folder : config.project_folders) {
    const std::string state = folder + "/.dossier";
    if (!path.starts_with(state + "/")) continue;
    DOSSIER_RETURN_IF_ERROR(CheckOwnPath(state, PathKind::kFolder));
    DOSSIER_RETURN_IF_ERROR(CheckOwnPath(path.substr(0, path.rfind('/')), PathKind::kFolder));
    DOSSIER_RETURN_IF_ERROR(CheckOwnPath(memory::CallLogPath(path), PathKind::kFile));
    for (const char* ending : {"", "-journal", "-wal", "-shm"}) {
      DOSSIER_RETURN_IF_ERROR(CheckOwnPath(path + ending, PathKind::kFile));
    }
    return {};
  }
  return {};
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

memory::MemoryCallLog CallLogOf(const MemoryConfig& memory, const std::string& store,
                                std::shared_ptr<const Clock> clock) {
  return memory::MemoryCallLog({.path = memory::CallLogPath(store),
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
    memory.calls = std::make_shared<const memory::MemoryCallLog>(CallLogOf(memory.config, path));
  }
  return memory;
}

namespace {

using assembly::FieldPlace;
using assembly::Into;
using assembly::ReadFlag;
using assembly::ReadString;
using assembly::ReadWordOf;
using assembly::YamlField;
using memory::Redaction;
using memory::StoreLimits;

template <std::int64_t StoreLimits::* kField, std::int64_t kLeast>
Status ReadChars(const FieldPlace& at, MemoryConfig* out) {
  return assembly::ReadWhole(at, kLeast, &(out->limits.*kField));
}

template <int StoreLimits::* kField, std::int64_t kLeast>
Status ReadCount(const FieldPlace& at, MemoryConfig* out) {
  std::int64_t count = 0;
  DOSSIER_RETURN_IF_ERROR(assembly::ReadWhole(at, kLeast, &count));
  if (count > std::numeric_limits<int>::max()) return at.Fail("is too large");
  out->limits.*kField = static_cast<int>(count);
  return {};
}

constexpr std::string_view kUsesOfFts[] = {"auto", "on", "off"};
constexpr std::string_view kDurabilities[] = {"normal", "full"};
constexpr std::string_view kLevels[] = {"low", "medium", "high", "critical"};
constexpr auto ReadRedaction = assembly::ReadFlagAs<Redaction::kOn, Redaction::kOff>;

Status ReadRecallThreshold(const FieldPlace& at, MemoryConfig* out) {
  constexpr double kMost = 100;  // times recall_max_events
  return assembly::ReadNumber(at, 1, kMost, &out->limits.recall_consolidation_threshold);
}

template <double StoreLimits::* kField>
Status ReadThreshold(const FieldPlace& at, StoreLimits* out) {
  return assembly::ReadNumber(at, 0, 1, &(out->*kField));
}

constexpr YamlField<StoreLimits> kThresholds[] = {
    {"medium", ReadThreshold<&StoreLimits::pressure_medium>},
    {"high", ReadThreshold<&StoreLimits::pressure_high>},
    {"critical", ReadThreshold<&StoreLimits::pressure_critical>},
};

Status ReadThresholds(const FieldPlace& at, MemoryConfig* out) {
  StoreLimits& limits = out->limits;
  DOSSIER_RETURN_IF_ERROR(
      assembly::ReadFields<StoreLimits>(at.value, at.file, kThresholds, &limits));
  if (limits.pressure_medium <= limits.pressure_high &&
      limits.pressure_high <= limits.pressure_critical) {
    return {};
  }
  return at.Fail(fmt::format("pressure_thresholds: medium {}, high {} and critical {} must ascend",
                             limits.pressure_medium, limits.pressure_high,
                             limits.pressure_critical));
}

constexpr YamlField<MemoryConfig> kFields[] = {
    {"enabled", Into<ReadFlag, &MemoryConfig::enabled>},
    {"core_max_chars", ReadChars<&StoreLimits::core_max_chars, 1>},
    {"core_protected_max_chars", ReadChars<&StoreLimits::core_protected_max_chars, 0>},
    {"recall_max_events", ReadCount<&StoreLimits::recall_max_events, 1>},
    {"retrieval_k", ReadCount<&StoreLimits::retrieval_k, 0>},
    {"use_fts", Into<ReadWordOf<kUsesOfFts>, &MemoryConfig::use_fts>},
    {"memory_budget_chars", ReadChars<&StoreLimits::memory_budget_chars, 0>},
    {"archival_snippet_budget_chars", ReadChars<&StoreLimits::archival_snippet_budget_chars, 1>},
    {"archival_max_chars", ReadChars<&StoreLimits::archival_max_chars, 1>},
    {"model", Into<ReadString, &MemoryConfig::model>},
    {"use_llm_compression", Into<ReadFlag, &MemoryConfig::use_llm_compression>},
    {"max_compression_iterations", ReadCount<&StoreLimits::max_compression_iterations, 0>},
    {"max_memory_read_rounds", ReadCount<&StoreLimits::max_memory_read_rounds, 0>},
    {"auto_consolidate", Into<ReadFlag, &MemoryConfig::auto_consolidate>},
    {"consolidation_trigger", Into<ReadWordOf<kLevels>, &MemoryConfig::consolidation_trigger>},
    {"recall_consolidation_threshold", ReadRecallThreshold},
    {"pressure_thresholds", ReadThresholds},
    {"memory_log_enabled", Into<ReadFlag, &MemoryConfig::log_enabled>},
    {"memory_log_max_chars", Into<assembly::ReadWholeFrom<0>, &MemoryConfig::log_max_chars>},
    {"redact_secrets", Into<ReadRedaction, &MemoryConfig::redaction>},
    {"durability", Into<ReadWordOf<kDurabilities>, &MemoryConfig::durability>},
    {"embed_model", Into<ReadString, &MemoryConfig::embed_model>},
};

}  // namespace

Result<MemoryConfig> ReadMemoryConfig(const config::Config& config) {
  MemoryConfig memory;
  const auto section = config.sections.find("memory");
  if (section == config.sections.end()) return memory;
  YamlNode node = section->second.node;
  // Null means "not set".
  std::erase_if(node.entries,
                [](const YamlEntry& entry) { return entry.value.kind == YamlNode::Kind::kNull; });
  DOSSIER_RETURN_IF_ERROR(
      assembly::ReadFields<MemoryConfig>(node, section->second.file, kFields, &memory));
  if (memory.embed_model == kNoEmbedModel) return memory;
  if (const auto known = model::FindEmbeddingSource(memory.embed_model); !known) {
    return MakeError(ErrorCode::kConfig, "{}: memory.embed_model: {}, {}", section->second.file,
                     known.error().message, kNoEmbedModel);
  }
  return memory;
}

namespace {

using memory::RatedItem;
using memory::SummaryRequest;

// The model of a summarizer, shared by its functions.
class MemoryModel {
 public:
  MemoryModel(driver::BoundModel model, driver::LayoutSources layouts, CancelToken cancel)
      : model_(std::move(model)),
        layouts_(std::move(layouts)),
        cancel_(std::move(cancel)),
        ledger_({}, SystemClock()),
        caller_(ledger_, SystemClock()) {}

  Result<std::string> Summarize(const SummaryRequest& request) {
    const std::string most = std::to_string(request.max_chars);
    if (request.purpose == SummaryRequest::Purpose::kConsolidate) {
      return Ask("memory.consolidate", {{.name = "events", .content = request.text}},
                 {{"kind", request.hint}, {"max_chars", most}}, request.max_chars);
    }
    std::vector<assembly::Section> sections = {{.name = "text", .content = request.text}};
    if (!request.context.empty()) {
      sections.push_back({.name = "context", .content = request.context});
    }
    return Ask("memory.compress", sections, {{"hint", request.hint}, {"max_chars", most}},
               request.max_chars);
  }

  Result<std::vector<int>> Rate(const std::vector<RatedItem>& items) {
    std::string facts;
    for (std::size_t i = 0; i < items.size(); ++i) {
      facts += fmt::format("{}. {}: {}\n", i + 1, items[i].key, items[i].value);
    }
    constexpr std::int64_t kTokensOfRating = 4;  // "3, "
    constexpr std::int64_t kTokensAround = 64;   // brackets, and a fence
    DOSSIER_ASSIGN_OR_RETURN(
        const std::string reply,
        Ask("memory.rate", {{.name = "facts", .content = std::move(facts)}},
            {{"count", std::to_string(items.size())}},
            kTokensAround + kTokensOfRating * static_cast<std::int64_t>(items.size())));
    return ReadRatings(reply, items.size());
  }

 private:
  // `most_tokens`: in most texts a code point is at most one token, so characters are used instead.
  Result<std::string> Ask(std::string_view layout_name,
                          const std::vector<assembly::Section>& sections,
                          driver::SectionValues values, std::int64_t most_tokens) {
    DOSSIER_ASSIGN_OR_RETURN(
        const model::Reply reply,
        driver::AskByLayout({std::string(layout_name), sections, std::move(values), most_tokens},
                            layouts_, model_, caller_, cancel_));
    return std::string(TrimSpace(reply.text));
  }

  const driver::BoundModel model_;
  const driver::LayoutSources layouts_;
  const CancelToken cancel_;
  model::Ledger ledger_;
  driver::Caller caller_;
};

}  // namespace

Result<memory::Summarizer> OpenSummarizer(ModelSettings settings, const MemoryConfig& memory_config,
                                          const config::Config& config, const FindLayouts& layouts,
                                          const std::function<void(std::string_view)>& say,
                                          const CancelToken& cancel) {
  const bool by_config = settings.model.empty() && memory_config.use_llm_compression.value_or(true);
  if (by_config) settings.model = memory_config.model;
  if (settings.model.empty()) return memory::Summarizer();
  DOSSIER_ASSIGN_OR_RETURN(driver::BoundModel model,
                           OpenChatModel(std::move(settings), config, say, cancel));
  DOSSIER_ASSIGN_OR_RETURN(driver::LayoutSources found, layouts());
  memory::Summarizer summarizer{.model = model.stored,
                                // Half the window: the rest is for the instruction and the reply.
                                .window_chars = model.entry.capability.window / 2};
  const auto shared = std::make_shared<MemoryModel>(std::move(model), std::move(found), cancel);
  summarizer.summarize = [shared](const SummaryRequest& request) {
    return shared->Summarize(request);
  };
  summarizer.rate = [shared](const std::vector<RatedItem>& items) { return shared->Rate(items); };
  return summarizer;
}

Result<std::vector<int>> ReadRatings(std::string_view reply, std::size_t count) {
  const auto wrong = [&] {
    return MakeError(ErrorCode::kProtocol, "the reply is no list of {} whole numbers from 1 to 5",
                     count);
  };
  const std::size_t begin = reply.find('['), end = reply.rfind(']');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) {
    return wrong();
  }
  const auto list = ParseJson(reply.substr(begin, end - begin + 1));
  if (!list || !list->is_array() || list->as_array().size() != count) return wrong();
  std::vector<int> ratings;
  for (const Json& item : list->as_array()) {
    if (!item.is_int64() || item.as_int64() < 1 || item.as_int64() > 5) return wrong();
    ratings.push_back(static_cast<int>(item.as_int64()));
  }
  return ratings;
}

}  // namespace dossier::app
