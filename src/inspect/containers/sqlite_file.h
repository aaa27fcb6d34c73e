// Reads the schema of an SQLite file from its pages, without an SQL engine.
//
//   if (IsSqliteFile(bytes)) {
//     DOSSIER_ASSIGN_OR_RETURN(SqliteFile file, ReadSqliteFile(bytes));
//     file.tables[0].name; file.tables[0].rows; file.tables[0].sql;   // "CREATE TABLE …"
//   }
//
// The file is treated as hostile: every page number, offset and length is checked, a page is
// visited at most once, and at most kMostSqlitePages are. The format is that of
// https://www.sqlite.org/fileformat.html. Thread-safety: pure functions.

#ifndef DOSSIER_INSPECT_CONTAINERS_SQLITE_FILE_H_
#define DOSSIER_INSPECT_CONTAINERS_SQLITE_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inspect/text/byte_source.h"

namespace dossier::inspect {

inline constexpr std::uint32_t kMostSqlitePages = 200'000;
inline constexpr std::size_t kMostSqliteTables = 1'000;

struct SqliteTable {
  std::string name;
  std::string sql;  // the CREATE statement, cleaned, at most 4,000 bytes
  std::optional<std::uint64_t>
      rows;  // none of a view or virtual table, or where too much is to read
  enum class Kind { kTable, kView } kind = Kind::kTable;
};

struct SqliteFile {
  std::uint32_t page_size = 0, pages = 0;
  std::string_view encoding;  // "utf-8", "utf-16le", "utf-16be"
  enum class Journal { kRollback, kWriteAhead } journal = Journal::kRollback;
  std::vector<SqliteTable> tables;  // in file order, without SQLite's own
};

bool IsSqliteFile(std::string_view head);

// Errors: kDamaged with the fault and its place.
Result<SqliteFile> ReadSqliteFile(std::string_view bytes);
// The same, page by page, from a source of `size` bytes. Errors: also kIo.
Result<SqliteFile> ReadSqliteFile(const ByteSource& source, std::uint64_t size);

}  // namespace dossier::inspect

#endif  // DOSSIER_INSPECT_CONTAINERS_SQLITE_FILE_H_
