#include "server/queue/worker.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "base/random.h"
#include "base/task_group.h"
#include "server/queue/claimed_run.h"
#include "store/journal_file.h"
#include "store/postgres/run_queue.h"
#include "store/postgres/shared_journal.h"

namespace dossier::server {
namespace {

namespace fs = std::filesystem;
using store::Lease;
using store::RunQueue;

constexpr Millis kPoll{5'000};      // notices may be lost
constexpr Millis kTick{200};        // accuracy with which this side sees the end of a lease
constexpr Millis kBehindLease{20};  // the database sees a lease's end a moment later
constexpr Millis kDatabaseAway{1'000};
constexpr std::chrono::minutes kTryModelAgain{1};  // for a model that failed to open
constexpr std::chrono::minutes kTryMachineAgain{1};
constexpr std::chrono::hours kLeftBehind{48};
constexpr std::chrono::minutes kFresh{10};  // a text used so recently stays cached

std::string WorkerId() {
  char host[256] = "";
  if (gethostname(host, sizeof host - 1) != 0) host[0] = '\0';
  return fmt::format("{}-{}-{}", *host ? host : "host", getpid(), RandomHex(6));
}

// A lock held by each run at work over the folder, in any process.
Result<store::LiveRuns> Users(const std::string& folder) {
  return store::LiveRuns::Open(folder + "/in-use");
}

// Removes the oldest texts until the rest fits, while no worker is at work: a run needs its texts
// to its end. Best effort: errors are ignored.
void PruneCache(const std::string& folder, std::uint64_t most) {
  const auto users = Users(folder);
  if (!users || !users->BeAlone()) return;
  struct Cached {
    fs::path path;
    fs::file_time_type used;
    std::uint64_t bytes;
  };
  std::vector<Cached> all;
  std::uint64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder + "/objects", error), end; !error && at != end;
       at.increment(error)) {
    std::error_code gone;
    if (!at->is_regular_file(gone) || gone) continue;
    Cached one{at->path(), at->last_write_time(gone), at->file_size(gone)};
    if (gone) continue;
    bytes += one.bytes;
    all.push_back(std::move(one));
  }
  // Removes journals of runs whose worker was killed.
  for (const fs::directory_entry& left : fs::directory_iterator(folder, error)) {
    std::error_code gone;
    const bool journal = left.path().filename().string().find(".db") != std::string::npos;
    if (!journal || left.last_write_time(gone) > fs::file_time_type::clock::now() - kLeftBehind) {
      continue;
    }
    fs::remove(left.path(), gone);
  }
  std::ranges::sort(all, {}, &Cached::used);
  const auto fresh = fs::file_time_type::clock::now() - kFresh;
  for (const Cached& one : all) {
    if (bytes <= most || one.used > fresh) return;
    if (fs::remove(one.path, error)) bytes -= one.bytes;
  }
}

class Worker {
 public:
  Worker(const WorkerOptions& options, Workspace& workspace, CancelToken stop)
      : options_(options),
        id_(WorkerId()),
        stop_(std::move(stop)),
        writer_(options.store),
        setting_{workspace,
                 writer_,
                 options.cache_folder,
                 options.version,
                 [this](std::string_view line) { Say(line); },
                 [this](const std::string& model) { Lacks(model); },
                 [this](const Error& error) { Breaks(error); }} {}

  Status Run() {
    DOSSIER_RETURN_IF_ERROR(CheckCache(options_.cache_folder));
    DOSSIER_ASSIGN_OR_RETURN(queue_, RunQueue::Open(options_.store));
    // A worker without a model would take every run of the queue and answer none.
    DOSSIER_RETURN_IF_ERROR(setting_.workspace.Model("", stop_));
    // One without a sandbox would take runs only to give them back.
    if (const Status works = setting_.workspace.CheckSandbox(stop_); !works) {
      return MakeError(works.error().code,
                       "a worker runs code in the sandbox, which fails here: {}",
                       works.error().message);
    }
    DOSSIER_RETURN_IF_ERROR(NoteMe());
    // Notifications from now on are not missed.
    DOSSIER_RETURN_IF_ERROR(queue_->WaitForWork(Millis(0), stop_));
    Say(fmt::format("worker {} is ready", id_));
    std::thread keeper([this] { KeepLeases(); });
    while (!stop_.cancelled()) {
      const Result<bool> more = Step();
      if (more && !*more) break;
      if (more) continue;
      Say(more.error().message);
      (void)WaitUnlessCancelled(kDatabaseAway, stop_);
    }
    Drain();
    ended_.Cancel("the worker ends");
    keeper.join();
    const std::lock_guard lock(mutex_);
    if (broken_ && options_.ends == WorkerOptions::Ends::kWhenEmpty)
      return tl::unexpected(*broken_);
    return {};
  }

 private:
  void Say(std::string_view line) const {
    if (options_.say) options_.say(line);
  }
  void Lacks(const std::string& model) {
    const std::lock_guard lock(mutex_);
    lacking_[model] = std::chrono::steady_clock::now() + kTryModelAgain;
  }
  // Takes no run until sandbox and cache work again: else the queue would return the same runs to
  // this worker forever.
  void Breaks(const Error& error) {
    const std::lock_guard lock(mutex_);
    broken_ = error;
    rests_until_ = std::chrono::steady_clock::now() + kTryMachineAgain;
  }
  Status CheckMachine() const {
    DOSSIER_RETURN_IF_ERROR(CheckCache(options_.cache_folder));
    return setting_.workspace.CheckSandbox(stop_);
  }
  bool MayTake() {
    {
      const std::lock_guard lock(mutex_);
      if (!broken_) return true;
      if (std::chrono::steady_clock::now() < rests_until_) return false;
    }
    if (const Status works = CheckMachine(); !works) {
      if (stop_.cancelled()) return false;
      Breaks(works.error());
      Say("no run is taken: " + works.error().message);
      return false;
    }
    Say("this machine works again");
    const std::lock_guard lock(mutex_);
    broken_.reset();
    return true;
  }
  JsonArray Lacking() {
    const std::lock_guard lock(mutex_);
    std::erase_if(lacking_, [now = std::chrono::steady_clock::now()](const auto& one) {
      return one.second <= now;
    });
    JsonArray models;
    for (const auto& [model, until] : lacking_) models.emplace_back(model);
    return models;
  }
  Status NoteMe() {
    return queue_->NoteWorker(id_, options_.version, static_cast<std::int64_t>(options_.slots));
  }

  // Takes runs for free slots, else waits for work. Returns false if there is nothing to wait for.
  Result<bool> Step() {
    // A run that ends from here on wakes the wait below.
    auto wake = std::make_shared<CancelSource>(stop_);
    std::size_t running = 0;
    {
      const std::lock_guard lock(mutex_);
      wake_ = wake;
      running = leases_.size();
    }
    if (running < options_.slots && MayTake()) {
      const auto before = std::chrono::steady_clock::now();
      DOSSIER_ASSIGN_OR_RETURN(auto claim, queue_->Take(id_, {.lease = options_.lease,
                                                              .per_owner = options_.per_owner,
                                                              .without_models = Lacking()}));
      if (claim) {
        Start(std::make_shared<Lease>(std::move(*claim), before + options_.lease));
        return true;
      }
    }
    DOSSIER_ASSIGN_OR_RETURN(const store::Tidied tidied, queue_->Tidy());
    if (tidied.put_back > 0 && MayTake()) return true;
    if (options_.ends == WorkerOptions::Ends::kWhenEmpty && running == 0) return false;
    DOSSIER_RETURN_IF_ERROR(NoteMe());
    const Millis due = tidied.next.value_or(kPoll) + kBehindLease;
    DOSSIER_RETURN_IF_ERROR(
        queue_->WaitForWork(std::clamp(due, kBehindLease, kPoll), wake->token()));
    return true;
  }

  void Start(std::shared_ptr<Lease> lease) {
    {
      const std::lock_guard lock(mutex_);
      leases_.push_back(lease);
    }
    tasks_.RunOrDo([this, lease] {
      auto queue = TakeQueue(*lease);
      if (queue) {
        const auto users = Users(options_.cache_folder);
        if (users) users->Join();
        ClaimedRun(setting_, lease).Work(*queue);
      }
      Ended(lease, std::move(queue));
    });
  }

  // Reuses the connection of an ended run, or opens one. Null: the lease is over.
  std::unique_ptr<RunQueue> TakeQueue(const Lease& lease) {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto queue = std::move(idle_.back());
        idle_.pop_back();
        return queue;
      }
    }
    while (!lease.IsOver()) {
      auto queue = RunQueue::Open(options_.store);
      if (queue) return std::move(*queue);
      Say(queue.error().message);
      (void)WaitUnlessCancelled(kDatabaseAway, lease.token());
    }
    return nullptr;
  }

  void Ended(const std::shared_ptr<Lease>& lease, std::unique_ptr<RunQueue> queue) {
    std::shared_ptr<CancelSource> wake;
    bool idle = false;
    {
      const std::lock_guard lock(mutex_);
      std::erase(leases_, lease);
      idle = leases_.empty();
      if (queue) idle_.push_back(std::move(queue));
      wake = wake_;
    }
    if (idle) PruneCache(options_.cache_folder, options_.cache_bytes);
    if (wake) wake->Cancel("a slot is free");
  }

  std::vector<std::shared_ptr<Lease>> Leases() {
    const std::lock_guard lock(mutex_);
    return leases_;
  }

  // Renews each lease after every third of its time, and ends those that could not be renewed.
  void KeepLeases() {
    std::unique_ptr<RunQueue> queue;
    const Millis third = options_.lease / 3;
    auto due = std::chrono::steady_clock::now() + third;
    while (WaitUnlessCancelled(std::min(kTick, third), ended_.token())) {
      const auto leases = Leases();
      for (const auto& lease : leases) {
        if (!lease->lost() && lease->IsOver()) {
          lease->Lose("the lease could not be renewed in time");
        }
      }
      if (leases.empty() || std::chrono::steady_clock::now() < due) continue;
      if (Renew(queue, leases)) due = std::chrono::steady_clock::now() + third;
    }
  }

  Status Renew(std::unique_ptr<RunQueue>& queue,
               const std::vector<std::shared_ptr<Lease>>& leases) {
    if (!queue) {
      DOSSIER_ASSIGN_OR_RETURN(queue, RunQueue::Open(options_.store));
    }
    for (const auto& lease : leases) {
      if (lease->lost()) continue;
      const auto before = std::chrono::steady_clock::now();
      const Status renewed = queue->Renew(lease->claim(), options_.lease);
      if (renewed) {
        lease->Extend(before + options_.lease);
      } else if (renewed.error().code == store::kLeaseLost) {
        // A run that has just ended by itself is not a lost one.
        lease->Lose(renewed.error().message);
      } else {
        return renewed;
      }
    }
    return {};
  }

  void Drain() {
    const auto until = std::chrono::steady_clock::now() + options_.drain;
    while (!Leases().empty() && std::chrono::steady_clock::now() < until) {
      const auto wake = std::make_shared<CancelSource>();
      {
        const std::lock_guard lock(mutex_);
        wake_ = wake;
        if (leases_.empty()) break;
      }
      const auto left =
          std::chrono::duration_cast<Millis>(until - std::chrono::steady_clock::now());
      (void)WaitUnlessCancelled(std::max(left, Millis(1)), wake->token());
    }
    for (const auto& lease : Leases()) lease->Stop("the worker ends");
    tasks_.Join();
  }

  const WorkerOptions& options_;
  const std::string id_;
  const CancelToken stop_;
  std::unique_ptr<RunQueue> queue_;  // of the thread that runs Run
  store::EventWriter writer_;
  const ClaimSetting setting_;
  CancelSource ended_;
  std::mutex mutex_;  // guards what follows
  std::vector<std::shared_ptr<Lease>> leases_;
  std::vector<std::unique_ptr<RunQueue>> idle_;
  std::map<std::string, Clock::Steady> lacking_;  // models, with the time of the next try
  std::optional<Error> broken_;                   // the fault of this machine
  Clock::Steady rests_until_;                     // time of the next try
  std::shared_ptr<CancelSource> wake_;
  TaskGroup tasks_;  // last: joined before the rest is destroyed
};

}  // namespace

Status RunWorker(const WorkerOptions& options, Workspace& workspace, const CancelToken& stop) {
  return Worker(options, workspace, stop).Run();
}

}  // namespace dossier::server
