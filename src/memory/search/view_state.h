// The internals of a View, for the code that reads one: queries, search, rendering of history.
//
//   const View::State& state = …;
//   DOSSIER_ASSIGN_OR_RETURN(const ConnectionLease lease, state.connections->Borrow());
//   const std::string sql = VisibleRecords("r.id, r.tokens", "AND r.tier = 'recall'");
//   DOSSIER_RETURN_IF_ERROR(ForEachRow(lease.connection(), sql, on_row, state.chain_json));
//
// Every query selects what a view shows by (branch, seq), so no transaction stays open. Rows are
// only added, so a view that is kept for days sees the same data.
// Thread-safety: a state is immutable; a lease has one owner.

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

// One branch of a chain, and its newest write that is visible through the chain.
struct ChainLink {
  std::int64_t branch_id = 0;
  std::string name;
  Seq last = 0;
};

// The source of postings. kIndex: the table `search`, which holds every record. kScan: it does not
// exist, is out of date, or `use_fts` is off.
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
  std::shared_ptr<const Embedder> embedder;          // null: there is none
  std::shared_ptr<Corpora> corpora = MakeCorpora();  // what searches cache for later searches
};

// Returns "WITH chain(depth, branch_id, last) …", which uses parameter ?1 and precedes a SELECT.
std::string_view WithChain();
// Returns an SQL expression over `records AS r` joined with `chain`: the reason why the view hides
// the record, or NULL.
std::string_view HiddenBy();
// Returns an SQL condition that is true if the view shows the record: it is not hidden, or is only
// consolidated.
std::string_view IsShown();
// Returns an SQL condition that is false for records that no branch of the chain ever hid. It is
// cheap, so queries over many records test it before the two conditions above.
std::string_view MayBeHidden();

// Returns a query over the records that the view shows, including consolidated ones. `more` follows
// the WHERE: "AND r.at >= ?2 ORDER BY r.id". In it, `r` is the record and `chain` is its link.
std::string VisibleRecords(std::string_view columns, std::string_view more);

// Returns the columns of `records AS r` that ReadRecord reads, in order from the first column.
std::string_view RecordColumns();
// Reads a record without its tags; `chain` gives the branch its name. Errors: kDamaged.
Result<Record> ReadRecord(const store::Statement& row);
// Reads the tags of all `records` in one query.
Status ReadTags(Connection& connection, std::span<Record> records);

// Returns the records, with tags, of a query that begins with RecordColumns(). Values start at ?2.
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

// Returns nullopt if the view does not show it.
Result<std::optional<Record>> FindRecord(Connection& connection, const View::State& state,
                                         std::int64_t id);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_SEARCH_VIEW_STATE_H_
