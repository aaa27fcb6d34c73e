#include "recursion/mode.h"

#include <algorithm>

#include "base/text.h"
#include "inspect/description.h"
#include "recursion/question_kind.h"

namespace dossier::recursion {
namespace {

constexpr std::int64_t kDirectTokens = 16'384;  // below, a plain call is as good (REC-1)
// A small model misreads long prompts, and on a processor reads 60 to 100 tokens a second: code is
// faster and more often right from here on (docs/decisions/direct-threshold.md).
constexpr std::int64_t kDirectTokensSmall = 2'048;
constexpr std::int64_t kTemplateTokens = 100;
constexpr std::uint64_t kCountLimit = 1u << 20;  // bytes; larger contexts are estimated

Result<std::int64_t> ContextTokens(const RunState& run) {
  const ContextSet& context = *run.request.context;
  if (context.bytes() > kCountLimit) return static_cast<std::int64_t>(context.bytes() / 4);
  std::int64_t tokens = 0;
  for (std::size_t i = 0; i < context.documents().size(); ++i) {
    DOSSIER_ASSIGN_OR_RETURN(const StoredText* text, context.Stored(i));
    // Far above every threshold an estimate decides as well, and asks no server.
    if (text->map.bytes().size() > kDirectTokens * 16) {
      tokens += static_cast<std::int64_t>(text->map.bytes().size() / 4);
    } else {
      tokens += run.options.root.counter->CountText(text->map.bytes()).upper();
    }
  }
  return tokens;
}

// A small model cannot count, however short the list is.
bool CountsRecords(const RunState& run) {
  const auto& documents = run.request.context->documents();
  return Classify(run.request.question) == QuestionKind::kAggregate &&
         std::any_of(documents.begin(), documents.end(), [](const ContextDocument& document) {
           return inspect::HasRecords(document.description.format);
         });
}

std::int64_t Threshold(const RunState& run) {
  const auto& capability = run.options.root.entry.capability;
  const double room = 0.6 * static_cast<double>(capability.window - run.reserve_output());
  return std::min(run.small() ? kDirectTokensSmall : kDirectTokens,
                  static_cast<std::int64_t>(room));
}

}  // namespace

Result<ModeDecision> DecideMode(RunState& run) {
  ModeDecision decision;
  DOSSIER_ASSIGN_OR_RETURN(decision.tokens, ContextTokens(run));
  decision.tokens +=
      run.options.root.counter->CountText(run.request.question).upper() + kTemplateTokens;
  decision.threshold = Threshold(run);
  const auto& capability = run.options.root.entry.capability;
  const std::int64_t fits = capability.window - run.reserve_output();
  switch (run.request.mode) {
    case Mode::kDirect:
      if (decision.tokens > fits) {
        return MakeError(ErrorCode::kTooLong,
                         "the context needs {} tokens and the model takes {}: use --mode recursive",
                         GroupDigits(static_cast<std::uint64_t>(decision.tokens)),
                         GroupDigits(static_cast<std::uint64_t>(fits)));
      }
      decision.mode = Mode::kDirect;
      decision.reason = "asked for";
      break;
    case Mode::kRecursive:
      decision.mode = Mode::kRecursive;
      decision.reason = "asked for";
      break;
    case Mode::kAuto:
      decision.mode = Mode::kDirect;
      decision.reason = "fits one call";
      if (run.request.context->bytes() == 0) {
        decision.reason = "no context";
      } else if (decision.tokens > decision.threshold) {
        decision.mode = Mode::kRecursive;
        decision.reason = "too long for one call";
      } else if (run.small() && CountsRecords(run)) {
        decision.mode = Mode::kRecursive;
        decision.reason = "counting over records is work for code";
      }
      break;
  }
  return decision;
}

}  // namespace dossier::recursion
