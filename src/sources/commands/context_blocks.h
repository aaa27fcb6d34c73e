// Blocks: the output of context commands between markers that no output can forge.
//
//   RenderBlock("Git Status", result);   // --- Context: Git Status ---
//                                        //  M src/file.py
//                                        // --- End Context ---
//   JoinBlocks(blocks);                  // one blank line between
//   RestoreOutput(body);                 // the output as it was
//   FindBlocks(system_message);          // in files that do not say where their blocks are
//
// Thread-safety: pure functions.

#ifndef DOSSIER_SOURCES_COMMANDS_CONTEXT_BLOCKS_H_
#define DOSSIER_SOURCES_COMMANDS_CONTEXT_BLOCKS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assembly/sources/fence.h"
#include "base/result.h"
#include "sources/commands/context_command.h"
#include "sources/commands/variables.h"
#include "sources/template/template_render.h"

namespace dossier::sources {

// The templates in context commands, rendered before any process starts.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto commands, RenderCommands(declared, variables, {}, &warnings));
//
// Thread-safety: pure functions.

// `command` strings are rendered with the shell rule, elements of `argv` one by one without; names,
// folders and the commands of --exec stay as they are.
// Errors: kConfig, naming the command and the variables there are.
Result<std::vector<ContextCommand>> RenderCommands(std::span<const ContextCommand> commands,
                                                   const TemplateVariables& variables,
                                                   CommandRules rules,
                                                   std::vector<std::string>* warnings);

// Without a trailing line end.
std::string RenderBlock(std::string_view name, const CommandResult& result);
// What a person is told of a command that has run: nothing fails, is cut, left out or left running
// silently. Sentences with the command's name.
std::vector<std::string> CommandWarnings(const ContextCommand& command,
                                         const CommandResult& result);
std::string JoinBlocks(std::span<const std::string> blocks);

// What a body was before its marker-like lines were escaped: the inverse of that escaping.
inline std::string RestoreOutput(std::string_view body) { return assembly::UnescapeMarkers(body); }

struct BlockSpan {
  std::size_t offset = 0, length = 0;  // bytes, both marker lines included
  std::string name;
  bool error = false;
};

// Pairs of a start line and the next end line. A start without an end is no block, nor is an end
// without a start; a start inside a block is text.
std::vector<BlockSpan> FindBlocks(std::string_view text);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_COMMANDS_CONTEXT_BLOCKS_H_
