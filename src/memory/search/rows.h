// Inserts the rows of one write into the tables. It checks nothing: the caller decides what is
// written.
//
//   DOSSIER_ASSIGN_OR_RETURN(RowWriter rows, RowWriter::Make(connection));
//   DOSSIER_ASSIGN_OR_RETURN(const std::int64_t id, rows.AddRecord(branch_id, record));
//   DOSSIER_RETURN_IF_ERROR(rows.AddOp({.op = "archival_write", …, .details = …}));
//
// Every write has a number: rows carry next_seq(), and AddOp ends the write and returns its number.
// Thread-safety: that of the connection; only inside a transaction.

#ifndef DOSSIER_MEMORY_SEARCH_ROWS_H_
#define DOSSIER_MEMORY_SEARCH_ROWS_H_

#include <string>
#include <string_view>

#include "memory/records/connection.h"
#include "memory/records/embedder.h"
#include "memory/records/types.h"
#include "memory/search/branches.h"

namespace dossier::memory {

// Returns true if the store has the table `search`, which then receives every record.
Result<bool> HasIndex(Connection& connection);

struct OpRow {
  Micros at = 0;
  std::int64_t branch_id = 0;
  std::string_view op, actor, block_id, node_id, phase;
  JsonObject details;
};

std::string TextHash(std::string_view text);  // SHA-256, 32 bytes

class RowWriter {
 public:
  // `embedder` makes the vectors of records and must outlive the writer; null: no vectors.
  static Result<RowWriter> Make(Connection& connection, const Embedder* embedder = nullptr,
                                Numbering numbering = Numbering::kByStore);

  // The number of the write in progress.
  Seq next_seq() const { return next_seq_; }
  // Puts rows to a write that is there already, with the number `seq`.
  RowWriter Within(Seq seq) const {
    RowWriter writer = *this;
    writer.next_seq_ = seq;
    return writer;
  }

  Result<Seq> AddOp(const OpRow& op);
  // Ignores `row.seq` and `row.branch`.
  Status AddCore(std::int64_t branch_id, const CoreRow& row);
  // Adds its tags and index entry, too; returns the new id. Ignores `record.id`, `seq`, `branch`.
  Result<std::int64_t> AddRecord(std::int64_t branch_id, const Record& record);
  Status AddHidden(std::int64_t branch_id, std::int64_t record_id, HideReason reason);

 private:
  RowWriter(Connection& connection, Seq next_seq, const Embedder* embedder, Numbering numbering)
      : connection_(&connection), next_seq_(next_seq), embedder_(embedder), numbering_(numbering) {}
  // Returns the id of the branch's next record; nullopt: use the next id of the store.
  Result<std::optional<std::int64_t>> NextId(std::int64_t branch_id);
  Status AddToIndex(std::int64_t id, std::string_view text);

  Connection* connection_;
  Seq next_seq_;
  bool has_index_ = false;
  const Embedder* embedder_;
  Numbering numbering_;
};

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_SEARCH_ROWS_H_
