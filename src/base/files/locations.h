// Where the program's files are: the user's folders, what is installed, what is compiled in.
//
// The folders of the user follow the XDG rules.
//
//   DOSSIER_ASSIGN_OR_RETURN(const UserFolders user, UserFolders::From(lookup));
//   user.config;                                              // "/home/ada/.config/dossier"
//   DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());       // of this process
//
// A variable that is unset, empty or no absolute path is passed over, as the XDG rules want.
// Errors: kConfig if neither a folder's variable nor HOME is set, naming both.
// Thread-safety: plain data and functions over `lookup`; those without one read `environ` and must
// not run beside setenv.

#ifndef DOSSIER_BASE_FILES_LOCATIONS_H_
#define DOSSIER_BASE_FILES_LOCATIONS_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dossier {

// The value of a variable; nullopt if it is not set.
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

// `path` with `home` for a leading "~" or "~/", as a shell reads it; any other path as it is, and
// all where `home` is "".
std::string ExpandHome(std::string_view path, std::string_view home);

// Those of this process.
Result<std::string> DataFolder();
Result<std::string> ConfigFolder();
Result<std::string> CacheFolder();

// Where the files lie that were installed with this code: its worker, its token tables.
//
//   if (const auto worker = FindInstalled("../libexec/dossier/dossier-python-worker"))
//   Start(*worker);
//
// Thread-safety: functions over /proc and the file system.

// The folders of programs that count as this installation's, nearest first: where this code is part
// of a shared library, the one that belongs to it; then the one that holds the running program.
std::vector<std::string> InstalledProgramFolders();

// The first of these folders that has `place`, a path relative to it; with the folder in front.
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
