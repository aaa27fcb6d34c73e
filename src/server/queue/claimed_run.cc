#include "server/queue/claimed_run.h"

#include <unistd.h>

#include <exception>
#include <optional>
#include <set>
#include <utility>

#include "base/files/file.h"
#include "base/text/text.h"
#include "model/client/gate.h"
#include "store/postgres/blobs.h"

namespace dossier::server {
namespace {

constexpr Millis kAgain{200};  // retry interval while the database is down
constexpr std::size_t kProbeBytes = 64u << 10;

class NobodyWatches final : public ask::EventSink {
  void OnEvent(const store::Event&) override {}
};

// Checks the lease again when the request leaves, which may be long after it was submitted.
class LeasedSink final : public model::Sink {
 public:
  LeasedSink(std::shared_ptr<model::Sink> sink, std::shared_ptr<store::Lease> lease,
             CancelToken cancel)
      : sink_(std::move(sink)), lease_(std::move(lease)), source_(std::move(cancel)) {}

  CancelToken token() const { return source_.token(); }
  void OnSending() override {
    sink_->OnSending();
    if (lease_->IsOver()) lease_->Lose("the lease was over before a request was sent");
    if (lease_->lost()) source_.Cancel("the lease of the run is over");
  }
  void OnDelta(std::string_view text) override { sink_->OnDelta(text); }
  void OnDone(Result<model::Reply> reply) override { sink_->OnDone(std::move(reply)); }
  void OnFailure(const model::Failure& failure) override { sink_->OnFailure(failure); }
  void OnRetry(int attempt, const Error& error, Millis wait) override {
    sink_->OnRetry(attempt, error, wait);
  }

 private:
  const std::shared_ptr<model::Sink> sink_;
  const std::shared_ptr<store::Lease> lease_;
  CancelSource source_;
};

// Sends nothing after the lease is lost: the run's new worker sends it, if needed.
class LeasedGate final : public model::Gate {
 public:
  LeasedGate(std::shared_ptr<model::Gate> gate, std::shared_ptr<store::Lease> lease)
      : gate_(std::move(gate)), lease_(std::move(lease)) {}

  void Submit(std::shared_ptr<const model::Request> request, model::Ledger& ledger,
              model::Stage stage, CancelToken cancel, std::shared_ptr<model::Sink> sink) override {
    if (lease_->IsOver()) {
      lease_->Lose("the lease was over before a request was sent");
      return sink->OnDone(MakeError(ErrorCode::kCancelled, "the lease of the run is over"));
    }
    const auto leased = std::make_shared<LeasedSink>(std::move(sink), lease_, std::move(cancel));
    gate_->Submit(std::move(request), ledger, stage, leased->token(), leased);
  }
  int in_flight() const override { return gate_->in_flight(); }
  std::int64_t MostInput(std::int64_t expected) const override {
    return gate_->MostInput(expected);
  }

 private:
  const std::shared_ptr<model::Gate> gate_;
  const std::shared_ptr<store::Lease> lease_;
};

Json FailedResult(const std::string& run, const Error& error) {
  return JsonObject{
      {"schema", "dossier.ask/1"},
      {"run", run},
      {"status", "failed"},
      {"answer", ""},
      {"error", JsonObject{{"code", ErrorName(error.code)}, {"message", error.message}}}};
}

// The database's content is untrusted: unforeseen data ends its run, not the worker.
template <typename Step>
auto Caught(const Step& step) -> decltype(step()) {
  try {
    return step();
  } catch (const std::exception& error) {
    return MakeError(ErrorCode::kInternal, "the run cannot be answered: {}", error.what());
  }
}

}  // namespace

Status CheckCache(const std::string& folder) {
  DOSSIER_RETURN_IF_ERROR(MakeFolders(folder, 0700));
  const std::string probe = fmt::format("{}/probe-{}", folder, RandomHex(16));
  const Status written = WriteFileAtomic(probe, std::string(kProbeBytes, '0'), 0600);
  ::unlink(probe.c_str());
  if (written) return {};
  return MakeError(written.error().code, "nothing can be kept in {}: {}", folder,
                   written.error().message);
}

ClaimedRun::~ClaimedRun() {
  const std::string path = setting_.cache_folder + "/" + journal_name_;
  for (const char* suffix : {"", "-wal", "-shm", "-live"}) ::unlink((path + suffix).c_str());
}

// Retries while the database is down and the lease holds, and once after it: the database knows
// whether a step with unknown outcome was done.
Status ClaimedRun::Patiently(const std::function<Status()>& step) const {
  while (true) {
    const bool last = lease_->IsOver();
    const Status done = step();
    if (done || done.error().code != ErrorCode::kNetwork || last) return done;
    (void)WaitUnlessCancelled(kAgain, {});
  }
}

Result<ClaimedRun::Loaded> ClaimedRun::Load(store::RunQueue& queue) {
  const store::Claim& claim = lease_->claim();
  Loaded loaded;
  DOSSIER_ASSIGN_OR_RETURN(loaded.ask, ReadQueuedAsk(claim.request));
  store::JournalOptions options{.file = journal_name_};
  options.make_id = [run = claim.run] { return run; };
  DOSSIER_ASSIGN_OR_RETURN(loaded.local,
                           store::Journal::Open(setting_.cache_folder, std::move(options)));
  store::ContentStore& content = loaded.local->content();
  DOSSIER_RETURN_IF_ERROR(Patiently([&]() -> Status {
    DOSSIER_ASSIGN_OR_RETURN(loaded.sources, FetchContexts(queue, loaded.ask, content));
    DOSSIER_ASSIGN_OR_RETURN(loaded.events, queue.Events(claim.run));
    return store::FetchBodiesOf(queue.connection(), loaded.events, content);
  }));
  if (!loaded.events.empty()) DOSSIER_RETURN_IF_ERROR(loaded.local->AddRun(loaded.events));
  return loaded;
}

Result<ask::Outcome> ClaimedRun::Answer(const Loaded& loaded,
                                        const std::shared_ptr<store::Journal>& journal) {
  const store::Claim& claim = lease_->claim();
  AskPlace place{.journal = journal,
                 .sources = loaded.sources,
                 .folder = setting_.cache_folder,
                 .memory = AskPlace::Memory::kOff};
  DOSSIER_ASSIGN_OR_RETURN(PreparedAsk ask, PrepareAsk(setting_.workspace, loaded.ask.wish,
                                                       std::move(place), lease_->token()));
  ask.request.seed_from = loaded.ask.seed_from;
  ask.request.argv.clear();  // a server's flags and paths are valid only on its machine
  ask.options.version = setting_.version;
  for (driver::BoundModel* model : {&ask.options.root, &ask.options.sub}) {
    model->gate = std::make_shared<LeasedGate>(model->gate, lease_);
  }
  if (ask.request.mode != ask::Mode::kDirect) {
    DOSSIER_ASSIGN_OR_RETURN(ask.options.pool, setting_.workspace.Pool());
  }
  ask::Engine engine(std::move(ask.options));
  NobodyWatches sink;
  if (loaded.events.empty()) return engine.Run(ask.request, lease_->token(), sink);
  const std::string before = TextAt(Json(loaded.events.front().data), "version");
  if (before != setting_.version) {
    DOSSIER_RETURN_IF_ERROR(
        journal->Append(claim.run, 0, "warning",
                        {{"code", "version_changed"},
                         {"data", JsonObject{{"from", before}, {"to", setting_.version}}}}));
  }
  return engine.Resume({.run = claim.run}, ask.request, lease_->token(), sink);
}

// Another worker may have what this one lacks: the model, its key, a working sandbox.
void ClaimedRun::Leave(store::RunQueue& queue, std::string_view lacking, const Error& error) {
  const store::Claim& claim = lease_->claim();
  const std::string why = fmt::format("worker {} {}: {}", claim.worker, lacking, error.message);
  const Status left = Patiently([&] {
    return queue.GiveBack(
        claim,
        Json(JsonObject{{"status", "queued"},
                        {"error", JsonObject{{"code", ErrorName(error.code)}, {"message", why}}}}));
  });
  setting_.say(fmt::format("{}: left to other workers: {}", claim.run,
                           left ? error.message : left.error().message));
}

// An earlier worker recorded the end of the run, and died before updating its row. Returns false if
// there is no such end.
bool ClaimedRun::EndAsRecorded(store::RunQueue& queue, const Loaded& loaded) {
  const store::Claim& claim = lease_->claim();
  if (loaded.events.empty() || loaded.events.back().type != "run.finished") return false;
  const JsonObject& finished = loaded.events.back().data;
  const std::string status = TextAt(Json(finished), "status");
  if (status == "interrupted" || status == "failed") return false;  // it is retried
  JsonObject result = RecordedResult(claim.run, finished);
  const Json* body = Find(finished, "answer");
  const auto answer = body ? loaded.local->ReadBody(*body) : Result<std::string>("");
  if (!answer) return false;
  result["answer"] = *answer;
  const Status ended = Patiently([&] { return queue.Finish(claim, "done", Json(result)); });
  setting_.say(
      fmt::format("{}: {}", claim.run,
                  ended ? status + " (an earlier worker answered it)" : ended.error().message));
  return true;
}

// A run is not to blame if this machine can store nothing or run no code. No error of the run tells
// this, so cache and sandbox are tested.
std::optional<ClaimedRun::Fault> ClaimedRun::MachineFault(const Result<Loaded>& loaded,
                                                          const Result<ask::Outcome>& outcome) {
  constexpr std::string_view kKeeps = "cannot keep its texts", kRuns = "cannot run its code";
  const bool failed = !outcome || outcome->status == ask::RunStatus::kFailed;
  if (!failed || lease_->token().cancelled()) return std::nullopt;
  if (const Status writes = CheckCache(setting_.cache_folder); !writes) {
    return Fault{kKeeps, writes.error()};
  }
  if (!loaded) {
    // There is some room, but not enough for its texts.
    const bool full = loaded.error().code == ErrorCode::kIo;
    return full ? std::optional(Fault{kKeeps, loaded.error()}) : std::nullopt;
  }
  if (loaded->ask.wish.mode == ask::Mode::kDirect) return std::nullopt;
  const Status works = setting_.workspace.CheckSandbox(lease_->token());
  if (works || lease_->token().cancelled()) return std::nullopt;
  return Fault{kRuns, works.error()};
}

void ClaimedRun::End(store::RunQueue& queue, const Result<ask::Outcome>& outcome) {
  const store::Claim& claim = lease_->claim();
  const bool interrupted = outcome ? outcome->status == ask::RunStatus::kInterrupted
                                   : outcome.error().code == ErrorCode::kCancelled;
  const Status ended = Patiently([&]() -> Status {
    if (interrupted || (!outcome && outcome.error().code == ErrorCode::kNetwork &&
                        outcome.error().message.find("the database at") == 0)) {
      return queue.GiveBack(claim);
    }
    if (!outcome) return queue.Finish(claim, "failed", FailedResult(claim.run, outcome.error()));
    return queue.Finish(claim, outcome->status == ask::RunStatus::kFailed ? "failed" : "done",
                        outcome->ToJson());
  });
  if (!ended) return setting_.say(fmt::format("{}: {}", claim.run, ended.error().message));
  if (interrupted) return setting_.say(claim.run + ": given back");
  setting_.say(fmt::format("{}: {}", claim.run,
                           outcome ? std::string(ask::RunStatusName(outcome->status))
                                   : "failed: " + outcome.error().message));
}

void ClaimedRun::Work(store::RunQueue& queue) {
  auto loaded = Caught([&] { return Load(queue); });
  if (loaded && EndAsRecorded(queue, *loaded)) return;
  if (loaded) {
    const std::string& name = loaded->ask.wish.model;
    const auto model = setting_.workspace.Model(name, lease_->token());
    // A forbidden name is forbidden for other workers, too.
    const bool refused = !model && model.error().code == ErrorCode::kRefused;
    if (!model && !refused && !lease_->token().cancelled()) {
      setting_.lacks(name);
      return Leave(queue, "cannot open its model", model.error());
    }
  }
  Result<ask::Outcome> outcome = tl::unexpected(loaded ? Error() : loaded.error());
  Status written;
  if (loaded) {
    const auto events = static_cast<std::int64_t>(loaded->events.size());
    const std::shared_ptr<store::Journal> journal =
        store::MakeSharedJournal(std::move(loaded->local), lease_, setting_.writer, events);
    outcome = Caught([&] { return Answer(*loaded, journal); });
    // All recorded events are stored before the run is reported as ended, and before its bodies are
    // removed.
    written = setting_.writer.Flush(*lease_);
  }
  const auto broken = MachineFault(loaded, outcome);
  if (lease_->IsOver()) lease_->Lose("the lease was over before the run ended");
  if (!written || lease_->lost()) {
    return setting_.say(fmt::format("{}: {}", lease_->claim().run, lease_->error().message));
  }
  if (!broken) return End(queue, outcome);
  setting_.breaks(broken->error);
  Leave(queue, broken->what, broken->error);
}

}  // namespace dossier::server
