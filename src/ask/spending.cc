#include "ask/spending.h"

#include <fmt/format.h>

#include <algorithm>

#include "ask/spend_permit.h"
#include "base/text/text.h"

namespace dossier::ask {
namespace {

constexpr double kNano = 1e9;
constexpr std::size_t kMostRuns = 100'000;  // examined for one window

bool Passes(const CallEstimate& whole, const CallEstimate& agreed, const ConfirmAbove& above) {
  const auto nano = [](const CallEstimate& estimate) {
    return static_cast<double>(estimate.nano_usd.value_or(0));
  };
  // After a person agreed once, up to twice as much is agreed: otherwise every request would ask.
  const bool calls = above.calls && whole.calls > std::max(*above.calls, 2 * agreed.calls);
  // An unknown price may be any price.
  const bool usd =
      above.usd && (!whole.nano_usd ? agreed.calls == 0
                                    : nano(whole) > std::max(*above.usd * kNano, 2 * nano(agreed)));
  return calls || usd;
}

// Returns the tokens and the money of an event. Engines and conversations write usage differently.
Spent UsageOf(const Json& data) {
  const Json* nested = Find(data, "usage");
  const Json& usage = nested ? *nested : data;
  const auto number = [&](std::string_view name) { return FindInt(usage, name).value_or(0); };
  return {.tokens = number("input") + number("output"),
          .nano_usd = number(nested ? "cost_nano_usd" : "nano_usd")};
}

// Adds the usage in one event. `whole`: the whole run counts, so its total is used, which includes
// requests that failed or were interrupted and have no reply.
void Count(std::string_view type, const Json& data, bool whole, Spent* spent) {
  if (type == "request.sent") ++spent->calls;
  if (type == "reply.received" && !Find(data, "from_cache")) {
    const Spent more = UsageOf(data);
    spent->tokens += more.tokens;
    spent->nano_usd += more.nano_usd;
  } else if (type == "run.finished" && whole) {
    const Spent sum = UsageOf(data);
    spent->tokens = std::max(spent->tokens, sum.tokens);
    spent->nano_usd = std::max(spent->nano_usd, sum.nano_usd);
  }
}

}  // namespace

void CallEstimate::Add(const CallEstimate& more) {
  calls += more.calls;
  cached += more.cached;
  input += more.input;
  output += more.output;
  estimated |= more.estimated;
  nano_usd = nano_usd && more.nano_usd ? std::optional(*nano_usd + *more.nano_usd) : std::nullopt;
}

JsonObject CallEstimate::ToJson() const {
  JsonObject json{{"calls", calls},
                  {"cached", cached},
                  {"tokens", input},
                  {"output_tokens", output},
                  {"usd", nano_usd ? Json(static_cast<double>(*nano_usd) / kNano) : Json(nullptr)}};
  if (estimated) json["estimated"] = true;
  return json;
}

CallEstimate EstimateOf(const model::Entry& entry, const model::Request& request,
                        std::int64_t tokens) {
  CallEstimate one{.calls = 1,
                   .input = tokens,
                   .output = request.sampling.max_output.value_or(entry.capability.max_output),
                   .nano_usd = std::nullopt};
  if (const auto price = model::WorstPriceOf(entry, request)) {
    one.nano_usd = one.input * price->input + one.output * price->output;
  }
  return one;
}

SpendGuard::SpendGuard(ConfirmAbove above, const model::Ledger& ledger)
    : above_(std::move(above)), ledger_(ledger), ahead_(std::make_shared<SpendAhead>()) {}

AllowedSpending::AllowedSpending(std::shared_ptr<SpendAhead> ahead, const CallEstimate& planned)
    : ahead_(std::move(ahead)),
      calls_(planned.calls),
      nano_usd_(planned.nano_usd.value_or(0)),
      nano_usd_of_one_(nano_usd_ / std::max<std::int64_t>(1, calls_)) {
  std::lock_guard lock(ahead_->mutex);
  ahead_->calls += calls_;
  ahead_->nano_usd += nano_usd_;
}

void AllowedSpending::Take(std::int64_t calls, std::int64_t nano_usd) {
  std::lock_guard lock(ahead_->mutex);
  calls = std::min(calls, calls_);
  nano_usd = std::min(nano_usd, nano_usd_);
  calls_ -= calls;
  nano_usd_ -= nano_usd;
  ahead_->calls -= calls;
  ahead_->nano_usd -= nano_usd;
}

Result<SpendPermit> SpendGuard::Allow(const CallEstimate& planned) {
  if (!armed()) return nullptr;
  std::lock_guard lock(mutex_);
  if (refused_) return tl::unexpected(*refused_);
  const model::LedgerUse use = ledger_.use();
  CallEstimate whole{.calls = use.calls,
                     .input = use.spent.total.input,
                     .output = use.spent.total.output,
                     .nano_usd = ledger_.nano_usd_spent()};
  {
    std::lock_guard counting(ahead_->mutex);
    whole.Add({.calls = ahead_->calls, .nano_usd = ahead_->nano_usd});
  }
  whole.Add(planned);
  const auto allowed = [&] { return std::make_shared<AllowedSpending>(ahead_, planned); };
  if (!Passes(whole, agreed_, above_)) return allowed();
  if (above_.ask && above_.ask(whole)) {
    agreed_ = whole;
    return allowed();
  }
  refused_ =
      Error{ErrorCode::kRefused,
            fmt::format("the run would come to {} calls and {} tokens of prompts, which is above "
                        "--confirm-above, and {}; give a higher number",
                        GroupCount(whole.calls), GroupCount(whole.input),
                        above_.ask ? "it was not agreed to" : "there is no terminal to ask on")};
  return tl::unexpected(*refused_);
}

Result<Spent> SpentSince(store::Journal& journal, Clock::Wall since) {
  // A run that started earlier may have continued into the window.
  constexpr std::chrono::hours kLongestRun{24 * 7};
  const std::string from = FormatTime(since), oldest = FormatTime(since - kLongestRun);
  Spent spent;
  DOSSIER_ASSIGN_OR_RETURN(const auto runs, journal.List(std::nullopt, kMostRuns));
  for (const store::RunSummary& run : runs) {
    if (run.started < oldest) continue;
    Spent of_run;
    bool imported = false;  // spent elsewhere, or counted with the run it is a copy of
    DOSSIER_RETURN_IF_ERROR(
        journal.ForEachEvent(run.run, [&](const store::StoredEvent& event) -> Status {
          // What a fork took over from its parent is counted there.
          if (event.type == "run.forked") of_run = {};
          imported = imported || event.type == "run.imported";
          const bool counts = event.type == "request.sent" || event.type == "reply.received" ||
                              event.type == "run.finished";
          if (!counts || event.time < from) return {};
          if (const auto data = ParseJson(event.data)) {
            Count(event.type, *data, run.started >= from, &of_run);
          }
          return {};
        }));
    if (imported) continue;
    spent.calls += of_run.calls;
    spent.tokens += of_run.tokens;
    spent.nano_usd += of_run.nano_usd;
  }
  return spent;
}

Result<WindowRest> RestOf(const WindowBudget& budget, const Spent& spent) {
  const auto used_up = [&](std::string_view name, const std::string& most) {
    return MakeError(
        ErrorCode::kLimit,
        "limits.{}: the runs of the last {} minutes took all of {}; wait, or raise it in "
        "your configuration",
        name, std::chrono::ceil<std::chrono::minutes>(budget.window).count(), most);
  };
  WindowRest rest;
  if (budget.calls) {
    rest.calls = *budget.calls - spent.calls;
    if (*rest.calls <= 0) return used_up("calls", fmt::format("{}", *budget.calls));
  }
  if (budget.tokens) {
    rest.tokens = *budget.tokens - spent.tokens;
    if (*rest.tokens <= 0) return used_up("tokens", fmt::format("{}", *budget.tokens));
  }
  if (budget.usd) {
    rest.usd = *budget.usd - static_cast<double>(spent.nano_usd) / kNano;
    if (*rest.usd <= 0) return used_up("usd", fmt::format("${}", *budget.usd));
  }
  return rest;
}

}  // namespace dossier::ask
