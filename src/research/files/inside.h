// Paths that stay below a folder, whatever links a program or a repository put into it.
//
//   const auto place = PlaceInside(root, "docs/README.md");
//   if (!place) return Refuse("a link leads out of " + root.string());
//
// Nothing may write to the folder meanwhile: what is checked here is opened later. Thread-safety:
// functions over files.

#ifndef DOSSIER_RESEARCH_FILES_INSIDE_H_
#define DOSSIER_RESEARCH_FILES_INSIDE_H_

#include <filesystem>
#include <optional>

namespace dossier::research {

// Whether `path` is `root` or lies below it, by its names alone.
bool IsInside(const std::filesystem::path& root, const std::filesystem::path& path);

// Where `relative` really is, links resolved as far as it is there; none if that is not inside.
// `root`: canonical.
std::optional<std::filesystem::path> PlaceInside(const std::filesystem::path& root,
                                                 const std::filesystem::path& relative);

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_FILES_INSIDE_H_
