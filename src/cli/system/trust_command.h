// `dossier trust`: approving the configuration of projects.
//
//   TrustArguments arguments{.path = "."};
//   int exit_code = RunTrust(arguments, flags, std::cout, std::cerr);
//
// Thread-safety: none needed; one call a process.

#ifndef DOSSIER_CLI_SYSTEM_TRUST_COMMAND_H_
#define DOSSIER_CLI_SYSTEM_TRUST_COMMAND_H_

#include <CLI/App.hpp>
#include <ostream>
#include <string>

#include "cli/wiring/global_flags.h"

namespace dossier::cli {

struct TrustArguments {
  std::string path;    // file or folder; "": the working folder
  std::string show;    // --show PATH
  std::string revoke;  // --revoke PATH
  bool list = false;   // --list
  bool json = false;   // of --list
};

void AddTrustCommand(CLI::App& command, TrustArguments* arguments);

// Exit codes: 0; 3 (a file that can't be read as configuration), 4 (nothing there, not approved).
int RunTrust(const TrustArguments& arguments, const GlobalFlags& flags, std::ostream& out,
             std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_SYSTEM_TRUST_COMMAND_H_
