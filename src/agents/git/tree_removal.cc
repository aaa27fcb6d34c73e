#include "agents/git/tree_removal.h"

#include <sys/stat.h>

#include <filesystem>

#include "base/files/file.h"

namespace dossier::agents {
namespace {

namespace fs = std::filesystem;

// A folder is opened up before its entries are listed, so each level can be entered.
void OpenUp(const fs::path& folder) {
  chmod(folder.c_str(), 0700);
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code unknown;
    if (entry->symlink_status(unknown).type() == fs::file_type::directory) OpenUp(entry->path());
  }
}

}  // namespace

Status RemoveTree(const std::string& path) {
  if (RemoveAll(path)) return {};
  std::error_code error;
  if (fs::symlink_status(path, error).type() == fs::file_type::directory) OpenUp(path);
  return RemoveAll(path);
}

}  // namespace dossier::agents
