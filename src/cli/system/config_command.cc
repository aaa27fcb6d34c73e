// config, paths: shows what is configured here and by which file, and changes it. Nothing here
// needs trust: a person must be able to look at a file before approving it.

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/files/file.h"
#include "base/files/git_folders.h"
#include "base/text/redact.h"
#include "base/text/text.h"
#include "cli/commands.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/command.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/value_kinds.h"
#include "config/edit.h"
#include "config/expand.h"
#include "config/keys.h"
#include "config/load.h"
#include "config/trust.h"
#include "store/prune.h"

namespace dossier::cli {
namespace {

struct ConfigArguments {
  std::string key, value;
  std::string file;     // for validate
  bool origin = false;  // show --origin
  bool json = false;
  bool global = false;  // the user's own file
};

struct PathsArguments {
  bool json = false;
};

using config::Value;

constexpr std::string_view kHidden = "***";

std::string SafeValue(std::string_view text) { return Safe(Redact(text)); }

// Returns it on one line, as it could be in a file.
std::string FlowText(const YamlNode& node, const std::string& key) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "null";
    case YamlNode::Kind::kScalar:
      if (config::IsSecret(key)) return std::string(kHidden);
      if (node.style == YamlNode::Style::kPlain) return SafeValue(node.scalar);
      return SafeValue(config::QuoteScalar(node.scalar));
    case YamlNode::Kind::kList: {
      std::string out = "[";
      for (const YamlNode& item : node.items) {
        out += (out.size() > 1 ? ", " : "") + FlowText(item, key);
      }
      return out + "]";
    }
    case YamlNode::Kind::kMap: {
      std::string out = "{";
      for (const YamlEntry& entry : node.entries) {
        out += fmt::format("{}{}: {}", out.size() > 1 ? ", " : "", SafeValue(entry.key),
                           FlowText(entry.value, key + "." + entry.key));
      }
      return out + "}";
    }
  }
  return "";
}

Json Masked(const YamlNode& node, const std::string& key) {
  if (node.kind == YamlNode::Kind::kMap) {
    JsonObject map;
    for (const YamlEntry& entry : node.entries) {
      map[entry.key] = Masked(entry.value, key + "." + entry.key);
    }
    return map;
  }
  if (node.kind == YamlNode::Kind::kList) {
    JsonArray list;
    for (const YamlNode& item : node.items) list.push_back(Masked(item, key));
    return list;
  }
  if (node.kind == YamlNode::Kind::kScalar && config::IsSecret(key)) return Json(kHidden);
  Json value = ToJsonValue(node);
  if (const auto* text = value.if_string()) return Json(Redact(std::string_view(*text)));
  return value;
}

// Calls `visit` for every value that has a single origin, with its dotted name.
template <typename Visit>
void ForEachValue(const Value& map, const std::string& prefix, const Visit& visit) {
  for (const config::MapEntry& entry : map.entries) {
    const std::string name = prefix + entry.key;
    if (entry.value.is_map() && !entry.value.entries.empty()) {
      ForEachValue(entry.value, name + ".", visit);
    } else {
      visit(name, entry.value);
    }
  }
}

void ShowAsYaml(const Value& map, const std::string& prefix, const std::string& indent,
                const ConfigArguments& arguments, std::ostream& out) {
  for (const config::MapEntry& entry : map.entries) {
    const std::string name = prefix + entry.key;
    out << indent << SafeValue(entry.key) << ":";
    if (entry.value.is_map() && !entry.value.entries.empty()) {
      out << "\n";
      ShowAsYaml(entry.value, name + ".", indent + "  ", arguments, out);
      continue;
    }
    out << " " << FlowText(config::ToYaml(entry.value), name);
    if (arguments.origin) out << "  # " << SafeValue(entry.value.origin.ToText());
    out << "\n";
  }
}

void ShowDefaults(const config::Config& config, std::ostream& out) {
  for (const config::Key& key : config::Keys()) {
    if (key.fallback.empty() || config.raw.Find(key.name)) continue;
    out << fmt::format("# {}: {}  # default\n", key.name, key.fallback);
  }
}

Json AllAsJson(const config::Config& config) {
  JsonArray files, values, warnings;
  for (const std::string& file : config.files) files.push_back(Json(file));
  for (const std::string& warning : config.warnings) warnings.push_back(Json(warning));
  ForEachValue(config.raw, "", [&](const std::string& name, const Value& value) {
    values.push_back(JsonObject{{"key", name},
                                {"value", Masked(config::ToYaml(value), name)},
                                {"origin", value.origin.ToText()}});
  });
  for (const config::Key& key : config::Keys()) {
    if (key.fallback.empty() || config.raw.Find(key.name)) continue;
    values.push_back(JsonObject{{"key", key.name},
                                {"value", config::ToJsonValue(config::FromText(key.fallback, {}))},
                                {"origin", "default"}});
  }
  return JsonObject{{"schema", "dossier.config/1"},
                    {"files", std::move(files)},
                    {"values", std::move(values)},
                    {"warnings", std::move(warnings)}};
}

Status CheckKey(const std::string& key) {
  if (config::FindKey(key)) return {};
  for (const config::Key& known : config::Keys()) {
    if (known.name.starts_with(key + ".")) return {};
  }
  return MakeError(ErrorCode::kUsage, "unknown key '{}'{}", key, config::NearestKey(key));
}

void ShowConfig(const config::Config& config, const ConfigArguments& arguments, std::ostream& out) {
  if (arguments.json) {
    out << ToPrettyJson(AllAsJson(config)) << "\n";
    return;
  }
  ShowAsYaml(config.raw, "", "", arguments, out);
  const bool nothing = config.raw.entries.empty();
  if (nothing) {
    out << (config.files.empty() ? "# no configuration file was found (`dossier config path`)"
                                 : "# nothing is set")
        << "; these are the defaults:\n";
  }
  if (arguments.origin || nothing) ShowDefaults(config, out);
}

Status GetKey(const config::Config& config, const ConfigArguments& arguments, std::ostream& out) {
  DOSSIER_RETURN_IF_ERROR(CheckKey(arguments.key));
  const Value* value = config.raw.Find(arguments.key);
  const config::Key* key = config::FindKey(arguments.key);
  Value fallback;
  if (!value && key && key->name == arguments.key && !key->fallback.empty()) {
    fallback = config::FromText(key->fallback, {});
    value = &fallback;
  }
  if (!value) {
    return MakeError(ErrorCode::kNotFound, "{} is not set", arguments.key);
  }
  const YamlNode node = config::ToYaml(*value);
  if (arguments.json) {
    out << ToJson(JsonObject{{"schema", "dossier.config/1"},
                             {"key", arguments.key},
                             {"value", Masked(node, arguments.key)},
                             {"origin", value->origin.ToText()}})
        << "\n";
  } else if (node.kind == YamlNode::Kind::kScalar && !config::IsSecret(arguments.key)) {
    out << SafeValue(node.scalar) << "\n";
  } else {
    out << FlowText(node, arguments.key) << "\n";
  }
  return {};
}

// Returns true for what grows by itself; the repository is the user's own.
bool HasSize(std::string_view name) {
  constexpr std::string_view kNames[] = {"data",  "runs",  "conversations",
                                         "cache", "state", "repository_state"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

void ShowPaths(const config::Config& config, const PathsArguments& arguments, std::ostream& out) {
  const config::UserFolders& user = config.user;
  const config::TrustStore trust(user.state, SystemClock());
  std::vector<std::pair<std::string, std::string>> rows = {
      {"config", user.config},         {"config_file", user.config_file()},
      {"keys", user.config + "/keys"}, {"data", user.data},
      {"runs", user.data + "/runs"},   {"conversations", config.conversations.path},
      {"cache", user.cache},           {"state", user.state},
      {"trust_file", trust.file()},
  };
  if (const auto git = FindGitFolders(".")) {
    rows.emplace_back("repository", git->root);
    rows.emplace_back("repository_state", git->common + "/dossier");
  }
  if (arguments.json) {
    JsonObject paths{{"schema", "dossier.paths/1"}};
    JsonObject sizes;
    for (const auto& [name, path] : rows) {
      paths[name] = path;
      if (HasSize(name) && Exists(path)) sizes[name] = store::BytesBelow(path);
    }
    paths["sizes"] = std::move(sizes);
    JsonArray files;
    for (const std::string& file : config.files) files.push_back(Json(file));
    paths["config_files"] = std::move(files);
    out << ToPrettyJson(paths) << "\n";
    return;
  }
  for (const auto& [name, path] : rows) {
    std::string state = Exists(path) ? "" : "  (not there yet)";
    if (state.empty() && HasSize(name)) {
      state = fmt::format("  ({})", FormatSize(store::BytesBelow(path)));
    }
    out << fmt::format("{:<18}{}{}\n", name, SafeValue(path), state);
  }
}

// Just looking needs no trust.
Status LetPass(const config::Question&) { return {}; }

Result<config::Config> Look(const GlobalFlags& flags) {
  DOSSIER_ASSIGN_OR_RETURN(const config::LoadRequest request, MakeLoadRequest(flags));
  return config::LoadConfig(request, config::ReadConfigFile, LetPass);
}

// Returns the file that `set`, `edit` and `init` change.
Result<std::string> FileToChange(const GlobalFlags& flags, const ConfigArguments& arguments) {
  DOSSIER_ASSIGN_OR_RETURN(const config::LoadRequest request, MakeLoadRequest(flags));
  DOSSIER_ASSIGN_OR_RETURN(const auto user, config::UserFoldersOf(request.variables));
  if (arguments.global) return user.config_file();
  if (!request.config_dir.empty()) {
    return config::ResolvePath(request.config_dir, request.folder, user.home) + "/dossier.yml";
  }
  const auto folders = config::ProjectFolders(request.folder, request.root);
  for (const std::string& folder : folders) {
    for (const char* name : {"dossier.yml", ".dossier/dossier.yml"}) {
      const std::string path = (std::filesystem::path(folder) / name).string();
      if (Exists(path)) return path;
    }
  }
  return (std::filesystem::path(folders.back()) / "dossier.yml").string();
}

// Reads one file alone, with its warnings.
Result<config::Config> ReadAlone(const config::ConfigFile& file) {
  DOSSIER_ASSIGN_OR_RETURN(const auto user, config::UserFoldersOf(config::ProcessVariables()));
  return config::LoadUserFile(
      file.path, user, config::ProcessVariables(),
      [&](const std::string&) -> Result<std::optional<config::ConfigFile>> { return file; });
}

void WarnOf(const config::Config& config, const GlobalFlags& flags, std::ostream& err) {
  if (flags.quiet) return;
  for (const std::string& warning : config.warnings) PrintWarning(err, warning);
}

// Quotes a text where necessary; other values are YAML already.
std::string AsYaml(const config::Key& key, const std::string& value) {
  const bool is_text = key.shape == config::Shape::kScalar;
  return is_text ? config::QuoteScalar(value) : value;
}

Status SetValue(const ConfigArguments& arguments, Context& context) {
  DOSSIER_RETURN_IF_ERROR(CheckKey(arguments.key));
  const config::Key* key = config::FindKey(arguments.key);
  if (!key) {
    return MakeError(ErrorCode::kUsage, "{} holds other keys; name one of them", arguments.key);
  }
  DOSSIER_ASSIGN_OR_RETURN(const std::string path, FileToChange(context.flags, arguments));
  DOSSIER_ASSIGN_OR_RETURN(auto file, config::ReadConfigFile(path));
  config::ConfigFile changed = file.value_or(config::ConfigFile{.path = path});
  DOSSIER_ASSIGN_OR_RETURN(changed.bytes, config::SetKey(changed.bytes, arguments.key,
                                                         AsYaml(*key, arguments.value), path));
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, ReadAlone(changed));
  WarnOf(config, context.flags, context.err);
  DOSSIER_RETURN_IF_ERROR(MakeFolders(std::filesystem::path(path).parent_path()));
  // For a link, changes the file that it points to, not the link.
  const std::string target = file ? file->real_path : path;
  return WriteFileAtomic(target, changed.bytes, arguments.global ? 0600 : 0644);
}

Status Validate(const ConfigArguments& arguments, Context& context) {
  if (arguments.file.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(const config::Config config, Look(context.flags));
    WarnOf(config, context.flags, context.err);
    for (const std::string& file : config.files) context.out << file << ": good\n";
    if (config.files.empty()) context.out << "no configuration file here\n";
    return {};
  }
  DOSSIER_ASSIGN_OR_RETURN(const auto file, config::ReadConfigFile(arguments.file));
  if (!file) return MakeError(ErrorCode::kNotFound, "{}: no such file", arguments.file);
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, ReadAlone(*file));
  WarnOf(config, context.flags, context.err);
  context.out << arguments.file << ": good\n";
  return {};
}

// Runs the user's editor on the user's terminal: without pipes or time limit.
Status RunEditor(const std::string& path) {
  const config::Variables variables = config::ProcessVariables();
  std::string editor = config::Lookup(variables, "VISUAL").value_or("");
  if (editor.empty()) editor = config::Lookup(variables, "EDITOR").value_or("vi");
  // Like git: the variable may contain arguments, and the path is passed separately.
  const std::string command = editor + " \"$DOSSIER_EDITED_FILE\"";
  setenv("DOSSIER_EDITED_FILE", path.c_str(), 1);
  const int status = std::system(command.c_str());
  unsetenv("DOSSIER_EDITED_FILE");
  if (status == 0) return {};
  return MakeError(ErrorCode::kFailed, "the editor `{}` failed", editor);
}

Status Edit(const ConfigArguments& arguments, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string path, FileToChange(context.flags, arguments));
  DOSSIER_RETURN_IF_ERROR(MakeFolders(std::filesystem::path(path).parent_path()));
  DOSSIER_RETURN_IF_ERROR(RunEditor(path));
  if (!Exists(path)) return {};
  ConfigArguments check = arguments;
  check.file = path;
  return Validate(check, context);
}

std::string StarterText() {
  std::string text =
      "# Configuration of dossier. Every line is a default or an example; take away the '#'.\n"
      "# What each key means: dossier help config-keys\n\n";
  std::string open;
  for (const config::Key& key : config::Keys()) {
    if (key.shape == config::Shape::kSection) continue;
    const auto dot = key.name.find('.');
    const std::string head(key.name.substr(0, dot));
    const std::string_view inner =
        dot == std::string_view::npos ? key.name : key.name.substr(dot + 1);
    if (dot != std::string_view::npos && head != open) text += fmt::format("# {}:\n", head);
    open = dot == std::string_view::npos ? "" : head;
    text += fmt::format("# {}{}: {}   # {}: {}\n", open.empty() ? "" : "  ", inner, key.fallback,
                        key.type, key.about);
  }
  return text;
}

Status AddIgnoreLine(const std::string& root, std::ostream& out) {
  constexpr std::string_view kLine = ".dossier/conversations/";
  const std::string path = root + "/.gitignore";
  std::string text;
  if (Exists(path)) {
    DOSSIER_ASSIGN_OR_RETURN(text, ReadFile(path, 16 << 20));
  }
  for (const std::string_view line : Split(text, '\n')) {
    if (TrimSpace(line) == kLine) return {};
  }
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  text += fmt::format("{}\n", kLine);
  DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(path, text));
  out << "added " << kLine << " to " << path << "\n";
  return {};
}

Status Init(const ConfigArguments& arguments, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string path, FileToChange(context.flags, arguments));
  if (Exists(path)) {
    context.out << path << " is there already\n";
  } else {
    DOSSIER_RETURN_IF_ERROR(MakeFolders(std::filesystem::path(path).parent_path()));
    DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(path, StarterText(), arguments.global ? 0600 : 0644));
    context.out << "wrote " << path << "\n";
  }
  DOSSIER_ASSIGN_OR_RETURN(const config::LoadRequest request, MakeLoadRequest(context.flags));
  if (arguments.global || request.root.empty()) return {};
  return AddIgnoreLine(request.root, context.out);
}

// Lists the files that were looked for, low to high, and which exist.
Status ShowSearch(const ConfigArguments&, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, Look(context.flags));
  DOSSIER_ASSIGN_OR_RETURN(const config::LoadRequest request, MakeLoadRequest(context.flags));
  const auto from_variable = config::Lookup(request.variables, "DOSSIER_CONFIG_DIR").value_or("");
  const std::string dir = request.config_dir.empty() ? from_variable : request.config_dir;
  const auto candidates = config::FindCandidates(
      {.folder = request.folder,
       .root = request.root,
       .config_dir = config::ResolvePath(dir, request.folder, config.user.home),
       .cllm_path = config::Lookup(request.variables, "CLLM_PATH").value_or(""),
       .name = request.name,
       .mode = request.mode,
       .user = config.user});
  for (const config::Candidate& candidate : candidates) {
    context.out << (Exists(candidate.path) ? "* " : "  ") << candidate.path << "\n";
  }
  return {};
}

Status RunShow(const ConfigArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, Look(context.flags));
  WarnOf(config, context.flags, context.err);
  ShowConfig(config, given, context.out);
  return {};
}

Status RunGet(const ConfigArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, Look(context.flags));
  WarnOf(config, context.flags, context.err);
  return GetKey(config, given, context.out);
}

Status RunPaths(const PathsArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, Look(context.flags));
  ShowPaths(config, given, context.out);
  return {};
}

void DeclareJson(Flags& flags, bool* json) { flags.Add("--json", json, "one object"); }

void DeclareGlobal(Flags& flags, ConfigArguments& to) {
  flags.Add("--global", &to.global, "your own file, not the project's");
}

void DeclareConfigShow(Flags& flags, ConfigArguments& to) {
  flags.Add("--origin", &to.origin, "with file and line, and the defaults");
  DeclareJson(flags, &to.json);
}

void DeclareGet(Flags& flags, ConfigArguments& to) {
  flags.Add("key", &to.key, "such as compaction.mode").Required().Kind(kConfigKey);
  DeclareJson(flags, &to.json);
}

void DeclareSet(Flags& flags, ConfigArguments& to) {
  flags.Add("key", &to.key, "such as params.top_p").Required().Kind(kConfigKey);
  flags.Add("value", &to.value, "a text, or YAML for lists and maps").Required();
  DeclareGlobal(flags, to);
}

void DeclareValidate(Flags& flags, ConfigArguments& to) {
  flags.Add("file", &to.file, "the file").Kind(kPath);
}

void DeclarePath(Flags&, ConfigArguments&) {}

void DeclarePaths(Flags& flags, PathsArguments& to) { DeclareJson(flags, &to.json); }

}  // namespace

Command ConfigCommand() {
  return {.name = "config",
          .summary = "show what is configured here, and change it",
          .examples =
              "dossier config show --origin\n"
              "    what holds here, and which file says so\n"
              "dossier config set model openai/gpt-5-mini --global\n"
              "    change your own file\n"
              "dossier config init\n"
              "    a commented file for this project",
          .commands = {{.name = "show",
                        .summary = "every value that is set",
                        .binding = Bind(DeclareConfigShow, RunShow)},
                       {.name = "get", .summary = "one value", .binding = Bind(DeclareGet, RunGet)},
                       {.name = "set",
                        .summary = "change one key of a file, and nothing else in it",
                        .binding = Bind(DeclareSet, SetValue)},
                       {.name = "edit",
                        .summary = "open the file in $VISUAL or $EDITOR, and check it",
                        .binding = Bind(DeclareGlobal, Edit)},
                       {.name = "validate",
                        .summary = "check a file, or all that count here",
                        .binding = Bind(DeclareValidate, Validate)},
                       {.name = "path",
                        .summary = "the files that are looked for; * marks those that are there",
                        .binding = Bind(DeclarePath, ShowSearch)},
                       {.name = "init",
                        .summary = "write a commented file to begin with",
                        .binding = Bind(DeclareGlobal, Init)}},
          .signals = Command::Signals::kLeft};
}

Command PathsCommand() {
  return {.name = "paths",
          .summary = "where everything is kept",
          .binding = Bind(DeclarePaths, RunPaths),
          .signals = Command::Signals::kLeft};
}

}  // namespace dossier::cli
