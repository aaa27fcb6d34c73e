// The only implementation of Store, and functions that live in files of their own. Each works on a
// connection of the writer or of a reader.
//
// Thread-safety: as Store; the functions have that of their connection.

#ifndef DOSSIER_MEMORY_STORE_STORE_IMPL_H_
#define DOSSIER_MEMORY_STORE_STORE_IMPL_H_

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "memory/records/connection.h"
#include "memory/search/rows.h"
#include "memory/store/store.h"

namespace dossier::memory {

// The only writing connection of a store in this process, and its queue. Concurrent writes share a
// commit.
//
//   Writer writer(path, options);
//   DOSSIER_RETURN_IF_ERROR(writer.Run([](Connection& connection) -> Status { … }));
//
// A caller that queues a write while nobody commits becomes the leader and commits for all.
// Thread-safety: all methods from any thread. The first write opens the connection.

class Writer {
 public:
  Writer(std::string path, DatabaseOptions options)
      : path_(std::move(path)), options_(std::move(options)) {}
  ~Writer();  // waits for the queue
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Runs `job` inside a transaction, perhaps on another thread, and returns once it is committed.
  // If `job` fails, its writes are undone and its error is returned; other jobs of the commit are
  // not affected. Errors also: kLocked naming the holder, kIo with the path.
  using Job = std::function<Status(Connection& connection)>;
  Status Run(const Job& job);

 private:
  struct Waiting {
    const Job* job;
    std::optional<Status> result;
    bool done = false;
  };
  class NetworkLock;

  // Call with `lock` held; it is released in between.
  void CommitBatch(std::unique_lock<std::mutex>& lock);
  Status RunBatch(std::unique_lock<std::mutex>& lock, std::vector<Waiting*>* batch);
  Waiting* TakeNext(std::size_t taken, Clock::Steady end);
  Status Open();
  Error Name(Error error) const;

  const std::string path_;
  const DatabaseOptions options_;
  std::unique_ptr<Connection> connection_;  // used by the leader only

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting*> queue_;
  bool leading_ = false;
};

struct RevertRequest {
  std::string_view branch;
  Seq to = 0;
  std::optional<std::string> key;
  const WriteContext& context;
  Micros now = 0;
};

// Implemented in history.cc, prune.cc and check.cc; see Store.
Result<std::vector<LoggedWrite>> LoadHistory(Connection& connection, std::string_view branch,
                                             const HistoryFilter& filter);
Result<Seq> RevertBranch(Connection& connection, const RevertRequest& request);
Result<PruneCounts> PruneRows(Connection& connection, Seq before, PruneMode mode);
Result<std::vector<std::string>> CheckRows(Connection& connection);
// Rebuilds the index and the lengths of the records.
Status RebuildIndex(Connection& connection);

class StoreImpl final : public Store {
 public:
  StoreImpl(StoreOptions options, const DatabaseOptions& database);

  // Reads what Open needs. Errors: as Store::Open.
  Status Start();

  const std::string& path() const override { return options_.path; }
  const std::string& store_id() const override { return store_id_; }
  const StoreLimits& limits() const override { return options_.limits; }
  const std::vector<std::string>& warnings() const override { return warnings_; }

  Result<Branch> Fork(std::string_view parent, std::string_view name,
                      const ForkOptions& options) override;
  Result<Branch> ForkChain(const std::vector<std::string>& chain, std::string_view name,
                           const ForkOptions& options) override;
  Result<std::vector<Branch>> Branches() const override;
  Result<View> Snapshot(std::string_view branch, std::optional<Seq> at) const override;
  Status Transact(std::string_view branch, const WriteContext& context, const Work& work) override;
  Result<std::vector<LoggedWrite>> History(std::string_view branch,
                                           const HistoryFilter& filter) const override;
  Result<Seq> Revert(std::string_view branch, Seq to, const std::optional<std::string>& key,
                     const WriteContext& context) override;
  Result<PruneCounts> Prune(Seq before, PruneMode mode) override;
  Result<std::vector<std::string>> Check(CheckMode mode) override;
  Result<std::optional<std::string>> Remembered(std::string_view key) const override;
  Status Remember(std::string_view key, std::string_view text) override;
  Status ReadRows(const RowWork& work) const override;
  Status WriteRows(const RowWork& work) override;

 private:
  Micros Now() const;
  // Creates `name` under the last branch of `chain`, and missing branches of it under `parent`.
  Result<Branch> ForkBelow(std::string_view parent, const std::vector<std::string>& chain,
                           std::string_view name, const ForkOptions& options);
  Status FindIndex(Connection& connection);

  const StoreOptions options_;
  const DatabaseOptions database_;
  std::string store_id_;
  std::vector<std::string> warnings_;
  std::atomic<IndexUse> index_ = IndexUse::kIndex;
  Writer writer_;  // closed last: it checkpoints the log into the file
  std::shared_ptr<ReaderPool> readers_;
};

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_STORE_STORE_IMPL_H_
