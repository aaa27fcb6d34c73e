// Determines the metric of a program that ran.
//
//   DOSSIER_ASSIGN_OR_RETURN(const MeasuredMetric measured, Measure(driver, place, cancel));
//   if (measured.metric) node.metric = *measured.metric;
//   else Say(measured.failure);
//
// `working/metrics.json` is read directly. Otherwise a model writes a script that reads the `.npy`
// files, the script runs in the sandbox, and a model names the metrics in its output. Without a
// metric, `failure` says why. Errors: those of RoleCaller::Call and of the sandbox; kIo.
// Thread-safety: one thread per node; several nodes at the same time.

#ifndef DOSSIER_RESEARCH_NODE_MEASURE_H_
#define DOSSIER_RESEARCH_NODE_MEASURE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "research/node/driver.h"
#include "research/tree/node.h"

namespace dossier::research {

inline constexpr int kMeasureTries = 3;  // scripts; each call has three attempts of its own
inline constexpr std::string_view kMetricsFile = "working/metrics.json";

struct MeasurePlace {
  const Node* node = nullptr;
  std::string workspace;  // absolute
  std::string worker;     // "worker-0"
};

struct MeasuredMetric {
  std::optional<Metric> metric;
  std::string failure;
  std::vector<std::string> warnings;
};

Result<MeasuredMetric> Measure(const Driver& driver, const MeasurePlace& place,
                               const CancelToken& cancel);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_NODE_MEASURE_H_
