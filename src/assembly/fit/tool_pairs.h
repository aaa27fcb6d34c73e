// Tool calls and their results belong together: providers refuse either one alone.
//
//   std::vector<Turn> turns = PairTools(history, "history", &repairs);
//
// Thread-safety: pure function.

#ifndef DOSSIER_ASSEMBLY_FIT_TOOL_PAIRS_H_
#define DOSSIER_ASSEMBLY_FIT_TOOL_PAIRS_H_

#include <string_view>
#include <vector>

#include "assembly/fit/part.h"

namespace dossier::assembly {

// `turns` in which every call has its result in the turns right behind it, and every result its
// call before it. A call without a result and a result without a call stay as text, each reported
// as R-4. Results keep their order and count; only where they stand apart from their call do they
// become text. `section` is named in `repairs`.
std::vector<Turn> PairTools(const std::vector<Turn>& turns, std::string_view section,
                            std::vector<Repair>* repairs);

}  // namespace dossier::assembly

#endif  // DOSSIER_ASSEMBLY_FIT_TOOL_PAIRS_H_
