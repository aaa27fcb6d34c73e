// The assistants that can start `dossier mcp`, and their settings as files that are changed with
// care.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Assistant client, FindClient("cursor"));
//   DOSSIER_ASSIGN_OR_RETURN(const FileChange change,
//                            PlanInstall(client, {.scope = Scope::kUser, .argv =
//                            {"/usr/bin/dossier", "mcp"}}));
//   DOSSIER_RETURN_IF_ERROR(Apply(change));   // writes change.path, keeps
//   change.path.before-dossier
//
// Which they are is data: data/mcp_clients.yaml. A link is followed and what it leads to is
// changed, with its mode, but no link of a project's file that leads out of the project; the file
// appears whole or stays as it was. Errors: kNotFound (no such client, with the nearest; a scope
// that it does not have), kDamaged (FILE:LINE), kPermission (a file that is read-only), kRefused
// (an entry of that name which starts something else; a link out of the project). Thread-safety:
// functions over files; two installers at once may lose one change.

#ifndef DOSSIER_SERVER_CLIENTS_CLIENT_LIST_H_
#define DOSSIER_SERVER_CLIENTS_CLIENT_LIST_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "server/clients/settings_edit.h"

namespace dossier::clients {

enum class Scope : std::uint8_t { kUser, kProject };

struct Assistant {
  std::string name, title;
  std::string files[2];  // by scope; "": it has none
  std::string hook_files[2];
  std::string reads;                     // of a client that keeps its list itself
  std::vector<std::string> add, remove;  // its commands, of the user's scope
  SettingsForm form = SettingsForm::kJson;
  std::string key;
  JsonObject entry;  // beside command and args
};

Result<std::vector<Assistant>> AllClients();
Result<Assistant> FindClient(std::string_view name);

struct InstallWish {
  Scope scope = Scope::kUser;
  std::string name = "dossier";
  std::vector<std::string> argv;  // what the client starts
  std::string home, folder;       // of the user; of the project
  enum class Foreign : std::uint8_t { kKept, kReplaced } foreign = Foreign::kKept;
};

// A file as it is to be. Equal texts: there is nothing to do.
struct FileChange {
  std::string path;                   // links resolved
  std::optional<std::string> before;  // unset: it is not there
  std::optional<std::string> after;   // unset: it goes
  std::vector<std::string> command;   // instead of a file: run this
};

Result<FileChange> PlanInstall(const Assistant& client, const InstallWish& wish);
Result<FileChange> PlanUninstall(const Assistant& client, const InstallWish& wish);
// The same for the hook that points at `dossier hook read`.
Result<FileChange> PlanHook(const Assistant& client, const InstallWish& wish);
Result<FileChange> PlanUnhook(const Assistant& client, const InstallWish& wish);
// Of a change without a command.
Status Apply(const FileChange& change);

// An entry that starts `dossier mcp`, wherever it was found. One of a project's file is that
// project's word: whoever wrote it chose the program.
struct Registered {
  std::string client, path, name;
  Scope scope = Scope::kUser;
  std::vector<std::string> argv;
};
// In all files of all clients that can be read; `problems` gets a sentence for each that cannot.
Result<std::vector<Registered>> FindRegistered(const std::string& home, const std::string& folder,
                                               std::vector<std::string>* problems);

}  // namespace dossier::clients

#endif  // DOSSIER_SERVER_CLIENTS_CLIENT_LIST_H_
