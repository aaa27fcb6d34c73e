// Finds the images that a script left in its workspace.
//
//   DOSSIER_ASSIGN_OR_RETURN(const FoundImages found, FindImages(workspace));
//   for (const ImageFile& image : found.images) Show(image.name, image.bytes);
//
// Only PNG files that can be decoded count. Thread-safety: pure, except for reading the files.

#ifndef DOSSIER_RESEARCH_FILES_IMAGE_FILES_H_
#define DOSSIER_RESEARCH_FILES_IMAGE_FILES_H_

#include <string>
#include <string_view>
#include <vector>

#include "assembly/layout/messages.h"
#include "base/result.h"

namespace dossier::research {

inline constexpr std::size_t kMaxImageFiles = 100;            // per workspace
inline constexpr std::uint64_t kMaxImageBytes = 32ull << 20;  // per file

struct ImageFile {
  std::string name;   // letters, digits, `_.-`, no folders: "working_loss.png"
  std::string bytes;  // as it is on disk
};
struct FoundImages {
  std::vector<ImageFile> images;  // sorted by name; names are unique
  std::vector<std::string> warnings;
};
// Finds all images below `folder`, except links and hidden files. Errors: kIo.
Result<FoundImages> FindImages(const std::string& folder);

// Returns a prompt's text and image, scaled down to kMaxImageSide if larger. Errors: as FitPng.
Result<std::vector<assembly::Block>> ImageBlocks(std::string_view name, std::string_view png);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_FILES_IMAGE_FILES_H_
