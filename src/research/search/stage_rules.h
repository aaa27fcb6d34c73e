// When a stage ends, and what its parts are called.
//
//   StageFacts facts{.stage = 1, .made = 12, .cap = 40, .tree = &tree};
//   switch (NextStep(facts)) {
//     case StageStep::kGoOn: …       // another round
//     case StageStep::kAsk: …        // the call site stage_completion decides
//   }
//
// Thread-safety: pure functions.

#ifndef DOSSIER_RESEARCH_SEARCH_STAGE_RULES_H_
#define DOSSIER_RESEARCH_SEARCH_STAGE_RULES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "research/tree/node.h"

namespace dossier::research {

inline constexpr std::array<std::string_view, 4> kStageNames = {
    "initial_implementation", "baseline_tuning", "creative_research", "ablation_studies"};

struct StageName {
  int main = 1, sub = 1;  // main: 1 to 4; sub: from 1
  std::string goal;       // "preliminary", "first_attempt", that of substage_goal
};

// "1_initial_implementation_1_preliminary": the first substage of a stage.
std::string FirstSubstage(int stage);
// "2_baseline_tuning_3_larger_batches": letters, digits, `_` and `-` of `goal` are kept.
std::string SubstageName(int stage, int sub, std::string_view goal);
std::optional<StageName> ParseStageName(std::string_view name);

struct StageFacts {
  int stage = 1;               // 1 to 4
  std::int64_t made = 0;       // nodes of the stage, over its substages; no copies, no reruns
  std::int64_t cap = 0;        // stageN_max_iters
  const Tree* tree = nullptr;  // of the substage
  const Node* best = nullptr;  // of the tree, by metric; null: none is good
  std::string start;           // id of the copy that the tree begins with; "": none
};

enum class StageStep : std::uint8_t {
  kGoOn,             // another round
  kAsk,              // stage_completion decides
  kDone,             // goal or cap reached
  kNoWorkingProgram  // stage 1 at its cap without a good node: the run fails
};
StageStep NextStep(const StageFacts& facts);

// Stage 3, half of its nodes made: what the best program is told when it used less than half of the
// time it has; unset: nothing. `timeout` in seconds (exec.timeout).
std::optional<std::string> ExecTimeFeedback(const StageFacts& facts, std::int64_t timeout);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_SEARCH_STAGE_RULES_H_
