// Inside of a View, for the parts that read one: queries, search, rendering of history.
//
//   const View::State& state = …;
//   DOSSIER_ASSIGN_OR_RETURN(const ConnectionLease lease, state.connections->Borrow());
//   const std::string sql = VisibleRecords("r.id, r.tokens", "AND r.tier = 'recall'");
//   DOSSIER_RETURN_IF_ERROR(ForEachRow(lease.connection(), sql, on_row, state.chain_json));
//
// What a view shows is told by (branch, seq) in each query, never by a transaction that stays open:
// rows are only added, so a view that is kept for days sees the same. Immutable, hence thread-safe.
//
// Thread-safety: a state is constant; a lease has one owner.

#ifndef DOSSIER_MEMORY_SEARCH_VIEW_STATE_H_
#define DOSSIER_MEMORY_SEARCH_VIEW_STATE_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "memory/records/connection.h"
#include "memory/records/embedder.h"
#include "memory/records/types.h"
#include "memory/search/view.h"

namespace dossier::memory {

// One branch of a chain, and the newest write of it that is seen from the chain's beginning.
struct ChainLink {
  std::int64_t branch_id = 0;
  std::string name;
  Seq last = 0;
};

// Whether the table `search` holds every record. kScan: there is none, it is out of date, or
// `use_fts` is off.
enum class IndexUse : std::uint8_t { kIndex, kScan };

class Corpora;  // corpus.h
std::shared_ptr<Corpora> MakeCorpora();

struct View::State {
  Seq at = 0;
  Micros now = 0;
  std::vector<ChainLink> chain;  // the view's own branch first, root last
  std::string chain_json;        // [[branch_id, last], …]: parameter 1 of the queries below
  std::vector<CoreEntry> core;   // live, by key
  IndexUse index = IndexUse::kIndex;
  std::shared_ptr<Connections> connections;
  std::shared_ptr<const Embedder> embedder;          // null: none
  std::shared_ptr<Corpora> corpora = MakeCorpora();  // what searches keep for the next one
};

// "WITH chain(depth, branch_id, last) …", from parameter ?1, to stand before a SELECT.
std::string_view WithChain();
// An SQL expression over `records AS r` joined with `chain`: why the view hides the record, or
// NULL.
std::string_view HiddenBy();
// An SQL condition: whether the view shows the record, that is, it is not hidden or only
// consolidated.
std::string_view IsShown();
// An SQL condition that is false for records that no branch of the chain ever hid. It is cheap, so
// queries over many records test it before the two above.
std::string_view MayBeHidden();

// A whole query over the records that the view shows, consolidated ones too. `more` follows the
// WHERE: "AND r.at >= ?2 ORDER BY r.id". In it, `r` is the record, `chain` the link it came by.
std::string VisibleRecords(std::string_view columns, std::string_view more);

// The columns of `records AS r` that ReadRecord takes, from the first on.
std::string_view RecordColumns();
// Without its tags; `chain` gives the branch its name. Errors: kDamaged.
Result<Record> ReadRecord(const store::Statement& row);
// Those of all `records`, in one query.
Status ReadTags(Connection& connection, std::span<Record> records);

// Records of a query that begins with RecordColumns(), tags included. Parameters from ?2 on.
template <typename... Values>
Result<std::vector<Record>> LoadRecords(Connection& connection, const View::State& state,
                                        std::string_view sql, const Values&... values) {
  std::vector<Record> records;
  const auto add = [&](const store::Statement& row) -> Status {
    DOSSIER_ASSIGN_OR_RETURN(Record record, ReadRecord(row));
    records.push_back(std::move(record));
    return {};
  };
  DOSSIER_RETURN_IF_ERROR(ForEachRow(connection, sql, add, state.chain_json, values...));
  DOSSIER_RETURN_IF_ERROR(ReadTags(connection, records));
  return records;
}

// None if the view does not show it.
Result<std::optional<Record>> FindRecord(Connection& connection, const View::State& state,
                                         std::int64_t id);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_SEARCH_VIEW_STATE_H_
