// Where the links of one tree lead, by the tree alone (never one that leaves it).
//
//   TreeLinks links;
//   links.Add("out", "/etc");
//   links.Add("src/inner", "../out/passwd");
//   links.WayOut("src/inner")            // "out": behind that link the tree ends
//
// Each link may stay inside by its own words and yet go through another that does not. What is no
// link of the tree counts as a plain name: a folder, a file, or nothing.
//
// Thread-safety: const methods may be called from many threads.

#ifndef DOSSIER_AGENTS_GIT_TREE_LINKS_H_
#define DOSSIER_AGENTS_GIT_TREE_LINKS_H_

#include <map>
#include <string>
#include <string_view>

namespace dossier::agents {

inline constexpr int kMaxLinksOnAWay = 40;  // as Linux follows: MAXSYMLINKS, then ELOOP

class TreeLinks {
 public:
  void Add(std::string path, std::string target) {
    targets_.insert_or_assign(std::move(path), std::move(target));
  }

  // The last link that is followed on the way from the link `path` before the way leaves the tree
  // or enters git's folder; empty if it does neither. A way in circles leads nowhere, so not out.
  std::string WayOut(std::string_view path) const;

 private:
  std::map<std::string, std::string, std::less<>> targets_;  // by path
};

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_GIT_TREE_LINKS_H_
