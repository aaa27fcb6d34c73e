// Runs of the journal of this user, answered in this process.

#include <algorithm>
#include <utility>

#include "base/text/text.h"
#include "server/http/stored_runs.h"
#include "server/run_table.h"
#include "store/run_states.h"

namespace dossier::server {
namespace {

constexpr std::size_t kMostListed = 2'000;
constexpr Millis kJournalLook{100};  // between looks for new events of another process
constexpr std::chrono::hours kUntilItEnds{24 * 365};

class OwnRunsOf final : public StoredRuns {
 public:
  explicit OwnRunsOf(const Shared& shared) : shared_(shared), again_(shared) {}

  std::span<const std::string_view> states() const override { return store::kRunStates; }

  Result<RunsPage> List(const ServerKey& key, const RunsWish& wish) override {
    DOSSIER_ASSIGN_OR_RETURN(const auto journal, shared_.workspace.Journal());
    DOSSIER_ASSIGN_OR_RETURN(
        const auto runs,
        journal->List(wish.status.empty() ? std::nullopt : std::optional<std::string>(wish.status),
                      kMostListed));
    const std::string wanted = ToLowerAscii(wish.text);
    bool begun = wish.cursor.empty();
    RunsPage page;
    for (const store::RunSummary& run : runs) {
      if (!begun) {
        begun = run.run == wish.cursor;
        continue;
      }
      if (!wish.since.empty() && run.started < wish.since) break;
      if (!shared_.owners.Sees(key, run.run)) continue;
      const std::string text = ToLowerAscii(run.question + "\n" + run.answer + "\n" + run.run);
      if (!wanted.empty() && text.find(wanted) == text.npos) continue;
      if (page.runs.size() == wish.limit) {
        page.next = TextAt(page.runs.back(), "run");
        break;
      }
      page.runs.push_back(store::SummaryJson(run));
    }
    return page;
  }

  Result<std::string> Find(const ServerKey& key, const std::string& run) override {
    DOSSIER_ASSIGN_OR_RETURN(const auto journal, shared_.workspace.Journal());
    const auto resolved = journal->Resolve(run);
    if (resolved && shared_.owners.Sees(key, *resolved)) return *resolved;
    return NoRunOfKey(run);
  }

  Result<JsonObject> Describe(const std::string& run,
                              const std::vector<store::Event>& events) override {
    DOSSIER_ASSIGN_OR_RETURN(const auto journal, shared_.workspace.Journal());
    return JsonObject{{"run", run},
                      {"status", journal->StatusOf(run).value_or("unknown")},
                      {"started", events.front().time},
                      {"about", events.front().data}};
  }

  Result<std::vector<store::Event>> Events(const std::string& run) override {
    DOSSIER_ASSIGN_OR_RETURN(const auto journal, shared_.workspace.Journal());
    return journal->Events(run);
  }
  Status ForEachEvent(const std::string& run, std::int64_t after,
                      const store::Journal::SeeEvent& see) override {
    DOSSIER_ASSIGN_OR_RETURN(const auto journal, shared_.workspace.Journal());
    if (after <= 0) return journal->ForEachEvent(run, see);
    // A follower looks often and has seen most of a long run: only what is new is read.
    while (true) {
      const auto event = journal->EventAt(run, after + 1);
      if (!event && event.error().code == ErrorCode::kNotFound) return {};
      if (!event) return tl::unexpected(event.error());
      const std::string data = ToJson(event->data);
      DOSSIER_RETURN_IF_ERROR(see({.seq = event->seq,
                                   .time = event->time,
                                   .call = event->call,
                                   .type = event->type,
                                   .data = data}));
      after = event->seq;
    }
  }
  bool GoesOn(const std::string& run) override { return StatusOf(run) == "running"; }
  RunNews NewsOf(const std::string&, const CancelToken& stop) override {
    return {std::make_shared<CancelSource>(stop), kJournalLook};
  }

  Result<std::string> Body(const std::string& sha256) override {
    DOSSIER_ASSIGN_OR_RETURN(const auto journal, shared_.workspace.Journal());
    if (!journal->content().Has(sha256)) {
      return MakeError(ErrorCode::kNotFound, "this text was not kept");
    }
    return journal->content().Get(sha256);
  }
  Result<ask::RunTale> Tale(const std::string& run) override {
    DOSSIER_ASSIGN_OR_RETURN(const auto journal, shared_.workspace.Journal());
    return ask::ReadTale(*journal, run);
  }

  Status Begin(AskWish wish, const std::string& text, const ServerKey& key,
               const Begun& begun) override {
    if (wish.context.empty()) {
      DOSSIER_ASSIGN_OR_RETURN(const auto opened,
                               shared_.workspace.contexts().Add(
                                   {{.path = {}, .text = text, .name = "context.txt", .notes = {}}},
                                   "", {}, shared_.stopping));
      wish.context = opened->id;
    }
    const WorkspaceOptions& options = shared_.workspace.options();
    if (key.usd_day) {
      wish.purse = PurseOf(options.data_folder, key.owner(), *key.usd_day, options.clock);
    }
    RunTable& runs = shared_.workspace.runs();
    const CallScope scope{.cancel = shared_.stopping};
    DOSSIER_ASSIGN_OR_RETURN(const std::string run, runs.Start(wish, scope));
    shared_.owners.Note(run, key.owner());
    begun(run, "running");
    // How it ended is in the journal.
    (void)runs.Wait(run, kUntilItEnds, scope);
    return {};
  }

  Result<OrderReply> Cancel(const std::string& run) override {
    const bool told =
        StatusOf(run) == "running" &&
        // A run that was taken up is known to both: it was begun here, too.
        (again_.Cancel(run) || shared_.workspace.runs().Cancel(run, "cancelled by its caller"));
    return OrderReply{
        told ? 202 : 409,
        {{"run", run}, {"status", told ? "cancelling" : "not running in this server"}}};
  }

  Status TakeUp(const AgainWish& wish, const ServerKey& key, const Begun& begun) override {
    DOSSIER_ASSIGN_OR_RETURN(const auto child, again_.Begin(wish, key));
    begun(RunAgain::RunOf(*child), "running");
    RunAgain::WaitForEnd(*child);
    return {};
  }

  Result<OrderReply> Erase(const std::string& run) override {
    if (StatusOf(run) == "running") {
      return MakeError(ErrorCode::kLocked, "this run is at work; cancel it first");
    }
    DOSSIER_ASSIGN_OR_RETURN(const auto journal, shared_.workspace.Journal());
    const std::vector<std::string> one{run};
    DOSSIER_RETURN_IF_ERROR(journal->EraseTexts(one));
    return OrderReply{200, {{"run", run}, {"deleted", true}}};
  }

 private:
  std::string StatusOf(const std::string& run) {
    const auto journal = shared_.workspace.Journal();
    return journal ? (*journal)->StatusOf(run).value_or("") : "";
  }

  const Shared shared_;
  RunAgain again_;
};

}  // namespace

std::unique_ptr<StoredRuns> OwnRuns(Shared shared) { return std::make_unique<OwnRunsOf>(shared); }

}  // namespace dossier::server
