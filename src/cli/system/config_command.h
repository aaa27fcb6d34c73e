// `dossier config`, `dossier paths`: what is configured here, by which file, and changing it.
//
//   ConfigArguments arguments{.action = "show"};
//   int exit_code = RunConfig(arguments, flags, std::cout, std::cerr);
//
// Thread-safety: none needed; one call a process.

#ifndef DOSSIER_CLI_SYSTEM_CONFIG_COMMAND_H_
#define DOSSIER_CLI_SYSTEM_CONFIG_COMMAND_H_

#include <CLI/App.hpp>
#include <ostream>
#include <string>

#include "cli/wiring/global_flags.h"

namespace dossier::cli {

struct ConfigArguments {
  std::string action;  // show, get, set, edit, validate, path, init
  std::string key, value;
  std::string file;     // of validate
  bool origin = false;  // show --origin
  bool json = false;
  bool global = false;  // the user's own file
};

struct PathsArguments {
  bool json = false;
};

void AddConfigCommand(CLI::App& command, ConfigArguments* arguments);
void AddPathsCommand(CLI::App& command, PathsArguments* arguments);

// Exit codes: 0; 2 unknown key; 3 mistakes in a file; 4 no such file, key not set; 12 owner.
// Nothing here needs trust: a file has to be looked at before it is approved.
int RunConfig(const ConfigArguments& arguments, const GlobalFlags& flags, std::ostream& out,
              std::ostream& err);
int RunPaths(const PathsArguments& arguments, const GlobalFlags& flags, std::ostream& out,
             std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_SYSTEM_CONFIG_COMMAND_H_
