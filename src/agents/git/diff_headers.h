// The paths in the headers of a diff that a program wrote.
//
//   for (const std::string_view path : DiffHeaderPaths(text)) …   // "a/src/x.cc", "/dev/null"
//
// As they stand, with a prefix, quoted or not; lines of hunks that look like headers are not. `git
// apply` strips a leading slash, so an absolute path shows only here.
//
// Thread-safety: a pure function.

#ifndef DOSSIER_AGENTS_GIT_DIFF_HEADERS_H_
#define DOSSIER_AGENTS_GIT_DIFF_HEADERS_H_

#include <string_view>
#include <vector>

namespace dossier::agents {

// What follows `--- `, `+++ `, `rename from ` and `to `, `copy from ` and `to `, up to a tab.
std::vector<std::string_view> DiffHeaderPaths(std::string_view text);

}  // namespace dossier::agents

#endif  // DOSSIER_AGENTS_GIT_DIFF_HEADERS_H_
