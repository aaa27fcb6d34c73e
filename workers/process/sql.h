// What `sql(query, …)` in code does: one statement that reads, over the documents of the session.
//
//   SqlSession sql(std::move(databases), features);
//   CallOutcome rows = sql.Query("SELECT kind, count(*) FROM records GROUP BY kind", {}, bridge, 0,
//                                check);
//   // rows.value: [{"kind":"a","count(*)":3}]
//
// SQLite runs here, in the jail, in a database in memory. Records are virtual tables (sql_rows.h);
// a document that is an SQLite file is attached from its read-only map, under its own name. An
// authorizer allows to select and to call functions and refuses all else: ATTACH, PRAGMA, writes,
// transactions, load_extension. Memory, time and CPU of a query are the block's.
//
// Errors, as those of calls to the host: bad_argument (the query, a parameter), too_large (more
// than kMostSqlRows rows, with their count; more than kMostSqlBytes), limit (memory), what the host
// said. Thread-safety: Query from any thread, one at a time.

#ifndef DOSSIER_WORKERS_PROCESS_SQL_H_
#define DOSSIER_WORKERS_PROCESS_SQL_H_

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "bridge.h"
#include "contexts.h"

namespace dossier::worker {

inline constexpr std::uint64_t kMostSqlRows = 10'000;
inline constexpr std::uint64_t kMostSqlBytes = 64 << 20;

class SqlSession {
 public:
  // `features` of the session: `seed`, for random(). Nothing is opened before the first query.
  SqlSession(std::vector<MappedContext> databases, JsonObject features);
  ~SqlSession();

  // `params`: null, booleans, numbers and texts for ?1, ?2 …. `thread` and `check` as in
  // Bridge::Call; `check` is asked while SQLite works, too,
  // and while the query of another thread is waited for.
  CallOutcome Query(std::string_view query, const JsonArray& params, Bridge& bridge,
                    std::int64_t thread, const std::function<bool()>& check);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace dossier::worker

#endif  // DOSSIER_WORKERS_PROCESS_SQL_H_
