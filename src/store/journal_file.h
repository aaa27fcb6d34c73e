// The file of the journal: its tables, how it is opened, and which of its runs are alive.

#ifndef DOSSIER_STORE_JOURNAL_FILE_H_
#define DOSSIER_STORE_JOURNAL_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/files/file.h"
#include "base/result.h"
#include "store/sqlite.h"

namespace dossier::store {

// kRead: somebody else's journal, or one in an archive. It can be read, and Append fails.
enum class JournalAccess : std::uint8_t { kWrite, kRead };
// Returns what this user may do with the file; kWrite if there is none.
JournalAccess AccessTo(const std::string& path);

// Tracks which runs have a live process, so that a run left by a killed process is not listed as
// running.
//
//   DOSSIER_ASSIGN_OR_RETURN(LiveRuns live, LiveRuns::Open(folder + "/live"));
//   live.Hold(run);                                      // until `live` or the process ends
//   if (!LiveRuns::Open(folder + "/live")->IsHeld(run)) …  // from any process
//
// A run is one byte of an empty file, locked by the process: the kernel releases the lock however
// the process ends, so nothing needs to be cleaned up. Thread-safety: all methods from any thread.
class LiveRuns {
 public:
  // Makes the file if needed; with kRead a missing or closed one holds nothing. Errors: kIo,
  // kPermission with the path.
  static Result<LiveRuns> Open(const std::string& path,
                               JournalAccess access = JournalAccess::kWrite);

  // Best effort: on a file system without locks a run is listed as interrupted until it ends.
  void Hold(std::string_view run) const;
  void Drop(std::string_view run) const;
  // Returns true if somebody else holds it: another process, or another LiveRuns of this one.
  bool IsHeld(std::string_view run) const;

  // Marks the folder as in use, until this object or the process ends. Waits at most a few seconds
  // while somebody has exclusive use (BeAlone); best effort, too.
  void Join() const;
  // Returns true if nobody has joined; then nobody can join until this object or the process ends.
  bool BeAlone() const;

 private:
  explicit LiveRuns(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

// The tables of journal.db, their version, and how the file is opened.
//
//   DOSSIER_ASSIGN_OR_RETURN(Database db, OpenJournalDatabase(folder + "/journal.db"));
//
// Thread-safety: may be called from many threads and processes on one path.

inline constexpr std::int64_t kJournalVersion = 1;  // PRAGMA user_version
// The suffix of the file of LiveRuns after the database's name, like SQLite's own files.
inline constexpr std::string_view kLiveSuffix = "-live";

// Only for reading where this user may not write (AccessTo).
// Errors: kConfig if a newer version wrote the file; kDamaged if it is no journal; kPermission,
// kIo.
Result<Database> OpenJournalDatabase(const std::string& path);

}  // namespace dossier::store

#endif  // DOSSIER_STORE_JOURNAL_FILE_H_
