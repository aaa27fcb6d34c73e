// The `dossier` command: one table of sub-commands.
//
// Thread-safety: called once, by main.

#ifndef DOSSIER_CLI_COMMAND_LINE_H_
#define DOSSIER_CLI_COMMAND_LINE_H_

namespace dossier::cli {

inline constexpr const char* kVersion = "0.1.0";

// Parses the arguments and runs the command; returns the exit code.
int RunCommandLine(int argc, char** argv);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_COMMAND_LINE_H_
