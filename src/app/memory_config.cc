#include "app/memory_config.h"

#include <limits>
#include <utility>

#include "assembly/layout/yaml_fields.h"
#include "model/local/local_pull.h"

namespace dossier::app {
namespace {

using assembly::Field;
using assembly::FieldPlace;
using assembly::Into;
using assembly::ReadFlag;
using assembly::ReadString;
using assembly::ReadWordOf;
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

constexpr Field<StoreLimits> kThresholds[] = {
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

constexpr Field<MemoryConfig> kFields[] = {
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
  // Null is "not set".
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

}  // namespace dossier::app
