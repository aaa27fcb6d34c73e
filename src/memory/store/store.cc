#include "memory/store/store.h"

#include <fcntl.h>
#include <unistd.h>

#include <optional>
#include <string_view>

#include "base/cancel.h"
#include "memory/records/connection.h"
#include "memory/records/types.h"
#include "memory/search/branches.h"
#include "memory/search/rows.h"
#include "memory/search/vectors.h"
#include "memory/store/branch_transaction_impl.h"
#include "memory/store/store_impl.h"

namespace dossier::memory {
namespace {

// Creates branches.
//
//   DOSSIER_ASSIGN_OR_RETURN(Branch branch, ForkBranch(connection, {.parent = "root", .name =
//   "n1"}));
//
// The cost does not depend on the size of the parent. Thread-safety: that of the connection; only
// inside a transaction. Errors: as Store::Fork.

struct ForkRequest {
  std::string_view parent, name;
  std::optional<Seq> at;
  std::string_view node;
  Micros now = 0;
};

Result<Branch> ForkBranch(Connection& connection, const ForkRequest& request) {
  DOSSIER_RETURN_IF_ERROR(CheckBranchName(request.name));
  DOSSIER_ASSIGN_OR_RETURN(const Branch parent, FindBranch(connection, request.parent));
  if (request.name == kRootBranch) {
    return MakeError(ErrorCode::kInvalidArgument, "chain_mismatch: root is no fork");
  }
  DOSSIER_ASSIGN_OR_RETURN(std::optional<Branch> known, LookUpBranch(connection, request.name));
  if (known) {
    if (known->parent == parent.name && request.at.value_or(known->fork_seq) == known->fork_seq) {
      return *std::move(known);
    }
    if (known->parent == parent.name) {
      return MakeError(ErrorCode::kInvalidArgument,
                       "chain_mismatch: branch \"{}\" was forked at write {}, not at {}",
                       request.name, known->fork_seq, *request.at);
    }
    return MakeError(ErrorCode::kInvalidArgument,
                     "chain_mismatch: branch \"{}\" is a fork of \"{}\", not of \"{}\"",
                     request.name, known->parent, parent.name);
  }
  if (request.at) {  // checks that the write exists
    DOSSIER_RETURN_IF_ERROR(
        LoadChain(connection, {.branch = request.parent, .at = request.at, .now = request.now}));
  }
  DOSSIER_ASSIGN_OR_RETURN(const Seq newest, NewestSeqOf(connection, parent));
  DOSSIER_ASSIGN_OR_RETURN(RowWriter rows, RowWriter::Make(connection));
  Branch branch{.name = std::string(request.name),
                .parent = parent.name,
                .fork_seq = request.at.value_or(newest),
                .node = std::string(request.node),
                .created_at = request.now,
                .seq = rows.next_seq()};
  DOSSIER_RETURN_IF_ERROR(Run(connection, "INSERT INTO branches VALUES(NULL, ?, ?, ?, ?, ?, ?)",
                              branch.name, parent.id, branch.fork_seq, branch.node,
                              branch.created_at, branch.seq));
  branch.id = connection.db().last_insert_id();
  DOSSIER_RETURN_IF_ERROR(
      rows.AddOp({.at = request.now,
                  .branch_id = branch.id,
                  .op = "fork",
                  .actor = ActorName(Actor::kSystem),
                  .node_id = request.node,
                  .details = {{"parent", parent.name}, {"fork_seq", branch.fork_seq}}}));
  return branch;
}

constexpr std::string_view kMetaSql = "SELECT value FROM meta WHERE key = ?";

DatabaseOptions DatabaseOptionsOf(const StoreOptions& options, Micros now, bool network) {
  return {.mode = options.mode,
          .use_fts = options.use_fts,
          .durability = options.durability,
          .now = now,
          .new_store_id = options.new_store_id,
          .busy_wait = options.busy_wait,
          .placement = network ? Placement::kNetwork : Placement::kLocal};
}

Micros MicrosOf(const Clock& clock) {
  return std::chrono::duration_cast<std::chrono::microseconds>(clock.WallNow().time_since_epoch())
      .count();
}

// Readers must not recreate a store that was removed.
DatabaseOptions ForReaders(DatabaseOptions options) {
  options.mode = OpenMode::kExisting;
  return options;
}

}  // namespace

Result<std::unique_ptr<Store>> Store::Open(StoreOptions options) {
  const Micros now = MicrosOf(*options.clock);
  const bool network = options.placement == Placement::kDetect
                           ? NetworkFileSystemOf(options.path).has_value()
                           : options.placement == Placement::kNetwork;
  const DatabaseOptions database = DatabaseOptionsOf(options, now, network);
  auto store = std::make_unique<StoreImpl>(std::move(options), database);
  DOSSIER_RETURN_IF_ERROR(store->Start());
  return store;
}

StoreImpl::StoreImpl(StoreOptions options, const DatabaseOptions& database)
    : options_(std::move(options)),
      database_(database),
      writer_(options_.path, database),
      readers_(std::make_shared<ReaderPool>(options_.path, ForReaders(database))) {}

Micros StoreImpl::Now() const { return MicrosOf(*options_.clock); }

Status StoreImpl::FindIndex(Connection& connection) {
  DOSSIER_ASSIGN_OR_RETURN(const bool usable, HasIndex(connection));
  index_ = usable && options_.use_fts != UseFts::kOff ? IndexUse::kIndex : IndexUse::kScan;
  if (usable || options_.use_fts == UseFts::kOff) return {};
  if (options_.use_fts == UseFts::kOn) {
    return MakeError(ErrorCode::kConfig,
                     "{} cannot be searched by index (it has none), and use_fts is on: run "
                     "`dossier memory check --rebuild-index`",
                     path());
  }
  warnings_.push_back(
      "the store's index is missing: searches read every record; `dossier memory check "
      "--rebuild-index` makes it anew");
  return {};
}

Status StoreImpl::Start() {
  if (options_.mode == OpenMode::kCreate) {
    DOSSIER_RETURN_IF_ERROR(OpenMemoryDatabase(options_.path, database_));
  }
  DOSSIER_ASSIGN_OR_RETURN(const ConnectionLease lease, readers_->Borrow());
  Connection& connection = lease.connection();
  DOSSIER_ASSIGN_OR_RETURN(const auto id, ReadText(connection, kMetaSql, "store_id"));
  if (!id) return MakeError(ErrorCode::kDamaged, "{} has no store_id", path());
  store_id_ = *id;
  if (database_.placement == Placement::kNetwork) {
    warnings_.push_back(fmt::format(
        "{} is on a network file system: only one host at a time may write to it, more slowly; "
        "several need the PostgreSQL store",
        path()));
  }
  DOSSIER_ASSIGN_OR_RETURN(const auto rules, ReadText(connection, kMetaSql, "tokenizer_version"));
  if (rules != std::to_string(kTokenizerVersion)) {
    DOSSIER_RETURN_IF_ERROR(writer_.Run(RebuildIndex));
  }
  return FindIndex(connection);
}

Result<Branch> StoreImpl::Fork(std::string_view parent, std::string_view name,
                               const ForkOptions& options) {
  return ForkBelow(parent, {}, name, options);
}

Result<Branch> StoreImpl::ForkChain(const std::vector<std::string>& chain, std::string_view name,
                                    const ForkOptions& options) {
  return ForkBelow(kRootBranch, chain, name, options);
}

Result<Branch> StoreImpl::ForkBelow(std::string_view parent, const std::vector<std::string>& chain,
                                    std::string_view name, const ForkOptions& options) {
  Branch branch;
  DOSSIER_RETURN_IF_ERROR(writer_.Run([&](Connection& connection) -> Status {
    std::string_view last = parent;
    for (const std::string& ancestor : chain) {
      if (ancestor == kRootBranch && last == kRootBranch) continue;
      DOSSIER_RETURN_IF_ERROR(
          ForkBranch(connection, {.parent = last, .name = ancestor, .now = Now()}));
      last = ancestor;
    }
    DOSSIER_ASSIGN_OR_RETURN(
        branch,
        ForkBranch(
            connection,
            {.parent = last, .name = name, .at = options.at, .node = options.node, .now = Now()}));
    return {};
  }));
  return branch;
}

Result<std::vector<Branch>> StoreImpl::Branches() const {
  DOSSIER_ASSIGN_OR_RETURN(const ConnectionLease lease, readers_->Borrow());
  return LoadBranches(lease.connection());
}

Result<View> StoreImpl::Snapshot(std::string_view branch, std::optional<Seq> at) const {
  DOSSIER_ASSIGN_OR_RETURN(const ConnectionLease lease, readers_->Borrow());
  return LoadView(
      readers_, lease.connection(),
      {.branch = branch, .at = at, .now = Now(), .index = index_, .embedder = options_.embedder});
}

Status StoreImpl::Transact(std::string_view branch, const WriteContext& context, const Work& work) {
  return writer_.Run([&](Connection& connection) -> Status {
    DOSSIER_ASSIGN_OR_RETURN(const std::unique_ptr<SessionImpl> session,
                             SessionImpl::Begin(connection, {.branch = std::string(branch),
                                                             .context = context,
                                                             .options = options_,
                                                             .now = Now(),
                                                             .index = index_,
                                                             .readers = readers_}));
    return work(*session);
  });
}

Result<std::vector<LoggedWrite>> StoreImpl::History(std::string_view branch,
                                                    const HistoryFilter& filter) const {
  DOSSIER_ASSIGN_OR_RETURN(const ConnectionLease lease, readers_->Borrow());
  return LoadHistory(lease.connection(), branch, filter);
}

Result<Seq> StoreImpl::Revert(std::string_view branch, Seq to,
                              const std::optional<std::string>& key, const WriteContext& context) {
  Seq newest = 0;
  DOSSIER_RETURN_IF_ERROR(writer_.Run([&](Connection& connection) -> Status {
    DOSSIER_ASSIGN_OR_RETURN(
        newest,
        RevertBranch(connection,
                     {.branch = branch, .to = to, .key = key, .context = context, .now = Now()}));
    return {};
  }));
  return newest;
}

Result<PruneCounts> StoreImpl::Prune(Seq before, PruneMode mode) {
  PruneCounts counts;
  DOSSIER_RETURN_IF_ERROR(writer_.Run([&](Connection& connection) -> Status {
    DOSSIER_ASSIGN_OR_RETURN(counts, PruneRows(connection, before, mode));
    return {};
  }));
  return counts;
}

Result<std::vector<std::string>> StoreImpl::Check(CheckMode mode) {
  if (mode == CheckMode::kRebuildIndex) {
    DOSSIER_RETURN_IF_ERROR(writer_.Run([&](Connection& connection) -> Status {
      DOSSIER_RETURN_IF_ERROR(RebuildIndex(connection));
      return options_.embedder ? KeepMissingVectors(connection, *options_.embedder) : Status();
    }));
  }
  DOSSIER_ASSIGN_OR_RETURN(const ConnectionLease lease, readers_->Borrow());
  if (mode == CheckMode::kRebuildIndex) DOSSIER_RETURN_IF_ERROR(FindIndex(lease.connection()));
  return CheckRows(lease.connection());
}

Result<std::optional<std::string>> StoreImpl::Remembered(std::string_view key) const {
  DOSSIER_ASSIGN_OR_RETURN(const ConnectionLease lease, readers_->Borrow());
  return ReadText(lease.connection(), "SELECT text FROM compressions WHERE key = ?", key);
}

Status StoreImpl::Remember(std::string_view key, std::string_view text) {
  return writer_.Run([&](Connection& connection) {
    return memory::Run(connection, "INSERT OR REPLACE INTO compressions VALUES(?, ?, ?)", key, text,
                       Now());
  });
}

Status StoreImpl::ReadRows(const RowWork& work) const {
  DOSSIER_ASSIGN_OR_RETURN(const ConnectionLease lease, readers_->Borrow());
  // Reads one state of the file, whatever is written meanwhile.
  DOSSIER_ASSIGN_OR_RETURN(store::Savepoint state,
                           store::Savepoint::Begin(lease.connection().db()));
  DOSSIER_RETURN_IF_ERROR(work({.connection = lease.connection(),
                                .now = Now(),
                                .redaction = options_.redaction,
                                .embedder = options_.embedder.get()}));
  return state.Release();
}

Status StoreImpl::WriteRows(const RowWork& work) {
  return writer_.Run([&](Connection& connection) {
    return work({.connection = connection,
                 .now = Now(),
                 .redaction = options_.redaction,
                 .embedder = options_.embedder.get()});
  });
}

namespace {

constexpr std::size_t kMostTogether = 100;
constexpr Millis kLongestTogether{50};

Status RunPart(Connection& connection, const Writer::Job& job) {
  DOSSIER_ASSIGN_OR_RETURN(store::Savepoint part, store::Savepoint::Begin(connection.db()));
  DOSSIER_RETURN_IF_ERROR(job(connection));
  return part.Release();
}

}  // namespace

// On a network file system SQLite's own locks are unreliable and do not show who holds them, so a
// lock file is held for as long as a commit takes.
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
  options.mode = OpenMode::kExisting;  // do not recreate a removed store
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

// Fills in the result of each job in the batch; the results count if this succeeds.
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
    // A full disk makes SQLite roll back everything, including the earlier jobs.
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
  if (!committed && batch.empty()) {  // not even begun: no other job would do better
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
