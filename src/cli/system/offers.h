// Names that change from place to place, for completion: models, conversations, keys, variables.
//
//   Offer(app, "CONVERSATION", flags)     // {{"bug-12", ""}, …}
//
// No network, no database but the store of memory, no program is run, and a project's file that is
// not trusted does not count. What can't be read offers nothing: completion is no place for
// messages. Thread-safety: reads files and the environment.

#ifndef DOSSIER_CLI_SYSTEM_OFFERS_H_
#define DOSSIER_CLI_SYSTEM_OFFERS_H_

#include <CLI/App.hpp>
#include <string_view>
#include <vector>

#include "cli/tree/complete.h"
#include "cli/wiring/global_flags.h"

namespace dossier::cli {

std::vector<Completion> Offer(const CLI::App& app, std::string_view kind, const GlobalFlags& flags);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_SYSTEM_OFFERS_H_
