// Implements StoredRuns over this user's journal; runs are answered in this process.

#include <algorithm>
#include <utility>

#include "base/text/parse.h"
#include "base/text/text.h"
#include "server/http/openai_reply.h"
#include "server/http/stored_runs.h"
#include "server/run_table.h"
#include "store/event_data.h"
#include "store/run_states.h"

namespace dossier::server {
namespace {

constexpr std::string_view kTextName = "context.txt";  // name of a run's own text
constexpr Millis kJournalLook{100};  // poll interval for events of other processes
constexpr std::chrono::hours kUntilItEnds{24 * 365};

class OwnRunsOf final : public StoredRuns {
 public:
  explicit OwnRunsOf(const Shared& shared) : shared_(shared), again_(shared) {}

  std::span<const std::string_view> states() const override { return store::kRunStates; }

  Result<RunsPage> List(const ServerKey& key, const RunsWish& wish) override {
    DOSSIER_ASSIGN_OR_RETURN(const auto journal, shared_.workspace.Journal());
    // The cursor's run may have another status by now, so all are looked through for it.
    const bool of_status = !wish.status.empty() && wish.cursor.empty();
    const auto status = of_status ? std::optional<std::string>(wish.status) : std::nullopt;
    const std::string wanted = ToLowerAscii(wish.text);
    bool begun = wish.cursor.empty();
    RunsPage page;
    DOSSIER_RETURN_IF_ERROR(journal->ForEachRun(status, [&](const store::RunSummary& run) {
      if (!begun) {
        begun = run.run == wish.cursor && shared_.owners.Sees(key, run.run);
        return true;
      }
      if (!wish.since.empty() && run.started < wish.since) return false;
      if (!wish.status.empty() && run.status != wish.status) return true;
      if (!shared_.owners.Sees(key, run.run)) return true;
      const std::string text = ToLowerAscii(run.question + "\n" + run.answer + "\n" + run.run);
      if (!wanted.empty() && text.find(wanted) == text.npos) return true;
      if (page.runs.size() == wish.limit) {
        page.next = TextAt(page.runs.back(), "run");
        return false;
      }
      page.runs.push_back(store::SummaryJson(run));
      return true;
    }));
    if (begun) return page;
    return MakeError(ErrorCode::kInvalidArgument,
                     "cursor: must be `next` of an earlier page, and its run is not here; begin "
                     "again without it");
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
    // A follower polls often and has seen most of a long run, so only new events are read.
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
      DOSSIER_ASSIGN_OR_RETURN(
          const auto opened,
          shared_.workspace.contexts().Add(
              {{.path = {}, .text = text, .name = std::string(kTextName), .notes = {}}}, "", {},
              shared_.stopping));
      wish.context = opened->id;
    }
    wish.purse = PurseFor(shared_, key);
    RunTable& runs = shared_.workspace.runs();
    const CallScope scope{.cancel = shared_.stopping};
    DOSSIER_ASSIGN_OR_RETURN(const std::string run, runs.Start(wish, scope));
    shared_.owners.Note(run, key.owner());
    begun(run, "running");
    // The journal tells how it ended.
    (void)runs.Wait(run, kUntilItEnds, scope);
    return {};
  }

  Result<OrderReply> Cancel(const std::string& run) override {
    const bool told =
        StatusOf(run) == "running" &&
        // A resumed run is known to both, as it was begun here, too.
        (again_.Cancel(run) || shared_.workspace.runs().Cancel(run, "cancelled by its caller"));
    if (told) return OrderReply{202, {{"run", run}, {"status", "cancelling"}}};
    return OrderReply{409, ErrorJson(fmt::format("run {} does not run in this server", run),
                                     "invalid_request_error", nullptr, "not_running")};
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
    DOSSIER_ASSIGN_OR_RETURN(const store::Event started, journal->EventAt(run, 1));
    const std::vector<std::string> one{run};
    const auto erased = journal->EraseTexts(one);
    // Done in any case, because a second deletion would not find it.
    DOSSIER_RETURN_IF_ERROR(DropText(*journal, started.data));
    DOSSIER_RETURN_IF_ERROR(erased);
    return OrderReply{200, {{"run", run}, {"deleted", true}}};
  }

 private:
  // Drops the context that Begin made of this run's text, unless another run uses it.
  Status DropText(store::Journal& journal, const JsonObject& started) {
    const Json* contexts = dossier::Find(started, "contexts");
    const bool one = contexts && contexts->is_array() && contexts->get_array().size() == 1;
    if (!one || TextAt(contexts->get_array()[0], "name") != kTextName ||
        journal.content().Has(TextAt(contexts->get_array()[0], "sha256"))) {
      return {};
    }
    // If opened after the newest deleted run began, it belongs to a run just beginning.
    std::string began;
    DOSSIER_RETURN_IF_ERROR(journal.ForEachRun({}, [&](const store::RunSummary& run) {
      if (run.question == store::kDeleted) began = run.started;
      return began.empty();
    }));
    return shared_.workspace.contexts().Drop(contexts->get_array(),
                                             ParseTime(began).value_or(Clock::Wall()));
  }

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
