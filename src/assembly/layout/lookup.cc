#include "assembly/layout/lookup.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>

#include "assembly/layout/layout_reader.h"
#include "assembly/layout/template_scan.h"
#include "base/files/file.h"
#include "base/files/locations.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "base/yaml/yaml.h"

namespace dossier::assembly {
namespace {

constexpr int kMaxExtends = 4;
constexpr std::size_t kMaxNameBytes = 200;

// A name may contain folders, but must not leave the folder in which it is looked up.
bool StaysInside(std::string_view name) {
  if (name.empty() || name.size() > kMaxNameBytes || name.find('\0') != name.npos) return false;
  if (name.find('\\') != name.npos) return false;
  for (const std::string_view part : Split(name, '/')) {
    if (part.empty() || part == "." || part == "..") return false;
  }
  return true;
}

// Returns true if something has this name, even a dangling link: that is an error to report, not a
// reason to take another file. Errors: kConfig if a folder in the path cannot be searched.
Result<bool> IsThere(const std::string& path) {
  struct stat info{};
  if (lstat(path.c_str(), &info) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return tl::unexpected(PlaceError(path, 1, 1, ErrnoError(errno, "cannot be read").message));
}

// Returns the kind of a non-regular file at `path`; empty if it is a regular file. Checked before
// opening, because opening a pipe waits for a writer.
std::string NotAFile(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return "a link that leads nowhere";
    return errno == ELOOP ? "a link that leads back to itself" : "";
  }
  if (S_ISREG(info.st_mode)) return "";
  if (S_ISDIR(info.st_mode)) return "a folder";
  if (S_ISFIFO(info.st_mode)) return "a pipe";
  return S_ISSOCK(info.st_mode) ? "a socket" : "a device";
}

// A model must read what the author wrote: no byte order mark, nothing replaced by U+FFFD.
Status CheckText(std::string_view text, const std::string& path) {
  if (text.starts_with("\xEF\xBB\xBF")) {
    return tl::unexpected(
        PlaceError(path, 1, 1, "begins with a byte order mark; save it as UTF-8 without one"));
  }
  if (utf8::IsValid(text)) return {};
  const std::string_view valid = text.substr(0, utf8::FirstInvalid(text));
  const std::string_view last_line = valid.substr(valid.rfind('\n') + 1);  // npos + 1 is 0
  const auto line = 1 + static_cast<int>(std::ranges::count(valid, '\n'));
  const auto column = 1 + static_cast<int>(utf8::CodePoints(last_line));
  return tl::unexpected(PlaceError(path, line, column, "is not UTF-8; save it as UTF-8"));
}

std::string Searched(const AssetFolders& folders) {
  std::vector<std::string> names = folders.overrides;
  names.emplace_back("built-in");
  return Join(names, ", ");
}

std::vector<std::string> LayoutNames(const AssetFolders& folders) {
  std::vector<std::string> names;
  for (const std::string& file : ListAssets("layouts/", {".yaml", ".yml"}, folders)) {
    names.push_back(file.substr(0, file.rfind('.')));
  }
  return names;
}

std::string NearestHint(std::string_view name, const std::vector<std::string>& known) {
  const std::vector<std::string> nearest = NearestNames(name, known, 1);
  return nearest.empty() ? "" : fmt::format(" (nearest: {})", nearest.front());
}

// Finds a layout file with either extension; both in one folder would be ambiguous.
Result<std::optional<Asset>> FindInFolder(std::string_view name, const std::string& folder) {
  const std::string base = fmt::format("{}/layouts/{}", folder, name);
  const bool inside = StaysInside(name);
  if (inside && IsThere(base + ".yaml").value_or(false) && IsThere(base + ".yml").value_or(false)) {
    return MakeError(ErrorCode::kConfig, "{0}.yaml and {0}.yml both exist: remove one", base);
  }
  for (const std::string_view ending : {".yaml", ".yml"}) {
    const AssetFolders only{.overrides = {folder}};
    DOSSIER_ASSIGN_OR_RETURN(auto found,
                             FindAsset("layouts/", std::string(name) + std::string(ending), only));
    if (found && found->from == Asset::From::kFolder) return found;
  }
  return std::nullopt;
}

// In each place the profile's file takes precedence over the common one.
Result<std::optional<Asset>> FindLayoutAsset(std::string_view name, const AssetFolders& folders,
                                             std::string_view profile) {
  std::vector<std::string> names;
  if (!profile.empty()) names.push_back(fmt::format("{}.{}", name, profile));
  names.emplace_back(name);
  for (const std::string& folder : folders.overrides) {
    for (const std::string& candidate : names) {
      DOSSIER_ASSIGN_OR_RETURN(auto found, FindInFolder(candidate, folder));
      if (found) return found;
    }
  }
  for (const std::string& candidate : names) {
    DOSSIER_ASSIGN_OR_RETURN(auto found, FindAsset("layouts/", candidate + ".yaml", {}));
    if (found) return found;
  }
  return std::nullopt;
}

// Reads the layout `name` with all that it extends; `chain` holds the names on the way.
Result<LayoutFile> ReadChain(std::string_view name, const AssetFolders& folders,
                             std::string_view profile, std::vector<std::string>* chain) {
  DOSSIER_ASSIGN_OR_RETURN(const std::optional<Asset> asset,
                           FindLayoutAsset(name, folders, profile));
  if (!asset) {
    return MakeError(ErrorCode::kNotFound, "layout {}: not found{}; searched {}", name,
                     NearestHint(name, LayoutNames(folders)), Searched(folders));
  }
  DOSSIER_ASSIGN_OR_RETURN(LayoutFile file, ReadLayoutFile(asset->text, asset->path));
  if (file.layout.name.empty()) file.layout.name = name;
  if (asset->from == Asset::From::kFolder && BuiltInAsset(fmt::format("layouts/{}.yaml", name))) {
    file.layout.overrides.push_back(asset->path);
  }
  if (file.extends.empty()) return file;
  chain->emplace_back(name);
  const auto fail = [&](std::string_view message) {
    return tl::unexpected(PlaceError(asset->path, file.extends_line, file.extends_column, message));
  };
  if (std::find(chain->begin(), chain->end(), file.extends) != chain->end()) {
    return fail(
        fmt::format("extends goes in a circle: {} -> {}", Join(*chain, " -> "), file.extends));
  }
  if (chain->size() > kMaxExtends) return fail("extends is more than 4 deep");
  auto base = ReadChain(file.extends, folders, profile, chain);
  if (!base && base.error().code == ErrorCode::kNotFound) return fail(base.error().message);
  DOSSIER_RETURN_IF_ERROR(base);
  // An error in the base must name the base's file.
  DOSSIER_RETURN_IF_ERROR(FinishLayout(*base));
  return MergeLayouts(std::move(*base), std::move(file));
}

// True if `mine` has the text of `built_in`: the names are equal, or both read the same source.
bool IsSameText(const LayoutSection& mine, const LayoutSection& built_in) {
  constexpr std::string_view kGeneral[] = {"text", "template", "var", "data"};
  if (mine.name == built_in.name) return true;
  return mine.source == built_in.source &&
         std::find(std::begin(kGeneral), std::end(kGeneral), mine.source) == std::end(kGeneral);
}

// A file may decide where sections are, but must not make text from outside an instruction: what
// the built-in layout fences stays fenced.
Status CheckFences(std::string_view name, std::string_view profile, const Layout& layout) {
  if (layout.overrides.empty()) return {};
  DOSSIER_ASSIGN_OR_RETURN(const auto asset, FindLayoutAsset(name, {}, profile));
  if (!asset) return {};  // the user's own layout
  std::vector<std::string> chain;
  DOSSIER_ASSIGN_OR_RETURN(LayoutFile file, ReadChain(name, {}, profile, &chain));
  DOSSIER_ASSIGN_OR_RETURN(const Layout built_in, FinishLayout(std::move(file)));
  for (const LayoutSection& section : built_in.sections) {
    if (section.trust != Trust::kUntrusted) continue;
    for (const LayoutSection& mine : layout.sections) {
      if (mine.trust == Trust::kUntrusted || !IsSameText(mine, section)) continue;
      return tl::unexpected(PlaceError(
          layout.file, std::max(mine.line, 1), std::max(mine.column, 1),
          fmt::format("section {}: it holds text from outside, which the built-in layout fences; "
                      "remove `trust: trusted`",
                      mine.name)));
    }
  }
  return {};
}

bool HasFences(const Template& text) {
  bool found = false;
  for (const Placeholder& placeholder : text.placeholders) {
    found |= placeholder.trust == Trust::kUntrusted;
  }
  ScanTemplate(text.body, text.braces, [&](const TemplatePiece& piece) {
    found |= piece.kind == TemplatePiece::Kind::kPlaceholder && piece.spec == "fence";
  });
  return found;
}

void ListFolder(const std::string& root, const std::vector<std::string_view>& endings,
                std::set<std::string>* names) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::recursive_directory_iterator at(root, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    const std::string name = at->path().lexically_relative(root).string();
    for (const std::string_view ending : endings) {
      if (name.ends_with(ending)) names->insert(name);
    }
  }
}

Status LoadTemplate(const std::string& name, const AssetFolders& folders, int line, int column,
                    Layout* layout) {
  if (layout->templates.contains(name)) return {};
  auto found = FindTemplate(name, folders);
  if (found && !found->file.starts_with("builtin:") && BuiltInAsset("prompts/" + name)) {
    layout->overrides.push_back(found->file);
  }
  if (!found && found.error().code == ErrorCode::kNotFound) {
    return tl::unexpected(
        PlaceError(layout->file, std::max(line, 1), std::max(column, 1), found.error().message));
  }
  DOSSIER_RETURN_IF_ERROR(found);
  layout->templates.emplace(name, std::move(*found));
  return {};
}

}  // namespace

Result<std::optional<std::string>> ReadAssetFile(const std::string& path, std::uint64_t max_bytes) {
  DOSSIER_ASSIGN_OR_RETURN(const bool there, IsThere(path));
  if (!there) return std::nullopt;
  if (const std::string what = NotAFile(path); !what.empty()) {
    return tl::unexpected(PlaceError(path, 1, 1, fmt::format("is {}, not a file", what)));
  }
  auto text = ReadFile(path, max_bytes);
  if (!text) {
    std::string_view why = text.error().message;
    if (why.starts_with(path + ": ")) why.remove_prefix(path.size() + 2);
    return tl::unexpected(PlaceError(path, 1, 1, why));
  }
  DOSSIER_RETURN_IF_ERROR(CheckText(*text, path));
  return std::move(*text);
}

Result<std::optional<Asset>> FindAsset(std::string_view prefix, std::string_view name,
                                       const AssetFolders& folders) {
  if (!StaysInside(name)) {
    return MakeError(ErrorCode::kConfig, "{}: a name must stay inside its folder", name);
  }
  const std::string path = std::string(prefix) + std::string(name);
  for (const std::string& folder : folders.overrides) {
    const std::string full = folder + "/" + path;
    DOSSIER_ASSIGN_OR_RETURN(auto text, ReadAssetFile(full, kMaxTemplateBytes + 1));
    if (text) return Asset{.path = full, .text = std::move(*text), .from = Asset::From::kFolder};
  }
  if (const auto built_in = BuiltInAsset(path)) {
    return Asset{.path = "builtin:" + path, .text = std::string(*built_in)};
  }
  return std::nullopt;
}

std::vector<std::string> ListAssets(std::string_view prefix,
                                    const std::vector<std::string_view>& endings,
                                    const AssetFolders& folders) {
  std::set<std::string> names;
  for (const std::string& folder : folders.overrides) {
    ListFolder(folder + "/" + std::string(prefix.substr(0, prefix.size() - 1)), endings, &names);
  }
  for (const std::string_view path : BuiltInAssets(prefix)) {
    for (const std::string_view ending : endings) {
      if (path.ends_with(ending)) names.emplace(path.substr(prefix.size()));
    }
  }
  return {names.begin(), names.end()};
}

Result<Template> FindTemplate(std::string_view name, const AssetFolders& folders) {
  DOSSIER_ASSIGN_OR_RETURN(const std::optional<Asset> asset, FindAsset("prompts/", name, folders));
  if (!asset) {
    return MakeError(ErrorCode::kNotFound, "template {}: not found{}; searched {}", name,
                     NearestHint(name, ListAssets("prompts/", {".md"}, folders)),
                     Searched(folders));
  }
  if (asset->from == Asset::From::kBuiltIn) return ParseTemplate(asset->text, asset->path);
  DOSSIER_ASSIGN_OR_RETURN(const std::optional<Asset> built_in, FindAsset("prompts/", name, {}));
  if (!built_in) return ParseTemplate(asset->text, asset->path);
  DOSSIER_ASSIGN_OR_RETURN(const Template contract, ParseTemplate(built_in->text, built_in->path));
  return ParseTemplateAgainst(asset->text, asset->path, &contract);
}

Status LoadTemplates(const AssetFolders& folders, Layout* layout) {
  for (const LayoutSection& section : layout->sections) {
    if (section.template_name.empty()) continue;
    const auto loaded =
        LoadTemplate(section.template_name, folders, section.line, section.column, layout);
    // An optional section is absent if its file is.
    const bool may_miss = section.missing == LayoutSection::Missing::kIsAllowed &&
                          section.need == LayoutSection::Need::kOptional;
    if (!loaded && may_miss) {
      const auto asset = FindAsset("prompts/", section.template_name, folders);
      if (asset && !*asset) continue;
    }
    DOSSIER_RETURN_IF_ERROR(loaded);
    const bool cut = section.fit != Fit::kWhole || section.cap_chars;
    if (cut && HasFences(layout->templates.at(section.template_name))) {
      return tl::unexpected(
          PlaceError(layout->file, section.line, section.column,
                     fmt::format("section {}: a template with fenced values must keep fit whole",
                                 section.name)));
    }
  }
  if (layout->lead.empty()) return {};
  return LoadTemplate(layout->lead, folders, 1, 1, layout);
}

Result<Layout> FindLayout(std::string_view name, const AssetFolders& folders,
                          std::string_view profile) {
  if (!StaysInside(name)) {
    return MakeError(ErrorCode::kConfig,
                     "layout {}: it must be a name, not a path; your own layout is the file "
                     "layouts/NAME.yaml in a folder that --layouts-dir names",
                     name);
  }
  std::vector<std::string> chain;
  DOSSIER_ASSIGN_OR_RETURN(LayoutFile file, ReadChain(name, folders, profile, &chain));
  DOSSIER_ASSIGN_OR_RETURN(Layout layout, FinishLayout(std::move(file)));
  layout.found_as = name;
  DOSSIER_RETURN_IF_ERROR(CheckFences(name, profile, layout));
  DOSSIER_RETURN_IF_ERROR(LoadTemplates(folders, &layout));
  return layout;
}

}  // namespace dossier::assembly
