// Runs context commands side by side.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto results, RunContext(commands, {}, cancel));
//   for (const CommandResult& result : results) Use(commands[result.index], result);
//   std::string text = JoinBlocks(RenderBlocks(commands, results));
//
// One thread polls all of them. Results stand in the order of the commands, whatever ends first;
// but for `took` and two notes they depend on the commands alone. Whatever happens, no process of a
// command is alive at the end, except children that a successful one left in the background.
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
  Millis deadline{120'000};             // of all commands together: --context-timeout
  std::vector<std::string> known_keys;  // values that no command may see
  std::optional<std::vector<std::string>> environment;  // "NAME=VALUE"; unset: ours
  const store::ContentStore* store = nullptr;           // for keep_full
  CommandRules rules = CommandRules::kDossier;
};

// Errors: kFailed (a command with `fail` failed, and nothing else: exit 14), kCancelled,
// kInvalidArgument (options; a command with keep_full and no store), kIo.
Result<std::vector<CommandResult>> RunContext(std::span<const ContextCommand> commands,
                                              const ContextRunOptions& options,
                                              const CancelToken& cancel = {});

// The blocks of `results`, in their order; a failed command with `ignore` has none.
std::vector<std::string> RenderBlocks(std::span<const ContextCommand> commands,
                                      std::span<const CommandResult> results);

// One limit for the blocks of all commands (`context_max_tokens`).
//
//   CutToTokens(commands, max_tokens, count, &results);
//
// Thread-safety: pure but for `results`.

using CountTokens = std::function<std::int64_t(std::string_view text)>;

// Cuts the longest texts to the largest common number of bytes with which all blocks, joined, count
// at most `max_tokens`. Nothing happens if they fit as they are.
// Errors: kTooLong if even blocks without output do not fit.
Status CutToTokens(std::span<const ContextCommand> commands, std::int64_t max_tokens,
                   const CountTokens& count, std::vector<CommandResult>* results);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_COMMANDS_CONTEXT_RUN_H_
