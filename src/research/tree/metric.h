// Metrics as programs and models write them, and their order.
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
inline constexpr std::size_t kMaxMetricValues = 10'000;  // of one series

// `working/metrics.json` of a program: the list of series, or an object with it under
// `metric_names`. NaN and Infinity, which JSON does not have but common writers write, are read as
// values that are no numbers. Errors: kInvalidArgument with the place.
Result<Metric> ReadMetricFile(std::string_view text);

// That metric.primary names what this metric has not, as a sentence; "": it has it.
std::string MissingMetric(const Metric& metric, std::string_view primary);

// The series of that name; null: none.
const MetricSeries* FindSeries(const Metric& metric, std::string_view name);

// The mean over `datasets`, or over all of its own where there are none; unset if one of them is
// missing or not finite.
std::optional<double> MeanOver(const MetricSeries& series, std::span<const std::string> datasets);

// Over reruns with other seeds, per metric and data set, in the order of the first run.
struct SeedSeries {
  std::string name;
  MetricSeries::Better better = MetricSeries::Better::kHigher;
  struct Value {
    std::string dataset;
    int runs = 0;  // that report a finite value
    double mean = 0;
    std::optional<double> deviation;  // of the sample; unset below two runs
  };
  std::vector<Value> values;
};
std::vector<SeedSeries> SeedStatistics(std::span<const Metric> runs);
JsonArray SeedStatisticsJson(std::span<const SeedSeries> statistics);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_TREE_METRIC_H_
