// The reader of SQLite files: whatever the bytes, it ends, reads nothing outside, and keeps its
// limits.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "inspect/containers/sqlite_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes("SQLite format 3\0", 16);
  bytes.append(reinterpret_cast<const char*>(data), size);
  const auto file = dossier::inspect::ReadSqliteFile(bytes);
  if (!file) return 0;
  if (file->tables.size() > dossier::inspect::kMostSqliteTables) std::abort();
  for (const auto& table : file->tables) {
    if (table.rows && *table.rows > bytes.size()) std::abort();
  }
  return 0;
}
