// Writes to one branch inside one transaction: all of them are committed, or none.
//
//   store->Transact("root", {.actor = Actor::kUser}, [&](BranchTransaction& session) -> Status {
//     DOSSIER_ASSIGN_OR_RETURN(const CoreWrite written,
//                              session.SetCore("compiler", {.value = "icpx"}));
//     …
//   });
//
// Every text is redacted before it is hashed or stored. A rejected write changes nothing, and the
// transaction can still be used. Errors beside those of the database: kInvalidArgument with a
// sentence that begins with the name of the problem ("too_large: …", "bad_value: …", "empty_text:
// …"), kNotFound ("record #41 is not visible from branch "n2""). Thread-safety: none; use it only
// in the function that received it.

#ifndef DOSSIER_MEMORY_STORE_BRANCH_TRANSACTION_H_
#define DOSSIER_MEMORY_STORE_BRANCH_TRANSACTION_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "memory/records/types.h"
#include "memory/search/view.h"

namespace dossier::memory {

// The writer, and the work that the write belongs to.
struct WriteContext {
  Actor actor = Actor::kUser;
  std::string block_id, node_id, phase;
};

struct CoreValue {
  std::string value;
  std::optional<int> importance;  // clamped to 1 to 5; unset: 4 from a model, else 3
  std::optional<Micros> expires_at;
  bool pinned = false;
};
struct CoreWrite {
  Seq seq = 0;
  bool unchanged = false;
  std::vector<std::string> evicted;            // keys evicted to make room
  std::optional<std::int64_t> archived_whole;  // the record with the whole value
  std::int64_t redacted = 0;
};

struct RecordWrite {
  std::int64_t id = 0;
  Seq seq = 0;
  bool unchanged = false;  // it already existed; `id` is the old one
  std::int64_t redacted = 0;
};

struct EvictSelection {
  std::vector<std::int64_t> ids;
  std::optional<std::string> kind;
  std::int64_t oldest = 0;  // this many of the oldest own events
};
struct EvictResult {
  std::int64_t evicted_count = 0, archived_count = 0;
  std::vector<std::int64_t> refused;  // ids that are not own events of this branch
};

class BranchTransaction {
 public:
  virtual ~BranchTransaction() = default;

  virtual const std::string& branch() const = 0;
  virtual const StoreLimits& limits() const = 0;
  virtual Micros now() const = 0;
  // Returns what the branch shows now, including the writes of this transaction.
  virtual Result<View> Snapshot() = 0;

  virtual Result<CoreWrite> SetCore(std::string_view key, CoreValue value) = 0;
  // Writes a tombstone, also for inherited keys. Errors: kNotFound ("no key "x" in branch "root"").
  virtual Result<Seq> DeleteCore(std::string_view key) = 0;
  // Changes the importance of an own entry but not its value or time.
  virtual Status RateCore(std::string_view key, int importance) = 0;
  // Evicts own unprotected entries until the core fits; returns their keys.
  virtual Result<std::vector<std::string>> EnforceCoreBudget() = 0;

  // Ignores `record.branch`, `id` and `seq`; an `at` of 0 means now. Equal records are stored once.
  // With `supersedes`, the old record is hidden in this branch.
  virtual Result<RecordWrite> Add(Record record) = 0;
  // Errors: kNotFound "inherited: …", "not_visible: …".
  virtual Result<RecordWrite> Update(std::int64_t id, std::optional<std::string> text,
                                     std::optional<std::vector<std::string>> tags) = 0;
  virtual Result<Seq> DeleteArchival(std::int64_t id) = 0;
  virtual Result<EvictResult> Evict(const EvictSelection& selection) = 0;
  // Hides each of these records in this branch. They must be visible.
  virtual Status Hide(std::span<const std::int64_t> ids, HideReason reason) = 0;
  virtual Status LinkSources(std::int64_t summary, std::span<const std::int64_t> sources) = 0;
};

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_STORE_BRANCH_TRANSACTION_H_
