#include "cli/system/config_command.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/files/file.h"
#include "base/text/text.h"
#include "cli/system/config_show.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/failure.h"
#include "config/edit.h"
#include "config/keys.h"
#include "config/power.h"

namespace dossier::cli {
namespace {

// What is only looked at needs no trust.
Status LetPass(const config::Question&) { return {}; }

Result<config::Config> Look(const GlobalFlags& flags) {
  DOSSIER_ASSIGN_OR_RETURN(const config::LoadRequest request, MakeLoadRequest(flags));
  return config::LoadConfig(request, config::ReadConfigFile, LetPass);
}

// The file that `set`, `edit` and `init` mean.
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

// A text is quoted where it must be; what is no text is YAML already.
std::string AsYaml(const config::Key& key, const std::string& value) {
  const bool is_text = key.shape == config::Shape::kScalar;
  return is_text ? config::QuoteScalar(value) : value;
}

Status SetValue(const ConfigArguments& arguments, const GlobalFlags& flags, std::ostream& err) {
  DOSSIER_RETURN_IF_ERROR(CheckKey(arguments.key));
  const config::Key* key = config::FindKey(arguments.key);
  if (!key) {
    return MakeError(ErrorCode::kUsage, "{} holds other keys; name one of them", arguments.key);
  }
  DOSSIER_ASSIGN_OR_RETURN(const std::string path, FileToChange(flags, arguments));
  DOSSIER_ASSIGN_OR_RETURN(auto file, config::ReadConfigFile(path));
  config::ConfigFile changed = file.value_or(config::ConfigFile{.path = path});
  DOSSIER_ASSIGN_OR_RETURN(changed.bytes, config::SetKey(changed.bytes, arguments.key,
                                                         AsYaml(*key, arguments.value), path));
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, ReadAlone(changed));
  WarnOf(config, flags, err);
  DOSSIER_RETURN_IF_ERROR(MakeFolders(std::filesystem::path(path).parent_path()));
  // Through a link, the file it means is changed, not the link.
  const std::string target = file ? file->real_path : path;
  return WriteFileAtomic(target, changed.bytes, arguments.global ? 0600 : 0644);
}

Status Validate(const ConfigArguments& arguments, const GlobalFlags& flags, std::ostream& out,
                std::ostream& err) {
  if (arguments.file.empty()) {
    DOSSIER_ASSIGN_OR_RETURN(const config::Config config, Look(flags));
    WarnOf(config, flags, err);
    for (const std::string& file : config.files) out << file << ": good\n";
    if (config.files.empty()) out << "no configuration file here\n";
    return {};
  }
  DOSSIER_ASSIGN_OR_RETURN(const auto file, config::ReadConfigFile(arguments.file));
  if (!file) return MakeError(ErrorCode::kNotFound, "{}: no such file", arguments.file);
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, ReadAlone(*file));
  WarnOf(config, flags, err);
  out << arguments.file << ": good\n";
  return {};
}

// The editor is the user's own program with the user's own terminal: no pipe, no limit.
Status RunEditor(const std::string& path) {
  const config::Variables variables = config::ProcessVariables();
  std::string editor = config::Lookup(variables, "VISUAL").value_or("");
  if (editor.empty()) editor = config::Lookup(variables, "EDITOR").value_or("vi");
  // As git does: the variable may hold arguments, and the path is passed, not pasted.
  const std::string command = editor + " \"$DOSSIER_EDITED_FILE\"";
  setenv("DOSSIER_EDITED_FILE", path.c_str(), 1);
  const int status = std::system(command.c_str());
  unsetenv("DOSSIER_EDITED_FILE");
  if (status == 0) return {};
  return MakeError(ErrorCode::kFailed, "the editor `{}` failed", editor);
}

Status Edit(const ConfigArguments& arguments, const GlobalFlags& flags, std::ostream& out,
            std::ostream& err) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string path, FileToChange(flags, arguments));
  DOSSIER_RETURN_IF_ERROR(MakeFolders(std::filesystem::path(path).parent_path()));
  DOSSIER_RETURN_IF_ERROR(RunEditor(path));
  if (!Exists(path)) return {};
  ConfigArguments check = arguments;
  check.file = path;
  return Validate(check, flags, out, err);
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

Status Init(const ConfigArguments& arguments, const GlobalFlags& flags, std::ostream& out) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string path, FileToChange(flags, arguments));
  if (Exists(path)) {
    out << path << " is there already\n";
  } else {
    DOSSIER_RETURN_IF_ERROR(MakeFolders(std::filesystem::path(path).parent_path()));
    DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(path, StarterText(), arguments.global ? 0600 : 0644));
    out << "wrote " << path << "\n";
  }
  DOSSIER_ASSIGN_OR_RETURN(const config::LoadRequest request, MakeLoadRequest(flags));
  if (arguments.global || request.root.empty()) return {};
  return AddIgnoreLine(request.root, out);
}

// The files that were looked for, low to high, and which are there.
Status ShowSearch(const GlobalFlags& flags, std::ostream& out) {
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, Look(flags));
  DOSSIER_ASSIGN_OR_RETURN(const config::LoadRequest request, MakeLoadRequest(flags));
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
    out << (Exists(candidate.path) ? "* " : "  ") << candidate.path << "\n";
  }
  return {};
}

Status Run(const ConfigArguments& arguments, const GlobalFlags& flags, std::ostream& out,
           std::ostream& err) {
  if (arguments.action == "set") return SetValue(arguments, flags, err);
  if (arguments.action == "edit") return Edit(arguments, flags, out, err);
  if (arguments.action == "validate") return Validate(arguments, flags, out, err);
  if (arguments.action == "init") return Init(arguments, flags, out);
  if (arguments.action == "path") return ShowSearch(flags, out);
  DOSSIER_ASSIGN_OR_RETURN(const config::Config config, Look(flags));
  WarnOf(config, flags, err);
  if (arguments.action == "get") return GetKey(config, arguments, out);
  ShowConfig(config, arguments, out);
  return {};
}

}  // namespace

void AddConfigCommand(CLI::App& config, ConfigArguments* arguments) {
  config.require_subcommand(1);
  const auto action = [&](const char* name, const char* about) {
    CLI::App* command = config.add_subcommand(name, about);
    command->callback([arguments, name] { arguments->action = name; });
    return command;
  };
  const auto global = [&](CLI::App* command) {
    command->add_flag("--global", arguments->global, "your own file, not the project's");
  };
  CLI::App* show = action("show", "every value that is set");
  show->add_flag("--origin", arguments->origin, "with file and line, and the defaults");
  show->add_flag("--json", arguments->json, "one object");
  CLI::App* get = action("get", "one value");
  get->add_option("key", arguments->key, "such as compaction.mode")->required()->type_name("KEY");
  get->add_flag("--json", arguments->json, "one object");
  CLI::App* set = action("set", "change one key of a file, and nothing else in it");
  set->add_option("key", arguments->key, "such as params.top_p")->required()->type_name("KEY");
  set->add_option("value", arguments->value, "a text, or YAML for lists and maps")->required();
  global(set);
  global(action("edit", "open the file in $VISUAL or $EDITOR, and check it"));
  CLI::App* validate = action("validate", "check a file, or all that count here");
  validate->add_option("file", arguments->file, "the file")->type_name("PATH");
  action("path", "the files that are looked for; * marks those that are there");
  global(action("init", "write a commented file to begin with"));
}

void AddPathsCommand(CLI::App& paths, PathsArguments* arguments) {
  paths.add_flag("--json", arguments->json, "one object");
}

int RunConfig(const ConfigArguments& arguments, const GlobalFlags& flags, std::ostream& out,
              std::ostream& err) {
  const Status done = Run(arguments, flags, out, err);
  return done ? 0 : Fail(done.error(), FormOf(arguments.json), out, err);
}

int RunPaths(const PathsArguments& arguments, const GlobalFlags& flags, std::ostream& out,
             std::ostream& err) {
  const auto config = Look(flags);
  if (!config) return Fail(config.error(), FormOf(arguments.json), out, err);
  ShowPaths(*config, arguments, out);
  return 0;
}

}  // namespace dossier::cli
