// The folders of the user, by the XDG rules, from one place.
//
//   DOSSIER_ASSIGN_OR_RETURN(const UserFolders user, UserFolders::From(lookup));
//   user.config;                                              // "/home/ada/.config/dossier"
//   DOSSIER_ASSIGN_OR_RETURN(const std::string data, DataFolder());       // of this process
//
// A variable that is unset, empty or no absolute path is passed over, as the XDG rules want.
// Errors: kConfig if neither a folder's variable nor HOME is set, naming both.
// Thread-safety: plain data and functions over `lookup`; those without one read `environ` and must
// not run beside setenv.

#ifndef DOSSIER_BASE_FILES_USER_FOLDERS_H_
#define DOSSIER_BASE_FILES_USER_FOLDERS_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>

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

}  // namespace dossier

#endif  // DOSSIER_BASE_FILES_USER_FOLDERS_H_
