#include "memory/search/rows.h"

#include "base/hash.h"
#include "base/text/ascii.h"
#include "memory/search/terms.h"
#include "memory/search/vectors.h"

namespace dossier::memory {
std::string TextHash(std::string_view text) {
  const std::string hex = Sha256Hex(text);
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(HexValue(hex[i]) * 16 + HexValue(hex[i + 1]));
  }
  return bytes;
}

Result<bool> HasIndex(Connection& connection) {
  DOSSIER_ASSIGN_OR_RETURN(
      const auto table,
      ReadInt(connection, "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'search'"));
  return table.has_value();
}

Result<RowWriter> RowWriter::Make(Connection& connection, const Embedder* embedder,
                                  Numbering numbering) {
  // Numbers of deleted rows are not reused.
  DOSSIER_ASSIGN_OR_RETURN(
      const auto last, ReadInt(connection, "SELECT seq FROM sqlite_sequence WHERE name = 'ops'"));
  RowWriter writer(connection, last.value_or(0) + 1, embedder, numbering);
  DOSSIER_ASSIGN_OR_RETURN(writer.has_index_, HasIndex(connection));
  return writer;
}

Result<Seq> RowWriter::AddOp(const OpRow& op) {
  const std::string details = ToJson(op.details);
  DOSSIER_RETURN_IF_ERROR(Run(*connection_, "INSERT INTO ops VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
                              next_seq_, op.at, op.branch_id, op.op, op.actor, op.block_id,
                              op.node_id, op.phase, details));
  return next_seq_++;
}

Status RowWriter::AddCore(std::int64_t branch_id, const CoreRow& row) {
  return Run(*connection_, "INSERT INTO core VALUES(?, ?, ?, ?, ?, ?, ?, ?)", next_seq_, branch_id,
             row.key, row.value, row.importance, row.expires_at, row.pinned, row.updated_at);
}

Status RowWriter::AddToIndex(std::int64_t id, std::string_view text) {
  if (!has_index_) return {};
  const std::string indexed = IndexText(text);
  return Run(*connection_, "INSERT INTO search(rowid, text) VALUES(?, ?)", id, indexed);
}

Result<std::optional<std::int64_t>> RowWriter::NextId(std::int64_t branch_id) {
  if (numbering_ == Numbering::kByStore) return std::nullopt;
  const std::int64_t before = (branch_id - 1) * kBranchNumbers, last = before + kBranchNumbers;
  DOSSIER_ASSIGN_OR_RETURN(
      const auto newest,
      ReadInt(*connection_, "SELECT max(id) FROM records WHERE id > ? AND id <= ?", before, last));
  const std::int64_t next = newest.value_or(before) + 1;
  return next <= last ? std::optional(next) : std::nullopt;
}

Result<std::int64_t> RowWriter::AddRecord(std::int64_t branch_id, const Record& record) {
  const std::string meta = record.meta.empty() ? "" : ToJson(record.meta);
  const std::string hash = TextHash(record.text);
  DOSSIER_ASSIGN_OR_RETURN(const auto next_id, NextId(branch_id));
  DOSSIER_RETURN_IF_ERROR(
      Run(*connection_, "INSERT INTO records VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
          next_id, next_seq_, branch_id, TierName(record.tier), record.kind, record.text,
          store::Blob{hash}, record.thread, record.ref, record.at, record.phase, record.supersedes,
          CountTerms(*connection_, record.text), meta));
  const std::int64_t id = connection_->db().last_insert_id();
  for (std::size_t i = 0; i < record.tags.size(); ++i) {
    DOSSIER_RETURN_IF_ERROR(
        Run(*connection_, "INSERT INTO tags VALUES(?, ?, ?)", id, i, record.tags[i]));
  }
  DOSSIER_RETURN_IF_ERROR(AddToIndex(id, record.text));
  if (embedder_) {
    DOSSIER_RETURN_IF_ERROR(
        KeepVector(*connection_, *embedder_, {.hash = hash, .text = record.text}));
  }
  return id;
}

Status RowWriter::AddHidden(std::int64_t branch_id, std::int64_t record_id, HideReason reason) {
  return Run(*connection_, "INSERT INTO hidden VALUES(?, ?, ?, ?)", branch_id, record_id, next_seq_,
             HideReasonName(reason));
}

}  // namespace dossier::memory
