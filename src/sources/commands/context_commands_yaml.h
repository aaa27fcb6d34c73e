// The config key `context_commands`.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto commands, ReadContextCommands(*value, "dossier.yml"));
//
// Thread-safety: a pure function.

#ifndef DOSSIER_SOURCES_COMMANDS_CONTEXT_COMMANDS_YAML_H_
#define DOSSIER_SOURCES_COMMANDS_CONTEXT_COMMANDS_YAML_H_

#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/yaml/yaml.h"
#include "sources/commands/context_command.h"

namespace dossier::sources {

// `list` is the key's value; nothing (null) is an empty list. Places are counted from 0, as in
// "context_commands[2]: 'command' is missing (FILE:LINE)".
// Errors: kConfig with key, value, legal values and place.
Result<std::vector<ContextCommand>> ReadContextCommands(const YamlNode& list,
                                                        std::string_view file);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_COMMANDS_CONTEXT_COMMANDS_YAML_H_
