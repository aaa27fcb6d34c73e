#include "research/search/stage_rules.h"

#include <algorithm>
#include <charconv>

#include "research/files/cuts.h"
#include "research/files/run_folder.h"

namespace dossier::research {
namespace {

std::string_view MainName(int stage) { return kStageNames[static_cast<std::size_t>(stage - 1)]; }

// Removes the number at the start of `text`, up to a `_`, and returns it.
std::optional<int> TakeNumber(std::string_view* text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end == text->data() + text->size() || *end != '_') {
    return std::nullopt;
  }
  text->remove_prefix(static_cast<std::size_t>(end - text->data()) + 1);
  return number;
}

// True if the best is better than the initial copy: equal is not enough.
bool BeatsStart(const StageFacts& facts) { return facts.best && facts.best->id != facts.start; }

bool HasGoodAblation(const Tree& tree) {
  return std::any_of(tree.nodes.begin(), tree.nodes.end(), [](const Node& node) {
    return !node.ablation_name.empty() && !node.is_seed_node && IsGood(node);
  });
}

}  // namespace

std::string SubstageName(int stage, int sub, std::string_view goal) {
  return fmt::format("{}_{}_{}_{}", stage, MainName(stage), sub, RunNameOf(goal));
}

std::string FirstSubstage(int stage) {
  return SubstageName(stage, 1, stage == 1 ? "preliminary" : "first_attempt");
}

std::optional<StageName> ParseStageName(std::string_view name) {
  StageName out;
  const auto main = TakeNumber(&name);
  if (!main || *main < 1 || *main > 4 || !name.starts_with(MainName(*main))) return std::nullopt;
  name.remove_prefix(MainName(*main).size());
  if (!name.starts_with('_')) return std::nullopt;
  name.remove_prefix(1);
  const auto sub = TakeNumber(&name);
  if (!sub || *sub < 1 || name.empty()) return std::nullopt;
  return StageName{*main, *sub, std::string(name)};
}

StageStep NextStep(const StageFacts& facts) {
  const bool at_cap = facts.made >= facts.cap;
  switch (facts.stage) {
    case 1:
      // Success takes precedence over the limit.
      if (facts.best) return StageStep::kDone;
      return at_cap ? StageStep::kNoWorkingProgram : StageStep::kGoOn;
    case 2:
      if (at_cap) return StageStep::kDone;
      return BeatsStart(facts) ? StageStep::kAsk : StageStep::kGoOn;
    case 4:
      if (at_cap) return StageStep::kDone;
      return HasGoodAblation(*facts.tree) ? StageStep::kAsk : StageStep::kGoOn;
    default:
      return at_cap ? StageStep::kDone : StageStep::kGoOn;
  }
}

std::optional<std::string> ExecTimeFeedback(const StageFacts& facts, std::int64_t timeout) {
  if (facts.stage != 3 || 2 * facts.made < facts.cap) return std::nullopt;
  if (!facts.best || 2 * facts.best->exec_time >= static_cast<double>(timeout)) return std::nullopt;
  return fmt::format(
      "The best program ran for {}, less than half of the {} s it may use. Use the time: "
      "larger inputs, more repetitions, more data sets or more settings, so that the results say "
      "more.",
      SecondsText(facts.best->exec_time), timeout);
}

}  // namespace dossier::research
