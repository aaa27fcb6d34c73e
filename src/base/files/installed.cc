#include "base/files/installed.h"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>

#include "base/files/file.h"

namespace dossier {
namespace {

// From the folder of libraries to that of programs, as `cmake --install` lays them out.
constexpr std::string_view kProgramsFromLibraries = DOSSIER_PROGRAMS_FROM_LIBRARIES;

// The folder of the shared library that this code is part of; none if it is part of the program,
// whose name the linker does not know: argv[0] is the caller's word.
std::optional<std::string> FolderOfLibrary() {
  Dl_info info{};
  void* map = nullptr;
  if (dladdr1(reinterpret_cast<const void*>(&InstalledProgramFolders), &info, &map,
              RTLD_DL_LINKMAP) == 0) {
    return std::nullopt;
  }
  const auto* loaded = static_cast<const link_map*>(map);
  const std::string_view file = loaded && loaded->l_name ? loaded->l_name : "";
  if (!file.starts_with('/')) return std::nullopt;
  return std::string(file.substr(0, file.rfind('/')));
}

}  // namespace

std::vector<std::string> InstalledProgramFolders() {
  std::vector<std::string> folders;
  if (const auto library = FolderOfLibrary()) {
    folders.push_back(fmt::format("{}/{}", *library, kProgramsFromLibraries));
  }
  if (auto own = ExecutableFolder()) folders.push_back(std::move(*own));
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
