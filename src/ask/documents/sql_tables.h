// Names and columns of the tables that `sql` finds in the documents of a run, for the model and the
// session.
//
//   const std::vector<SqlTable> tables = SqlTablesOf(documents);
//   tables[0].names;                       // {"records"}, or {"orders.csv", "orders"}
//   SqlHint(context.documents());          // "SQL tables for sql(query): …", for the first message
//
// A single document with records is the table `records`; one of several is found by its name, and
// by its name without extension if that is unique. A column is a top-level field of a record. Its
// declared type is integer, real or text, or empty if values of several kinds were seen. Names that
// SQLite would treat as equal get a number: id, ID_2. Thread-safety: pure functions.

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

// Uses the columns in the description, which come from its first records.
std::vector<SqlTable> SqlTablesOf(std::span<const SqlDocument> documents);

// Returns [{"ctx":0,"names":["records"]}], as the worker reads it.
JsonArray SqlTablesJson(const std::vector<SqlTable>& tables);

// Returns the columns of all records, reading each one; those of the description come first.
// Errors: as RecordReader::ReadJson; kCancelled.
Result<std::vector<SqlColumn>> AllSqlColumns(const inspect::RecordReader& reader,
                                             const inspect::Description& description,
                                             const CancelToken& cancel);

// Describes tables, columns, types and numbers of rows, also of SQLite files; empty if there are
// none. Contains text from the files, so a prompt must fence it.
std::string SqlHint(const std::vector<ContextDocument>& documents);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_DOCUMENTS_SQL_TABLES_H_
