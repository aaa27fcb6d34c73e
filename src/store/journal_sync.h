// Makes a journal outlive a power failure, not only the death of a process.
//
//   DOSSIER_RETURN_IF_ERROR(journal->Append(run, 0, "merge.intent", data));
//   DOSSIER_RETURN_IF_ERROR(SyncJournal(folder));
//
// Thread-safety: a function over files; processes may append meanwhile.

#ifndef DOSSIER_STORE_JOURNAL_SYNC_H_
#define DOSSIER_STORE_JOURNAL_SYNC_H_

#include <string>

#include "base/result.h"

namespace dossier::store {

// What was appended to the journal in `folder` so far is on the disk when this returns: an fsync of
// SQLite's log. With `synchronous = NORMAL` nobody else syncs it before it is emptied into the
// database, which syncs both. Errors: kIo.
Status SyncJournal(const std::string& folder);

}  // namespace dossier::store

#endif  // DOSSIER_STORE_JOURNAL_SYNC_H_
