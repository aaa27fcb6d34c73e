// The tables that `sql` finds in the documents of a run, as the model and the session are told of
// them.
//
//   const std::vector<SqlTable> tables = SqlTablesOf(documents);
//   tables[0].names;                       // {"records"}, or {"orders.csv", "orders"}
//   SqlHint(context.documents());          // "SQL tables for sql(query): …", for the first message
//
// One document with records is the table `records`; of several each is found by its name, and by
// that without its ending where no other has it. A column is a field at the top of a record: of its
// declared type a whole number, a number, a text, or none where values of several kinds were seen.
// Names that SQLite would take for one get a number: id, ID_2. Thread-safety: pure functions.

#ifndef DOSSIER_ASK_DOCUMENTS_SQL_TABLES_H_
#define DOSSIER_ASK_DOCUMENTS_SQL_TABLES_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ask/documents/context_set.h"
#include "base/cancel.h"
#include "base/json/json.h"
#include "base/result.h"
#include "inspect/records/record_reader.h"

namespace dossier::ask {

struct SqlColumn {
  std::string name, field, type;  // type: INTEGER, REAL, TEXT or empty
};

struct SqlTable {
  std::size_t document = 0;
  std::vector<std::string> names;
  std::vector<SqlColumn> columns;
  std::uint64_t rows = 0;
};

struct SqlDocument {
  std::string_view name;
  const inspect::Description* description;
};

// The columns are those that the description knows, of its first records.
std::vector<SqlTable> SqlTablesOf(std::span<const SqlDocument> documents);

// [{"ctx":0,"names":["records"]}], as the worker reads it.
JsonArray SqlTablesJson(const std::vector<SqlTable>& tables);

// The columns of all records, each looked at: those of the description first.
// Errors: as RecordReader::ReadJson; kCancelled.
Result<std::vector<SqlColumn>> AllSqlColumns(const inspect::RecordReader& reader,
                                             const inspect::Description& description,
                                             const CancelToken& cancel);

// Tables, columns, types and numbers of rows, of SQLite files as well; empty if there are none.
// Holds text from the files: whoever puts it into a prompt fences it.
std::string SqlHint(const std::vector<ContextDocument>& documents);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_DOCUMENTS_SQL_TABLES_H_
