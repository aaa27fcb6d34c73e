// Where the files lie that were installed with this code: its worker, its token tables.
//
//   if (const auto worker = FindInstalled("../libexec/dossier/dossier-python-worker"))
//   Start(*worker);
//
// Thread-safety: functions over /proc and the file system.

#ifndef DOSSIER_BASE_FILES_INSTALLED_H_
#define DOSSIER_BASE_FILES_INSTALLED_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dossier {

// The folders of programs that count as this installation's, nearest first: where this code is part
// of a shared library, the one that belongs to it; then the one that holds the running program.
std::vector<std::string> InstalledProgramFolders();

// The first of these folders that has `place`, a path relative to it; with the folder in front.
std::optional<std::string> FindInstalled(std::string_view place);

}  // namespace dossier

#endif  // DOSSIER_BASE_FILES_INSTALLED_H_
