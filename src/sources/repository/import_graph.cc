#include "sources/repository/import_graph.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text/text.h"

namespace dossier::sources {
namespace {

// "a/b.h", "a.b", "crate::a::b" and "./b" as names; what only points somewhere is left out.
std::vector<std::string> NamesOf(std::string_view import) {
  std::string text = ReplaceAll(import, "::", "/");
  const std::size_t slash = text.rfind('/');
  if (slash == std::string::npos && text.find('.') != std::string::npos && !text.ends_with(".h") &&
      !text.ends_with(".hpp")) {
    text = ReplaceAll(text, ".", "/");
  } else if (const std::size_t dot = text.rfind('.');
             dot != std::string::npos && (slash == std::string::npos || dot > slash + 1)) {
    text.resize(dot);
  }
  std::vector<std::string> names;
  for (const std::string_view name : Split(text, '/')) {
    if (name.empty() || name == "." || name == ".." || name == "crate" || name == "self" ||
        name == "super" || name == "*") {
      continue;
    }
    names.emplace_back(name);
  }
  return names;
}

std::vector<std::string> NamesOfPath(std::string_view path) {
  std::vector<std::string> names;
  for (const std::string_view name : Split(path, '/')) names.emplace_back(name);
  std::string& last = names.back();
  if (const std::size_t dot = last.rfind('.'); dot != std::string::npos && dot > 0)
    last.resize(dot);
  const bool folder = last == "__init__" || last == "index" || last == "mod";
  if (folder && names.size() > 1) names.pop_back();
  return names;
}

std::size_t CommonEnd(const std::vector<std::string>& a, const std::vector<std::string>& b,
                      std::size_t limit) {
  std::size_t common = 0;
  while (common < a.size() && common < limit && a[a.size() - 1 - common] == b[limit - 1 - common]) {
    ++common;
  }
  return common;
}

}  // namespace

ImportGraph::ImportGraph(const std::vector<std::string>& paths) : paths_(paths) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    std::vector<std::string> names = NamesOfPath(paths[i]);
    const std::string last = names.back();
    by_name_[last].push_back({std::move(names), i});
  }
}

std::optional<std::size_t> ImportGraph::Find(std::string_view from, std::string_view import) const {
  const std::vector<std::string> names = NamesOf(import);
  const std::vector<std::string> here = NamesOfPath(from);
  // The last name may be something inside the file: `from a import Name`, `use a::b::Name`.
  for (std::size_t length = names.size(); length > 0 && length + 2 > names.size(); --length) {
    const auto found = by_name_.find(names[length - 1]);
    if (found == by_name_.end()) continue;
    const Target* best = nullptr;
    std::tuple<std::size_t, bool, std::size_t> best_fit;
    for (const Target& target : found->second) {
      const auto nearer =
          std::mismatch(target.names.begin(), target.names.end(), here.begin(), here.end());
      const std::tuple<std::size_t, bool, std::size_t> fit = {
          CommonEnd(target.names, names, length), paths_[target.file].ends_with(import),
          static_cast<std::size_t>(nearer.first - target.names.begin())};
      if (!best || fit > best_fit) {
        best = &target;
        best_fit = fit;
      }
    }
    // One name of many that are asked for is chance.
    if (std::get<0>(best_fit) * 2 < length) return std::nullopt;
    return best->file;
  }
  return std::nullopt;
}

}  // namespace dossier::sources
