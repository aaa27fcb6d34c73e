#include "server/clients/client_list.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "base/yaml/yaml.h"

namespace dossier::clients {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDataFile = "data/mcp_clients.yaml";
constexpr std::string_view kBackup = ".before-dossier";
constexpr std::uint64_t kMostSettings = 16u << 20;  // bytes
constexpr std::string_view kHookMark = "hook read";
const Path kHookPath = {"hooks", "PreToolUse"};

std::string PathIn(const InstallWish& wish, const std::string& file) {
  if (file.starts_with("~/")) return ExpandHome(file, wish.home);
  return file.empty() ? "" : wish.folder + "/" + file;
}

Assistant ClientOf(const Json& about) {
  Assistant out{.name = TextAt(about, "name"),
                .title = TextAt(about, "title"),
                .reads = TextAt(about, "reads"),
                .add = StringsOf(Find(about, "add")),
                .remove = StringsOf(Find(about, "remove")),
                .form = TextAt(about, "form") == "toml" ? SettingsForm::kToml : SettingsForm::kJson,
                .key = TextAt(about, "key")};
  out.files[0] = TextAt(about, "user");
  out.files[1] = TextAt(about, "project");
  if (const Json* hook = Find(about, "hook")) {
    out.hook_files[0] = TextAt(*hook, "user");
    out.hook_files[1] = TextAt(*hook, "project");
  }
  if (const Json* entry = Find(about, "entry")) out.entry = entry->get_object();
  return out;
}

// Resolves the links of `path` and reads the file. A project's author is untrusted: its links must
// not lead out of it to a file that would be written.
Result<FileChange> Look(const std::string& path, const InstallWish& wish) {
  FileChange change{.path = path};
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  if (!error) change.path = real.string();
  if (wish.scope == Scope::kProject) {
    std::error_code lost;
    const fs::path folder = fs::canonical(wish.folder, lost);
    // A remaining link dangles; writing would create its target.
    const bool dangles = fs::is_symlink(fs::symlink_status(change.path, lost));
    if (error || folder.empty() || dangles || !IsBelow(change.path, folder.string())) {
      return MakeError(ErrorCode::kRefused, "{} leads out of the project{}; nothing was written",
                       path, dangles ? "" : ", to " + change.path);
    }
  }
  struct stat info{};
  if (stat(change.path.c_str(), &info) != 0) return change;
  // Also for root, who could write it anyway.
  if ((info.st_mode & 0222) == 0) {
    return MakeError(ErrorCode::kPermission, "{} is read-only; it is left as it is", path);
  }
  DOSSIER_ASSIGN_OR_RETURN(change.before, ReadRegularFile(change.path, kMostSettings));
  change.after = change.before;
  return change;
}

bool IsOurs(const Json& entry) {
  const std::string command = TextAt(entry, "command");
  const std::vector<std::string> args = StringsOf(Find(entry, "args"));
  const std::string base = command.substr(command.rfind('/') + 1);
  return base == "dossier" && !args.empty() && args[0] == "mcp";
}

Json EntryOf(const Assistant& client, const InstallWish& wish) {
  JsonObject entry = client.entry;
  entry["command"] = wish.argv[0];
  entry["args"] = JsonArray(wish.argv.begin() + 1, wish.argv.end());
  return entry;
}

std::vector<std::string> Filled(const std::vector<std::string>& command, const InstallWish& wish) {
  std::vector<std::string> out;
  for (const std::string& word : command) {
    if (word == "{argv}") {
      out.insert(out.end(), wish.argv.begin(), wish.argv.end());
    } else {
      out.push_back(ReplaceAll(word, "{name}", wish.name));
    }
  }
  return out;
}

// Returns the file of the wish, unless the client keeps its list itself.
Result<FileChange> Target(const Assistant& client, const InstallWish& wish,
                          const std::vector<std::string>& command) {
  const std::size_t scope = static_cast<std::size_t>(wish.scope);
  if (wish.scope == Scope::kUser && !command.empty()) {
    return FileChange{.path = command[0], .command = Filled(command, wish)};
  }
  if (client.files[scope].empty()) {
    return MakeError(ErrorCode::kNotFound, "{} has no list of servers of its own for a {}",
                     client.title, wish.scope == Scope::kUser ? "user" : "project");
  }
  return Look(PathIn(wish, client.files[scope]), wish);
}

Result<FileChange> HookTarget(const Assistant& client, const InstallWish& wish) {
  const std::string& file = client.hook_files[static_cast<std::size_t>(wish.scope)];
  if (file.empty()) {
    return MakeError(ErrorCode::kNotFound, "{} has no hook that could point at dossier",
                     client.title);
  }
  return Look(PathIn(wish, file), wish);
}

// Restores exactly the old bytes if nobody changed anything since: if `plan` of the old bytes gives
// the current ones.
template <typename Plan>
Result<FileChange> Undo(FileChange change, Plan plan, Result<std::string> removed) {
  DOSSIER_RETURN_IF_ERROR(removed);
  change.after = std::move(*removed);
  if (!change.before || change.after == change.before) return change;
  const auto kept = ReadRegularFile(change.path + std::string(kBackup), kMostSettings);
  const auto again = plan(kept ? *kept : std::string());
  if (again && *again == *change.before) {
    change.after = kept ? std::optional(*kept) : std::nullopt;
  }
  return change;
}

}  // namespace

Result<std::vector<Assistant>> AllClients() {
  const auto text = BuiltInAsset(kDataFile);
  if (!text) return MakeError(ErrorCode::kInternal, "{} is not built in", kDataFile);
  DOSSIER_ASSIGN_OR_RETURN(const YamlNode root, ParseYaml(*text, kDataFile));
  const Json value = ToJsonValue(root);
  std::vector<Assistant> clients;
  for (const Json& about : Find(value, "clients")->get_array()) clients.push_back(ClientOf(about));
  return clients;
}

Result<Assistant> FindClient(std::string_view name) {
  DOSSIER_ASSIGN_OR_RETURN(const auto clients, AllClients());
  const auto found = std::ranges::find(clients, name, &Assistant::name);
  if (found != clients.end()) return *found;
  std::vector<std::string> names;
  for (const Assistant& client : clients) names.push_back(client.name);
  return MakeError(ErrorCode::kNotFound, "there is no client {}; it must be {}", name,
                   OneOf(name, names));
}

Result<FileChange> PlanInstall(const Assistant& client, const InstallWish& wish) {
  DOSSIER_ASSIGN_OR_RETURN(FileChange change, Target(client, wish, client.add));
  if (!change.command.empty()) return change;
  const Path path = {client.key, wish.name};
  const std::string before = change.before.value_or("");
  DOSSIER_ASSIGN_OR_RETURN(const auto there, FindEntry(before, client.form, path, change.path));
  const Json entry = EntryOf(client, wish);
  if (there && !IsOurs(*there) && wish.foreign == InstallWish::Foreign::kKept) {
    return MakeError(ErrorCode::kDamaged,
                     "{}: there is a server {} already, which starts something else; choose "
                     "another --name, or replace it with -y",
                     change.path, wish.name);
  }
  if (there && TextAt(*there, "command") == TextAt(entry, "command") &&
      StringsOf(Find(*there, "args")) == StringsOf(Find(entry, "args"))) {
    return change;
  }
  DOSSIER_ASSIGN_OR_RETURN(change.after, SetEntry(before, client.form, path, entry, change.path));
  return change;
}

Result<FileChange> PlanUninstall(const Assistant& client, const InstallWish& wish) {
  DOSSIER_ASSIGN_OR_RETURN(FileChange change, Target(client, wish, client.remove));
  if (!change.command.empty() || !change.before) return change;
  const Path path = {client.key, wish.name};
  const std::string file = change.path, before = *change.before;
  DOSSIER_ASSIGN_OR_RETURN(const auto there, FindEntry(before, client.form, path, file));
  if (there && !IsOurs(*there) && wish.foreign == InstallWish::Foreign::kKept) {
    return MakeError(ErrorCode::kDamaged,
                     "{}: the server {} starts something else; remove it with -y", file, wish.name);
  }
  const auto again = [&](const std::string& text) {
    return SetEntry(text, client.form, path, there ? *there : Json(JsonObject()), file);
  };
  return Undo(std::move(change), again, RemoveEntry(before, client.form, path, file));
}

Result<FileChange> PlanHook(const Assistant& client, const InstallWish& wish) {
  DOSSIER_ASSIGN_OR_RETURN(FileChange change, HookTarget(client, wish));
  const std::string before = change.before.value_or("");
  DOSSIER_ASSIGN_OR_RETURN(const auto there,
                           FindEntry(before, SettingsForm::kJson, kHookPath, change.path));
  if (there && ToJson(*there).find(kHookMark) != std::string::npos) return change;
  const Json hook = JsonObject{
      {"matcher", "Read"},
      {"hooks", JsonArray{JsonObject{{"type", "command"},
                                     {"command", ShellQuote(wish.argv[0]) + " hook read"}}}}};
  DOSSIER_ASSIGN_OR_RETURN(change.after, AppendElement(before, kHookPath, hook, change.path));
  return change;
}

Result<FileChange> PlanUnhook(const Assistant& client, const InstallWish& wish) {
  DOSSIER_ASSIGN_OR_RETURN(FileChange change, HookTarget(client, wish));
  if (!change.before) return change;
  const std::string file = change.path, before = *change.before;
  const auto again = [&](const std::string& text) -> Result<std::string> {
    DOSSIER_ASSIGN_OR_RETURN(const auto list,
                             FindEntry(before, SettingsForm::kJson, kHookPath, file));
    for (const Json& one : list && list->is_array() ? list->get_array() : JsonArray()) {
      if (ToJson(one).find(kHookMark) == std::string::npos) continue;
      return AppendElement(text, kHookPath, one, file);
    }
    return text;
  };
  return Undo(std::move(change), again, RemoveElements(before, kHookPath, kHookMark, file));
}

Status Apply(const FileChange& change) {
  if (change.before == change.after) return {};
  const std::string backup = change.path + std::string(kBackup);
  if (!change.after) {
    DOSSIER_RETURN_IF_ERROR(RemoveAll(change.path));
    return {};
  }
  const fs::path folder = fs::path(change.path).parent_path();
  DOSSIER_RETURN_IF_ERROR(MakeFolders(folder.string(), 0700));
  const auto kept = ReadRegularFile(backup, kMostSettings);
  const bool restores = kept && *kept == *change.after;
  if (change.before && !restores) {
    struct stat info{};
    const bool known = stat(change.path.c_str(), &info) == 0;
    DOSSIER_RETURN_IF_ERROR(
        WriteFileAtomic(backup, *change.before, known ? info.st_mode & 0777 : 0600));
  }
  DOSSIER_RETURN_IF_ERROR(ReplaceFile(change.path, {*change.after},
                                      {.mode = 0600, .attributes = Attributes::kOfTheOldFile}));
  return restores ? RemoveAll(backup) : Status();
}

Result<std::vector<Registered>> FindRegistered(const std::string& home, const std::string& folder,
                                               std::vector<std::string>* problems) {
  DOSSIER_ASSIGN_OR_RETURN(const auto clients, AllClients());
  const InstallWish wish{.home = home, .folder = folder};
  std::vector<Registered> out;
  for (const Assistant& client : clients) {
    std::set<std::string> seen;
    for (const std::string& file : {client.files[0], client.reads, client.files[1]}) {
      const std::string path = PathIn(wish, file);
      if (file.empty() || !Exists(path) || !seen.insert(path).second) continue;
      const auto text = ReadRegularFile(path, kMostSettings);
      const auto servers =
          text ? FindEntry(*text, client.form, {client.key}, path) : tl::unexpected(text.error());
      if (!servers) {
        problems->push_back(servers.error().message);
        continue;
      }
      if (!*servers || !(*servers)->is_object()) continue;
      std::vector<std::string> names;
      for (const auto& [name, entry] : (*servers)->get_object()) names.emplace_back(name);
      for (const std::string& name : names) {
        const auto entry = FindEntry(*text, client.form, {client.key, name}, path);
        if (!entry || !*entry || !IsOurs(**entry)) continue;
        Registered found{.client = client.name, .path = path, .name = name};
        if (file == client.files[1] && !file.starts_with("~/")) {
          found.scope = path == PathIn(wish, client.files[0]) ? Scope::kUser : Scope::kProject;
        }
        found.argv.push_back(TextAt(**entry, "command"));
        for (std::string& word : StringsOf(Find(**entry, "args"))) {
          found.argv.push_back(std::move(word));
        }
        out.push_back(std::move(found));
      }
    }
  }
  return out;
}

}  // namespace dossier::clients
