// Rules for when a stage ends, and for the names of its parts.
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
  std::string goal;       // "preliminary", "first_attempt", or from substage_goal
};

// Returns "1_initial_implementation_1_preliminary": the first substage of a stage.
std::string FirstSubstage(int stage);
// Returns "2_baseline_tuning_3_larger_batches": keeps letters, digits, `_` and `-` of `goal`.
std::string SubstageName(int stage, int sub, std::string_view goal);
std::optional<StageName> ParseStageName(std::string_view name);

struct StageFacts {
  int stage = 1;               // 1 to 4
  std::int64_t made = 0;       // nodes of the stage in all substages, without copies and reruns
  std::int64_t cap = 0;        // stageN_max_iters
  const Tree* tree = nullptr;  // tree of the substage
  const Node* best = nullptr;  // best node of the tree by metric; null: none is good
  std::string start;           // id of the copy that the tree begins with; "": none
};

enum class StageStep : std::uint8_t {
  kGoOn,             // another round
  kAsk,              // stage_completion decides
  kDone,             // goal or cap reached
  kNoWorkingProgram  // stage 1 at its cap without a good node: the run fails
};
StageStep NextStep(const StageFacts& facts);

// Returns a note for the best program if half the nodes of stage 3 are made and it used less than
// half of its time; unset: none. `timeout` in seconds (exec.timeout).
std::optional<std::string> ExecTimeFeedback(const StageFacts& facts, std::int64_t timeout);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_SEARCH_STAGE_RULES_H_
