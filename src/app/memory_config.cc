#include "app/memory_config.h"

#include <limits>
#include <utility>

#include "assembly/layout/yaml_fields.h"
#include "model/local/embedding_files.h"

namespace dossier::app {
namespace {

using assembly::Field;
using assembly::FieldPlace;
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

template <bool MemoryConfig::* kField>
Status ReadBool(const FieldPlace& at, MemoryConfig* out) {
  return assembly::ReadFlag(at, &(out->*kField));
}

template <std::optional<bool> MemoryConfig::* kField>
Status ReadOptionalBool(const FieldPlace& at, MemoryConfig* out) {
  return assembly::ReadFlag(at, &(out->*kField).emplace());
}

template <std::string MemoryConfig::* kField>
Status ReadName(const FieldPlace& at, MemoryConfig* out) {
  return assembly::ReadString(at, &(out->*kField));
}

Status ReadUseFts(const FieldPlace& at, MemoryConfig* out) {
  constexpr std::string_view kNames[] = {"auto", "on", "off"};
  std::size_t choice = 0;
  DOSSIER_RETURN_IF_ERROR(assembly::ReadChoice(at, kNames, &choice));
  out->use_fts = static_cast<memory::UseFts>(choice);
  return {};
}

Status ReadDurability(const FieldPlace& at, MemoryConfig* out) {
  constexpr std::string_view kNames[] = {"normal", "full"};
  std::size_t choice = 0;
  DOSSIER_RETURN_IF_ERROR(assembly::ReadChoice(at, kNames, &choice));
  out->durability = static_cast<memory::Durability>(choice);
  return {};
}

Status ReadTrigger(const FieldPlace& at, MemoryConfig* out) {
  constexpr std::string_view kNames[] = {"low", "medium", "high", "critical"};
  std::size_t choice = 0;
  DOSSIER_RETURN_IF_ERROR(assembly::ReadChoice(at, kNames, &choice));
  out->consolidation_trigger = static_cast<memory::PressureLevel>(choice);
  return {};
}

Status ReadRedaction(const FieldPlace& at, MemoryConfig* out) {
  bool redacts = true;
  DOSSIER_RETURN_IF_ERROR(assembly::ReadFlag(at, &redacts));
  out->redaction = redacts ? memory::Redaction::kOn : memory::Redaction::kOff;
  return {};
}

Status ReadRecallThreshold(const FieldPlace& at, MemoryConfig* out) {
  constexpr double kMost = 100;  // times recall_max_events
  return assembly::ReadNumber(at, 1, kMost, &out->limits.recall_consolidation_threshold);
}

Status ReadLogChars(const FieldPlace& at, MemoryConfig* out) {
  return assembly::ReadWhole(at, 0, &out->log_max_chars);
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
    {"enabled", ReadOptionalBool<&MemoryConfig::enabled>},
    {"core_max_chars", ReadChars<&StoreLimits::core_max_chars, 1>},
    {"core_protected_max_chars", ReadChars<&StoreLimits::core_protected_max_chars, 0>},
    {"recall_max_events", ReadCount<&StoreLimits::recall_max_events, 1>},
    {"retrieval_k", ReadCount<&StoreLimits::retrieval_k, 0>},
    {"use_fts", ReadUseFts},
    {"memory_budget_chars", ReadChars<&StoreLimits::memory_budget_chars, 0>},
    {"archival_snippet_budget_chars", ReadChars<&StoreLimits::archival_snippet_budget_chars, 1>},
    {"archival_max_chars", ReadChars<&StoreLimits::archival_max_chars, 1>},
    {"model", ReadName<&MemoryConfig::model>},
    {"use_llm_compression", ReadOptionalBool<&MemoryConfig::use_llm_compression>},
    {"max_compression_iterations", ReadCount<&StoreLimits::max_compression_iterations, 0>},
    {"max_memory_read_rounds", ReadCount<&StoreLimits::max_memory_read_rounds, 0>},
    {"auto_consolidate", ReadBool<&MemoryConfig::auto_consolidate>},
    {"consolidation_trigger", ReadTrigger},
    {"recall_consolidation_threshold", ReadRecallThreshold},
    {"pressure_thresholds", ReadThresholds},
    {"memory_log_enabled", ReadBool<&MemoryConfig::log_enabled>},
    {"memory_log_max_chars", ReadLogChars},
    {"redact_secrets", ReadRedaction},
    {"durability", ReadDurability},
    {"embed_model", ReadName<&MemoryConfig::embed_model>},
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
