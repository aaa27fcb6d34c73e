// Sets up the context commands of a run, from the configuration and what the caller adds.
//
//   DOSSIER_ASSIGN_OR_RETURN(PreparedContext context, PrepareContext({.exec = {"ls"}}, config));
//   chat::CommandContext source(context.setup);
//
// Thread-safety: a function over files and the environment.

#ifndef DOSSIER_APP_CONTEXT_SETUP_H_
#define DOSSIER_APP_CONTEXT_SETUP_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "chat/context/gather.h"
#include "config/config.h"
#include "store/content.h"

namespace dossier::app {

struct ContextWish {
  std::vector<std::string> exec;       // commands in addition to the configured ones
  std::vector<std::string> variables;  // KEY=VALUE, for templates in commands
  std::int64_t jobs = 16;              // maximum number of concurrent commands
  Millis deadline{120'000};            // for all commands together
};

struct PreparedContext {
  chat::ContextSetup setup;
  std::unique_ptr<store::ContentStore> whole_outputs;  // for keep_full; `setup` points to it
};
// Errors: kConfig (a command), kUsage (a variable), kIo.
Result<PreparedContext> PrepareContext(const ContextWish& wish, const config::Config& config);

}  // namespace dossier::app

#endif  // DOSSIER_APP_CONTEXT_SETUP_H_
