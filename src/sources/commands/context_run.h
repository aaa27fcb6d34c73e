// Runs context commands in parallel.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto results, RunContext(commands, {}, cancel));
//   for (const CommandResult& result : results) Use(commands[result.index], result);
//   std::string text = JoinBlocks(RenderBlocks(commands, results));
//
// One thread polls all of them. Results are in the order of the commands, whichever ends first;
// except for `took` and two notes they depend only on the commands. In all cases no process of a
// command is alive at the end, except children that a successful command left in the background.
// Thread-safety: may be called from many threads.

#ifndef DOSSIER_SOURCES_COMMANDS_CONTEXT_RUN_H_
#define DOSSIER_SOURCES_COMMANDS_CONTEXT_RUN_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/result.h"
#include "sources/commands/command_text.h"
#include "sources/commands/context_command.h"
#include "store/content.h"

namespace dossier::sources {

struct ContextRunOptions {
  std::size_t max_parallel = 16;        // --context-jobs
  Millis deadline{120'000};             // for all commands together: --context-timeout
  std::vector<std::string> known_keys;  // secrets that no command may see
  std::optional<std::vector<std::string>> environment;  // "NAME=VALUE"; unset: our own
  const store::ContentStore* store = nullptr;           // for keep_full
  CommandRules rules = CommandRules::kDossier;
};

// Errors: kFailed (a command with `fail` failed, and no other error occurred: exit 14), kCancelled,
// kInvalidArgument (options; a command with keep_full but no store), kIo.
Result<std::vector<CommandResult>> RunContext(std::span<const ContextCommand> commands,
                                              const ContextRunOptions& options,
                                              const CancelToken& cancel = {});

// Returns the blocks of `results` in order; a failed command with `ignore` has no block.
std::vector<std::string> RenderBlocks(std::span<const ContextCommand> commands,
                                      std::span<const CommandResult> results);

// Applies one limit to the blocks of all commands (`context_max_tokens`).
//
//   CutToTokens(commands, max_tokens, count, &results);
//
// Thread-safety: pure, except that it changes `results`.

using CountTokens = std::function<std::int64_t(std::string_view text)>;

// Cuts the longest texts to the largest common number of bytes such that all joined blocks have at
// most `max_tokens` tokens. It does nothing if they already fit. Errors: kTooLong if even blocks
// without output do not fit.
Status CutToTokens(std::span<const ContextCommand> commands, std::int64_t max_tokens,
                   const CountTokens& count, std::vector<CommandResult>* results);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_COMMANDS_CONTEXT_RUN_H_
