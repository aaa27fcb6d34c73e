#include "store/postgres/shared_journal.h"

#include <algorithm>
#include <utility>

#include "store/event_data.h"
#include "store/postgres/blobs.h"

namespace dossier::store {
namespace {

constexpr Millis kGroupTime{5}, kRetry{100};
constexpr std::size_t kGroup = 100;  // events
constexpr std::size_t kBodiesKnown = 100'000;

// Events that only report progress or results: without the newest of them, another worker repeats
// the same step, and nobody outside sees it. All others are committed before the run continues.
constexpr std::string_view kTolds[] = {
    "run.started",    "run.resumed",    "mode.decided",   "context.stored",  "context.named",
    "turn.started",   "call.started",   "call.finished",  "code.extracted",  "block.started",
    "block.done",     "bridge.call",    "bridge.reply",   "warning",         "memory.shown",
    "reply.received", "request.failed", "answer.offered", "answer.accepted", "answer.refused",
    "replay.diverged"};

bool WaitsForCommit(std::string_view type) {
  return std::find(std::begin(kTolds), std::end(kTolds), type) == std::end(kTolds);
}

class SharedJournal final : public Journal {
 public:
  SharedJournal(std::unique_ptr<Journal> local, std::shared_ptr<Lease> lease, EventWriter& writer,
                std::int64_t events)
      : local_(std::move(local)), lease_(std::move(lease)), writer_(writer), events_(events) {}

  Result<std::string> StartRun(JsonObject data) override {
    DOSSIER_RETURN_IF_ERROR(Held());
    const std::lock_guard lock(mutex_);
    auto run = local_->StartRun(std::move(data));
    if (!run) return LostWith(run.error());
    DOSSIER_RETURN_IF_ERROR(Share("run.started"));
    return run;
  }

  Status Append(std::string_view run, std::int64_t call, std::string_view type,
                JsonObject data) override {
    DOSSIER_RETURN_IF_ERROR(Held());
    const std::lock_guard lock(mutex_);
    if (const Status kept = local_->Append(run, call, type, std::move(data)); !kept) {
      return LostWith(kept.error());
    }
    return Share(type);
  }

  Result<std::string> AddRun(std::span<const Event>) override {
    return MakeError(ErrorCode::kInvalidArgument, "the journal of a claimed run holds that run");
  }
  Result<Json> Body(std::string_view text) override { return local_->Body(text); }
  Result<std::string> ReadBody(const Json& body) override { return local_->ReadBody(body); }
  Result<std::vector<RunSummary>> List(std::optional<std::string> status,
                                       std::size_t limit) override {
    return local_->List(std::move(status), limit);
  }
  Status ForEachRun(std::optional<std::string> status, const SeeRun& see) override {
    return local_->ForEachRun(std::move(status), see);
  }
  Result<std::string> StatusOf(std::string_view run) override { return local_->StatusOf(run); }
  Result<std::string> Resolve(std::string_view prefix) override { return local_->Resolve(prefix); }
  Result<std::vector<std::string>> RunsStartedWith(
      const std::map<std::string, std::string>& fields) override {
    return local_->RunsStartedWith(fields);
  }
  Result<std::vector<Event>> Events(std::string_view run) override { return local_->Events(run); }
  Status ForEachEvent(std::string_view run, const SeeEvent& see) override {
    return local_->ForEachEvent(run, see);
  }
  Result<Event> EventAt(std::string_view run, std::int64_t seq) override {
    return local_->EventAt(run, seq);
  }
  Result<std::size_t> EraseTexts(std::span<const std::string>) override {
    return MakeError(ErrorCode::kInvalidArgument, "a claimed run is at work");
  }
  ContentStore& content() override { return local_->content(); }

 private:
  Status Held() const {
    if (!lease_->lost()) return {};
    return tl::unexpected(lease_->error());
  }

  // A run whose events are not kept must send nothing more.
  tl::unexpected<Error> LostWith(const Error& error) {
    lease_->Lose(error.message);
    return tl::unexpected(error);
  }

  // The event that was just written, as stored.
  Status Share(std::string_view type) {
    const auto event = local_->EventAt(lease_->claim().run, ++events_);
    if (!event) return LostWith(event.error());
    writer_.Add(lease_,
                {.seq = event->seq,
                 .time = event->time,
                 .call = event->call,
                 .type = event->type,
                 .data = ToJson(Json(event->data))},
                local_->content());
    return WaitsForCommit(type) ? writer_.Flush(*lease_) : Status();
  }

  const std::unique_ptr<Journal> local_;
  const std::shared_ptr<Lease> lease_;
  EventWriter& writer_;
  std::mutex mutex_;  // guards events_, and the order of both writes
  std::int64_t events_;
};

}  // namespace

void Lease::Extend(Clock::Steady until) {
  const std::lock_guard lock(mutex_);
  until_ = until;
}

bool Lease::IsOver() const {
  const std::lock_guard lock(mutex_);
  return lost_ || std::chrono::steady_clock::now() >= until_;
}

Lease::~Lease() {
  if (canceller_.joinable()) canceller_.join();
}

void Lease::Lose(const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    if (!lost_) {
      lost_ = reason;
      canceller_ = std::thread([this, reason] { stop_.Cancel(reason); });
    }
  }
  // From here on the token is cancelled. Its callbacks may wait for locks that the caller holds, so
  // they run on their own thread.
  const CancelToken token = stop_.token();
  while (!token.cancelled()) std::this_thread::yield();
}

bool Lease::lost() const {
  const std::lock_guard lock(mutex_);
  return lost_.has_value();
}

Error Lease::error() const {
  const std::lock_guard lock(mutex_);
  return {kLeaseLost, lost_.value_or("the lease is held")};
}

EventWriter::EventWriter(std::string address) : address_(std::move(address)) {
  thread_ = std::thread([this] { Work(); });
}

EventWriter::~EventWriter() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  ending_.Cancel("the worker ends");
  changed_.notify_all();
  thread_.join();
}

void EventWriter::Add(const std::shared_ptr<Lease>& lease, EventRow event, ContentStore& content) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({lease, std::move(event), &content});
    ++open_[lease.get()];
  }
  changed_.notify_all();
}

Status EventWriter::Flush(const Lease& lease) {
  std::unique_lock lock(mutex_);
  const auto done = [&] { return !open_.contains(&lease) || ends_; };
  if (!done()) {
    hurry_ = true;
    changed_.notify_all();
    changed_.wait(lock, done);
  }
  lock.unlock();
  if (lease.lost()) return tl::unexpected(lease.error());
  return {};
}

void EventWriter::Work() {
  while (true) {
    std::vector<Waiting> group;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
      changed_.wait_for(lock, kGroupTime,
                        [this] { return ends_ || hurry_ || waiting_.size() >= kGroup; });
      if (ends_) return;
      hurry_ = false;
      group.swap(waiting_);
    }
    Write(group);
    {
      const std::lock_guard lock(mutex_);
      for (const Waiting& one : group) {
        const auto open = open_.find(one.lease.get());
        if (--open->second == 0) open_.erase(open);
      }
    }
    changed_.notify_all();
  }
}

// Retries until the group is committed, or none of its leases holds any more.
void EventWriter::Write(std::vector<Waiting>& group) {
  while (true) {
    const Status written = WriteOnce(group);
    if (written) return;
    const bool away = written.error().code == ErrorCode::kNetwork;
    bool any = false;
    for (const Waiting& one : group) {
      if (!away) one.lease->Lose(written.error().message);
      if (!one.lease->lost() && one.lease->IsOver()) {
        one.lease->Lose("the lease ended while " + written.error().message);
      }
      any = any || !one.lease->lost();
    }
    if (!any || !WaitUnlessCancelled(kRetry, ending_.token())) return;
  }
}

Status EventWriter::WriteOnce(std::vector<Waiting>& group) {
  if (!queue_) {
    DOSSIER_ASSIGN_OR_RETURN(queue_, RunQueue::Open(address_));
  }
  DOSSIER_RETURN_IF_ERROR(PutBodies(group));
  std::map<std::shared_ptr<Lease>, std::vector<EventRow>> runs;
  for (const Waiting& one : group) {
    if (!one.lease->lost()) runs[one.lease].push_back(one.event);
  }
  if (runs.empty()) return {};
  PostgresConnection& connection = queue_->connection();
  const auto append = [&]() -> Status {
    for (const auto& [lease, events] : runs) {
      const Status done = queue_->Append(lease->claim(), events);
      if (!done && done.error().code == kLeaseLost) {
        lease->Lose(done.error().message);  // the others continue
      } else if (!done) {
        return done;
      }
    }
    return {};
  };
  if (runs.size() == 1) return append();
  DOSSIER_RETURN_IF_ERROR(connection.Begin());
  if (const Status done = append(); !done) {
    connection.Rollback();
    return done;
  }
  return connection.Commit();
}

// Stores bodies before the events that name them.
Status EventWriter::PutBodies(const std::vector<Waiting>& group) {
  if (stored_.size() > kBodiesKnown) stored_.clear();
  for (const Waiting& one : group) {
    if (one.lease->lost() || one.event.data.find("\"sha256\"") == std::string::npos) continue;
    std::set<std::string> named;
    DOSSIER_ASSIGN_OR_RETURN(const Json data, ParseJson(one.event.data, kMaxEventDepth + 1));
    AddBodiesOf(data, &named);
    for (const std::string& sha256 : named) {
      // A hash without a body, such as a folder's, is ignored.
      if (stored_.contains(sha256) || !one.content->Has(sha256)) continue;
      DOSSIER_ASSIGN_OR_RETURN(const std::string bytes, one.content->Get(sha256));
      DOSSIER_RETURN_IF_ERROR(PutBlob(queue_->connection(), sha256, bytes));
      stored_.insert(sha256);
    }
  }
  return {};
}

std::unique_ptr<Journal> MakeSharedJournal(std::unique_ptr<Journal> local,
                                           std::shared_ptr<Lease> lease, EventWriter& writer,
                                           std::int64_t events) {
  return std::make_unique<SharedJournal>(std::move(local), std::move(lease), writer, events);
}

}  // namespace dossier::store
