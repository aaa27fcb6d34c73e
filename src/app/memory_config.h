// Section `memory` of dossier.yml, typed and checked.
//
//   DOSSIER_ASSIGN_OR_RETURN(const MemoryConfig memory, ReadMemoryConfig(config));
//   memory.limits.core_max_chars;        // 2000
//
// Thread-safety: plain data; a pure function.

#ifndef DOSSIER_APP_MEMORY_CONFIG_H_
#define DOSSIER_APP_MEMORY_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/config.h"
#include "memory/consolidate/pressure.h"
#include "memory/store/store.h"

namespace dossier::app {

inline constexpr std::string_view kNoEmbedModel = "none";

struct MemoryConfig {
  std::optional<bool> enabled;  // unset: where a store is named
  memory::StoreLimits limits;
  memory::UseFts use_fts = memory::UseFts::kAuto;
  memory::Durability durability = memory::Durability::kNormal;
  memory::Redaction redaction = memory::Redaction::kOn;  // redact_secrets
  std::string model;                                     // the role `memory`; "": none
  std::optional<bool> use_llm_compression;               // unset: where `model` is set
  bool auto_consolidate = true;
  memory::PressureLevel consolidation_trigger = memory::PressureLevel::kHigh;
  bool log_enabled = true;            // memory_log_enabled
  std::int64_t log_max_chars = 1000;  // memory_log_max_chars; code points of one text
  std::string embed_model = std::string(kNoEmbedModel);  // of model/local/local_pull.h
};

// Errors: kConfig with FILE:LINE:COL and the key, for unknown keys too, with the nearest.
Result<MemoryConfig> ReadMemoryConfig(const config::Config& config);

}  // namespace dossier::app

#endif  // DOSSIER_APP_MEMORY_CONFIG_H_
