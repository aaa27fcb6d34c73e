// Shared by the commands for evaluation runs: opens the models of a run as endpoints and makes its
// plan from flags. Thread-safety: none needed.

#ifndef DOSSIER_CLI_EVALUATION_EVAL_RUN_H_
#define DOSSIER_CLI_EVALUATION_EVAL_RUN_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/model_endpoint.h"
#include "base/cancel.h"
#include "base/result.h"
#include "cli/tree/command.h"
#include "evaluation/report/summary.h"
#include "evaluation/run/runner.h"

namespace dossier::cli {

struct EvalRunArguments {
  std::vector<std::string> sets, arms, models, prices, contexts_from;
  std::string out, arms_file, base_url, key_env, script, judge;
  std::string limit_time = "600s", max_time, stub_errors, cache = "warm", only, junit, html,
              markdown;
  std::int64_t limit_calls = 500, repeats = 1, jobs = 1;
  std::optional<std::int64_t> sample, window;
  std::optional<double> max_cost, temperature, min_score, max_seconds;
  std::optional<std::uint64_t> seed;
  bool estimate = false, renew = false, json = false;
};

// A plan and the objects that its models need while it runs.
struct PreparedPlan {
  evaluation::EvalPlan plan;
  evaluation::RunParts parts;
  std::vector<app::ModelEndpoint> endpoints;
};

// Errors: those of sets, arms and models; kUsage for flags.
Result<PreparedPlan> PreparePlan(const EvalRunArguments& given, Context& context);

// The one model that a command uses; `endpoint` must live as long as it is used. Errors: those of
// OpenEndpoint.
struct EvalModelInUse {
  evaluation::EvalModel model;
  app::ModelEndpoint endpoint;
};
Result<EvalModelInUse> OpenEvalModel(const std::string& name, const EvalRunArguments& given,
                                     Context& context);

// Runs the programs of questions files, which may come from a stranger, in the jail: no network,
// keys or home folder, nothing writable, and only the folder of the questions (else the current
// one) readable.
evaluation::RunScorer JailedScorer(const CancelToken& cancel);

// Returns the folder for installed peers. Errors: kConfig if there is no home folder.
Result<std::string> PeersFolder();

// The outputs of a report: the requested files, and a table or an object on stdout.
struct ReportFiles {
  std::string html, markdown, json_file, junit;
  bool json = false;
};
Status WriteReport(const evaluation::Report& report, const ReportFiles& files, Context& context);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_EVALUATION_EVAL_RUN_H_
