// The file of the journal: its tables and how it is opened, and which of its runs are alive.

#ifndef DOSSIER_STORE_JOURNAL_FILE_H_
#define DOSSIER_STORE_JOURNAL_FILE_H_

#include <string>
#include <string_view>

#include "base/files/file.h"
#include "base/result.h"
#include "store/sqlite.h"

namespace dossier::store {

// Which runs have a process that works on them. A run that a killed process left behind must not be
// listed as running.
//
//   DOSSIER_ASSIGN_OR_RETURN(LiveRuns live, LiveRuns::Open(folder + "/live"));
//   live.Hold(run);                                      // until `live` or the process ends
//   if (!LiveRuns::Open(folder + "/live")->IsHeld(run)) …  // from any process
//
// A run is one byte of an empty file, locked by the process: the kernel lets go of the lock however
// that process ends, so nothing has to be cleaned up. Thread-safety: all methods from any thread.
class LiveRuns {
 public:
  // Makes the file if needed. Errors: kIo, kPermission with the path.
  static Result<LiveRuns> Open(const std::string& path);

  // Best effort: on a file system without locks a run is listed as interrupted until it ends.
  void Hold(std::string_view run) const;
  void Drop(std::string_view run) const;
  // Whether somebody else holds it: another process, or another LiveRuns of this one.
  bool IsHeld(std::string_view run) const;

  // Says that the folder is in use, until `this` or the process ends. Waits while somebody is
  // alone with it, for a few seconds at most; best effort, too.
  void Join() const;
  // Whether nobody has joined. Then nobody joins until `this` or the process ends.
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
// Of the file of LiveRuns, behind the database's name, as SQLite calls its own files.
inline constexpr std::string_view kLiveSuffix = "-live";

// Errors: kConfig if a newer version wrote the file; kDamaged if it is no journal; kPermission,
// kIo.
Result<Database> OpenJournalDatabase(const std::string& path);

}  // namespace dossier::store

#endif  // DOSSIER_STORE_JOURNAL_FILE_H_
