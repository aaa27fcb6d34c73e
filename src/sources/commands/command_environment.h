// The environment of context commands: ours without secrets.
//
//   auto environment = CommandEnvironment(CurrentEnvironment(), command, known_keys);
//
// Thread-safety: pure functions; CurrentEnvironment reads the process's.

#ifndef DOSSIER_SOURCES_COMMANDS_COMMAND_ENVIRONMENT_H_
#define DOSSIER_SOURCES_COMMANDS_COMMAND_ENVIRONMENT_H_

#include <span>
#include <string>
#include <vector>

#include "sources/commands/context_command.h"

namespace dossier::sources {

// "NAME=VALUE".
std::vector<std::string> CurrentEnvironment();

// `inherited` without what IsSecretVariable knows and without values that hold one of `known_keys`,
// but with those that the command passes on; then what every command gets (no locks of git's, no
// colours, no pager), then the command's own.
std::vector<std::string> CommandEnvironment(std::span<const std::string> inherited,
                                            const ContextCommand& command,
                                            std::span<const std::string> known_keys);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_COMMANDS_COMMAND_ENVIRONMENT_H_
