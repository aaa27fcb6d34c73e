// One run of a block's operations in a session, with its log. Internal to apply.cc.
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
  explicit BlockRun(BlockResult& result) : result_(result) {}

  // Errors: only those after which nothing of the block may stand.
  Status Write(Session& session, AnswerBook& answers, const BlockOperation& operation);
  Status Read(const View& view, const BlockOperation& operation);
  Status ConsolidateFrom(Session& session, AnswerBook& answers, PressureLevel level);

 private:
  Status SetCore(Session& session, const CoreSetItems& items);
  Status SetOne(Session& session, const CoreSetItem& item, JsonArray& evicted);
  Status DeleteCore(Session& session, const Keys& keys);
  Status AddRecords(Session& session, const NewRecords& records);
  Status UpdateRecords(Session& session, const RecordChanges& changes);
  Status DeleteRecords(Session& session, const Ids& ids);
  Status EvictEvents(Session& session, const EvictSelection& selection);
  Status Summarize(Session& session, AnswerBook& answers);
  Status Consolidate(Session& session, AnswerBook& answers);

  Status GetCore(const View& view, const Keys& keys);
  Status GetRecords(const View& view, const Ids& ids);
  Status SearchRecords(const View& view, const SearchRequest& request);

  void Begin(OperationId id, Micros now) {
    id_ = id;
    now_ = now;
  }
  // An entry of the log; `details` are its last members.
  void Log(std::string_view status, JsonObject details);
  // Logs an error that concerns one item; another one is handed back.
  Status Refuse(const Error& error, JsonObject details);
  void SetResult(Json value) { result_.results[OperationOf(id_).name] = std::move(value); }

  BlockResult& result_;
  OperationId id_ = OperationId::kCoreSet;  // under way
  Micros now_ = 0;
};

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_BLOCKS_BLOCK_RUN_H_
