// `dossier header`: the state of the repository as the head of a prompt.
//
// The header goes to stdout, warnings to stderr. Thread-safety: none needed; one call a process.

#ifndef DOSSIER_CLI_TEXTS_HEADER_COMMAND_H_
#define DOSSIER_CLI_TEXTS_HEADER_COMMAND_H_

#include <CLI/App.hpp>
#include <ostream>
#include <string>

#include "base/cancel.h"
#include "cli/wiring/global_flags.h"

namespace dossier::cli {

struct HeaderArguments {
  std::string task, window, now, with;  // empty: not given
  std::string format = "yaml";
  std::string mode = "propose";
  std::string age_step = "1s";
  bool tokens = false;
  bool json = false;
};

void AddHeaderCommand(CLI::App& command, HeaderArguments* arguments);

// Returns the exit code.
int RunHeader(const HeaderArguments& arguments, const GlobalFlags& flags, const CancelToken& cancel,
              std::ostream& out, std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TEXTS_HEADER_COMMAND_H_
