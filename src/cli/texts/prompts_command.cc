#include "cli/texts/prompts_command.h"

#include "assembly/layout/check.h"
#include "assembly/layout/lookup.h"
#include "base/files/file.h"
#include "base/files/user_folders.h"
#include "base/json/json.h"
#include "base/text/text.h"
#include "base/text/text_diff.h"
#include "base/text/utf8.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/failure.h"
#include "cli/wiring/asset_folders.h"

namespace dossier::cli {
namespace {

using assembly::Asset;

// A layout or template by the name a person writes, with or without folder and ending.
struct Named {
  std::string prefix, file;  // "layouts/", "recursion.small.yaml"
};

constexpr std::string_view kLayouts = "layouts/", kPrompts = "prompts/";

std::vector<Named> AllNames(const assembly::AssetFolders& folders) {
  std::vector<Named> out;
  for (std::string& file : assembly::ListAssets(kLayouts, {".yaml", ".yml"}, folders)) {
    out.push_back({std::string(kLayouts), std::move(file)});
  }
  for (std::string& file : assembly::ListAssets(kPrompts, {".md"}, folders)) {
    out.push_back({std::string(kPrompts), std::move(file)});
  }
  return out;
}

Result<Named> FindNamed(const std::string& name, const assembly::AssetFolders& folders) {
  std::vector<std::string> known;
  for (Named& named : AllNames(folders)) {
    const std::string bare = named.file.substr(0, named.file.rfind('.'));
    if (name == named.file || name == bare || name == named.prefix + named.file) return named;
    known.push_back(named.file);
  }
  const std::vector<std::string> nearest = NearestNames(name, known, 1);
  return MakeError(ErrorCode::kNotFound,
                   "{}: no layout or template has this name{}; `dossier prompts list` shows all",
                   name, nearest.empty() ? "" : fmt::format(" (nearest: {})", nearest[0]));
}

Result<Asset> ReadNamed(const Named& named, const assembly::AssetFolders& folders) {
  DOSSIER_ASSIGN_OR_RETURN(auto asset, assembly::FindAsset(named.prefix, named.file, folders));
  if (asset) return std::move(*asset);
  return MakeError(ErrorCode::kNotFound, "{}{}: not found", named.prefix, named.file);
}

class Command {
 public:
  Command(const PromptsArguments& arguments, assembly::AssetFolders folders, std::ostream& out)
      : arguments_(arguments), folders_(std::move(folders)), out_(out) {}

  Status Run() {
    if (arguments_.action == "list") return List();
    if (arguments_.action == "check") return Check();
    DOSSIER_ASSIGN_OR_RETURN(const Named named, FindNamed(arguments_.name, folders_));
    if (arguments_.action == "show") return Show(named);
    return arguments_.action == "diff" ? Diff(named) : Copy(named);
  }

 private:
  Status List() {
    JsonArray list;
    for (const Named& named : AllNames(folders_)) {
      DOSSIER_ASSIGN_OR_RETURN(const Asset asset, ReadNamed(named, folders_));
      if (!arguments_.json) {
        out_ << fmt::format("{}{}  {}\n", named.prefix, named.file, asset.path);
        continue;
      }
      list.push_back(JsonObject{{"kind", named.prefix == kLayouts ? "layout" : "template"},
                                {"name", named.file},
                                {"path", asset.path}});
    }
    if (!arguments_.json) return {};
    out_ << ToJson(JsonObject{{"schema", "dossier.prompts/1"}, {"prompts", std::move(list)}})
         << "\n";
    return {};
  }

  Status Show(const Named& named) {
    DOSSIER_ASSIGN_OR_RETURN(const Asset asset, ReadNamed(named, folders_));
    out_ << asset.text;
    return {};
  }

  // One line a file; kConfig if one is broken.
  Status Check() {
    std::size_t broken = 0;
    JsonArray list;
    for (const std::string& line : assembly::CheckAssets(folders_)) {
      const bool ok = line.starts_with("ok ");
      broken += ok ? 0 : 1;
      if (arguments_.json) {
        list.push_back(JsonObject{{"ok", ok}, {"line", line}});
      } else {
        out_ << utf8::CleanForTerminal(line) << "\n";
      }
    }
    if (arguments_.json) {
      out_ << ToJson(JsonObject{{"schema", "dossier.prompts/1"}, {"checks", std::move(list)}})
           << "\n";
    }
    if (broken == 0) return {};
    return MakeError(ErrorCode::kConfig, "{} of the layouts and templates cannot be used", broken);
  }

  // The override against the built-in; kCheckFailed if they differ.
  Status Diff(const Named& named) {
    DOSSIER_ASSIGN_OR_RETURN(const Asset asset, ReadNamed(named, folders_));
    DOSSIER_ASSIGN_OR_RETURN(const auto built_in,
                             assembly::FindAsset(named.prefix, named.file, {}));
    if (!built_in) {
      return MakeError(ErrorCode::kNotFound, "{}: there is no built-in file to compare with",
                       asset.path);
    }
    if (asset.from == Asset::From::kBuiltIn || asset.text == built_in->text) return {};
    out_ << UnifiedDiff(built_in->path, built_in->text, asset.path, asset.text);
    return MakeError(ErrorCode::kCheckFailed, "{} differs from the built-in file", asset.path);
  }

  // Into the user's folder, never over a file.
  Status Copy(const Named& named) {
    DOSSIER_ASSIGN_OR_RETURN(const auto built_in,
                             assembly::FindAsset(named.prefix, named.file, {}));
    if (!built_in) {
      return MakeError(ErrorCode::kNotFound, "{}{}: is not built in", named.prefix, named.file);
    }
    std::string folder = arguments_.layouts_dir;
    if (folder.empty()) {
      DOSSIER_ASSIGN_OR_RETURN(folder, ConfigFolder());
    }
    const std::string path = fmt::format("{}/{}{}", folder, named.prefix, named.file);
    if (Exists(path)) {
      return MakeError(ErrorCode::kConfig, "{} exists: edit it, or remove it first", path);
    }
    DOSSIER_RETURN_IF_ERROR(MakeFolders(path.substr(0, path.rfind('/'))));
    DOSSIER_RETURN_IF_ERROR(WriteFileAtomic(path, built_in->text));
    out_ << path << "\n";
    return {};
  }

  const PromptsArguments& arguments_;
  const assembly::AssetFolders folders_;
  std::ostream& out_;
};

// Of `check DIR…`: those folders only.
Result<assembly::AssetFolders> FoldersOf(const PromptsArguments& arguments) {
  if (arguments.folders.empty()) return AllAssetFolders(arguments.layouts_dir);
  assembly::AssetFolders folders;
  for (const std::string& name : arguments.folders) {
    DOSSIER_ASSIGN_OR_RETURN(std::string folder, NamedAssetFolder("", name));
    folders.overrides.push_back(std::move(folder));
  }
  return folders;
}

}  // namespace

void AddPromptsCommand(CLI::App& prompts, PromptsArguments* arguments) {
  prompts.require_subcommand(1);
  const auto add = [&](const std::string& action, const std::string& about) {
    CLI::App* command = prompts.add_subcommand(action, about);
    command->add_option("--layouts-dir", arguments->layouts_dir,
                        "folder with layouts/ and prompts/ of your own");
    command->callback([arguments, action] { arguments->action = action; });
    return command;
  };
  const auto named = [&](CLI::App* command) {
    command->add_option("name", arguments->name, "layout or template")->required();
  };
  add("list", "all of them, and where each comes from")
      ->add_flag("--json", arguments->json, "one object");
  named(add("show", "the text of one"));
  CLI::App* check = add("check", "read all of them; exit 3 if one is broken");
  check->add_option("folders", arguments->folders, "folders with layouts/ and prompts/");
  check->add_flag("--json", arguments->json, "one object");
  named(add("diff", "your file against the built-in one; exit 15 if they differ"));
  named(add("copy", "write a built-in file into your folder, to be edited"));
}

int RunPrompts(const PromptsArguments& arguments, std::ostream& out, std::ostream& err) {
  auto folders = FoldersOf(arguments);
  if (!folders) return Fail(folders.error(), FormOf(arguments.json), out, err);
  const Status done = Command(arguments, std::move(*folders), out).Run();
  out.flush();
  if (done) return 0;
  // The object of `check` is there and names what is broken.
  const bool told = arguments.action == "check";
  return Fail(done.error(), FormOf(arguments.json && !told), out, err);
}

}  // namespace dossier::cli
