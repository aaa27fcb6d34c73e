// One limit for the blocks of all commands (`context_max_tokens`).
//
//   CutToTokens(commands, max_tokens, count, &results);
//
// Thread-safety: pure but for `results`.

#ifndef DOSSIER_SOURCES_COMMANDS_CONTEXT_CUT_H_
#define DOSSIER_SOURCES_COMMANDS_CONTEXT_CUT_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sources/commands/context_command.h"

namespace dossier::sources {

using CountTokens = std::function<std::int64_t(std::string_view text)>;

// Cuts the longest texts to the largest common number of bytes with which all blocks, joined, count
// at most `max_tokens`. Nothing happens if they fit as they are.
// Errors: kTooLong if even blocks without output do not fit.
Status CutToTokens(std::span<const ContextCommand> commands, std::int64_t max_tokens,
                   const CountTokens& count, std::vector<CommandResult>* results);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_COMMANDS_CONTEXT_CUT_H_
