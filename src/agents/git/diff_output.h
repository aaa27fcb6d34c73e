// Parses the output of `git diff-tree -z --raw --numstat -p -M`.
//
//   DOSSIER_ASSIGN_OR_RETURN(const DiffOutput diff, ParseDiffOutput(out));
//   diff.changes, diff.stat, out.substr(diff.text_at)
//
// Private to this module. Thread-safety: a pure function.

#ifndef DOSSIER_AGENTS_GIT_DIFF_OUTPUT_H_
#define DOSSIER_AGENTS_GIT_DIFF_OUTPUT_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agents/git/patch.h"

namespace dossier::agents {

struct DiffOutput {
  std::vector<PathChange> changes;  // a rename gives two; in path order
  PatchStat stat;                   // counts a rename as one file
  std::size_t text_at = 0;          // offset of the patch
};

// Errors: kProtocol for any other form.
Result<DiffOutput> ParseDiffOutput(std::string_view out);

// Finds symbolic links in a tree that lead out of it, from the tree's contents alone, without a
// file system.
//
//   TreeLinks links;
//   links.Add("out", "/etc");
//   links.Add("src/inner", "../out/passwd");
//   links.WayOut("src/inner")            // "out": behind that link the tree ends
//
// A link whose own target stays inside may still pass through another link that leads out. A name
// that is not a link of the tree counts as a plain folder or file.
//
// Thread-safety: const methods may be called from many threads.

inline constexpr int kMaxLinksOnAWay = 40;  // Linux's limit: MAXSYMLINKS, then ELOOP

class TreeLinks {
 public:
  void Add(std::string path, std::string target) {
    targets_.insert_or_assign(std::move(path), std::move(target));
  }

  // Returns the last link followed from the link `path` before resolution leaves the tree or enters
  // git's folder; empty if it does neither. A loop leads nowhere, so it does not lead out.
  std::string WayOut(std::string_view path) const;

 private:
  std::map<std::string, std::string, std::less<>> targets_;  // by path
};

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_GIT_DIFF_OUTPUT_H_
