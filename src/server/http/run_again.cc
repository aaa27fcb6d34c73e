#include "server/http/run_again.h"

#include <algorithm>
#include <condition_variable>
#include <span>
#include <utility>

#include "base/files/file.h"
#include "base/process/process.h"
#include "base/text/text.h"
#include "server/client_model.h"
#include "server/http/openai_reply.h"
#include "server/run_table.h"

namespace dossier::server {
namespace {

constexpr Millis kUntilThere{20};  // poll interval for the run in the journal
constexpr Millis kUntilGone{2'000};
constexpr std::string_view kProgram = "/proc/self/exe";

// US dollars that a run has cost so far, or until the end of turn `last` of its root call; requests
// without a price count as 0.
Result<double> SpentBy(store::Journal& journal, const std::string& run,
                       std::optional<std::int64_t> last = {}) {
  double nano = 0;
  bool behind = false;
  const auto see = [&](const store::StoredEvent& event) -> Status {
    const bool turn = last && event.type == "turn.started" && event.call == 0;
    if (behind || (!turn && event.type != "reply.received")) return {};
    DOSSIER_ASSIGN_OR_RETURN(const Json data, ParseJson(event.data));
    if (turn) {
      behind = FindInt(data, "turn").value_or(0) > *last;
    } else if (!Find(data, "from_cache")) {
      nano += static_cast<double>(FindInt(data, "nano_usd").value_or(0));
    }
    return {};
  };
  DOSSIER_RETURN_IF_ERROR(journal.ForEachEvent(run, see));
  return nano / 1e9;
}

// Reads the error object that the command printed, if it did.
std::optional<Error> ErrorIn(const std::string& printed) {
  const auto object = ParseJson(TrimSpace(printed));
  const Json* error = object ? Find(*object, "error") : nullptr;
  if (!error || TextAt(*object, "schema") != "dossier.error/1") return std::nullopt;
  return Error{NamedError(TextAt(*error, "code")), TextAt(*error, "message")};
}

// Checks by the command whether the fork can begin, as a run has its own configuration and command
// line. So a model that does not exist leaves no run behind.
Status CheckFork(const AgainWish& wish, const CancelToken& cancel) {
  if (wish.edits.model.empty()) return {};
  const std::vector<std::string> argv{std::string(kProgram),
                                      "runs",
                                      "fork",
                                      wish.run,
                                      fmt::format("--at={}", *wish.fork_at),
                                      "--model=" + wish.edits.model,
                                      "--dry-run",
                                      "--json"};
  DOSSIER_ASSIGN_OR_RETURN(const ProcessResult checked, RunProcess({.argv = argv}, cancel));
  if (auto error = ErrorIn(checked.out)) return tl::unexpected(std::move(*error));
  return {};
}

// The limit of the whole run in US dollars; unset: the limit it began with.
std::optional<double> MostCost(const AgainWish& wish, const WorkspaceOptions& options) {
  if (!options.max_usd) return wish.max_usd;
  return std::min(wish.max_usd.value_or(*options.max_usd), *options.max_usd);
}

// The limit of the whole run in requests to models; unset: the limit it began with.
std::optional<std::int64_t> MostCalls(const AgainWish& wish, const WorkspaceOptions& options) {
  if (!wish.max_calls) return std::nullopt;
  return std::min(*wish.max_calls, options.max_calls);
}

// Returns the rest of the limit, as earlier spending counts.
Result<std::optional<double>> LeftOf(std::optional<double> most, double before) {
  if (!most) return std::nullopt;
  if (*most > before) return *most - before;
  return MakeError(ErrorCode::kLimit,
                   "this run has cost ${:.4f} so far, and may cost ${:.4f}: give a higher max_usd",
                   before, *most);
}

std::vector<std::string> CommandFor(const std::string& run, const AgainWish& wish,
                                    std::optional<double> most,
                                    std::optional<std::int64_t> most_calls) {
  std::vector<std::string> argv{std::string(kProgram), "runs", "resume", run, "--json"};
  const auto add = [&](std::string_view flag, const auto& value) {
    if (!value) return;
    argv.emplace_back(flag);
    argv.push_back(fmt::format("{}", *value));
  };
  add("--max-cost", most);
  add("--max-calls", most_calls);
  add("--max-tokens", wish.max_tokens);
  add("--max-iterations", wish.max_turns);
  return argv;
}

tl::unexpected<Error> AtWorkHere(std::string_view run) {
  return MakeError(ErrorCode::kLocked,
                   "{} is at work in this server; POST /api/v1/runs/{}/cancel ends it", run, run);
}

// Money held for a run from the daily budgets of the server and of the key.
class Held {
 public:
  static Result<Held> Take(const Shared& shared, const ServerKey& key,
                           std::optional<double> wanted) {
    const WorkspaceOptions& options = shared.workspace.options();
    Held out;
    out.day_ = std::make_shared<DayBudget>(options.data_folder, options.max_usd_day, options.clock);
    DOSSIER_ASSIGN_OR_RETURN(out.by_day_, out.day_->Hold(wanted, shared.stopping));
    if (out.by_day_ && *out.by_day_ <= 0) {
      return MakeError(ErrorCode::kRateLimited, "{}", out.day_->NothingLeft("this day"));
    }
    auto money = HeldMoney::Of(shared, key, out.by_day_, shared.stopping);
    if (!money) {
      out.day_->Settle(out.by_day_, 0);
      return tl::unexpected(money.error());
    }
    out.by_key_ = std::move(*money);
    return out;
  }
  std::optional<double> most() const { return by_key_.most(); }
  void Settle(double cost) {
    day_->Settle(by_day_, cost);
    by_key_.Settle(cost);
  }

 private:
  std::shared_ptr<DayBudget> day_;
  std::optional<double> by_day_;
  HeldMoney by_key_;
};

}  // namespace

Result<AgainWish> ReadAgainWish(const Json& body, std::string run, Taken taken) {
  // The fields of a request; the first four apply only to a fork.
  constexpr std::string_view kFields[] = {"at",      "question",  "model",      "code",
                                          "max_usd", "max_calls", "max_tokens", "max_turns"};
  const std::span<const std::string_view> fields(kFields);
  DOSSIER_RETURN_IF_ERROR(CheckFields(body, taken == Taken::kAsFork ? fields : fields.subspan(4)));
  DOSSIER_RETURN_IF_ERROR(CheckTexts(body, {"question", "model", "code"}));
  AgainWish wish{.run = std::move(run),
                 .edits = {.question = TextAt(body, "question"),
                           .model = TextAt(body, "model"),
                           .code = TextAt(body, "code")},
                 .max_usd = FindNumber(body, "max_usd")};
  if (Find(body, "max_usd") && !IsLimit(wish.max_usd.value_or(0))) {
    return MakeError(ErrorCode::kInvalidArgument, "max_usd: {}", kNoLimit);
  }
  DOSSIER_ASSIGN_OR_RETURN(wish.fork_at, CountAt(body, "at", 0));
  DOSSIER_ASSIGN_OR_RETURN(wish.max_calls, CountAt(body, "max_calls", 1));
  DOSSIER_ASSIGN_OR_RETURN(wish.max_tokens, CountAt(body, "max_tokens", 1));
  DOSSIER_ASSIGN_OR_RETURN(wish.max_turns, CountAt(body, "max_turns", 1));
  return wish;
}

// One process at work on one run.
class RunAgain::Child {
 public:
  Child(std::string run, std::vector<std::string> argv, double before, CancelToken stopping)
      : run_(std::move(run)),
        argv_(std::move(argv)),
        before_(before),
        stopping_(std::move(stopping)),
        stop_with_(stopping_.OnCancel([this] { stop_.Cancel("the server ends"); })) {}
  ~Child() { stopping_.Forget(stop_with_); }

  const std::string& run() const { return run_; }
  double before() const { return before_; }
  void Stop() { stop_.Cancel("cancelled by its caller"); }

  void Work() {
    auto result = RunProcess({.argv = argv_}, stop_.token());
    std::optional<Error> error;
    if (!result) error = result.error();
    if (result) error = ErrorIn(result->out);
    {
      const std::lock_guard lock(mutex_);
      error_ = std::move(error);
      done_ = true;
    }
    changed_.notify_all();
  }
  // Returns true if it has ended.
  bool WaitFor(std::optional<Millis> most) {
    std::unique_lock lock(mutex_);
    const auto done = [this] { return done_; };
    if (most) return changed_.wait_for(lock, *most, done);
    changed_.wait(lock, done);
    return true;
  }
  std::optional<Error> error() const {
    const std::lock_guard lock(mutex_);
    return error_;
  }

 private:
  const std::string run_;
  const std::vector<std::string> argv_;
  const double before_;  // US dollars
  CancelSource stop_;
  const CancelToken stopping_;
  const std::uint64_t stop_with_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool done_ = false;
  std::optional<Error> error_;
};

RunAgain::~RunAgain() {
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [run, child] : children_) child->Stop();
  }
  tasks_.Join();
}

std::string RunAgain::RunOf(const Child& child) { return child.run(); }
void RunAgain::WaitForEnd(Child& child) { child.WaitFor(std::nullopt); }

bool RunAgain::Cancel(const std::string& run) {
  const std::lock_guard lock(mutex_);
  const auto found = children_.find(run);
  if (found != children_.end()) found->second->Stop();
  return found != children_.end();
}

bool RunAgain::IsAtWorkHere(store::Journal& journal, const std::string& run) {
  std::shared_ptr<Child> child;
  {
    const std::lock_guard lock(mutex_);
    const auto found = children_.find(run);
    if (found != children_.end()) child = found->second;
  }
  if (child) {
    // The journal has the end of a run a moment before its process is gone.
    if (journal.StatusOf(run).value_or("") == "running" || !child->WaitFor(kUntilGone)) return true;
    Leave(*child);
    return false;
  }
  const std::vector<std::string> begun = shared_.workspace.runs().Known();
  if (std::ranges::find(begun, run) == begun.end()) return false;
  return journal.StatusOf(run).value_or("") == "running";
}

void RunAgain::Leave(const Child& child) {
  const std::lock_guard lock(mutex_);
  const auto found = children_.find(child.run());
  // Another child may have entered by now.
  if (found != children_.end() && found->second.get() == &child) children_.erase(found);
}

bool RunAgain::Enter(const std::shared_ptr<Child>& child) {
  const std::lock_guard lock(mutex_);
  return children_.try_emplace(child->run(), child).second;
}

Status RunAgain::Check(store::Journal& journal, const AgainWish& wish) {
  DOSSIER_RETURN_IF_ERROR(ask::StartToTakeUp(journal, wish.run));
  DOSSIER_ASSIGN_OR_RETURN(const config::Config* config, shared_.workspace.Config());
  DOSSIER_RETURN_IF_ERROR(
      CheckClientModel(shared_.workspace.options().model, *config, wish.edits.model));
  if (wish.fork_at) return CheckFork(wish, shared_.stopping);
  if (IsAtWorkHere(journal, wish.run)) return AtWorkHere(wish.run);
  return ask::CheckUnfinished(journal, wish.run);
}

// Returns a new fork, or the run itself.
Result<std::string> RunAgain::RunToGoOn(store::Journal& journal, const AgainWish& wish,
                                        const ServerKey& key) {
  if (!wish.fork_at) return wish.run;
  auto fork = ask::ForkRun(journal, wish.run, *wish.fork_at, wish.edits, ask::ForkHeld::kByNobody);
  if (fork) shared_.owners.Note(*fork, key.owner());
  return fork;
}

Result<std::shared_ptr<RunAgain::Child>> RunAgain::Begin(const AgainWish& wish,
                                                         const ServerKey& key) {
  DOSSIER_ASSIGN_OR_RETURN(const auto journal, shared_.workspace.Journal());
  DOSSIER_RETURN_IF_ERROR(Check(*journal, wish));
  // A fork has the turns of the other run up to one, and their cost.
  DOSSIER_ASSIGN_OR_RETURN(const double before, SpentBy(*journal, wish.run, wish.fork_at));
  std::optional<double> most = MostCost(wish, shared_.workspace.options());
  DOSSIER_ASSIGN_OR_RETURN(const auto more, LeftOf(most, before));
  DOSSIER_ASSIGN_OR_RETURN(Held purse, Held::Take(shared_, key, more));
  const auto run = RunToGoOn(*journal, wish, key);
  if (!run) {
    purse.Settle(0);
    return tl::unexpected(run.error());
  }
  if (purse.most()) most = before + *purse.most();
  const auto calls = MostCalls(wish, shared_.workspace.options());
  const auto child =
      std::make_shared<Child>(*run, CommandFor(*run, wish, most, calls), before, shared_.stopping);
  if (!Enter(child)) {  // another request was faster
    purse.Settle(0);
    return AtWorkHere(*run);
  }
  tasks_.RunOrDo([this, child, purse = std::move(purse), journal]() mutable {
    child->Work();
    const auto after = SpentBy(*journal, child->run());
    if (after) purse.Settle(std::max(*after - child->before(), 0.0));
    Leave(*child);
  });
  while (!child->WaitFor(kUntilThere)) {
    const auto status = journal->StatusOf(*run);
    if (status && *status == "running") return child;
  }
  if (auto error = child->error()) return tl::unexpected(std::move(*error));
  return child;
}

}  // namespace dossier::server
