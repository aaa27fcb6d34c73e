#include "driver/memory_port.h"

#include <limits>
#include <utility>

#include "assembly/layout/yaml_fields.h"
#include "base/text/text.h"
#include "memory/records/embedder.h"
#include "model/local/local_pull.h"

namespace dossier::driver {
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

Result<MemoryConfig> ReadMemorySection(YamlNode section, const std::string& file) {
  MemoryConfig memory;
  std::erase_if(section.entries,
                [](const YamlEntry& entry) { return entry.value.kind == YamlNode::Kind::kNull; });
  DOSSIER_RETURN_IF_ERROR(assembly::ReadFields<MemoryConfig>(section, file, kFields, &memory));
  if (memory.embed_model == kNoEmbedModel) return memory;
  if (const auto known = model::FindEmbeddingSource(memory.embed_model); !known) {
    return MakeError(ErrorCode::kConfig, "{}: memory.embed_model: {}, {}", file,
                     known.error().message, kNoEmbedModel);
  }
  return memory;
}

std::vector<std::string> MemoryKeyNames() {
  std::vector<std::string> names;
  for (const YamlField<MemoryConfig>& field : kFields) names.emplace_back(field.key);
  return names;
}

Result<memory::StoreOptions> StoreOptionsOf(const MemoryConfig& memory, const std::string& data,
                                            std::string path) {
  memory::StoreOptions options{.path = std::move(path),
                               .limits = memory.limits,
                               .use_fts = memory.use_fts,
                               .durability = memory.durability,
                               .redaction = memory.redaction};
  if (memory.embed_model == kNoEmbedModel) return options;
  DOSSIER_ASSIGN_OR_RETURN(const model::EmbeddingSource* const source,
                           model::FindEmbeddingSource(memory.embed_model));
  DOSSIER_ASSIGN_OR_RETURN(model::EmbeddingFiles files, model::FindEmbedding(*source, data));
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

MemoryPort::MemoryPort(MemoryUse use, std::string_view branch, std::string_view phase)
    : use_(std::move(use)), branch_(branch.empty() ? memory::kRootBranch : branch), phase_(phase) {}

Result<MemoryPort> MemoryPort::Open(MemoryUse use, std::string_view branch,
                                    std::string_view phase) {
  MemoryPort port(std::move(use), branch, phase);
  DOSSIER_ASSIGN_OR_RETURN([[maybe_unused]] const memory::View view, port.Snapshot());
  return port;
}

Result<MemoryPort> MemoryPort::Fork(const std::string& name, std::optional<memory::Seq> at) const {
  DOSSIER_ASSIGN_OR_RETURN(const memory::Branch branch, store().Fork(branch_, name, {.at = at}));
  return MemoryPort(use_, branch.name, phase_);
}

Result<memory::View> MemoryPort::Snapshot(std::optional<memory::Seq> at) const {
  return store().Snapshot(branch_, at);
}

memory::RenderRequest MemoryPort::RequestFor(std::string_view query, const tokens::Counter& counter,
                                             std::int64_t max_tokens) const {
  return {.hint = phase_,
          .query = std::string(TrimSpace(query)),
          .budget = {.chars = limits().memory_budget_chars,
                     .tokens = max_tokens,
                     .count_tokens = [&counter](std::string_view text) {
                       return counter.CountText(text).tokens;
                     }}};
}

Result<std::optional<memory::ConsolidateOutcome>> MemoryPort::MakeRoom() const {
  if (!writes() || !use_.consolidate_from) return std::nullopt;
  return memory::ConsolidateIfNeeded(store(), branch_, *use_.consolidate_from, use_.summarizer);
}

Result<memory::UpdateResult> MemoryPort::Apply(const memory::UpdateBlock& block,
                                               memory::ApplyContext context) const {
  if (context.phase.empty()) context.phase = phase_;
  context.summarizer = use_.summarizer;
  return memory::Apply(store(), branch_, block, context);
}

Status MemoryPort::Write(memory::Actor actor,
                         const std::function<Status(memory::BranchTransaction&)>& write) const {
  return store().Transact(branch_, {.actor = actor, .phase = phase_}, write);
}

Status MemoryPort::Log(memory::LoggedCall call) const {
  if (!logs()) return {};
  call.branch = branch_;
  call.phase = phase_;
  return use_.calls->Append(std::move(call));
}

Status MemoryPort::LogOperations(memory::LoggedCall as, const JsonArray& operations_log) const {
  if (!logs()) return {};
  as.branch = branch_;
  as.phase = phase_;
  return memory::AppendOperations(*use_.calls, as, operations_log);
}

}  // namespace dossier::driver
