#include "assembly/layout/check.h"

#include <array>
#include <set>

#include "assembly/layout/lookup.h"
#include "assembly/layout/template_scan.h"
#include "base/files/locations.h"
#include "base/text/text.h"
#include "base/yaml/yaml.h"

namespace dossier::assembly {
namespace {

// Returns how often a section changes; undeclared counts as never.
int Frequency(const LayoutSection& section) {
  constexpr std::array<std::string_view, 4> kOrder = {"never", "run", "turn", "call"};
  const auto found = std::find(kOrder.begin(), kOrder.end(), section.changes);
  return found == kOrder.end() ? 0 : static_cast<int>(found - kOrder.begin());
}

std::string At(const LayoutSection& section, std::string_view message) {
  return fmt::format("{}:{}: {}", section.line, section.column, message);
}

// A name that a layout uses but its `vars` do not declare; nullopt if it declares none.
std::optional<std::string> FindUndeclared(const Layout& layout, const LayoutSection& section) {
  if (layout.vars.empty()) return std::nullopt;
  std::vector<std::string> known;
  for (const LayoutVariable& variable : layout.vars) known.push_back(variable.name);
  for (const std::string& name : {section.variable, section.when, section.unless}) {
    if (name.empty() || std::find(known.begin(), known.end(), name) != known.end()) continue;
    return Guess("undeclared variable", name, known);
  }
  return std::nullopt;
}

// Formats messages without their own place as "PATH:1:1: message".
std::string ErrorLine(const std::string& path, const Error& error) {
  const bool placed =
      error.code == ErrorCode::kConfig && error.message.find(':') != std::string::npos;
  if (placed) return error.message;
  return fmt::format("{}:1:1: {}", path, error.message);
}

std::string OkLine(const std::string& path, const std::vector<std::string>& warnings) {
  if (warnings.empty()) return "ok " + path;
  return fmt::format("ok {} (warning {})", path, Join(warnings, "; "));
}

class Checker {
 public:
  explicit Checker(const AssetFolders& folders) : folders_(folders) {}

  std::vector<std::string> Run() {
    for (const std::string& file : ListAssets("layouts/", {".yaml", ".yml"}, folders_)) {
      lines_.push_back(CheckLayout(file));
    }
    for (const std::string& file : ListAssets("prompts/", {".md"}, folders_)) {
      lines_.push_back(CheckTemplate(file));
    }
    return std::move(lines_);
  }

 private:
  std::string CheckLayout(const std::string& file) {
    const std::string path = PathOf("layouts/", file);
    auto layout = FindLayout(file.substr(0, file.rfind('.')), folders_);
    if (!layout) return ErrorLine(path, layout.error());
    for (const LayoutSection& section : layout->sections) {
      used_.insert(section.template_name);
      if (const auto undeclared = FindUndeclared(*layout, section)) {
        return fmt::format("{}:{}", path, At(section, *undeclared));
      }
    }
    used_.insert(layout->lead);
    // A warning is advice to change the file, so there is none for built-in files.
    if (path.starts_with("builtin:")) return OkLine(path, {});
    return OkLine(path, CacheWarnings(*layout));
  }

  std::string CheckTemplate(const std::string& file) {
    const std::string path = PathOf("prompts/", file);
    auto found = FindTemplate(file, folders_);
    if (!found) return ErrorLine(path, found.error());
    if (!BuiltInAsset("prompts/" + file) && !used_.contains(file)) {
      std::vector<std::string> known;
      for (const std::string_view name : BuiltInAssets("prompts/")) {
        known.emplace_back(name.substr(std::string_view("prompts/").size()));
      }
      known.insert(known.end(), used_.begin(), used_.end());
      return fmt::format("{}:1:1: {}", path, Guess("no layout uses a template", file, known));
    }
    return OkLine(path, {});
  }

  std::string PathOf(std::string_view prefix, const std::string& file) const {
    const auto asset = FindAsset(prefix, file, folders_);
    return asset && *asset ? (*asset)->path : std::string(prefix) + file;
  }

  const AssetFolders& folders_;
  std::set<std::string> used_;  // templates that some layout names
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> CacheWarnings(const Layout& layout) {
  std::vector<std::string> out;
  std::vector<const LayoutSection*> order;
  for (const LayoutSection& section : layout.sections) order.push_back(&section);
  std::stable_sort(order.begin(), order.end(), [](const LayoutSection* a, const LayoutSection* b) {
    return a->zone < b->zone;
  });
  for (std::size_t i = 0; i < order.size(); ++i) {
    const LayoutSection& section = *order[i];
    const bool cut_by_others =
        section.zone == Zone::kStable && section.fit != Fit::kWhole && !section.tokens;
    if (cut_by_others) {
      out.push_back(At(section, fmt::format("the cut of {} depends on other sections; give it "
                                            "tokens: N, so that the cached prefix holds",
                                            section.name)));
    }
    // The request is the end of the prompt: it is never read from a cache.
    if (section.zone == Zone::kRequest) continue;
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      if (order[j]->zone == Zone::kRequest || Frequency(*order[j]) >= Frequency(section)) continue;
      if (order[j]->changes.empty()) continue;
      out.push_back(
          At(section, fmt::format("{} changes each {} and stands before {}, which changes "
                                  "less often",
                                  section.name, section.changes, order[j]->name)));
      break;
    }
  }
  return out;
}

std::vector<std::string> CheckAssets(const AssetFolders& folders) { return Checker(folders).Run(); }

}  // namespace dossier::assembly
