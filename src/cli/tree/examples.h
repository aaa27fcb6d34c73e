// Examples of each command, shown first by --help and in the manual page.
//
//   ExamplesOf("models pull")       // "dossier models pull\n    the default local model"
//
// Thread-safety: constant data.

#ifndef DOSSIER_CLI_TREE_EXAMPLES_H_
#define DOSSIER_CLI_TREE_EXAMPLES_H_

#include <string_view>

namespace dossier::cli {

// A line for each command line, with an indented line behind it that says what it does. "" if there
// are none.
std::string_view ExamplesOf(std::string_view command);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TREE_EXAMPLES_H_
