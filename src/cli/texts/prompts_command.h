// `dossier prompts`: the layouts and templates that are in force, checked, compared and copied.
//
//   PromptsArguments arguments{.action = "check"};
//   int exit_code = RunPrompts(arguments, std::cout, std::cerr);

#ifndef DOSSIER_CLI_TEXTS_PROMPTS_COMMAND_H_
#define DOSSIER_CLI_TEXTS_PROMPTS_COMMAND_H_

#include <CLI/App.hpp>
#include <ostream>
#include <string>
#include <vector>

namespace dossier::cli {

struct PromptsArguments {
  std::string action;  // list, show, check, diff, copy
  std::string name;    // of show, diff, copy: "recursion/system.md", "recursion.small"
  std::vector<std::string> folders;  // of check
  std::string layouts_dir;
  bool json = false;  // of list and check
};

void AddPromptsCommand(CLI::App& command, PromptsArguments* arguments);
int RunPrompts(const PromptsArguments& arguments, std::ostream& out, std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_TEXTS_PROMPTS_COMMAND_H_
