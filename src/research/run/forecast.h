// Estimates what a run will take before it starts: from its configuration, from earlier runs in the
// same folder, and from the prices of its models.
//
//   const MeasuredRuns before = MeasureRuns("experiments");
//   const Forecast forecast = ForecastRun({.config = &config, .models = models, .before =
//   &before}); out << ForecastText(forecast);
//
// A run that finds things early makes fewer nodes, so every sum has a least and a most. Thread-
// safety: plain data; MeasureRuns reads files.
//
// Thread-safety: pure functions but for the files that they read.

#ifndef DOSSIER_RESEARCH_RUN_FORECAST_H_
#define DOSSIER_RESEARCH_RUN_FORECAST_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/catalog/catalog.h"
#include "model/client/client.h"
#include "research/run.h"

namespace dossier::research {

// Of the latest runs that have an end and nodes.
struct MeasuredRuns {
  int runs = 0;
  std::int64_t nodes = 0;
  std::map<std::string, model::UsageSum> roles;
  double seconds = 0;
  double bytes = 0;
};
// Of the run folders below `out`; a run that cannot be read is left out.
MeasuredRuns MeasureRuns(const std::string& out);

struct ForecastFacts {
  const RunOrder* order = nullptr;             // its configuration, stages and skips
  const MeasuredRuns* before = nullptr;        // may have no runs
  std::int64_t prompt_tokens = 0;              // of the first prompt; where no run was measured
  std::map<std::string, model::Entry> models;  // by role; a role without one has no price
};

struct Range {
  double least = 0, most = 0;
};

struct Forecast {
  Range nodes, calls, tokens;
  std::int64_t reruns = 0;
  std::optional<Range> usd;           // unset: a price is not known
  std::optional<Range> hours;         // unset: nothing was measured yet
  std::optional<Range> bytes;         // the same
  std::vector<std::string> unpriced;  // roles
  std::string basis;                  // what it stands on, for a person
  std::string limits;                 // that end the run before; "": none
  std::string longest;                // of the commands alone, where hours are not known
};

// Pure.
Forecast ForecastRun(const ForecastFacts& facts);
std::string ForecastText(const Forecast& forecast);
inline constexpr std::string_view kPlanSchema = "dossier.research.plan/1";
JsonObject ForecastJson(const Forecast& forecast);

// The tokens of the first prompt and the models of all roles, for `facts`. Nothing is asked.
// `order.folder` is a folder for this alone. Errors: those of PreviewRun.
Status LookAhead(const RunOrder& order, ForecastFacts* facts, const CancelToken& cancel);

// All of it for `order`, in a folder that is gone afterwards and in no list of runs. `fill` gives
// the order what a run needs: models, machine. `out` holds the earlier runs. Errors: those of
// `fill` and of LookAhead.
Result<Forecast> Foresee(RunOrder order, const std::string& out,
                         const std::function<Status(RunOrder* order)>& fill,
                         const CancelToken& cancel);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_RUN_FORECAST_H_
