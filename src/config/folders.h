// Where conversations live, and how paths in configuration are meant.
//
//   DOSSIER_ASSIGN_OR_RETURN(const UserFolders user, UserFoldersOf(variables));
//   const Located found = ConversationFolder({.config = path, .user = user}, is_folder);
//   found.path;     // "/home/ada/.local/share/dossier/conversations"
//
// Thread-safety: plain data; ConversationFolder asks `exists`, the rest is pure.

#ifndef DOSSIER_CONFIG_FOLDERS_H_
#define DOSSIER_CONFIG_FOLDERS_H_

#include <functional>
#include <string>
#include <vector>

#include "base/files/locations.h"
#include "base/result.h"
#include "config/expand.h"

namespace dossier::config {

using dossier::UserFolders;

// Errors: as UserFolders::From.
Result<UserFolders> UserFoldersOf(const Variables& variables);

// `path` seen from `folder`: absolute, "~/" is `home`, without "." and "..".
std::string ResolvePath(const std::string& path, const std::string& folder,
                        const std::string& home);

// What the choice of the conversation folder rests on, high to low; "" is "not given".
struct ConversationPlaces {
  std::string flag;                             // --conversations-path
  std::string dossier_variable, cllm_variable;  // …_CONVERSATIONS_PATH
  std::string config;                           // conversations_path, resolved
  std::string config_dir;                       // --config-dir
  std::string dossier_config_dir, cllm_path;    // variables
  std::vector<std::string> project_folders;     // from the working folder up to the root
  UserFolders user;
};

struct Located {
  std::string path;
  std::string why;  // "--conversations-path", "$CLLM_PATH", "/repo/.dossier is there"
};
Located ConversationFolder(const ConversationPlaces& places,
                           const std::function<bool(const std::string&)>& is_folder);

}  // namespace dossier::config

#endif  // DOSSIER_CONFIG_FOLDERS_H_
