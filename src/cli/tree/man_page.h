// Manual pages in roff, from the tree.
//
//   out << ManPage(root, *FindCommand(root, {"models", "pull"}), "dossier models pull");
//
// Thread-safety: pure functions.

#ifndef DOSSIER_CLI_TREE_MAN_PAGE_H_
#define DOSSIER_CLI_TREE_MAN_PAGE_H_

#include <CLI/App.hpp>
#include <string>
#include <string_view>

namespace dossier::cli {

// The page of `command`; that of the root lists exit codes and files, too.
std::string ManPage(const CLI::App& command, std::string_view path);

// `text` as roff that prints just that.
std::string RoffText(std::string_view text);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TREE_MAN_PAGE_H_
