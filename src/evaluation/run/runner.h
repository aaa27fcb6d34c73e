// Asks every arm every task, saves each answer at once, and resumes where it was stopped.
//
//   EvalPlan plan{.arms = arms, .models = models, .sets = sets, .limits = {.jobs = 1}};
//   DOSSIER_ASSIGN_OR_RETURN(const Summary summary,
//                            RunPlan(plan, "out", parts, cancel, [](const Row& row, auto) {
//                            Show(row);
//                            }));
//
// The folder has plan.json, tasks.jsonl, rows.jsonl and transcripts/ (docs/formats/eval-run.md). A
// second run with the same plan skips tasks that have a row; a changed plan is refused.
// Thread-safety: functions; one run per folder at a time.

#ifndef DOSSIER_EVALUATION_RUN_RUNNER_H_
#define DOSSIER_EVALUATION_RUN_RUNNER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/process/process.h"
#include "base/result.h"
#include "evaluation/run/proxy.h"
#include "evaluation/run/questions.h"
#include "evaluation/run/rows.h"
#include "evaluation/run/systems.h"

namespace dossier::evaluation {

// A model, as all arms use it.
struct EvalModel {
  std::string name;  // as the user named it: "local", "gpt-5-mini"
  ModelUpstream upstream;
  std::int64_t window = 0, max_output = 0;  // tokens; 0: not known
  // Nano-dollars per token; unset: unknown.
  std::optional<std::int64_t> price_input, price_cached, price_output;
  std::string prices_of;  // the date of the prices
  std::string weights;    // hash of local weights, if any
  std::string script;     // hash of the script that answers, if any
  std::string address;    // base URL, if it is the same in every run
};

struct RunLimits {
  Millis time{600'000};            // per question
  std::int64_t calls = 500;        // per question
  std::optional<double> max_cost;  // US dollars, all arms together
  std::optional<Millis> max_time;  // all arms together
  int jobs = 1;                    // parallel questions; times are comparable only with 1
  int repeats = 1;
};

struct EvalPlan {
  std::vector<Arm> arms;                    // names are unique
  std::map<std::string, EvalModel> models;  // by Arm::model
  std::vector<AskedSet> sets;
  RunLimits limits;
  std::optional<double> temperature;  // used if a system sets none
  std::optional<std::uint64_t> seed;
  QuestionRules::Cache cache = QuestionRules::Cache::kWarm;
  std::string judge;              // the model that gives opinions; empty: none
  std::vector<std::string> argv;  // the whole command line
  std::string version, binary;    // version of this program; hash of its file
};

// Returns the content of plan.json. It contains no key.
Json PlanToJson(const EvalPlan& plan);
// Returns the differences that prevent a resume: "limits.calls: 500, now 300", "my.yml or a file
// that it names has changed"; empty: none.
std::vector<std::string> PlanDifferences(const Json& before, const Json& now);

struct Summary {
  std::int64_t rows = 0, asked = 0, skipped = 0, harness_errors = 0;
  enum class End : std::uint8_t { kDone, kBudget, kModelAway, kCancelled } end = End::kDone;
  std::string why;  // reason for an early end
};

// Runs a scorer's program, which a questions file names, with `input` on its stdin. Errors: those
// of its sandbox, kTimeout, kCancelled.
using RunScorer = std::function<Result<ProcessResult>(const AskedTask& asked, std::string input)>;

struct RunParts {
  SystemParts systems;
  // Scores one answer; the caller provides the scorers that need a program or a model.
  std::function<Result<void>(const AskedTask& asked, Row* row)> score;
};

enum class OldRows : std::uint8_t { kKeep, kDiscard };  // kDiscard: --new

// Called with each answer when it is saved; `answers`: the number in the folder, with it.
using SayRow = std::function<void(const Row& row, std::int64_t answers)>;

// Errors: kConfig (no arm, no task), kCheckFailed (the plan differs from the folder's; lists the
// differences), kLocked (another run holds the folder), kUnavailable (a system is not installed),
// those of files. Failures of single questions are not errors.
Result<Summary> RunPlan(const EvalPlan& plan, const std::string& folder, const RunParts& parts,
                        OldRows old_rows, const CancelToken& cancel, const SayRow& say);

// The estimated cost of a run, from three tasks per arm, spread over the lengths.
struct Estimate {
  std::string arm;
  int sampled = 0;
  double calls = 0, tokens = 0, seconds = 0;  // for the whole run
  std::optional<double> usd;
  int failed = 0;       // sampled tasks that failed without an answer
  std::string failure;  // message of the last failure
};
// Errors: as RunPlan. Nothing is saved.
Result<std::vector<Estimate>> EstimatePlan(const EvalPlan& plan, const RunParts& parts,
                                           const CancelToken& cancel);

// Sets scores and cause of `row` by ScoreAnswer, or by `run` for the scorer `command`. A status
// without an answer scores 0. A judge's task stays unscored; its opinion is kept. Errors: those of
// `run`; kUnavailable without a needed `run`; kConfig for bad output.
Result<void> ScoreRow(const AskedTask& asked, const RunScorer& run, Row* row);

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_RUN_RUNNER_H_
