// `dossier tokens`: how many tokens files, folders or stdin are, the longest prefix that fits, a
// gate.
//
//   TokensArguments arguments{.paths = {"src"}, .fail_over = 60000};
//   int exit_code = RunTokens(arguments, std::cout, std::cerr);
//
// Thread-safety: none needed; one call a process.

#ifndef DOSSIER_CLI_TEXTS_TOKENS_COMMAND_H_
#define DOSSIER_CLI_TEXTS_TOKENS_COMMAND_H_

#include <CLI/App.hpp>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.h"

namespace dossier::cli {

struct TokensArguments {
  std::vector<std::string> paths;         // "-" is stdin
  std::string encoding;                   // --encoding; empty: o200k_base
  std::string model;                      // -m
  bool ids = false;                       // --ids
  bool tree = false;                      // --tree
  bool json = false;                      // --json
  std::optional<std::int64_t> fit;        // --fit
  std::optional<std::int64_t> fail_over;  // --fail-over
  CancelToken cancel;                     // Ctrl-C
};

void AddTokensCommand(CLI::App& command, TokensArguments* arguments);

// Returns the exit code: 0, 2, 3 (unknown model), 4 (a file cannot be read), 9 (more than
// --fail-over), 130.
int RunTokens(const TokensArguments& arguments, std::ostream& out, std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TEXTS_TOKENS_COMMAND_H_
