// Compares two texts line by line and writes a unified diff.
//
//   out << UnifiedDiff("a.md", "one\ntwo\n", "b.md", "one\n2\n");
//
// Thread-safety: pure function.

#ifndef DOSSIER_BASE_TEXT_TEXT_DIFF_H_
#define DOSSIER_BASE_TEXT_TEXT_DIFF_H_

#include <string>
#include <string_view>

namespace dossier {

// Has three lines of context; empty if the texts are equal. Finds the shortest set of changes in
// time and memory proportional to lines times changes; beyond 2,000 changes the rest is shown as
// one change.
std::string UnifiedDiff(std::string_view before_name, std::string_view before,
                        std::string_view after_name, std::string_view after);

}  // namespace dossier

#endif  // DOSSIER_BASE_TEXT_TEXT_DIFF_H_
