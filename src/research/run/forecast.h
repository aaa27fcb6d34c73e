// Estimates the cost of a run before it starts: from its configuration, from earlier runs in the
// same folder, and from the prices of its models.
//
//   const MeasuredRuns before = MeasureRuns("experiments");
//   const ForecastFacts facts{.order = &order, .before = &before, .models = models};
//   out << ForecastText(ForecastRun(facts));
//
// A run that succeeds early makes fewer nodes, so every sum has a minimum and a maximum.
//
// Thread-safety: plain data and pure functions, except MeasureRuns, LookAhead and Foresee, which
// use files.

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

// Totals of the latest runs that have ended and have nodes.
struct MeasuredRuns {
  int runs = 0;
  std::int64_t nodes = 0;
  std::map<std::string, model::UsageSum> roles;
  double seconds = 0;
  double bytes = 0;
};
// Reads the run folders below `out`; a run that cannot be read is left out.
MeasuredRuns MeasureRuns(const std::string& out);

struct ForecastFacts {
  const RunOrder* order = nullptr;             // provides configuration, stages and skips
  const MeasuredRuns* before = nullptr;        // may have no runs
  std::int64_t prompt_tokens = 0;              // of the first prompt; used if no run was measured
  std::map<std::string, model::Entry> models;  // by role; a role without one has no price
};

struct Range {
  double least = 0, most = 0;
};

struct Forecast {
  Range nodes, calls, tokens;
  std::int64_t reruns = 0;
  std::optional<Range> usd;           // unset: a price is unknown
  std::optional<Range> hours;         // unset: nothing measured yet
  std::optional<Range> bytes;         // the same
  std::vector<std::string> unpriced;  // roles
  std::string basis;                  // basis of the estimate, for a person
  std::string limits;                 // limits that end the run earlier; "": none
  std::string longest;                // time of the commands alone, if hours are unknown
};

Forecast ForecastRun(const ForecastFacts& facts);
std::string ForecastText(const Forecast& forecast);
inline constexpr std::string_view kPlanSchema = "dossier.research.plan/1";
JsonObject ForecastJson(const Forecast& forecast);

// Fills in the tokens of the first prompt and the models of all roles. No model is asked.
// `order.folder` is a folder for this alone. Errors: those of PreviewRun.
Status LookAhead(const RunOrder& order, ForecastFacts* facts, const CancelToken& cancel);

// Forecasts `order` in a temporary folder that is in no list of runs. `fill` sets what a run needs:
// models, machine. `out` contains the earlier runs. Errors: those of `fill` and of LookAhead.
Result<Forecast> Foresee(RunOrder order, const std::string& out,
                         const std::function<Status(RunOrder* order)>& fill,
                         const CancelToken& cancel);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_RUN_FORECAST_H_
