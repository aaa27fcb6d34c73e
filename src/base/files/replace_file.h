// Replaces a file atomically with parts that are written one after the other, so that a large text
// need not be in memory as a whole.
//
//   const ReplaceOptions options{.durability = Durability::kSurvivesCrash};
//   DOSSIER_RETURN_IF_ERROR(ReplaceFile(path, {head, body}, options));
//
// Readers see the old or the new content, never a mix, as with WriteFileAtomic (base/files/file.h),
// which is this with one part. Thread-safety: a function over files.

#ifndef DOSSIER_BASE_FILES_REPLACE_FILE_H_
#define DOSSIER_BASE_FILES_REPLACE_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dossier {

// What the new content survives once ReplaceFile has returned: a crash of the process, or a power
// failure too, which needs an fsync.
enum class Durability : std::uint8_t { kSurvivesCrash, kSurvivesPowerLoss };

// Whose mode, owner and group the new file gets. kOfTheOldFile: exactly those of the file that is
// replaced; if there is none, `mode` and the user's own.
enum class Attributes : std::uint8_t { kOfANewFile, kOfTheOldFile };

struct ReplaceOptions {
  unsigned mode = 0644;
  Durability durability = Durability::kSurvivesPowerLoss;
  Attributes attributes = Attributes::kOfANewFile;
};

// On failure the old file stays and nothing half-made is left. A device or pipe is written to,
// never replaced. Errors carry the path.
Status ReplaceFile(const std::string& path, const std::vector<std::string_view>& parts,
                   const ReplaceOptions& options);

}  // namespace dossier

#endif  // DOSSIER_BASE_FILES_REPLACE_FILE_H_
