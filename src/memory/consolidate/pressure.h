// Measures how full the memory of a branch is and recommends steps that help.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Pressure pressure, MeasurePressure(view, store->limits()));
//   if (pressure.level >= PressureLevel::kHigh) …      // consolidate.h
//
// Ratios are compared as printed, rounded to 4 digits. Thread-safety: plain data; pure functions.

#ifndef DOSSIER_MEMORY_CONSOLIDATE_PRESSURE_H_
#define DOSSIER_MEMORY_CONSOLIDATE_PRESSURE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "memory/records/types.h"
#include "memory/search/view.h"

namespace dossier::memory {

enum class PressureLevel : std::uint8_t { kLow, kMedium, kHigh, kCritical };
std::string_view PressureName(PressureLevel level);  // "low"
std::optional<PressureLevel> FindPressure(std::string_view name);

// The amounts that pressure is computed from.
struct MemoryAmounts {
  std::int64_t core_chars = 0;    // own unprotected entries as lines, code points
  std::int64_t core_entries = 0;  // the number of those entries
  std::int64_t own_events = 0;    // not consolidated
  std::int64_t own_archival = 0;
  std::int64_t archival = 0;        // visible records
  std::int64_t archival_chars = 0;  // code points of those records
};

struct Pressure {
  MemoryAmounts use;
  std::int64_t core_max = 0;
  std::int64_t recall_max = 0;
  double core_ratio = 0;
  double recall_ratio = 0;  // at most 2
  double overall = 0;
  PressureLevel level = PressureLevel::kLow;
  std::vector<std::string> recommendations;  // "consolidate_recall", …
};

// Returns true for the branch's own entries that count towards core_max_chars.
bool CountsForCore(const CoreEntry& entry, std::string_view branch);
std::int64_t CoreChars(const std::vector<CoreEntry>& entries, std::string_view branch);

Pressure PressureOf(const MemoryAmounts& use, const StoreLimits& limits);
Result<Pressure> MeasurePressure(const View& view, const StoreLimits& limits);
// Returns the JSON that `dossier memory pressure --json` prints, without `schema`.
JsonObject PressureJson(const Pressure& pressure);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_CONSOLIDATE_PRESSURE_H_
