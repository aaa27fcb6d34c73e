#include "server/run_table.h"

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <utility>

#include "app/load_config.h"
#include "app/spending_window.h"
#include "ask/reply/requirement.h"
#include "base/random.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "model/schema/json_schema.h"
#include "server/workspace.h"
#include "store/prune.h"

namespace dossier::server {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLookAtJournal{250};  // poll interval for another process's run
constexpr std::int64_t kLikelyTurns = 30;    // turns of a large model's run
constexpr double kNano = 1e9;

double UsdOf(std::optional<std::int64_t> nano) {
  return nano ? static_cast<double>(*nano) / kNano : 0;
}

// "41 calls  $0.021"; without a price no cost is shown.
std::string CallsAndCost(std::int64_t calls, std::optional<double> usd) {
  std::string text = fmt::format("{} {}", GroupCount(calls), calls == 1 ? "call" : "calls");
  if (usd) text += fmt::format("  ${:.3f}", *usd);
  return text;
}

std::string CitationLine(const Json* citations) {
  if (!citations || !citations->is_array() || citations->get_array().empty()) return "";
  std::int64_t verified = 0, elsewhere = 0, missing = 0;
  for (const Json& one : citations->get_array()) {
    const std::string status = TextAt(one, "status");
    verified += status == "verified" ? 1 : 0;
    elsewhere += status == "elsewhere" ? 1 : 0;
    missing += status == "not_found" || status == "out_of_range" ? 1 : 0;
  }
  return fmt::format("  citations: {} verified{}, {} not found", verified,
                     elsewhere > 0 ? fmt::format(", {} elsewhere", elsewhere) : "", missing);
}

// Formats a finished run for a caller; `structured` is dossier.ask/1 without its answer.
Output FinishedOutput(JsonObject structured, std::string answer) {
  Output output;
  const std::string status = TextAt(structured, "status");
  const Json* calls = Find(structured, "calls");
  const auto sent = calls ? FindInt(*calls, "sent") : std::nullopt;
  std::string line = fmt::format("run: {}  status: {}  {}{}", TextAt(structured, "run"), status,
                                 CallsAndCost(sent.value_or(0), FindNumber(structured, "cost_usd")),
                                 CitationLine(Find(structured, "citations")));
  if (const Json* evidence = Find(structured, "evidence")) {
    for (const std::string& doubt : StringsOf(Find(*evidence, "doubts"))) line += "\n" + doubt;
  }
  if (const Json* error = Find(structured, "error")) line += "\n" + TextAt(*error, "message");
  if (status == "interrupted" || status == "none") {
    line += fmt::format("\nThe run is kept: dossier runs show {}", TextAt(structured, "run"));
  }
  if (status == "failed") output.kind = Output::Kind::kFailed;
  if (!answer.empty()) {
    output.parts.push_back({TextPart::Origin::kOthers, std::move(answer)});
    line.insert(0, "\n\n");
  }
  output.parts.push_back({TextPart::Origin::kOurs, std::move(line)});
  structured.erase("answer");
  output.structured = std::move(structured);
  return output;
}

Output RunningOutput(std::string_view run, const Progress& progress) {
  Output output{.structured = {{"run", run}, {"status", "running"}}};
  output.parts.push_back(
      {TextPart::Origin::kOurs,
       fmt::format("run: {}  status: running{}{}\nCall ask again with this run to wait for it.",
                   run, progress.message.empty() ? "" : "  ", progress.message)});
  return output;
}

}  // namespace

// A run of this process, from its start until it is forgotten.
class RunTable::Live final : public ask::EventSink {
 public:
  Live(model::Entry entry, Watcher watcher)
      : entry_(std::move(entry)), watcher_(std::move(watcher)) {}

  CancelToken token() const { return stop_.token(); }
  void Stop(const std::string& reason) { stop_.Cancel(reason); }

  void OnEvent(const store::Event& event) override {
    {
      const std::lock_guard lock(mutex_);
      if (run_.empty()) run_ = event.run;
      Count(event);
      for (const auto& [id, scope] : listeners_) {
        if (scope->on_event) scope->on_event(event);
        if (scope->progress) scope->progress(progress_);
      }
    }
    changed_.notify_all();
    if (watcher_) watcher_(event.run);
  }
  void OnDelta(std::string_view text) override {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, scope] : listeners_) {
      if (scope->on_text) scope->on_text(text);
    }
  }
  void Finish(Result<ask::Outcome> outcome) {
    {
      const std::lock_guard lock(mutex_);
      outcome_ = std::move(outcome);
    }
    changed_.notify_all();
  }

  std::string run() const {
    const std::lock_guard lock(mutex_);
    return run_;
  }
  bool ended() const {
    const std::lock_guard lock(mutex_);
    return outcome_.has_value();
  }
  // The cost of the replies so far.
  std::int64_t nano_usd() const {
    const std::lock_guard lock(mutex_);
    return nano_usd_;
  }

  // Waits until the journal has the run. Errors: the reason why it could not start.
  Result<std::string> WaitForStart(const CancelToken& cancel) {
    Wait(std::nullopt, cancel, [this] { return !run_.empty(); });
    const std::lock_guard lock(mutex_);
    if (!run_.empty()) return run_;
    if (outcome_ && !*outcome_) return tl::unexpected(outcome_->error());
    return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
  }

  Result<Output> WaitForEnd(milliseconds most, const CallScope& scope) {
    const std::uint64_t id = Listen(scope);
    Wait(std::chrono::steady_clock::now() + most, scope.cancel, [] { return false; });
    const std::lock_guard lock(mutex_);
    listeners_.erase(id);
    if (!outcome_ && scope.cancel.cancelled()) {
      return MakeError(ErrorCode::kCancelled, "{}", scope.cancel.reason());
    }
    if (!outcome_) return RunningOutput(run_, progress_);
    if (!*outcome_) return tl::unexpected(outcome_->error());
    return FinishedOutput((*outcome_)->ToJson().get_object(), (*outcome_)->text);
  }

 private:
  std::uint64_t Listen(const CallScope& scope) {
    const std::lock_guard lock(mutex_);
    listeners_[++last_listener_] = &scope;
    // Reports the current progress: the next event may be a minute away.
    if (scope.progress && !outcome_) scope.progress(progress_);
    return last_listener_;
  }

  // Waits for `enough`, the end of the run, `until`, or `cancel`.
  template <typename Enough>
  void Wait(std::optional<Clock::Steady> until, const CancelToken& cancel, Enough enough) {
    const std::uint64_t wake = cancel.OnCancel([this] {
      const std::lock_guard lock(mutex_);
      changed_.notify_all();
    });
    {
      std::unique_lock lock(mutex_);
      const auto done = [&] { return outcome_ || cancel.cancelled() || enough(); };
      if (until) {
        changed_.wait_until(lock, *until, done);
      } else {
        changed_.wait(lock, done);
      }
    }
    cancel.Forget(wake);
  }

  void Count(const store::Event& event) {
    const Json data(event.data);
    if (event.type == "turn.started") {
      turn_ = FindInt(data, "turn").value_or(turn_);
      turns_ = FindInt(data, "turns").value_or(turns_);
    } else if (event.type == "reply.received") {
      ++calls_;
      model::Usage usage;
      usage.input = FindInt(data, "input").value_or(0);
      usage.output = FindInt(data, "output").value_or(0);
      usage.cached = FindInt(data, "cached").value_or(0);
      usage.cache_write = FindInt(data, "cache_write").value_or(0);
      nano_usd_ += model::CostOf(usage, entry_).value_or(0);
    }
    progress_.done = static_cast<double>(event.seq);
    progress_.message =
        fmt::format("{}{} {}, ${:.3f}", turn_ > 0 ? fmt::format("turn {}/{}, ", turn_, turns_) : "",
                    calls_, calls_ == 1 ? "call" : "calls", UsdOf(nano_usd_));
  }

  const model::Entry entry_;
  const Watcher watcher_;
  CancelSource stop_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string run_;
  std::optional<Result<ask::Outcome>> outcome_;
  std::map<std::uint64_t, const CallScope*> listeners_;
  std::uint64_t last_listener_ = 0;
  Progress progress_;
  std::int64_t turn_ = 0, turns_ = 0, calls_ = 0, nano_usd_ = 0;
};

JsonObject AskEstimate::ToJson() const {
  const auto range = [](const auto& low, const auto& high) {
    return JsonObject{{"min", low}, {"max", high}};
  };
  JsonObject out{{"mode", ask::ModeName(mode)},
                 {"model", model},
                 {"calls", range(calls[0], calls[1])},
                 {"tokens", range(tokens[0], tokens[1])}};
  out["usd"] = usd[0] ? Json(range(*usd[0], *usd[1])) : Json(nullptr);
  if (left_today) out["left_today_usd"] = *left_today;
  return out;
}

std::string AskEstimate::ToText() const {
  std::string text =
      fmt::format("{}, {}: {} to {} calls, {} to {} tokens", ask::ModeName(mode), model, calls[0],
                  calls[1], GroupCount(tokens[0]), GroupCount(tokens[1]));
  if (usd[0]) text += fmt::format(", ${:.4f} to ${:.4f}", *usd[0], *usd[1]);
  if (left_today) text += fmt::format("; ${:.2f} left today", *left_today);
  return text;
}

RunTable::RunTable(Workspace& workspace)
    : workspace_(workspace),
      budget_(workspace.options().data_folder, workspace.options().max_usd_day,
              workspace.options().clock) {}

RunTable::~RunTable() {
  for (const auto& live : live_) live->Stop("the server ends");
  tasks_.Join();
}

Result<PreparedAsk> RunTable::Prepare(const AskWish& wish, const CancelToken& cancel,
                                      app::ModelSettings::Use use) {
  DOSSIER_RETURN_IF_ERROR(CheckWish(wish));
  DOSSIER_ASSIGN_OR_RETURN(const KnownContext record, workspace_.contexts().Look(wish.context));
  DOSSIER_RETURN_IF_ERROR(workspace_.MayRead(record));
  AskPlace place{.folder = workspace_.options().data_folder + "/runs", .use = use};
  DOSSIER_ASSIGN_OR_RETURN(place.journal, workspace_.Journal());
  DOSSIER_ASSIGN_OR_RETURN(place.sources, workspace_.contexts().SourcesOf(wish.context));
  return PrepareAsk(workspace_, wish, std::move(place), cancel);
}

Result<AskEstimate> RunTable::EstimateOf(const PreparedAsk& prepared, const CancelToken& cancel) {
  ask::AskRequest dry = prepared.request;
  dry.memory = {};
  ask::Engine engine(prepared.options);
  DOSSIER_ASSIGN_OR_RETURN(const ask::Plan plan, engine.DryRun(dry, cancel));
  const driver::BoundModel& root = prepared.options.root;
  const std::int64_t most_calls = prepared.request.limits.calls;
  const bool direct = plan.mode == ask::Mode::kDirect;
  AskEstimate out{.mode = plan.mode, .model = root.name};
  // Minimum: the answer comes at once. Maximum: the prompt is sent for every turn, and each part of
  // the context is also read once.
  out.calls[0] = std::min<std::int64_t>(direct ? 1 : 2, most_calls);
  out.tokens[0] = out.calls[0] * plan.first.input;
  const std::int64_t turns =
      std::min(direct ? 1 + prepared.request.repairs : kLikelyTurns, most_calls);
  out.calls[1] = std::min(turns + plan.reading.calls, most_calls);
  out.tokens[1] =
      turns * (plan.first.input + plan.first.output) + plan.reading.input + plan.reading.output;
  if (root.entry.price_input && plan.first.nano_usd && plan.reading.nano_usd) {
    out.usd[0] = static_cast<double>(out.tokens[0] * *root.entry.price_input) / kNano;
    out.usd[1] = static_cast<double>(turns * *plan.first.nano_usd + *plan.reading.nano_usd) / kNano;
  }
  DOSSIER_ASSIGN_OR_RETURN(out.left_today, budget_.Left());
  return out;
}

Result<AskEstimate> RunTable::Estimate(const AskWish& wish, const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const PreparedAsk prepared,
                           Prepare(wish, cancel, Workspace::ModelUse::kLookedAt));
  return EstimateOf(prepared, cancel);
}

// Lowers the run's limit to the money that could be held. Errors: kLimit if that is less than it
// needs; nothing is held then.
Result<RunTable::HeldSums> RunTable::HoldSums(const AskWish& wish, const AskEstimate& estimate,
                                              const CancelToken& cancel, PreparedAsk* prepared) {
  HeldSums held;
  const double least = estimate.usd[0].value_or(0);
  std::optional<double> most = prepared->most_usd;
  // The caller's first: by default that is a part of a day, and else this run would hold all of
  // the server's.
  if (wish.purse) {
    DOSSIER_ASSIGN_OR_RETURN(most, wish.purse->Hold(most, cancel));
    held.of_caller = most;
  }
  const auto give_back = [&] {
    if (wish.purse) wish.purse->budget->Settle(held.of_caller, 0);
    budget_.Settle(held.of_day, 0);
  };
  if (held.of_caller && least > *held.of_caller) {
    give_back();
    return MakeError(ErrorCode::kLimit,
                     "this key may spend ${:.4f} on it and it needs more: {}; nothing was sent",
                     *held.of_caller, estimate.ToText());
  }
  const auto of_day = budget_.Hold(most, cancel);
  if (of_day) held.of_day = *of_day;
  if (!of_day || (held.of_day && (*held.of_day <= 0 || least > *held.of_day))) {
    give_back();
    if (!of_day) return tl::unexpected(of_day.error());
    return MakeError(ErrorCode::kLimit, "{}: {}; nothing was sent", budget_.NothingLeft("this day"),
                     estimate.ToText());
  }
  if (held.of_day) prepared->request.limits.usd = held.of_day;
  return held;
}

std::shared_ptr<RunTable::Live> RunTable::Begin(PreparedAsk prepared, const HeldSums& held,
                                                const std::optional<Purse>& purse) {
  std::shared_ptr<Live> live;
  {
    const std::lock_guard lock(mutex_);
    live = std::make_shared<Live>(prepared.options.root.entry, watcher_);
    live_.push_back(live);
    // A running run must stay, so that it can be waited for and cancelled.
    const auto ended = std::ranges::find_if(live_, [](const auto& one) { return one->ended(); });
    if (live_.size() > workspace_.options().runs_remembered && ended != live_.end()) {
      live_.erase(ended);
    }
  }
  tasks_.RunOrDo([this, live, held, purse, prepared = std::move(prepared)]() mutable {
    ask::Engine engine(std::move(prepared.options));
    auto outcome = engine.Run(prepared.request, live->token(), *live);
    // If there is no outcome, the cost is that of the replies received: it is not free.
    const auto told = outcome ? outcome->usage.spent.total.cost_nano_usd : std::nullopt;
    const double cost = UsdOf(told.value_or(live->nano_usd()));
    budget_.Settle(held.of_day, cost);
    if (held.of_caller) purse->budget->Settle(held.of_caller, cost);
    live->Finish(std::move(outcome));
  });
  return live;
}

Result<std::string> RunTable::Start(const AskWish& wish, const CallScope& scope) {
  DOSSIER_ASSIGN_OR_RETURN(PreparedAsk prepared,
                           Prepare(wish, scope.cancel, Workspace::ModelUse::kAsked));
  DOSSIER_ASSIGN_OR_RETURN(const AskEstimate estimate, EstimateOf(prepared, scope.cancel));
  if (prepared.most_usd && estimate.usd[0].value_or(0) > *prepared.most_usd) {
    return MakeError(ErrorCode::kLimit,
                     "this ask may cost ${:.4f} and needs more: {}; nothing was sent",
                     *prepared.most_usd, estimate.ToText());
  }
  // Done before money is held: nothing fails after that.
  if (ask::Mode::kRecursive == estimate.mode) {
    DOSSIER_ASSIGN_OR_RETURN(prepared.options.pool, workspace_.Pool());
  }
  HeldSums held;
  if (estimate.usd[1] != std::optional<double>(0.0)) {
    DOSSIER_ASSIGN_OR_RETURN(held, HoldSums(wish, estimate, scope.cancel, &prepared));
  }
  const std::shared_ptr<Live> live = Begin(std::move(prepared), held, wish.purse);
  auto run = live->WaitForStart(scope.cancel);
  if (!run) {
    live->Stop("its caller left");
    return run;
  }
  const std::lock_guard lock(mutex_);
  begun_.insert(*run);
  return run;
}

std::shared_ptr<RunTable::Live> RunTable::Find(std::string_view run) const {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::ranges::find_if(live_, [&](const auto& live) { return live->run() == run; });
  return found == live_.end() ? nullptr : *found;
}

Result<Output> RunTable::Wait(std::string_view run, milliseconds most, const CallScope& scope) {
  const auto live = Find(run);
  if (!live) return FromJournal(run, most, scope);
  auto output = live->WaitForEnd(most, scope);
  if (!output && scope.cancel.cancelled()) live->Stop(scope.cancel.reason());
  return output;
}

Result<Output> RunTable::FromJournal(std::string_view run, milliseconds most,
                                     const CallScope& scope) {
  DOSSIER_ASSIGN_OR_RETURN(const auto journal, workspace_.Journal());
  const auto resolved = journal->Resolve(run);
  // Only full ids: a guess must not hit another caller's run.
  if (!resolved || *resolved != run) {
    return MakeError(ErrorCode::kNotFound, "there is no run {}{}", run, DidYouMean(run, Known()));
  }
  const bool own = [&] {
    const std::lock_guard lock(mutex_);
    return begun_.contains(run);
  }();
  if (!own) {
    DOSSIER_ASSIGN_OR_RETURN(const store::Event started, journal->EventAt(run, 1));
    DOSSIER_RETURN_IF_ERROR(workspace_.MayRead(run, started.data));
  }
  const auto until = std::chrono::steady_clock::now() + most;
  while (true) {
    DOSSIER_ASSIGN_OR_RETURN(const std::string status, journal->StatusOf(run));
    if (status != "running") break;
    if (std::chrono::steady_clock::now() >= until) return RunningOutput(run, {});
    if (!WaitUnlessCancelled(kLookAtJournal, scope.cancel)) {
      return MakeError(ErrorCode::kCancelled, "{}", scope.cancel.reason());
    }
  }
  JsonObject finished;
  DOSSIER_RETURN_IF_ERROR(
      journal->ForEachEvent(run, [&](const store::StoredEvent& event) -> Status {
        if (event.type != "run.finished") return {};
        DOSSIER_ASSIGN_OR_RETURN(const Json data, ParseJson(event.data));
        if (data.is_object()) finished = data.get_object();
        return {};
      }));
  if (finished.empty()) return FinishedOutput({{"run", run}, {"status", "interrupted"}}, "");
  std::string answer;
  if (const Json* body = dossier::Find(finished, "answer")) {
    DOSSIER_ASSIGN_OR_RETURN(answer, journal->ReadBody(*body));
  }
  return FinishedOutput(RecordedResult(run, finished), std::move(answer));
}

bool RunTable::Cancel(std::string_view run, const std::string& reason) {
  const auto live = Find(run);
  if (live) live->Stop(reason);
  return live != nullptr;
}

std::vector<std::string> RunTable::Known() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> runs;
  for (const auto& live : live_) runs.push_back(live->run());
  return runs;
}

void RunTable::Watch(Watcher watcher) {
  const std::lock_guard lock(mutex_);
  watcher_ = std::move(watcher);
}

}  // namespace dossier::server
