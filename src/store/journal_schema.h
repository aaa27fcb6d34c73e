// The tables of journal.db, their version, and how the file is opened.
//
//   DOSSIER_ASSIGN_OR_RETURN(Database db, OpenJournalDatabase(folder + "/journal.db"));
//
// Thread-safety: may be called from many threads and processes on one path.

#ifndef DOSSIER_STORE_JOURNAL_SCHEMA_H_
#define DOSSIER_STORE_JOURNAL_SCHEMA_H_

#include <string>
#include <string_view>

#include "base/result.h"
#include "store/sqlite.h"

namespace dossier::store {

inline constexpr std::int64_t kJournalVersion = 1;  // PRAGMA user_version
// Of the file of LiveRuns, behind the database's name, as SQLite calls its own files.
inline constexpr std::string_view kLiveSuffix = "-live";

// Errors: kConfig if a newer version wrote the file; kDamaged if it is no journal; kPermission,
// kIo.
Result<Database> OpenJournalDatabase(const std::string& path);

}  // namespace dossier::store

#endif  // DOSSIER_STORE_JOURNAL_SCHEMA_H_
