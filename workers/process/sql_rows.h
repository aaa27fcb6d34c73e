// The records of a document as a table of SQLite: a virtual table over the host's record reader.
//
//   RegisterRows(database, &tables, ask);          // the module "dossier_rows"
//   CREATE VIRTUAL TABLE "records" USING dossier_rows(0)     // tables[0]
//
// Nothing is loaded ahead: rows are fetched in blocks as a scan goes on, a count fetches none, and
// a condition on `_index` goes to its row. Columns: `_index` from 0, the fields, and the hidden
// `_json` with the whole record. Numbers are INTEGER or REAL, booleans 1 and 0, null and absent
// fields NULL, objects and lists their JSON text. SQLite looks up no index of a virtual table, so a
// field that is compared with `=` again and again, as in a join, gets one here: 16 bytes a row.
//
// Thread-safety: none; one user of the database at a time.

#ifndef DOSSIER_WORKERS_PROCESS_SQL_ROWS_H_
#define DOSSIER_WORKERS_PROCESS_SQL_ROWS_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "bridge.h"

struct sqlite3;

namespace dossier::worker {

struct SqlColumn {
  std::string name;   // unique in its table, case aside
  std::string field;  // of the record
  std::string type;   // INTEGER, REAL, TEXT, or empty: values as they are
};

struct SqlTable {
  std::size_t context = 0;
  std::vector<std::string> names;  // under which it is found
  std::vector<SqlColumn> columns;  // without _index and _json
};

// [{"ctx":0,"names":["records"]}]. Errors: kProtocol.
Result<std::vector<SqlTable>> ReadSqlTables(const Json& list);
// [["age","age","INTEGER"]]: name, field, type. Errors: kProtocol.
Status ReadSqlColumns(const Json& list, SqlTable* table);

// Asks the host; what went wrong stays with the caller.
using AskHost = std::function<bool(std::string method, JsonObject args, CallOutcome* outcome)>;

// `tables` and `ask` must outlive the database. Errors: kInternal.
Status RegisterRows(sqlite3* database, const std::vector<SqlTable>* tables, const AskHost* ask);

std::string QuotedSqlName(std::string_view name);

}  // namespace dossier::worker

#endif  // DOSSIER_WORKERS_PROCESS_SQL_ROWS_H_
