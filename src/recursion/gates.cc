#include "recursion/gates.h"

#include <fmt/format.h>

#include "base/text.h"
#include "recursion/grounding.h"

namespace dossier::recursion {
namespace {

constexpr std::uint64_t kSmallContext = 200;  // characters; below it a first answer may stand
constexpr double kCoverageWanted = 0.9;       // REC-39

}  // namespace

std::optional<Refusal> Gates::Check(std::string_view answer, const GateSituation& situation) {
  if (context_.forcing != Forcing::kFull) return std::nullopt;
  if (situation.last_chance == GateSituation::LastChance::kYes) return std::nullopt;
  std::optional<Refusal> refusal = CheckFirstTurn(situation);
  if (!refusal || used_.contains(refusal->gate)) refusal = CheckGrounding(answer, situation);
  if (!refusal || used_.contains(refusal->gate)) refusal = CheckCoverage(situation);
  if (!refusal || used_.contains(refusal->gate)) return std::nullopt;
  used_.insert(refusal->gate);
  if (refusal->gate == "coverage") coverage_state_ = "refused";
  return refusal;
}

std::optional<Refusal> Gates::CheckFirstTurn(const GateSituation& situation) const {
  if (situation.clean_blocks > 0 || context_.context_chars < kSmallContext) return std::nullopt;
  return Refusal{"first_turn",
                 "No code has run without error yet, so nothing supports it. Reply with one "
                 "complete code block that computes the answer from the data and prints it."};
}

std::string Gates::Ungrounded(std::string_view answer, const GateSituation& situation) const {
  if (context_.profile != Profile::kSmall || context_.kind == QuestionKind::kOpen) return {};
  const Grounding grounding =
      CheckGrounded(answer, context_.question, context_.hint_values, *situation.printed);
  if (grounding.grounded) return {};
  if (grounding.missing.empty()) return "No code has printed anything yet.";
  return fmt::format("No output shows {}.", grounding.missing);
}

std::optional<Refusal> Gates::CheckGrounding(std::string_view answer,
                                             const GateSituation& situation) const {
  const std::string reason = Ungrounded(answer, situation);
  if (reason.empty()) return std::nullopt;
  return Refusal{"grounding",
                 fmt::format("{} Reply with one complete code block that computes the whole answer "
                             "from the data and prints it.",
                             reason)};
}

std::string Gates::Doubt(std::string_view answer, const GateSituation& situation) const {
  return context_.forcing == Forcing::kFull ? Ungrounded(answer, situation) : std::string();
}

// For small models only where models were asked at all: their code reads all records anyway, and a
// refusal of a computed answer makes them doubt it (docs/decisions/coverage-gate.md).
std::optional<Refusal> Gates::CheckCoverage(const GateSituation& situation) {
  if (context_.kind != QuestionKind::kAggregate || context_.depth == 0) return std::nullopt;
  if (context_.context_chars < kSmallContext) return std::nullopt;
  if (situation.coverage >= kCoverageWanted) {
    coverage_state_ = "passed";
    return std::nullopt;
  }
  if (context_.profile == Profile::kSmall &&
      situation.subcalls == GateSituation::SubcallsUsed::kNo) {
    return std::nullopt;
  }
  // What was shown is known in bytes; as records it is the same share of them.
  const bool records = context_.context_records > 0;
  const std::uint64_t all = records ? context_.context_records : context_.context_chars;
  return Refusal{
      "coverage",
      fmt::format(
          "The question is about the whole context (shown to models: {} of {} {}). "
          "If the answer needs understanding, ask about the rest; if code settled it over "
          "all of the data, hand it in again.",
          GroupDigits(static_cast<std::uint64_t>(situation.coverage * static_cast<double>(all))),
          GroupDigits(all), records ? "records" : "characters")};
}

}  // namespace dossier::recursion
