// Asks every arm every task, keeps each answer at once, and goes on where it was stopped.
//
//   EvalPlan plan{.arms = arms, .models = models, .sets = sets, .limits = {.jobs = 1}};
//   DOSSIER_ASSIGN_OR_RETURN(const Summary summary,
//                            RunPlan(plan, "out", parts, cancel, [](const Row& row) { Show(row);
//                            }));
//
// The folder holds plan.json, tasks.jsonl, rows.jsonl and transcripts/ (docs/formats/eval-run.md).
// A second run with the same plan skips what has a row; a changed plan is refused.
// Thread-safety: functions; one run a folder at a time.

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

// A model as all arms use it.
struct EvalModel {
  std::string name;  // as the user named it: "local", "gpt-5-mini"
  ModelUpstream upstream;
  std::int64_t window = 0, max_output = 0;  // tokens; 0: not known
  // Nano-dollars for one token; unset: unknown.
  std::optional<std::int64_t> price_input, price_cached, price_output;
  std::string prices_of;  // the date of the prices
  std::string weights;    // hash of local weights, where there is one
  std::string script;     // hash of the script that answers, where one does
  std::string address;    // base URL, where it is the same in every run
};

struct RunLimits {
  Millis time{600'000};            // of one question
  std::int64_t calls = 500;        // of one question
  std::optional<double> max_cost;  // US dollars, all arms together
  std::optional<Millis> max_time;  // all arms together
  int jobs = 1;                    // questions at once; seconds compare only with 1
  int repeats = 1;
};

struct EvalPlan {
  std::vector<Arm> arms;                    // names are unique
  std::map<std::string, EvalModel> models;  // by Arm::model
  std::vector<AskedSet> sets;
  RunLimits limits;
  std::optional<double> temperature;  // where a system sets none
  std::optional<std::uint64_t> seed;
  QuestionRules::Cache cache = QuestionRules::Cache::kWarm;
  std::string judge;              // the model that gives opinions; empty: none is asked
  std::vector<std::string> argv;  // the whole command line
  std::string version, binary;    // of this program; the hash of its file
};

// What plan.json says. Nothing in it is a key.
Json PlanToJson(const EvalPlan& plan);
// "limits.calls: 500, now 300", "my.yml or a file that it names has changed", for all that a
// resumed run may not change; empty: nothing.
std::vector<std::string> PlanDifferences(const Json& before, const Json& now);

struct Summary {
  std::int64_t rows = 0, asked = 0, skipped = 0, harness_errors = 0;
  enum class End : std::uint8_t { kDone, kBudget, kModelAway, kCancelled } end = End::kDone;
  std::string why;  // of an end before its time
};

// Runs the program of a scorer, which a questions file names, with `input` on its stdin. Errors:
// those of what walls it in, kTimeout, kCancelled.
using RunScorer = std::function<Result<ProcessResult>(const AskedTask& asked, std::string input)>;

struct RunParts {
  SystemParts systems;
  // Scores one answer; the scorers that need a program or a model are the caller's.
  std::function<Result<void>(const AskedTask& asked, Row* row)> score;
};

enum class OldRows : std::uint8_t { kKeep, kDiscard };  // kDiscard: --new

// Errors: kConfig (no arm, no task), kCheckFailed (the plan differs from that of the folder; the
// differences), kLocked (another run holds the folder), kUnavailable (a system is not installed),
// those of files. What single questions end with is no error.
Result<Summary> RunPlan(const EvalPlan& plan, const std::string& folder, const RunParts& parts,
                        OldRows old_rows, const CancelToken& cancel,
                        const std::function<void(const Row& row)>& say);

// What a run would take, from three tasks of each arm, spread over the lengths.
struct Estimate {
  std::string arm;
  int sampled = 0;
  double calls = 0, tokens = 0, seconds = 0;  // of the whole run
  std::optional<double> usd;
  int failed = 0;       // of those sampled that ended without an answer, by a fault
  std::string failure;  // what the last of them said
};
// Errors: as RunPlan. Nothing is kept.
Result<std::vector<Estimate>> EstimatePlan(const EvalPlan& plan, const RunParts& parts,
                                           const CancelToken& cancel);

// ScoreAnswer, and the scorer `command` by `run`; fills scores and cause of `row`. A status that is
// no answer scores 0. What is for a judge stays without a score; its opinion is kept. Errors: of
// `run`; kUnavailable for a program without it; kConfig for what a program printed.
Result<void> ScoreRow(const AskedTask& asked, const RunScorer& run, Row* row);

}  // namespace dossier::evaluation

#endif  // DOSSIER_EVALUATION_RUN_RUNNER_H_
