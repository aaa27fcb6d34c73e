#include "base/files/installed.h"

#include <dlfcn.h>

#include <filesystem>

#include "base/files/file.h"

namespace dossier {
namespace {

// From the folder of libraries to that of programs, as `cmake --install` lays them out.
constexpr std::string_view kProgramsFromLibraries = DOSSIER_PROGRAMS_FROM_LIBRARIES;

// The folder of the file that this code was loaded from; a program's own name may be relative.
std::optional<std::string> FolderOfThisCode() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&InstalledProgramFolders), &info) == 0) return {};
  const std::string_view file = info.dli_fname ? info.dli_fname : "";
  if (!file.starts_with('/')) return std::nullopt;
  return std::string(file.substr(0, file.rfind('/')));
}

}  // namespace

std::vector<std::string> InstalledProgramFolders() {
  std::vector<std::string> folders;
  if (auto own = ExecutableFolder()) folders.push_back(std::move(*own));
  const auto code = FolderOfThisCode();
  const bool in_library = code && (folders.empty() || *code != folders.front());
  if (in_library) folders.push_back(fmt::format("{}/{}", *code, kProgramsFromLibraries));
  return folders;
}

std::optional<std::string> FindInstalled(std::string_view place) {
  for (const std::string& folder : InstalledProgramFolders()) {
    // By its words: a folder of programs need not exist where only the library is installed.
    std::string path = (std::filesystem::path(folder) / place).lexically_normal().string();
    if (Exists(path)) return path;
  }
  return std::nullopt;
}

}  // namespace dossier
