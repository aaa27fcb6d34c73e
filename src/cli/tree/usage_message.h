// What the parser of the command line says, in words a person can use.
//
//   UsageMessage("--budget: Value 0 not in range 0.000000 to 1797693…")   // "--budget: 0 is too
//   small"
//
// Thread-safety: pure.

#ifndef DOSSIER_CLI_TREE_USAGE_MESSAGE_H_
#define DOSSIER_CLI_TREE_USAGE_MESSAGE_H_

#include <string>
#include <string_view>

namespace dossier::cli {

std::string UsageMessage(std::string_view parser_message);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TREE_USAGE_MESSAGE_H_
