// The flags that every command accepts, before or after its name.
//
//   GlobalFlags flags;
//   AddGlobalFlags(declared, &flags);    // of the root; valid after every command, too
//
// Thread-safety: plain data.

#ifndef DOSSIER_CLI_WIRING_GLOBAL_FLAGS_H_
#define DOSSIER_CLI_WIRING_GLOBAL_FLAGS_H_

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cli/terminal/standard_streams.h"
#include "cli/tree/command.h"
#include "config/config.h"
#include "config/load.h"

namespace dossier::cli {

struct GlobalFlags {
  std::string folder;              // -C: start in this folder
  std::string config_name;         // --config
  std::string config_dir;          // --config-dir
  std::string conversations_path;  // --conversations-path
  std::string color = "auto";      // --color
  std::string log_file;            // --log-file
  std::string stdin_timeout;       // --stdin-timeout
  int verbose = 0;                 // -v, number of times
  bool compat = false;             // --compat
  bool trust_config = false;       // --trust-config
  bool quiet = false;              // -q
  bool no_input = false;           // --no-input: never ask a question
  bool yes = false;                // -y: answer yes to every question
  bool offline = false;            // --offline: nothing leaves the machine
  bool no_stdin = false;           // --no-stdin
  LogBuffer* log = nullptr;        // stderr's, for `log_file`; owned by the process
};

void AddGlobalFlags(Flags& all, GlobalFlags* to);

// 0 means "wait for ever"; unset: the flag was not given. Errors: kUsage.
Result<std::optional<Millis>> StdinTimeout(const GlobalFlags& flags);

// Makes the request from the working folder, the environment and the flags.
Result<config::LoadRequest> MakeLoadRequest(const GlobalFlags& flags);

// Loads all layers, with trust: asks on a terminal, else says what to run. `overrides` are a
// command's own flags that set keys. Warnings go to `err`. Errors: as config::LoadConfig; kRefused
// for a project file that is not trusted.
Result<config::Config> LoadConfig(const GlobalFlags& flags,
                                  const std::vector<config::Override>& overrides,
                                  std::ostream& err);

// Checks that a project file with power keys may be used: asks on a terminal, else says what to
// run. Errors: kRefused.
Status CheckTrust(const GlobalFlags& flags, const config::Question& question, std::ostream& err);

// Wraps CheckTrust for readers of project files. `flags` and `err` must outlive the result.
config::Decide DecideBy(const GlobalFlags& flags, std::ostream& err);

// Returns true if a person can be asked: stdin and stderr are terminals, without --no-input.
bool MayAsk(const GlobalFlags& flags);

// The answer that the Enter key alone gives.
enum class DefaultAnswer { kNo, kYes };

// Asks on the terminal; `-y` is yes. Errors: kUsage if it may not ask, with `way_out`.
Result<bool> Confirm(const GlobalFlags& flags, std::string_view question, std::string_view way_out,
                     std::ostream& err, DefaultAnswer answer = DefaultAnswer::kNo);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_GLOBAL_FLAGS_H_
