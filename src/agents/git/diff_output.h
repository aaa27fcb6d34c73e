// Reads what `git diff-tree -z --raw --numstat -p -M` prints.
//
//   DOSSIER_ASSIGN_OR_RETURN(const DiffOutput diff, ParseDiffOutput(out));
//   diff.changes, diff.stat, out.substr(diff.text_at)
//
// Private to this module. Thread-safety: a pure function.

#ifndef DOSSIER_AGENTS_GIT_DIFF_OUTPUT_H_
#define DOSSIER_AGENTS_GIT_DIFF_OUTPUT_H_

#include <string_view>
#include <vector>

#include "agents/git/patch.h"

namespace dossier::agents {

struct DiffOutput {
  std::vector<Change> changes;  // renames as two, in the order of paths
  PatchStat stat;               // renames as one
  std::size_t text_at = 0;      // where the patch begins
};

// Errors: kProtocol for anything but that form.
Result<DiffOutput> ParseDiffOutput(std::string_view out);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_GIT_DIFF_OUTPUT_H_
