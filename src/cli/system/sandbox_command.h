// `dossier sandbox test` and `dossier sandbox run`: tests the jail, and runs code without a model.
//
//   int exit_code = RunSandboxTest({.json = true}, std::cout, std::cerr);
//   SandboxRunArguments run{.contexts = {"feed.ndjson"}, .files = {"block.py"}};
//   exit_code = RunSandboxRun(run, std::cout, std::cerr);
//
// One field per flag; values stay text as typed. Thread-safety: one call per process.

#ifndef DOSSIER_CLI_SYSTEM_SANDBOX_COMMAND_H_
#define DOSSIER_CLI_SYSTEM_SANDBOX_COMMAND_H_

#include <iosfwd>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "cli/tree/command.h"
#include "cli/wiring/shared_flags.h"

namespace dossier::cli {

struct SandboxTestArguments {
  bool json = false;
  SandboxFlags flags;
  std::string worker_path;                   // empty: beside the command
  std::vector<std::string> disabled_layers;  // for tests
  CancelToken cancel;
};

// Prints "67 of 67 refused", a line for each attempt that was not, and a table of the kinds of
// jail. Returns 0, 15 if an attempt had an effect, 12 if the sandbox does not start, 2, 130.
int RunSandboxTest(const SandboxTestArguments& arguments, std::ostream& out, std::ostream& err);

struct SandboxRunArguments {
  std::string dialect = "python";     // --dialect: python
  std::vector<std::string> contexts;  // -c: files of UTF-8 text; "-" is stdin
  std::vector<std::string> files;     // code blocks, in order; "-" is stdin
  bool json = false;                  // one object with the results of all blocks
  SandboxFlags flags;
  std::string worker_path;                   // empty: beside the command
  std::vector<std::string> disabled_layers;  // for tests
  CancelToken cancel;
};

// Prints the output of the blocks. Returns 0, 1 if the last block raised, 2, 4, 12, 130.
int RunSandboxRun(const SandboxRunArguments& arguments, std::ostream& out, std::ostream& err);

Command SandboxExecCommand();  // a command of `sandbox`
Command SandboxPolicyCommand();

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_SYSTEM_SANDBOX_COMMAND_H_
