// The only implementation of BranchTransaction: checks and redacts, then writes rows and ops.
//
// Thread-safety: as BranchTransaction. It lives inside one transaction of the writer.

#ifndef DOSSIER_MEMORY_STORE_BRANCH_TRANSACTION_IMPL_H_
#define DOSSIER_MEMORY_STORE_BRANCH_TRANSACTION_IMPL_H_

#include <memory>
#include <string>
#include <vector>

#include "memory/search/rows.h"
#include "memory/store/branch_transaction.h"
#include "memory/store/store.h"

namespace dossier::memory {

// The connections through which views of a transaction read: during the transaction the writer's,
// which sees uncommitted rows; afterwards the store's readers.
class SessionConnections final : public Connections {
 public:
  SessionConnections(Connection& writer, std::shared_ptr<Connections> readers)
      : writer_(&writer), readers_(std::move(readers)) {}
  Result<ConnectionLease> Borrow() override;
  void End();

 private:
  std::mutex mutex_;
  Connection* writer_;
  std::shared_ptr<Connections> readers_;
};

class SessionImpl final : public BranchTransaction {
 public:
  struct Setup {
    std::string branch;
    WriteContext context;
    const StoreOptions& options;
    Micros now = 0;
    IndexUse index = IndexUse::kIndex;
    std::shared_ptr<Connections> readers;
  };
  static Result<std::unique_ptr<SessionImpl>> Begin(Connection& connection, const Setup& setup);
  SessionImpl(Connection& connection, const Setup& setup, View::State state, RowWriter rows);
  SessionImpl(const SessionImpl&) = delete;
  SessionImpl& operator=(const SessionImpl&) = delete;
  ~SessionImpl() override { connections_->End(); }

  const std::string& branch() const override { return chain_.front().name; }
  const StoreLimits& limits() const override { return setup_.options.limits; }
  Micros now() const override { return setup_.now; }
  Result<View> Snapshot() override;

  Result<CoreWrite> SetCore(std::string_view key, CoreValue value) override;
  Result<Seq> DeleteCore(std::string_view key) override;
  Status RateCore(std::string_view key, int importance) override;
  Result<std::vector<std::string>> EnforceCoreBudget() override;

  Result<RecordWrite> Add(Record record) override;
  Result<RecordWrite> Update(std::int64_t id, std::optional<std::string> text,
                             std::optional<std::vector<std::string>> tags) override;
  Result<Seq> DeleteArchival(std::int64_t id) override;
  Result<EvictResult> Evict(const EvictSelection& selection) override;
  Status Hide(std::span<const std::int64_t> ids, HideReason reason) override;
  Status LinkSources(std::int64_t summary, std::span<const std::int64_t> sources) override;

 private:
  std::int64_t branch_id() const { return chain_.front().branch_id; }
  bool redacts() const { return setup_.options.redaction == Redaction::kOn; }
  Result<Seq> AddOp(std::string_view op, JsonObject details);
  // Records the op of a write to `key`, with the value that was there before.
  Result<Seq> WriteCore(std::string_view op, const CoreRow& row, JsonObject details = {});

  Result<std::vector<CoreRow>> OwnLiveCore();
  Status CheckProtectedRoom(const std::vector<CoreRow>& own, const CoreRow& added) const;
  Result<CoreWrite> ArchiveWhole(CoreRow* row);
  // As EnforceCoreBudget, but never evicts the entry of `kept_key` ("": no such entry).
  Result<std::vector<std::string>> EvictSurplus(std::string_view kept_key);

  // Redacts, checks and completes a record.
  Status Prepare(Record* record, std::int64_t* redacted) const;
  // Returns an equal record that the branch shows.
  Result<std::optional<RecordWrite>> FindEqual(const Record& record);
  // Writes the record, or finds an equal one; hides `hides` for `reason`.
  struct Replaces {
    std::optional<std::int64_t> id;
    HideReason reason = HideReason::kSuperseded;
  };
  Result<RecordWrite> Store(std::string_view op, const Record& record, const Replaces& replaces);
  Result<Record> FindShown(std::int64_t id);
  Result<Record> FindOwnArchival(std::int64_t id, std::string_view what);
  Result<std::vector<Record>> SelectOwnEvents(const EvictSelection& selection);

  Connection& connection_;
  const Setup setup_;
  View::State state_;  // of `chain`; the link of the branch itself has no end
  std::vector<ChainLink>& chain_ = state_.chain;
  RowWriter rows_;
  std::shared_ptr<SessionConnections> connections_;
};

// Returns the name in table `ops` for a write of `tier`.
std::string_view AddOpName(Tier tier);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_STORE_BRANCH_TRANSACTION_IMPL_H_
