// From flags and configuration to the context commands of a run.
//
//   ContextFlags flags;  AddContextFlags(*command, &flags);
//   DOSSIER_ASSIGN_OR_RETURN(PreparedContext context, PrepareContext(flags, config));
//   chat::CommandContext source(context.setup);

#ifndef DOSSIER_CLI_WIRING_CONTEXT_SETUP_H_
#define DOSSIER_CLI_WIRING_CONTEXT_SETUP_H_

#include <CLI/App.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "chat/context/gather.h"
#include "config/config.h"
#include "store/content.h"

namespace dossier::cli {

struct ContextFlags {
  std::vector<std::string> exec, variables;
  std::int64_t jobs = 16;
  std::string timeout = "120";  // seconds, or "500ms"
};
// --exec, -D, --context-jobs, --context-timeout.
void AddContextFlags(CLI::App& command, ContextFlags* flags);

struct PreparedContext {
  chat::ContextSetup setup;
  std::unique_ptr<store::ContentStore> whole_outputs;  // of keep_full; `setup` points to it
};
// Errors: kConfig (a command), kUsage (a flag), kIo.
Result<PreparedContext> PrepareContext(const ContextFlags& flags, const config::Config& config);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_CONTEXT_SETUP_H_
