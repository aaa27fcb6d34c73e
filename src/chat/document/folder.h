// The files of one folder of conversations: names, locks, replacement of whole files.
//
//   DOSSIER_RETURN_IF_ERROR(CheckId(id));
//   DOSSIER_ASSIGN_OR_RETURN(FileLock lock, LockConversation(folder, id, wait, cancel));
//   DOSSIER_RETURN_IF_ERROR(ReplaceFile(folder, id, document.Render().pieces()));
//
// Files have mode 0600 and are never reached through a symbolic link. Locks are OFD locks on
// `.ID.lock`, so they end with their process and also exclude threads from each other.
// Thread-safety: functions may be called from any thread; a FileLock has one owner.

#ifndef DOSSIER_CHAT_DOCUMENT_FOLDER_H_
#define DOSSIER_CHAT_DOCUMENT_FOLDER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/files/file.h"
#include "base/result.h"

namespace dossier::chat {

inline constexpr std::size_t kMaxIdLength = 128;

// Checks an id: 1 to 128 letters, digits, `-` or `_`. Errors: kNotFound, naming the rule.
Status CheckId(std::string_view id);
// Returns "conv-" and 8 hex digits.
std::string MakeId();
// Returns "ID-recovered-HEX8", no longer than an id may be.
std::string RecoveredId(std::string_view id);

std::string PathOf(const std::string& folder, std::string_view id);

// Returns the file's bytes, or nullopt if there is no file. Errors: kDamaged (a symbolic link, not
// a regular file, larger than Document::kMaxBytes), kPermission, kIo.
Result<std::optional<std::string>> ReadConversation(const std::string& folder, std::string_view id);

// Creates the folder (0700) and the lock file. Errors: those of FileLock, naming the conversation.
Result<FileLock> LockConversation(const std::string& folder, std::string_view id, Millis wait,
                                  const CancelToken& cancel);

// Writes `pieces` to `.ID.PID-RAND.tmp`, then fsync, rename and fsync of the folder. On failure the
// old file stays and the temporary one is removed. The caller holds the lock. Errors: kIo,
// kPermission.
Status ReplaceFile(const std::string& folder, std::string_view id,
                   std::span<const std::string_view> pieces);

// Removes the file and its lock file; succeeds if they are absent. The caller holds the lock.
Status RemoveFiles(const std::string& folder, std::string_view id);

// A file of the folder, from the folder's listing.
struct FileEntry {
  std::string id;
  std::uint64_t size = 0, inode = 0;
  std::int64_t mtime_ns = 0;
};
// Lists the files in no particular order. Removes temporary files that no process can own any more.
// A folder that does not exist is empty.
Result<std::vector<FileEntry>> ListFolder(const std::string& folder);

}  // namespace dossier::chat

#endif  // DOSSIER_CHAT_DOCUMENT_FOLDER_H_
