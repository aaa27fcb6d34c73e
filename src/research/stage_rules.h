// What comes after a round: more of it, a question to the model, the end of the stage (RSP-31,
// RSP-35).
//
//   const StageFacts facts{.stage = 2, .made = 7, .cap = 40, .beats_start = true};
//   if (NextStep(facts) == StageStep::kAskCompletion) Ask(goals);
//   StageName(2, 1, "first_attempt");        // "2_baseline_tuning_1_first_attempt"
//
// Thread-safety: pure functions.

#ifndef DOSSIER_RESEARCH_STAGE_RULES_H_
#define DOSSIER_RESEARCH_STAGE_RULES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "research/node.h"

namespace dossier::research {

// "initial_implementation", "baseline_tuning", "creative_research", "ablation_studies".
std::string_view MainStageName(int stage);  // 1 to 4
// Of the `number`-th substage, from 1. Other characters of `name` than letters and digits become
// `_`; at most 40 are kept.
std::string StageName(int stage, int number, std::string_view name);
std::string_view FirstSubstage(int stage);  // "preliminary" in stage 1, else "first_attempt"
// 2 of "2_baseline_tuning_1_first_attempt"; 0: the name is none of a stage.
int StageNumber(std::string_view name);

struct StageFacts {
  int stage = 1;                         // 1 to 4
  std::int64_t made = 0, cap = 0;        // nodes of the stage, copies not counted
  std::int64_t made_here = 0;            // of them in this substage
  std::optional<std::int64_t> cap_here;  // of the substage; unset: none
  std::int64_t good = 0;                 // good ones, copies not counted
  enum class Start : std::uint8_t {
    kBest,
    kBeaten
  } start = Start::kBest;  // the copy it began with
  std::int64_t good_ablations = 0;
  std::optional<double> best_seconds;  // run time of the best node
  double timeout_seconds = 0;
};

// kAskCompletion: a model says whether the goals are met. kNewSubstage: not complete, but the
// substage's own nodes are used up.
enum class StageStep : std::uint8_t {
  kGoOn,
  kAskCompletion,
  kNewSubstage,
  kEndStage,
  kNoWorkingProgram
};
StageStep NextStep(const StageFacts& facts);
// After the model said that the goals are not met.
StageStep NextStepIfNotComplete(const StageFacts& facts);

// Stage 3: what the next programs are told when half of the nodes are made and the best program
// runs for less than half of its time; "": nothing.
std::string TimeFeedback(const StageFacts& facts);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_STAGE_RULES_H_
