#include "memory/consolidate/pressure.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text/utf8.h"

namespace dossier::memory {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"low", "medium", "high", "critical"};
constexpr double kCoreWeight = 0.6;
constexpr double kRecallWeight = 0.4;
constexpr double kMostShown = 2.0;
constexpr std::int64_t kManyRecords = 100;

double Rounded(double ratio) { return std::round(ratio * 1e4) / 1e4; }

double Ratio(std::int64_t used, std::int64_t limit) {
  if (limit <= 0) return used > 0 ? kMostShown : 0;
  return Rounded(static_cast<double>(used) / static_cast<double>(limit));
}

PressureLevel LevelOf(double overall, const StoreLimits& limits) {
  if (overall >= limits.pressure_critical) return PressureLevel::kCritical;
  if (overall >= limits.pressure_high) return PressureLevel::kHigh;
  return overall >= limits.pressure_medium ? PressureLevel::kMedium : PressureLevel::kLow;
}

}  // namespace

std::string_view PressureName(PressureLevel level) {
  return kNames.at(static_cast<std::size_t>(level));
}

std::optional<PressureLevel> FindPressure(std::string_view name) {
  const auto* const found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<PressureLevel>(found - kNames.begin());
}

bool CountsForCore(const CoreEntry& entry, std::string_view branch) {
  return entry.branch == branch && !entry.pinned && !IsProtectedKey(entry.key);
}

std::int64_t CoreChars(const std::vector<CoreEntry>& entries, std::string_view branch) {
  std::int64_t chars = 0;
  for (const CoreEntry& entry : entries) {
    if (!CountsForCore(entry, branch)) continue;
    chars +=
        static_cast<std::int64_t>(utf8::CodePoints(entry.key) + utf8::CodePoints(entry.value)) +
        (chars > 0 ? 3 : 2);  // ": ", and the newline before the line
  }
  return chars;
}

Pressure PressureOf(const MemoryAmounts& use, const StoreLimits& limits) {
  Pressure pressure{
      .use = use, .core_max = limits.core_max_chars, .recall_max = limits.recall_max_events};
  const double recall = Ratio(use.own_events, limits.recall_max_events);
  pressure.core_ratio = Ratio(use.core_chars, limits.core_max_chars);
  pressure.recall_ratio = std::min(recall, kMostShown);
  pressure.overall =
      Rounded(kCoreWeight * pressure.core_ratio + kRecallWeight * std::min(recall, 1.0));
  pressure.level = LevelOf(pressure.overall, limits);
  const auto recommend = [&](bool holds, std::string_view what) {
    if (holds) pressure.recommendations.emplace_back(what);
  };
  recommend(recall > 1, "consolidate_recall");
  recommend(pressure.core_ratio > limits.pressure_high, "evict_core");
  recommend(pressure.core_ratio > limits.pressure_medium, "compress_core");
  recommend(recall > limits.pressure_medium, "summarize_recall");
  recommend(use.own_archival > kManyRecords, "prune_archival");
  return pressure;
}

Result<Pressure> MeasurePressure(const View& view, const StoreLimits& limits) {
  DOSSIER_ASSIGN_OR_RETURN(const ViewCounts counts, view.Counts());
  const std::vector<CoreEntry>& core = view.AllCore();
  return PressureOf({.core_chars = CoreChars(core, view.branch()),
                     .core_entries = std::ranges::count_if(
                         core, [&](const CoreEntry& e) { return CountsForCore(e, view.branch()); }),
                     .own_events = counts.own_events,
                     .own_archival = counts.own_archival,
                     .archival = counts.archival,
                     .archival_chars = counts.archival_code_points},
                    limits);
}

JsonObject PressureJson(const Pressure& pressure) {
  const MemoryAmounts& use = pressure.use;
  return {{"pressure_level", PressureName(pressure.level)},
          {"core_usage", JsonObject{{"used", use.core_chars},
                                    {"max", pressure.core_max},
                                    {"ratio", pressure.core_ratio},
                                    {"entry_count", use.core_entries}}},
          {"recall_usage", JsonObject{{"count", use.own_events},
                                      {"max", pressure.recall_max},
                                      {"ratio", pressure.recall_ratio}}},
          {"archival_usage",
           JsonObject{{"count", use.archival}, {"estimated_chars", use.archival_chars}}},
          {"recommendations",
           JsonArray(pressure.recommendations.begin(), pressure.recommendations.end())},
          {"overall_ratio", pressure.overall}};
}

}  // namespace dossier::memory
