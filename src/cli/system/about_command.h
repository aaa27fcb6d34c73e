// The commands that only speak of the program itself: help, completion, man, and `__complete`,
// which the completion scripts ask.
//
//   AboutArguments arguments{.words = {"models", "pull"}};
//   int exit_code = RunHelp(app, arguments, std::cout, std::cerr);
//
// None of them loads a library or opens a connection. Thread-safety: one call a process.

#ifndef DOSSIER_CLI_SYSTEM_ABOUT_COMMAND_H_
#define DOSSIER_CLI_SYSTEM_ABOUT_COMMAND_H_

#include <CLI/App.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "cli/wiring/global_flags.h"

namespace dossier::cli {

struct AboutArguments {
  std::vector<std::string> words;  // topic, page, or the words of __complete
  std::string shell;
};

void AddHelpCommand(CLI::App& command, AboutArguments* arguments);
void AddCompletionCommand(CLI::App& command, AboutArguments* arguments);
void AddManCommand(CLI::App& command, AboutArguments* arguments);
void AddCompleteCommand(CLI::App& command, AboutArguments* arguments);

// "dossier 0.1.0", or with --json one object.
void PrintVersion(const std::vector<std::string>& argv, std::ostream& out);

int RunHelp(const CLI::App& app, const AboutArguments& arguments, std::ostream& out,
            std::ostream& err);
int RunCompletion(const AboutArguments& arguments, std::ostream& out, std::ostream& err);
int RunMan(const CLI::App& app, const AboutArguments& arguments, std::ostream& out,
           std::ostream& err);
int RunComplete(const CLI::App& app, const AboutArguments& arguments, const GlobalFlags& flags,
                std::ostream& out);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_SYSTEM_ABOUT_COMMAND_H_
