// `dossier models`: which models there are, and the local one's weights and server.
//
//   ModelsArguments arguments;
//   AddModelsCommand(command, &arguments);
//   int exit_code = RunModels(arguments, interrupt.token(), std::cout, std::cerr);

#ifndef DOSSIER_CLI_SYSTEM_MODELS_COMMAND_H_
#define DOSSIER_CLI_SYSTEM_MODELS_COMMAND_H_

#include <CLI/App.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/cancel.h"

namespace dossier::cli {

struct ModelsArguments {
  std::string action;    // list, show, pull, start, stop, status, test, prices, serve-script
  std::string name;      // of a model; of `pull`: a model or a path; the script's file
  std::string provider;  // --provider
  std::string base_url, key_env, script;
  std::string record, roles;  // of serve-script
  std::string sha256;         // of a file that is pulled from an address
  std::string idle = "10m";
  std::optional<std::int64_t> context;  // tokens of the local server
  int port = 0;
  bool json = false, all = false;
  bool offline = false;                                      // --offline
  std::vector<int> probe_ports = {8080, 11434, 1234, 8000};  // a test has others
};

void AddModelsCommand(CLI::App& command, ModelsArguments* arguments);
int RunModels(const ModelsArguments& arguments, const CancelToken& cancel, std::ostream& out,
              std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_SYSTEM_MODELS_COMMAND_H_
