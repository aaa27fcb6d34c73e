// Files of a log: made once, whole or not at all, never overwritten.
//
//   DOSSIER_RETURN_IF_ERROR(CreateWhole(folder + "/0001_draft.md", text));   // kLocked: it exists
//   DOSSIER_RETURN_IF_ERROR(PointAlias(folder, "newest.md", "0001_draft.md"));
//
// Thread-safety: functions over files; several processes may use one folder.

#ifndef DOSSIER_ASSEMBLY_FIT_LOG_FILES_H_
#define DOSSIER_ASSEMBLY_FIT_LOG_FILES_H_

#include <string>
#include <string_view>

#include "base/files/replace_file.h"
#include "base/result.h"

namespace dossier::assembly {

// What a file is called while it is written; a killed process may leave one behind.
inline constexpr std::string_view kPartialFile = ".partial-";

// `text` with each character outside [A-Za-z0-9_.-], and a dot at the start, as '_'; at most 100.
std::string SafeFileName(std::string_view text);

// Makes `path` with all of `content`, mode 0600. Errors: kLocked if it exists; kIo, kPermission.
Status CreateWhole(const std::string& path, std::string_view content,
                   Durability durability = Durability::kSurvivesPowerLoss);

// Points the link `alias` in `folder` to `target`, which stands in the same folder. A file of that
// name is left alone. Errors: kFailed (that file), kIo.
Status PointAlias(const std::string& folder, const std::string& alias, const std::string& target);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_FIT_LOG_FILES_H_
