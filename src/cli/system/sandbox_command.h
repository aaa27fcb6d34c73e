// `dossier sandbox test` and `dossier sandbox run`: the walls tried, and code run without a model.
//
//   int exit_code = RunSandboxTest({.json = true}, std::cout, std::cerr);
//   SandboxRunArguments run{.contexts = {"feed.ndjson"}, .files = {"block.py"}};
//   exit_code = RunSandboxRun(run, std::cout, std::cerr);
//
// One field a flag; values that a person typed stay text here. Thread-safety: one call a process.

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

// "67 of 67 refused", with a line for each that was not; then a table of the kinds of jail. Returns
// 0, 15 if an attempt had an effect, 12 if the sandbox does not start, 2, 130.
int RunSandboxTest(const SandboxTestArguments& arguments, std::ostream& out, std::ostream& err);

struct SandboxRunArguments {
  std::string dialect = "python";     // --dialect: python
  std::vector<std::string> contexts;  // -c: files of UTF-8 text; "-" is stdin
  std::vector<std::string> files;     // blocks, in order; "-" is stdin
  bool json = false;                  // one object with all blocks' results
  SandboxFlags flags;
  std::string worker_path;                   // empty: beside the command
  std::vector<std::string> disabled_layers;  // for tests
  CancelToken cancel;
};

// Prints what the blocks print. Returns 0, 1 if the last block raised, 2, 4, 12, 130.
int RunSandboxRun(const SandboxRunArguments& arguments, std::ostream& out, std::ostream& err);

Command SandboxExecCommand();  // below `sandbox`
Command SandboxPolicyCommand();

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_SYSTEM_SANDBOX_COMMAND_H_
