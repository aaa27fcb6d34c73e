// Resources that `ask` offers to the code of a run besides its context: tools from a file, and
// images that the code may show to the model of a sub-call.
//
//   DOSSIER_ASSIGN_OR_RETURN(request.tools, ReadAskTools(arguments, servers, config, cancel));
//   DOSSIER_ASSIGN_OR_RETURN(request.media, ReadAskMedia(arguments, model, network, cancel));
//
// Thread-safety: all functions from any thread.

#ifndef DOSSIER_CLI_RUNS_ASK_TOOLS_H_
#define DOSSIER_CLI_RUNS_ASK_TOOLS_H_

#include <optional>
#include <string>
#include <vector>

#include "app/open_model.h"
#include "ask/engine.h"
#include "base/cancel.h"
#include "base/net/named_place.h"
#include "base/result.h"
#include "cli/runs/ask_flags.h"
#include "cli/wiring/server_tools.h"
#include "config/config.h"

namespace dossier::cli {

// Reads the tools of --tools and of --mcp (`servers` without names). With kLookedAt, a call is an
// error to the code, and nothing is started. Errors: kNotFound; kConfig, with everything that is
// wrong in the file, or with names that are there twice; those of ServerTools.
Result<std::vector<ask::Tool>> ReadAskTools(const AskArguments& arguments, WantedServers servers,
                                            const config::Config& config,
                                            const CancelToken& cancel);

// Returns the tools that children may call, by --sub-tools; unset: all. Errors: kConfig, with the
// existing names.
Result<std::optional<std::vector<std::string>>> ChildToolsOf(const AskArguments& arguments,
                                                             const std::vector<ask::Tool>& tools);

// Reads the images of --media. An address is fetched once, here, because the user named it; no
// provider receives an address. Errors: kUsage; kDamaged (the size cannot be read); kConfig (no
// model of the run accepts images); those of files and addresses.
Result<std::vector<ask::Medium>> ReadAskMedia(const AskArguments& arguments,
                                              const OpenedModel& model, Network network,
                                              const CancelToken& cancel);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_RUNS_ASK_TOOLS_H_
