// Reads metrics as programs and models write them, and compares them.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Metric metric, ReadMetricFile(metrics_json));
//   MetricText(metric);                       // "speedup↑[large:3.12]"
//   const std::optional<double> mean = MeanOver(metric.front(), {});
//
// Thread-safety: pure functions.

#ifndef DOSSIER_RESEARCH_TREE_METRIC_H_
#define DOSSIER_RESEARCH_TREE_METRIC_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "research/tree/node.h"

namespace dossier::research {

inline constexpr std::size_t kMaxMetricSeries = 1000;
inline constexpr std::size_t kMaxMetricValues = 10'000;  // per series

// Reads a program's `working/metrics.json`: the list of series, or an object with it under
// `metric_names`. NaN and Infinity, which are not JSON but are written by common libraries, are
// read as values that are not numbers. Errors: kInvalidArgument with the place.
Result<Metric> ReadMetricFile(std::string_view text);

// Returns a sentence saying that this metric lacks what metric.primary names; "" if it does not.
std::string MissingMetric(const Metric& metric, std::string_view primary);

// Returns the series with that name; null: none.
const MetricSeries* FindSeries(const Metric& metric, std::string_view name);

// Returns the mean over `datasets`, or over all of the series if empty; unset if one of them is
// missing or not finite.
std::optional<double> MeanOver(const MetricSeries& series, std::span<const std::string> datasets);

// Statistics of reruns with other seeds, per metric and data set, in the order of the first run.
struct SeedSeries {
  std::string name;
  MetricSeries::Better better = MetricSeries::Better::kHigher;
  struct Value {
    std::string dataset;
    int runs = 0;  // number of runs with a finite value
    double mean = 0;
    std::optional<double> deviation;  // sample standard deviation; unset for fewer than two runs
  };
  std::vector<Value> values;
};
std::vector<SeedSeries> SeedStatistics(std::span<const Metric> runs);
JsonArray SeedStatisticsJson(std::span<const SeedSeries> statistics);
// Returns "mean speedup[large:30 ± 2 over 3]" of that JSON in the `summary` of a node.
std::string SeedText(const Json& summary);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_TREE_METRIC_H_
