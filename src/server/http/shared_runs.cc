// Implements StoredRuns over a shared store: runs are put into its queue, and shown while workers
// on any machine answer them.

#include <algorithm>
#include <utility>

#include "base/files/file.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "server/http/stored_runs.h"
#include "server/queue/fetched_run.h"
#include "server/queue/queued_ask.h"
#include "server/queue/store_access.h"
#include "store/postgres/blobs.h"

namespace dossier::server {
namespace {

// A daily budget is counted on one machine, but any machine may answer a queued run.
Status CheckPurse(const ServerKey& key) {
  if (!key.usd_day) return {};
  return MakeError(ErrorCode::kRefused,
                   "the key {} has a sum of money a day, which nobody can keep where several "
                   "machines work: queue runs with a key without --max-usd-day",
                   key.name);
}

class SharedRunsOf final : public StoredRuns {
 public:
  explicit SharedRunsOf(const Shared& shared) : shared_(shared), store_(*shared.store) {}

  std::span<const std::string_view> states() const override { return store::kQueueStates; }

  Result<RunsPage> List(const ServerKey& key, const RunsWish& wish) override {
    DOSSIER_ASSIGN_OR_RETURN(const auto queue, store_.Lend());
    store::ListWish rows{.limit = wish.limit,
                         .state = wish.status,
                         .owner = {},
                         .since = utf8::Sanitize(wish.since),
                         .before = utf8::Sanitize(wish.cursor),
                         .text = utf8::Sanitize(wish.text),
                         .left_out = store::ListWish::LeftOut::kOnlyWhether};
    if (!key.Has(Scope::kAdmin)) rows.owner = key.name;
    DOSSIER_ASSIGN_OR_RETURN(const store::QueuedRuns found, queue->List(rows));
    RunsPage page;
    for (const store::QueuedRun& run : found.runs) page.runs.push_back(store::QueuedRunJson(run));
    if (found.left_out > 0) page.next = TextAt(page.runs.back(), "run");
    return page;
  }

  // A run's owner is the name alone: several servers, and `dossier runs put`, name owners.
  Result<std::string> Find(const ServerKey& key, const std::string& run) override {
    const auto row = Row(run);
    if (row && (key.Has(Scope::kAdmin) || row->owner == key.name)) return row->id;
    if (!row && row.error().code != ErrorCode::kNotFound) return tl::unexpected(row.error());
    return NoRunOfKey(run);
  }

  Result<JsonObject> Describe(const std::string& run,
                              const std::vector<store::Event>& events) override {
    DOSSIER_ASSIGN_OR_RETURN(const store::QueuedRun row, Row(run));
    JsonObject out = store::QueuedRunJson(row);
    out["about"] = events.empty()
                       ? JsonObject{{"question", out["question"]}, {"model", out["model"]}}
                       : events.front().data;
    for (const char* name : {"question", "answer", "model"}) out.erase(name);
    return out;
  }

  Result<std::vector<store::Event>> Events(const std::string& run) override {
    DOSSIER_ASSIGN_OR_RETURN(const auto queue, store_.Lend());
    return queue->Events(run);
  }
  Status ForEachEvent(const std::string& run, std::int64_t after,
                      const store::Journal::SeeEvent& see) override {
    DOSSIER_ASSIGN_OR_RETURN(const auto queue, store_.Lend());
    return queue->ForEachEvent(run, after, see);
  }
  // While the database is down the state is unknown, and a reader waits as the workers do.
  bool GoesOn(const std::string& run) override {
    const auto row = Row(run);
    return row ? !store::HasEnded(*row) : row.error().code == ErrorCode::kNetwork;
  }
  RunNews NewsOf(const std::string& run, const CancelToken& stop) override {
    return {store_.NewsOf(run, stop), StoreAccess::kLookAgain};
  }

  Result<std::string> Body(const std::string& sha256) override {
    DOSSIER_ASSIGN_OR_RETURN(const TempFolder folder, TempFolder::Make());
    DOSSIER_ASSIGN_OR_RETURN(const auto content, store::ContentStore::Open(folder.path()));
    DOSSIER_ASSIGN_OR_RETURN(const auto queue, store_.Lend());
    DOSSIER_RETURN_IF_ERROR(store::FetchBlob(queue->connection(), sha256, *content));
    return content->Get(sha256);
  }
  Result<ask::RunTale> Tale(const std::string& run) override {
    DOSSIER_ASSIGN_OR_RETURN(const auto queue, store_.Lend());
    DOSSIER_ASSIGN_OR_RETURN(const FetchedRun fetched, FetchRun(*queue, run));
    if (fetched.journal) return ask::ReadTale(*fetched.journal, run);
    return MakeError(ErrorCode::kNotFound, "nothing is recorded of {} yet", run);
  }

  Status Begin(AskWish wish, const std::string& text, const ServerKey& key,
               const Begun& begun) override {
    DOSSIER_RETURN_IF_ERROR(CheckPurse(key));
    // This server's limits apply to runs queued through it; the workers' limits apply, too.
    const WorkspaceOptions& options = shared_.workspace.options();
    wish.max_calls = std::min(options.max_calls, wish.max_calls.value_or(options.max_calls));
    if (options.max_usd) {
      wish.max_usd = std::min(*options.max_usd, wish.max_usd.value_or(*options.max_usd));
    }
    std::vector<ask::ContextSource> sources{
        {.path = {}, .text = text, .name = "context.txt", .notes = {}}};
    if (!wish.context.empty()) {
      ContextStore& contexts = shared_.workspace.contexts();
      DOSSIER_ASSIGN_OR_RETURN(const KnownContext record, contexts.Look(wish.context));
      DOSSIER_RETURN_IF_ERROR(shared_.workspace.MayRead(record));
      DOSSIER_ASSIGN_OR_RETURN(sources, contexts.SourcesOf(wish.context));
    }
    DOSSIER_ASSIGN_OR_RETURN(const TempFolder folder, TempFolder::Make());
    DOSSIER_ASSIGN_OR_RETURN(const auto content, store::ContentStore::Open(folder.path()));
    DOSSIER_ASSIGN_OR_RETURN(
        const auto context,
        ask::LoadContext(sources, {.content = content.get()}, shared_.stopping));
    DOSSIER_ASSIGN_OR_RETURN(const auto queue, store_.Lend());
    DOSSIER_ASSIGN_OR_RETURN(
        const std::string run,
        QueueAsk(*queue, {.wish = std::move(wish), .context = context.get(), .owner = key.name}));
    begun(run, "queued");
    return {};
  }

  Result<OrderReply> Cancel(const std::string& run) override {
    DOSSIER_ASSIGN_OR_RETURN(const auto queue, store_.Lend());
    DOSSIER_ASSIGN_OR_RETURN(const bool cancelled, queue->Cancel(run));
    return OrderReply{cancelled ? 202 : 409,
                      {{"run", run}, {"status", cancelled ? "cancelled" : "has ended"}}};
  }

  Status TakeUp(const AgainWish& wish, const ServerKey& key, const Begun& begun) override {
    if (wish.fork_at) {
      return MakeError(ErrorCode::kInvalidArgument,
                       "a run of a shared store is not forked; put the question again: POST "
                       "/api/v1/runs");
    }
    if (wish.max_tokens || wish.max_turns) {
      return MakeError(ErrorCode::kInvalidArgument,
                       "{}: is not taken for a run of a shared store; max_usd and max_calls are",
                       wish.max_tokens ? "max_tokens" : "max_turns");
    }
    DOSSIER_RETURN_IF_ERROR(CheckPurse(key));
    JsonObject changes;
    const WorkspaceOptions& options = shared_.workspace.options();
    if (wish.max_usd) {
      changes["max_usd"] = std::min(*wish.max_usd, options.max_usd.value_or(*wish.max_usd));
    }
    if (wish.max_calls) changes["max_calls"] = std::min(*wish.max_calls, options.max_calls);
    const auto again = [&]() -> Result<bool> {
      DOSSIER_ASSIGN_OR_RETURN(const auto queue, store_.Lend());
      return queue->PutAgain(wish.run, changes);
    }();
    if (!again) return tl::unexpected(again.error());
    if (!*again) {
      return MakeError(ErrorCode::kLocked,
                       "{} is queued, at work or done: only a run that failed or was cancelled can "
                       "be resumed",
                       wish.run);
    }
    begun(wish.run, "queued");
    return {};
  }

  Result<OrderReply> Erase(const std::string&) override {
    return MakeError(ErrorCode::kInvalidArgument,
                     "a run of a shared store is not deleted here: its texts may be those of "
                     "others, too");
  }

 private:
  Result<store::QueuedRun> Row(const std::string& run) {
    DOSSIER_ASSIGN_OR_RETURN(const auto queue, store_.Lend());
    return queue->Get(run);
  }

  const Shared shared_;
  StoreAccess& store_;
};

}  // namespace

std::unique_ptr<StoredRuns> SharedRuns(Shared shared) {
  return std::make_unique<SharedRunsOf>(shared);
}

}  // namespace dossier::server
