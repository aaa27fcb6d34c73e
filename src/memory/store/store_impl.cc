#include "memory/store/store_impl.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/cancel.h"
#include "memory/records/connection.h"

namespace dossier::memory {
namespace {

constexpr std::size_t kMostTogether = 100;
constexpr Millis kLongestTogether{50};

Status RunPart(Connection& connection, const Writer::Job& job) {
  DOSSIER_ASSIGN_OR_RETURN(store::Savepoint part, store::Savepoint::Begin(connection.db()));
  DOSSIER_RETURN_IF_ERROR(job(connection));
  return part.Release();
}

}  // namespace

// On a network file system SQLite's own locks are not to be trusted, and nobody could tell who
// holds them: a file does, for as long as a commit takes.
class Writer::NetworkLock {
 public:
  static Result<std::optional<NetworkLock>> Take(const std::string& path,
                                                 const DatabaseOptions& options) {
    if (options.placement != Placement::kNetwork) return std::nullopt;
    const std::string file = path + ".lock";
    auto lock = FileLock::Take(file, options.busy_wait, CancelToken());
    if (lock) {
      const std::string holder = fmt::format("process {} on {}\n", getpid(), HostName());
      DOSSIER_RETURN_IF_ERROR(WriteHolder(file, holder));
      return NetworkLock(*std::move(lock));
    }
    if (lock.error().code != ErrorCode::kLocked) return tl::unexpected(std::move(lock).error());
    std::string holder = ReadFile(file, 1024).value_or("");
    while (holder.ends_with('\n')) holder.pop_back();
    return MakeError(ErrorCode::kLocked, "{} was held for {} s by {} (see {})", path,
                     options.busy_wait.count() / 1000, holder.empty() ? "another host" : holder,
                     file);
  }

 private:
  explicit NetworkLock(FileLock lock) : lock_(std::move(lock)) {}

  static Status WriteHolder(const std::string& file, const std::string& holder) {
    const UniqueFd fd(open(file.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW));
    if (!fd.valid()) return MakeErrnoError(errno, file);
    return WriteAll(fd.get(), holder);
  }

  FileLock lock_;
};

Writer::~Writer() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return queue_.empty() && !leading_; });
}

Error Writer::Name(Error error) const {
  if (error.code != ErrorCode::kLocked || options_.placement == Placement::kNetwork) return error;
  const auto pid = FindLockHolder(path_);
  return {ErrorCode::kLocked,
          fmt::format("{} was held for {} s by {} on {}", path_, options_.busy_wait.count() / 1000,
                      pid ? fmt::format("process {}", *pid) : "another process", HostName())};
}

Status Writer::Open() {
  if (connection_) return {};
  DatabaseOptions options = options_;
  options.mode = OpenMode::kExisting;  // a store that was removed meanwhile is not made again
  DOSSIER_ASSIGN_OR_RETURN(store::Database db, OpenMemoryDatabase(path_, options));
  connection_ = std::make_unique<Connection>(std::move(db));
  return {};
}

Status Writer::Run(const Job& job) {
  Waiting own{.job = &job};
  std::unique_lock lock(mutex_);
  queue_.push_back(&own);
  changed_.wait(lock, [&] { return own.done || !leading_; });
  if (!own.done) {
    leading_ = true;
    while (!own.done) CommitBatch(lock);
    leading_ = false;
    changed_.notify_all();
  }
  return *std::move(own.result);
}

Writer::Waiting* Writer::TakeNext(std::size_t taken, Clock::Steady end) {
  if (queue_.empty() || taken >= kMostTogether) return nullptr;
  if (taken > 0 && std::chrono::steady_clock::now() >= end) return nullptr;
  Waiting* const next = queue_.front();
  queue_.pop_front();
  return next;
}

// Fills in the result of each job of the batch, which counts if this succeeds.
Status Writer::RunBatch(std::unique_lock<std::mutex>& lock, std::vector<Waiting*>* batch) {
  DOSSIER_RETURN_IF_ERROR(Open());
  DOSSIER_ASSIGN_OR_RETURN(const auto network, NetworkLock::Take(path_, options_));
  DOSSIER_ASSIGN_OR_RETURN(store::Transaction transaction,
                           store::Transaction::Begin(connection_->db()));
  const auto end = std::chrono::steady_clock::now() + kLongestTogether;
  while (true) {
    lock.lock();
    Waiting* const next = TakeNext(batch->size(), end);
    lock.unlock();
    if (!next) break;
    batch->push_back(next);
    next->result = RunPart(*connection_, *next->job);
    // A full disk makes SQLite undo all at once, and what came before is gone as well.
    if (!connection_->db().in_transaction()) return *next->result;
  }
  return transaction.Commit();
}

void Writer::CommitBatch(std::unique_lock<std::mutex>& lock) {
  std::vector<Waiting*> batch;
  lock.unlock();
  Status committed = RunBatch(lock, &batch);
  if (!committed) committed = tl::unexpected(Name(std::move(committed).error()));
  lock.lock();
  if (!committed && batch.empty()) {  // not even begun: nobody's turn would be better
    batch.assign(queue_.begin(), queue_.end());
    queue_.clear();
  }
  for (Waiting* const waiting : batch) {
    if (!committed) waiting->result = committed;
    waiting->done = true;
  }
  changed_.notify_all();
}

}  // namespace dossier::memory
