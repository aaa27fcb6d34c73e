// `dossier sandbox exec` and `dossier sandbox policy`: a program run in the jail, and what the
// command policy says of a command line, for those who write roots and rules.
//
//   int exit_code = RunSandboxExec({.read = {"/srv/data"}, .argv = {"ls", "/srv/data"}}, out, err);
//   exit_code = RunSandboxPolicy({.argv = {"git", "log"}}, out, err);
//
// Thread-safety: one call a process.

#ifndef DOSSIER_CLI_SYSTEM_JAIL_COMMAND_H_
#define DOSSIER_CLI_SYSTEM_JAIL_COMMAND_H_

#include <CLI/App.hpp>
#include <iosfwd>
#include <string>
#include <vector>

#include "base/cancel.h"

namespace dossier::cli {

struct SandboxExecArguments {
  std::vector<std::string> read, write;  // folders, relative to the working folder
  bool network = false;
  std::string mode = "strict";
  std::string cpu, memory, timeout;  // as typed; empty: the library's default
  bool json = false;
  std::vector<std::string> argv;
  std::vector<std::string> disabled_layers;  // for tests
  CancelToken cancel;
};

// Output passes through as it comes; with `json` one object at the end. Returns the program's
// status, 128 + N for a signal, 7 after --timeout, 10 after another limit, 2, 4, 12, 130.
int RunSandboxExec(const SandboxExecArguments& arguments, std::ostream& out, std::ostream& err);

struct SandboxPolicyArguments {
  std::vector<std::string> allow, deny, available;
  std::string root;  // of the <path>s; empty: the working folder
  bool json = false;
  std::vector<std::string> argv;  // one word with spaces is taken apart as a command line
};

// Prints the decision and the rule. Returns 0 if allowed, 12 if refused, 3 for a malformed rule.
int RunSandboxPolicy(const SandboxPolicyArguments& arguments, std::ostream& out, std::ostream& err);

void AddSandboxExecCommand(CLI::App& sandbox, SandboxExecArguments* arguments);
void AddSandboxPolicyCommand(CLI::App& sandbox, SandboxPolicyArguments* arguments);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_SYSTEM_JAIL_COMMAND_H_
