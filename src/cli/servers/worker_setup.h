// Settings that `worker` and `serve --store` need besides their flags.
//
//   DOSSIER_ASSIGN_OR_RETURN(options.cache_folder, WorkerFolder());
//   options.say = SayOn(context);
//
// Thread-safety: any thread may call the result of SayOn while the context exists.

#ifndef DOSSIER_CLI_SERVERS_WORKER_SETUP_H_
#define DOSSIER_CLI_SERVERS_WORKER_SETUP_H_

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/tree/command.h"

namespace dossier::cli {

// Returns the default folder for what a worker fetches. Errors: kConfig.
Result<std::string> WorkerFolder();
// Returns a function that writes lines to stderr, one at a time; none with --quiet.
std::function<void(std::string_view line)> SayOn(Context& context);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_SERVERS_WORKER_SETUP_H_
