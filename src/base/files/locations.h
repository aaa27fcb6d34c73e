// Finds the program's files: the user's folders, installed files, and compiled-in files.
//
// The user's folders follow the XDG rules.
//
//   DOSSIER_ASSIGN_OR_RETURN(const UserFolders user, UserFolders::From(lookup));
//   user.config;                                              // "/home/ada/.config/dossier"
//   DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());       // of this process
//
// A variable that is unset, empty or no absolute path is ignored, as the XDG rules require. Errors:
// kConfig if neither a folder's variable nor HOME is set, naming both. Thread-safety: plain data
// and functions over `lookup`; those without `lookup` read `environ` and must not run beside
// setenv.

#ifndef DOSSIER_BASE_FILES_LOCATIONS_H_
#define DOSSIER_BASE_FILES_LOCATIONS_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dossier {

// Returns the value of a variable; nullopt if it is not set.
using VariableLookup = std::function<std::optional<std::string>(std::string_view name)>;

enum class UserFolderKind { kConfig, kData, kCache, kState };
// Ends in /dossier.
Result<std::string> UserFolder(UserFolderKind kind, const VariableLookup& lookup);

struct UserFolders {
  std::string home;                        // $HOME; "" if it is not set
  std::string config, data, cache, state;  // each ends in /dossier

  static Result<UserFolders> From(const VariableLookup& lookup);

  std::string config_file() const { return config + "/dossier.yml"; }
  std::string legacy_folder() const { return home.empty() ? "" : home + "/.cllm"; }
};

// Replaces a leading "~" or "~/" of `path` by `home`, as a shell does; returns any other path
// unchanged, and every path if `home` is "".
std::string ExpandHome(std::string_view path, std::string_view home);

// The folders of this process.
Result<std::string> DataFolder();
Result<std::string> ConfigFolder();
Result<std::string> CacheFolder();

// Finds the files that were installed with this code: its worker, its token tables.
//
//   if (const auto worker = FindInstalled("../libexec/dossier/dossier-python-worker"))
//   Start(*worker);
//
// Thread-safety: functions over /proc and the file system.

// The program folders of this installation, nearest first: if this code is in a shared library, the
// folder that belongs to it; then the folder of the running program.
std::vector<std::string> InstalledProgramFolders();

// Returns the full path of `place`, a relative path, in the first of these folders that has it.
std::optional<std::string> FindInstalled(std::string_view place);

// The built-in files of layouts/, prompts/, data/ and workers/python/, compiled into the program.
//
//   std::optional<std::string_view> text = BuiltInAsset("layouts/recursion.small.yaml");
//
// Thread-safety: read-only data.

std::optional<std::string_view> BuiltInAsset(std::string_view path);
// All paths that start with `prefix`, sorted.
std::vector<std::string_view> BuiltInAssets(std::string_view prefix);

}  // namespace dossier

#endif  // DOSSIER_BASE_FILES_LOCATIONS_H_
