// Runs a block's operations in one transaction and keeps their log. Internal to apply.cc.
//
// Thread-safety: one owner.

#ifndef DOSSIER_MEMORY_BLOCKS_BLOCK_RUN_H_
#define DOSSIER_MEMORY_BLOCKS_BLOCK_RUN_H_

#include <string>

#include "memory/blocks/apply.h"
#include "memory/consolidate/answer_book.h"

namespace dossier::memory {

class BlockRun {
 public:
  explicit BlockRun(UpdateResult& result) : result_(result) {}

  // Errors: only those that undo the whole block.
  Status Write(BranchTransaction& session, AnswerBook& answers, const BlockOperation& operation);
  Status Read(const View& view, const BlockOperation& operation);
  Status ConsolidateFrom(BranchTransaction& session, AnswerBook& answers, PressureLevel level);

 private:
  Status SetCore(BranchTransaction& session, const CoreSetItems& items);
  Status SetOne(BranchTransaction& session, const CoreSetItem& item, JsonArray& evicted);
  Status DeleteCore(BranchTransaction& session, const Keys& keys);
  Status AddRecords(BranchTransaction& session, const NewRecords& records);
  Status UpdateRecords(BranchTransaction& session, const RecordChanges& changes);
  Status DeleteRecords(BranchTransaction& session, const Ids& ids);
  Status EvictEvents(BranchTransaction& session, const EvictSelection& selection);
  Status Summarize(BranchTransaction& session, AnswerBook& answers);
  Status Consolidate(BranchTransaction& session, AnswerBook& answers);

  Status GetCore(const View& view, const Keys& keys);
  Status GetRecords(const View& view, const Ids& ids);
  Status SearchRecords(const View& view, const SearchRequest& request);

  void Begin(OperationId id, Micros now) {
    id_ = id;
    now_ = now;
  }
  // An entry of the log; `details` are its last members.
  void Log(std::string_view status, JsonObject details);
  // Logs an error that concerns one item; any other error is returned.
  Status Refuse(const Error& error, JsonObject details);
  void SetResult(Json value) { result_.results[OperationOf(id_).name] = std::move(value); }

  UpdateResult& result_;
  OperationId id_ = OperationId::kCoreSet;  // under way
  Micros now_ = 0;
};

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_BLOCKS_BLOCK_RUN_H_
