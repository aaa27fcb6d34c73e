#include "sources/commands/context_cut.h"

#include <algorithm>

#include "base/text/text.h"
#include "sources/commands/command_text.h"
#include "sources/commands/context_blocks.h"
#include "sources/commands/context_run.h"

namespace dossier::sources {
namespace {

std::vector<CommandResult> CutTo(std::span<const ContextCommand> commands, std::uint64_t cap,
                                 std::span<const CommandResult> results) {
  std::vector<CommandResult> cut(results.begin(), results.end());
  for (CommandResult& result : cut) {
    const std::string text = std::move(result.text);
    if (text.size() <= cap) {
      result.text = text;
      continue;
    }
    std::uint64_t bytes = 0;
    const std::string name = assembly::MarkerName(commands[result.index].name);
    result.text = JoinEnds(
        text, std::string_view(text).substr(text.size() - cap / 4),
        {.whole = text.size(), .cap = cap, .limit = "context_max_tokens", .name = name}, &bytes);
    result.notes.cut_bytes += bytes;
    result.kept = result.text.size();
    result.notes.escaped_lines = assembly::EscapeMarkers(result.text).size() - result.text.size();
  }
  return cut;
}

}  // namespace

Status CutToTokens(std::span<const ContextCommand> commands, std::int64_t max_tokens,
                   const CountTokens& count, std::vector<CommandResult>* results) {
  const auto fits = [&](std::span<const CommandResult> candidates) {
    return count(JoinBlocks(RenderBlocks(commands, candidates))) <= max_tokens;
  };
  if (fits(*results)) return {};
  std::vector<CommandResult> best = CutTo(commands, 0, *results);
  if (!fits(best)) {
    return MakeError(ErrorCode::kTooLong,
                     "context_max_tokens {}: the blocks of {} commands do not fit, even without "
                     "their output",
                     GroupDigits(static_cast<std::uint64_t>(std::max<std::int64_t>(max_tokens, 0))),
                     results->size());
  }
  std::uint64_t low = 0, high = 0;  // low fits, high does not
  for (const CommandResult& result : *results) {
    high = std::max<std::uint64_t>(high, result.text.size());
  }
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    std::vector<CommandResult> candidate = CutTo(commands, middle, *results);
    if (fits(candidate)) {
      low = middle;
      best = std::move(candidate);
    } else {
      high = middle;
    }
  }
  *results = std::move(best);
  return {};
}

}  // namespace dossier::sources
