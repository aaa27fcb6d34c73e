#include "research/setup/memory_options.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <variant>

namespace dossier::research {
namespace {

using memory::StoreLimits;

struct LimitKey {
  std::string_view name;
  std::variant<std::int64_t StoreLimits::*, int StoreLimits::*, double StoreLimits::*> at;
};
constexpr LimitKey kLimits[] = {
    {"core_max_chars", &StoreLimits::core_max_chars},
    {"core_protected_max_chars", &StoreLimits::core_protected_max_chars},
    {"recall_max_events", &StoreLimits::recall_max_events},
    {"retrieval_k", &StoreLimits::retrieval_k},
    {"memory_budget_chars", &StoreLimits::memory_budget_chars},
    {"archival_snippet_budget_chars", &StoreLimits::archival_snippet_budget_chars},
    {"archival_max_chars", &StoreLimits::archival_max_chars},
    {"max_compression_iterations", &StoreLimits::max_compression_iterations},
    {"max_memory_read_rounds", &StoreLimits::max_memory_read_rounds},
    {"recall_consolidation_threshold", &StoreLimits::recall_consolidation_threshold},
};
constexpr LimitKey kThresholds[] = {
    {"medium", &StoreLimits::pressure_medium},
    {"high", &StoreLimits::pressure_high},
    {"critical", &StoreLimits::pressure_critical},
};
constexpr std::string_view kBudgetEnd = "_budget_chars";

void Read(const Json& section, const LimitKey& key, StoreLimits* limits) {
  if (const auto* number = std::get_if<double StoreLimits::*>(&key.at)) {
    limits->** number = FindNumber(section, key.name).value_or(limits->**number);
    return;
  }
  const auto value = FindInt(section, key.name);
  if (!value) return;
  if (const auto* wide = std::get_if<std::int64_t StoreLimits::*>(&key.at)) {
    limits->** wide = *value;
  } else if (const auto* narrow = std::get_if<int StoreLimits::*>(&key.at)) {
    constexpr std::int64_t kMost = std::numeric_limits<int>::max();
    limits->** narrow = static_cast<int>(std::clamp<std::int64_t>(*value, 0, kMost));
  }
}

}  // namespace

MemoryOptions ReadMemoryOptions(const JsonObject& section) {
  MemoryOptions options;
  const Json whole(section);
  for (const LimitKey& key : kLimits) Read(whole, key, &options.limits);
  if (const Json* thresholds = Find(section, "pressure_thresholds")) {
    for (const LimitKey& key : kThresholds) Read(*thresholds, key, &options.limits);
  }
  if (!FindBool(whole, "redact_secrets").value_or(true)) {
    options.redaction = memory::Redaction::kOff;
  }
  for (const auto& [name, value] : section) {
    const std::string_view key(name.data(), name.size());
    if (!key.ends_with(kBudgetEnd) || !value.is_int64()) continue;
    if (std::any_of(std::begin(kLimits), std::end(kLimits),
                    [&](const LimitKey& limit) { return limit.name == key; })) {
      continue;  // that of all prompts
    }
    options.budget_chars.emplace(key.substr(0, key.size() - kBudgetEnd.size()), value.as_int64());
  }
  return options;
}

}  // namespace dossier::research
