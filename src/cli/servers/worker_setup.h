// What `worker` and `serve --store` need beside their flags.
//
//   DOSSIER_ASSIGN_OR_RETURN(options.cache_folder, WorkerFolder());
//   options.say = SayOn(context);
//
// Thread-safety: the function that SayOn returns, from any thread while the context is there.

#ifndef DOSSIER_CLI_SERVERS_WORKER_SETUP_H_
#define DOSSIER_CLI_SERVERS_WORKER_SETUP_H_

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/tree/command.h"

namespace dossier::cli {

// Where a worker keeps what it fetched, if nobody names another folder. Errors: kConfig.
Result<std::string> WorkerFolder();
// Writes lines to stderr, one at a time; none with --quiet.
std::function<void(std::string_view line)> SayOn(Context& context);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_SERVERS_WORKER_SETUP_H_
