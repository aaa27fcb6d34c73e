// The templates in context commands, rendered before any process starts.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto commands, RenderCommands(declared, variables, {}, &warnings));
//
// Thread-safety: pure functions.

#ifndef DOSSIER_SOURCES_COMMANDS_CONTEXT_RENDER_H_
#define DOSSIER_SOURCES_COMMANDS_CONTEXT_RENDER_H_

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "sources/commands/context_command.h"
#include "sources/commands/variables.h"
#include "sources/template/template_render.h"

namespace dossier::sources {

// `command` strings are rendered with the shell rule, elements of `argv` one by one without; names,
// folders and the commands of --exec stay as they are.
// Errors: kConfig, naming the command and the variables there are.
Result<std::vector<ContextCommand>> RenderCommands(std::span<const ContextCommand> commands,
                                                   const TemplateVariables& variables,
                                                   CommandRules rules,
                                                   std::vector<std::string>* warnings);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_COMMANDS_CONTEXT_RENDER_H_
