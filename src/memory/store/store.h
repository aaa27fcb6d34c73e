// A memory store: one SQLite file of append-only writes that any number of threads and processes of
// one host can share.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto store, Store::Open({.path = "memory.sqlite"}));
//   DOSSIER_ASSIGN_OR_RETURN(Branch branch, store->Fork("root", "n1", {}));
//   const Record record{.tier = Tier::kArchival, .text = "icpx is in /opt/intel"};
//   DOSSIER_RETURN_IF_ERROR(
//       store->Transact("n1", {.actor = Actor::kUser}, [&](BranchTransaction& session) -> Status {
//         DOSSIER_RETURN_IF_ERROR(session.Add(record));
//         return {};
//       }));
//   DOSSIER_ASSIGN_OR_RETURN(View view, store->Snapshot("n1"));
//
// Reads never write. Concurrent writes of this process share a commit, but each has its own result.
// Errors: kNotFound (store; branch: `no branch "n9"; known: root, n1`), kLocked naming the holder's
// pid and host, kDamaged, kConfig (newer version), kIo, kPermission. Thread-safety: all methods
// from any thread. The destructor finishes the writes in progress.

#ifndef DOSSIER_MEMORY_STORE_STORE_H_
#define DOSSIER_MEMORY_STORE_STORE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "memory/records/embedder.h"
#include "memory/records/schema.h"
#include "memory/records/types.h"
#include "memory/search/view.h"
#include "memory/store/branch_transaction.h"

namespace dossier::memory {

enum class Redaction : std::uint8_t { kOn, kOff };

struct StoreOptions {
  std::string path;
  OpenMode mode = OpenMode::kExisting;
  StoreLimits limits;
  UseFts use_fts = UseFts::kAuto;
  WriteDurability durability = WriteDurability::kNormal;
  Redaction redaction = Redaction::kOn;
  Numbering numbering = Numbering::kByStore;  // for writes of this process
  std::shared_ptr<const Clock> clock = SystemClock();
  std::shared_ptr<const Embedder> embedder;  // null: search uses words only
  std::string new_store_id;                  // for tests: 32 hex digits
  Millis busy_wait{60'000};                  // how long to wait for another process
  Placement placement = Placement::kDetect;  // set by tests
};

struct ForkOptions {
  std::optional<Seq> at;  // unset: the parent's newest write
  std::string node;       // node of a search tree
};

// One write, as `dossier memory history` shows it.
struct LoggedWrite {
  Seq seq = 0;
  Micros at = 0;
  std::string branch, op, actor, block_id, node_id, phase;
  std::string key;                           // key, for a write to core
  std::optional<std::int64_t> record;        // id, for a write to a record
  std::optional<std::string> before, after;  // unset: nothing was, or is, there
  JsonObject details;
};
struct HistoryFilter {
  std::optional<std::string> key;
  std::optional<std::int64_t> record;
  std::int64_t limit = 50;
};

struct PruneCounts {
  std::int64_t core = 0, records = 0, hidden = 0, tags = 0, vectors = 0;

  bool operator==(const PruneCounts&) const = default;
};
enum class PruneMode : std::uint8_t { kCount, kRemove };

enum class CheckMode : std::uint8_t { kLook, kRebuildIndex };

class Connection;

// Access to rows of all branches, for code of this module that reads or writes them (transfer.h).
struct RowAccess {
  Connection& connection;
  Micros now = 0;
  Redaction redaction = Redaction::kOn;
  const Embedder* embedder = nullptr;
};

class Store {
 public:
  static Result<std::unique_ptr<Store>> Open(StoreOptions options);
  virtual ~Store() = default;

  virtual const std::string& path() const = 0;
  virtual const std::string& store_id() const = 0;
  virtual const StoreLimits& limits() const = 0;
  // Warnings found by Open: no index, a network file system.
  virtual const std::vector<std::string>& warnings() const = 0;

  // Returns an existing branch of that name and parent unchanged. Errors: kInvalidArgument (a bad
  // name; it exists under another parent: "chain_mismatch: …"), kNotFound (parent).
  virtual Result<Branch> Fork(std::string_view parent, std::string_view name,
                              const ForkOptions& options) = 0;
  // Creates the missing branches of `chain`, each under the one before and the first under root,
  // then `name` under the last.
  virtual Result<Branch> ForkChain(const std::vector<std::string>& chain, std::string_view name,
                                   const ForkOptions& options) = 0;
  virtual Result<std::vector<Branch>> Branches() const = 0;  // by id

  // Returns the state as of write `at`; if unset, as of now.
  virtual Result<View> Snapshot(std::string_view branch, std::optional<Seq> at = {}) const = 0;

  // Runs `work` in a transaction of its own or one shared with other callers. If it fails, its
  // writes are undone and its error is returned. It may run on another thread and must not call
  // this store.
  using Work = std::function<Status(BranchTransaction& session)>;
  virtual Status Transact(std::string_view branch, const WriteContext& context,
                          const Work& work) = 0;

  virtual Result<std::vector<LoggedWrite>> History(std::string_view branch,
                                                   const HistoryFilter& filter) const = 0;
  // Appends writes that restore what the branch showed at `to`; with `key`, only that key. It shows
  // again what was hidden since then and hides what was written. Returns the newest seq.
  virtual Result<Seq> Revert(std::string_view branch, Seq to, const std::optional<std::string>& key,
                             const WriteContext& context) = 0;
  // Counts or removes rows of writes before `before` that no view, summary or fork can reach.
  virtual Result<PruneCounts> Prune(Seq before, PruneMode mode) = 0;
  // Returns one sentence for each fault: chains, postings, hidden rows.
  virtual Result<std::vector<std::string>> Check(CheckMode mode) = 0;

  // Returns a text stored permanently under a key, such as a compression.
  virtual Result<std::optional<std::string>> Remembered(std::string_view key) const = 0;
  virtual Status Remember(std::string_view key, std::string_view text) = 0;

  using RowWork = std::function<Status(const RowAccess& rows)>;
  virtual Status ReadRows(const RowWork& work) const = 0;
  virtual Status WriteRows(const RowWork& work) = 0;  // in a transaction, like Transact
};

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_STORE_STORE_H_
