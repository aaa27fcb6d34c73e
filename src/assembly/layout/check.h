// Checks every layout and template that a run could use (`dossier prompts check`).
//
//   for (const std::string& line : CheckAssets({.overrides = {"/home/me/.config/dossier"}})) {
//     Print(line);  // "ok builtin:prompts/recursion/ready.md"
//   }
//
// Thread-safety: pure functions that only read files.

#ifndef DOSSIER_ASSEMBLY_LAYOUT_CHECK_H_
#define DOSSIER_ASSEMBLY_LAYOUT_CHECK_H_

#include <string>
#include <vector>

#include "assembly/layout/layout.h"

namespace dossier::assembly {

// Returns one line per file, layouts first, sorted by name: "ok PATH", followed by warnings if
// there are any ("ok PATH (warning 4:5: …)"), or "PATH:LINE:COL: MESSAGE". A file in `folders`
// hides the built-in one of the same name.
std::vector<std::string> CheckAssets(const AssetFolders& folders);

// Returns what works but wastes the cache: "4:5: …", in layout order.
std::vector<std::string> CacheWarnings(const Layout& layout);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_LAYOUT_CHECK_H_
