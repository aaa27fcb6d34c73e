#include "app/spending_window.h"

#include <algorithm>

namespace dossier::app {
namespace {

template <typename Number>
void Lower(std::optional<Number>* limit, const std::optional<Number>& rest) {
  if (rest) *limit = limit->has_value() ? std::min(**limit, *rest) : *rest;
}

}  // namespace

Result<ask::WindowRest> RestOfWindow(const config::SpendingLimits& configured,
                                     store::Journal& journal) {
  if (!configured.window && !configured.any()) return ask::WindowRest();
  if (!configured.window || !configured.any()) {
    return MakeError(ErrorCode::kConfig,
                     "limits: a budget is a window (limits.window: 5h) and at least one of "
                     "limits.calls, limits.tokens and limits.usd");
  }
  const auto since = SystemClock()->WallNow() - *configured.window;
  DOSSIER_ASSIGN_OR_RETURN(const ask::Spent spent, ask::SpentSince(journal, since));
  return ask::RestOf({.window = *configured.window,
                      .calls = configured.calls,
                      .tokens = configured.tokens,
                      .usd = configured.usd},
                     spent);
}

Result<model::LedgerLimits> LimitsOfTurn(const config::SpendingLimits& configured,
                                         store::Journal& journal) {
  DOSSIER_ASSIGN_OR_RETURN(const ask::WindowRest rest, RestOfWindow(configured, journal));
  model::LedgerLimits limits{.calls = rest.calls, .tokens = rest.tokens};
  if (rest.usd) limits.nano_usd = model::NanoUsdLimit(*rest.usd);
  return limits;
}

Status ApplyWindow(const config::SpendingLimits& configured, store::Journal& journal,
                   ask::AskLimits* limits) {
  DOSSIER_ASSIGN_OR_RETURN(const ask::WindowRest rest, RestOfWindow(configured, journal));
  if (rest.calls) limits->calls = std::min(limits->calls, *rest.calls);
  Lower(&limits->tokens, rest.tokens);
  Lower(&limits->usd, rest.usd);
  return {};
}

}  // namespace dossier::app
