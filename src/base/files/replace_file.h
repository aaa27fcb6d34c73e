// Replaces a file by parts that are written one after the other, so that a large text need not be
// in memory as a whole.
//
//   DOSSIER_RETURN_IF_ERROR(ReplaceFile(path, {head, body}, {.durability =
//   Durability::kOfThisSystem}));
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

// What a replaced file outlives: a killed process, or a power failure too, which takes an fsync.
enum class Durability : std::uint8_t { kOfThisSystem, kOfTheDisk };

// Whose mode, owner and group the new file has. kOfTheOldFile: those of the file that is replaced,
// exactly; `mode` where there is none.
enum class Attributes : std::uint8_t { kOfANewFile, kOfTheOldFile };

struct ReplaceOptions {
  unsigned mode = 0644;
  Durability durability = Durability::kOfTheDisk;
  Attributes attributes = Attributes::kOfANewFile;
};

// On failure the old file stays and nothing half-made is left. A device or pipe is written to,
// never replaced. Errors carry the path.
Status ReplaceFile(const std::string& path, const std::vector<std::string_view>& parts,
                   const ReplaceOptions& options);

}  // namespace dossier

#endif  // DOSSIER_BASE_FILES_REPLACE_FILE_H_
