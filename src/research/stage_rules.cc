#include "research/stage_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace dossier::research {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"initial_implementation", "baseline_tuning",
                                                    "creative_research", "ablation_studies"};
constexpr std::size_t kMaxSubstageName = 40;

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool CapReached(const StageFacts& facts) { return facts.made >= facts.cap; }

// Success is looked at before the cap: the last node may be the good one.
StageStep AfterFirstStage(const StageFacts& facts) {
  if (facts.good > 0) return StageStep::kEndStage;
  return CapReached(facts) ? StageStep::kNoWorkingProgram : StageStep::kGoOn;
}

StageStep GoOn(const StageFacts& facts) {
  return facts.cap_here && facts.made_here >= *facts.cap_here ? StageStep::kNewSubstage
                                                              : StageStep::kGoOn;
}

}  // namespace

std::string_view MainStageName(int stage) { return kNames[static_cast<std::size_t>(stage - 1)]; }

std::string_view FirstSubstage(int stage) { return stage == 1 ? "preliminary" : "first_attempt"; }

std::string StageName(int stage, int number, std::string_view name) {
  std::string clean;
  for (const char c : name) {
    const char kept = IsNameCharacter(c) ? c : '_';
    if (kept == '_' && (clean.empty() || clean.back() == '_')) continue;
    clean += kept;
  }
  clean.resize(std::min(clean.size(), kMaxSubstageName));
  while (!clean.empty() && clean.back() == '_') clean.pop_back();
  if (clean.empty()) clean = "next_attempt";
  return fmt::format("{}_{}_{}_{}", stage, MainStageName(stage), number, clean);
}

int StageNumber(std::string_view name) {
  for (int stage = 1; stage <= 4; ++stage) {
    if (name.starts_with(fmt::format("{}_{}_", stage, MainStageName(stage)))) return stage;
  }
  return 0;
}

StageStep NextStep(const StageFacts& facts) {
  if (facts.stage == 1) return AfterFirstStage(facts);
  if (CapReached(facts)) return StageStep::kEndStage;
  if (facts.stage == 2 && facts.start == StageFacts::Start::kBeaten) {
    return StageStep::kAskCompletion;
  }
  if (facts.stage == 4 && facts.good_ablations > 0) return StageStep::kAskCompletion;
  return GoOn(facts);
}

StageStep NextStepIfNotComplete(const StageFacts& facts) { return GoOn(facts); }

std::string TimeFeedback(const StageFacts& facts) {
  if (facts.stage != 3 || facts.made * 2 < facts.cap || !facts.best_seconds) return "";
  if (*facts.best_seconds * 2 >= facts.timeout_seconds) return "";
  return fmt::format(
      "The best program ran for {:.0f} of the {:.0f} seconds that it may take. Larger inputs, more "
      "repetitions or more data sets fit in, and make its results firmer.",
      *facts.best_seconds, facts.timeout_seconds);
}

}  // namespace dossier::research
