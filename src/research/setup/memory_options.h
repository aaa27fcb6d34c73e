// Section `memory` of a run's configuration, as the memory store and the caller take it.
//
//   const MemoryOptions options = ReadMemoryOptions(config.memory);
//   options.limits.core_max_chars;          // 2000
//   options.budget_chars.find("draft");     // of memory.draft_budget_chars
//
// Names and types are checked when the configuration is read (config.h); what is not a number here
// is left at its default. Thread-safety: pure function.

#ifndef DOSSIER_RESEARCH_SETUP_MEMORY_OPTIONS_H_
#define DOSSIER_RESEARCH_SETUP_MEMORY_OPTIONS_H_

#include <cstdint>
#include <map>
#include <string>

#include "base/json/json.h"
#include "memory/store/store.h"

namespace dossier::research {

struct MemoryOptions {
  memory::StoreLimits limits;
  memory::Redaction redaction = memory::Redaction::kOn;
  std::map<std::string, std::int64_t, std::less<>> budget_chars;  // by hint
};

MemoryOptions ReadMemoryOptions(const JsonObject& section);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_SETUP_MEMORY_OPTIONS_H_
