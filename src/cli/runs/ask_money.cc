#include "cli/runs/ask_money.h"

#include <algorithm>

#include "base/text/parse.h"
#include "base/text/text.h"
#include "cli/runs/ask_view.h"
#include "cli/terminal/terminal.h"

namespace dossier::cli {
namespace {

// Returns "2 calls, 3,412 tokens of prompts and at most 8,192 of replies, at most $0.0123"; "at
// most 3,412" if they were not counted exactly.
std::string EstimateText(const ask::CallEstimate& estimate) {
  std::string text = fmt::format("{}, {}{} tokens of prompts and at most {} of replies",
                                 Counted(static_cast<std::uint64_t>(estimate.calls), "call"),
                                 estimate.estimated ? "at most " : "", GroupCount(estimate.input),
                                 GroupCount(estimate.output));
  if (!estimate.nano_usd) return text + ", of unknown cost";
  return text + (*estimate.nano_usd > 0 ? ", at most " : ", ") + CostText(estimate.nano_usd);
}

}  // namespace

Result<ask::ConfirmAbove> ReadConfirmAbove(const std::string& text, const GlobalFlags& flags,
                                           std::ostream& err) {
  ask::ConfirmAbove above;
  if (text.empty()) return above;
  std::string_view number = text;
  const bool marked = number.starts_with('$') || number.ends_with("usd");
  if (number.starts_with('$')) number.remove_prefix(1);
  if (number.ends_with("usd")) number.remove_suffix(3);
  const auto value = ExactNumber<double>(number);
  if (!value || !(*value >= 0) || *value > 1e9) {
    return MakeError(ErrorCode::kUsage,
                     "--confirm-above {}: give a number of calls, such as 100, or US dollars, such "
                     "as $0.50",
                     text);
  }
  if (marked || number.find('.') != std::string_view::npos) {
    above.usd = *value;
  } else {
    above.calls = static_cast<std::int64_t>(*value);
  }
  if (!flags.yes && !MayAsk(flags)) return above;
  above.ask = [&flags, &err](const ask::CallEstimate& whole) {
    const auto answer =
        Confirm(flags, fmt::format("The run comes to {}. Go on?", EstimateText(whole)), "-y", err);
    return answer && *answer;
  };
  return above;
}

int ShowEstimate(const ask::Plan& plan, EstimateForm form, std::ostream& out) {
  if (form == EstimateForm::kJson) {
    out << ToPrettyJson(JsonObject{{"schema", "dossier.estimate/1"},
                                   {"mode", ask::ModeName(plan.mode)},
                                   {"first", plan.first.ToJson()},
                                   {"reading", plan.reading.ToJson()}})
        << "\n"
        << std::flush;
    return 0;
  }
  out << fmt::format("mode: {} ({}{} tokens, direct up to {})\n", ask::ModeName(plan.mode),
                     plan.estimated ? "about " : "", GroupCount(plan.tokens),
                     GroupCount(plan.threshold));
  out << "first request: " << EstimateText(plan.first) << "\n";
  if (plan.reading.calls > 0) {
    out << "if sub-calls read all of the context once: " << EstimateText(plan.reading) << "\n";
  }
  out << std::flush;
  return 0;
}

}  // namespace dossier::cli
