// Images that a script left in its workspace.
//
//   DOSSIER_ASSIGN_OR_RETURN(const FoundImages found, FindImages(workspace));
//   for (const ImageFile& image : found.images) Show(image.name, image.bytes);
//
// Only PNG files that decode count. Thread-safety: pure, but for the files.

#ifndef DOSSIER_RESEARCH_FILES_IMAGE_FILES_H_
#define DOSSIER_RESEARCH_FILES_IMAGE_FILES_H_

#include <string>
#include <string_view>
#include <vector>

#include "assembly/layout/messages.h"
#include "base/result.h"

namespace dossier::research {

inline constexpr std::size_t kMaxImageFiles = 100;            // of one workspace
inline constexpr std::uint64_t kMaxImageBytes = 32ull << 20;  // of one file

struct ImageFile {
  std::string name;   // of letters, digits, `_.-`, without folders: "working_loss.png"
  std::string bytes;  // as it is on disk
};
struct FoundImages {
  std::vector<ImageFile> images;  // sorted by name; names differ
  std::vector<std::string> warnings;
};
// All below `folder`, links and hidden files left out. Errors: kIo.
Result<FoundImages> FindImages(const std::string& folder);

// Text and image of a prompt, the image no larger than kMaxImageSide. Errors: as FitPng.
Result<std::vector<assembly::Block>> ImageBlocks(std::string_view name, std::string_view png);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_FILES_IMAGE_FILES_H_
