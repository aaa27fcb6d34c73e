// The assistants that can start `dossier mcp`; plans and applies changes of their settings files.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Assistant client, FindClient("cursor"));
//   DOSSIER_ASSIGN_OR_RETURN(const FileChange change,
//                            PlanInstall(client, {.scope = Scope::kUser,
//                                                 .argv = {"/usr/bin/dossier", "mcp"}}));
//   DOSSIER_RETURN_IF_ERROR(Apply(change));  // keeps the old file as PATH.before-dossier
//
// data/mcp_clients.yaml lists the assistants. A link is followed and its target is changed, keeping
// its mode, except that a link of a project's file must not lead out of the project. The file is
// replaced whole or stays as it was. Errors: kNotFound (no such client, with the nearest; a scope
// that it does not have), kDamaged (FILE:LINE), kPermission (a read-only file), kRefused (an entry
// of that name starts something else; a link out of the project). Thread-safety: functions over
// files; of two installers at once, one may lose its change.

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
  std::string files[2];  // by scope; "": none
  std::string hook_files[2];
  std::string reads;                     // set for a client that keeps its list itself
  std::vector<std::string> add, remove;  // its commands, for the user's scope
  SettingsForm form = SettingsForm::kJson;
  std::string key;
  JsonObject entry;  // fields beside command and args
};

Result<std::vector<Assistant>> AllClients();
Result<Assistant> FindClient(std::string_view name);

struct InstallWish {
  Scope scope = Scope::kUser;
  std::string name = "dossier";
  std::vector<std::string> argv;  // what the client starts
  std::string home, folder;       // home of the user; folder of the project
  enum class Foreign : std::uint8_t { kKept, kReplaced } foreign = Foreign::kKept;
};

// A planned change of a file. Equal texts: there is nothing to do.
struct FileChange {
  std::string path;                   // links resolved
  std::optional<std::string> before;  // unset: the file does not exist
  std::optional<std::string> after;   // unset: the file is removed
  std::vector<std::string> command;   // if set, run this instead of writing a file
};

Result<FileChange> PlanInstall(const Assistant& client, const InstallWish& wish);
Result<FileChange> PlanUninstall(const Assistant& client, const InstallWish& wish);
// The same for the hook that points at `dossier hook read`.
Result<FileChange> PlanHook(const Assistant& client, const InstallWish& wish);
Result<FileChange> PlanUnhook(const Assistant& client, const InstallWish& wish);
// Writes a change that has no command.
Status Apply(const FileChange& change);

// An entry that starts `dossier mcp`, and where it was found. Whoever wrote a project's file chose
// the program of its entries, so do not trust them as the user's own.
struct Registered {
  std::string client, path, name;
  Scope scope = Scope::kUser;
  std::vector<std::string> argv;
};
// Searches all readable files of all clients; `problems` gets a sentence for each unreadable one.
Result<std::vector<Registered>> FindRegistered(const std::string& home, const std::string& folder,
                                               std::vector<std::string>* problems);

}  // namespace dossier::clients

#endif  // DOSSIER_SERVER_CLIENTS_CLIENT_LIST_H_
