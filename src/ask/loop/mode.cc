#include "ask/loop/mode.h"

#include <algorithm>

#include "ask/loop/direct.h"
#include "base/text/text.h"
#include "inspect/description/description.h"

namespace dossier::ask {
namespace {

// Larger contexts are far above every threshold: an estimate decides as well, and asks no server.
constexpr std::uint64_t kCountLimit = 256u << 10;  // bytes
constexpr std::int64_t kBytesPerToken = 4;

// What the plain call would take: its prompt is assembled and counted where that may decide.
Result<std::int64_t> DirectTokens(RunState& run) {
  const ContextSet& context = *run.request.context;
  if (context.bytes() > kCountLimit) {
    return static_cast<std::int64_t>(context.bytes()) / kBytesPerToken;
  }
  const auto prompt = AssembleDirect(run);
  if (prompt) return prompt->tokens;
  if (prompt.error().code != ErrorCode::kTooLong) return tl::unexpected(prompt.error());
  const tokens::Counter& counter = *run.options.root.counter;
  std::int64_t tokens = counter.CountText(run.request.question).upper();
  for (std::size_t i = 0; i < context.documents().size(); ++i) {
    DOSSIER_ASSIGN_OR_RETURN(const StoredText* text, context.Stored(i));
    tokens += counter.CountText(text->map.bytes()).upper();
  }
  return tokens;
}

bool HasRecords(const RunState& run) {
  const auto& documents = run.request.context->documents();
  return std::any_of(documents.begin(), documents.end(), [](const ContextDocument& document) {
    return inspect::HasRecords(document.description);
  });
}

std::int64_t Threshold(const RunState& run) {
  const auto& capability = run.options.root.entry.capability;
  const double room = 0.6 * static_cast<double>(capability.window - run.reserve_output());
  return std::min(run.policy.direct_tokens, static_cast<std::int64_t>(room));
}

}  // namespace

Result<ModeDecision> DecideMode(RunState& run) {
  ModeDecision decision;
  DOSSIER_ASSIGN_OR_RETURN(decision.tokens, DirectTokens(run));
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
      } else if (run.policy.reads_records_by_code && HasRecords(run)) {
        decision.mode = Mode::kRecursive;
        decision.reason = "a small model reads records by code";
      }
      break;
  }
  return decision;
}

}  // namespace dossier::ask
