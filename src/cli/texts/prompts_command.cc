// prompts: lists, checks, compares and copies the layouts and templates in use.

#include "assembly/layout/check.h"
#include "assembly/layout/lookup.h"
#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/json/json.h"
#include "base/text/text.h"
#include "base/text/text_diff.h"
#include "base/text/utf8.h"
#include "cli/commands.h"
#include "cli/terminal/terminal.h"
#include "cli/tree/command.h"
#include "cli/wiring/run_setup.h"

namespace dossier::cli {
namespace {

struct PromptsArguments {
  std::string name;  // for show, diff, copy: "recursion/system.md", "recursion.small"
  std::vector<std::string> folders;  // for check
  std::string layouts_dir;
  bool json = false;  // for list and check
};

using assembly::Asset;

// A layout or template by the name a person writes, with or without folder and extension.
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

class Prompts {
 public:
  Prompts(const PromptsArguments& arguments, assembly::AssetFolders folders, std::ostream& out)
      : arguments_(arguments), folders_(std::move(folders)), out_(out) {}

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

  Status Show() {
    DOSSIER_ASSIGN_OR_RETURN(const Named named, FindNamed(arguments_.name, folders_));
    DOSSIER_ASSIGN_OR_RETURN(const Asset asset, ReadNamed(named, folders_));
    out_ << asset.text;
    return {};
  }

  // Prints one line per file; returns kConfig if one is broken.
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

  // Compares the override with the built-in; kCheckFailed if they differ.
  Status Diff() {
    DOSSIER_ASSIGN_OR_RETURN(const Named named, FindNamed(arguments_.name, folders_));
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

  // Copies into the user's folder, and never overwrites a file.
  Status Copy() {
    DOSSIER_ASSIGN_OR_RETURN(const Named named, FindNamed(arguments_.name, folders_));
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

 private:
  const PromptsArguments& arguments_;
  const assembly::AssetFolders folders_;
  std::ostream& out_;
};

// For `check DIR…`, returns only those folders.
Result<assembly::AssetFolders> FoldersOf(const PromptsArguments& arguments) {
  if (arguments.folders.empty()) return AllAssetFolders(arguments.layouts_dir);
  assembly::AssetFolders folders;
  for (const std::string& name : arguments.folders) {
    DOSSIER_ASSIGN_OR_RETURN(std::string folder, NamedAssetFolder("", name));
    folders.overrides.push_back(std::move(folder));
  }
  return folders;
}

template <Status (Prompts::*kAction)()>
Status RunPrompts(const PromptsArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(assembly::AssetFolders folders, FoldersOf(given));
  return (Prompts(given, std::move(folders), context.out).*kAction)();
}

Status RunCheck(const PromptsArguments& given, Context& context) {
  DOSSIER_ASSIGN_OR_RETURN(assembly::AssetFolders folders, FoldersOf(given));
  // The object is printed in any case and names what is broken.
  context.failure = FailureForm::kText;
  return Prompts(given, std::move(folders), context.out).Check();
}

void DeclareFolder(Flags& flags, PromptsArguments& to) {
  flags.Add("--layouts-dir", &to.layouts_dir, "folder with layouts/ and prompts/ of your own")
      .Kind(kFolder);
}

void DeclareNamed(Flags& flags, PromptsArguments& to) {
  DeclareFolder(flags, to);
  flags.Add("name", &to.name, "layout or template").Required();
}

void DeclareList(Flags& flags, PromptsArguments& to) {
  DeclareFolder(flags, to);
  flags.Add("--json", &to.json, "one object");
}

void DeclareCheck(Flags& flags, PromptsArguments& to) {
  DeclareFolder(flags, to);
  flags.Add("folders", &to.folders, "folders with layouts/ and prompts/");
  flags.Add("--json", &to.json, "one object");
}

}  // namespace

Command PromptsCommand() {
  return {.name = "prompts",
          .summary = "the layouts and templates that prompts are made from",
          .examples =
              "dossier prompts check\n"
              "    every layout and template in force, checked",
          .commands = {{.name = "list",
                        .summary = "all of them, and where each comes from",
                        .binding = Bind(DeclareList, RunPrompts<&Prompts::List>)},
                       {.name = "show",
                        .summary = "the text of one",
                        .binding = Bind(DeclareNamed, RunPrompts<&Prompts::Show>)},
                       {.name = "check",
                        .summary = "read all of them; exit 3 if one is broken",
                        .binding = Bind(DeclareCheck, RunCheck)},
                       {.name = "diff",
                        .summary = "your file against the built-in one; exit 15 if they differ",
                        .binding = Bind(DeclareNamed, RunPrompts<&Prompts::Diff>)},
                       {.name = "copy",
                        .summary = "write a built-in file into your folder, to be edited",
                        .binding = Bind(DeclareNamed, RunPrompts<&Prompts::Copy>)}}};
}

}  // namespace dossier::cli
