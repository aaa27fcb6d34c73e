#include "agents/git/tree_links.h"

#include <deque>
#include <vector>

#include "agents/git/path_rules.h"
#include "base/text/text.h"

namespace dossier::agents {
namespace {

// Puts the parts of `target` before those that are still to be walked.
void Prepend(std::string_view target, std::deque<std::string_view>* ahead) {
  const std::vector<std::string_view> parts = Split(target, '/');
  ahead->insert(ahead->begin(), parts.begin(), parts.end());
}

}  // namespace

std::string TreeLinks::WayOut(std::string_view path) const {
  std::vector<std::string> here;  // folders from the root, links resolved
  std::deque<std::string_view> ahead;
  Prepend(path, &ahead);
  std::string_view through = path;
  for (int links = 0; !ahead.empty();) {
    const std::string_view part = ahead.front();
    ahead.pop_front();
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (here.empty()) return std::string(through);
      here.pop_back();
      continue;
    }
    if (PathProblem(part)) return std::string(through);
    here.emplace_back(part);
    const auto link = targets_.find(Join(here, "/"));
    if (link == targets_.end()) continue;
    if (++links > kMaxLinksOnAWay) return {};
    through = link->first;
    if (link->second.starts_with('/')) return std::string(through);
    here.pop_back();
    Prepend(link->second, &ahead);
  }
  return {};
}

}  // namespace dossier::agents
