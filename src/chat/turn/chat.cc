#include "chat/turn/chat.h"

#include <algorithm>

#include "base/text/text.h"

namespace dossier::chat {
ContextSaving SavedBy(std::int64_t block_tokens, std::int64_t turns) {
  if (block_tokens <= 0 || turns <= 1) return {};
  const auto n = static_cast<double>(turns);
  return {.tokens = block_tokens * turns * (turns - 1) / 2, .percent = 100 * (n - 1) / (n + 1)};
}

JsonObject UsageJson(const model::Usage& usage) {
  const auto or_null = [](const std::optional<std::int64_t>& number) {
    return number ? Json(*number) : Json();
  };
  JsonObject json{{"input", usage.input},
                  {"cached_read", usage.cached},
                  {"cache_write", usage.cache_write},
                  {"output", usage.output},
                  {"reasoning", or_null(usage.reasoning)},
                  {"cost_nano_usd", or_null(usage.cost_nano_usd)}};
  if (usage.estimated) json["estimated"] = true;
  return json;
}

std::string UsageLine(const model::Usage& usage, const ContextSaving& saving) {
  std::string line =
      fmt::format("usage: {}{} in ({} cached) + {} out", usage.estimated ? "about " : "",
                  GroupCount(usage.input), GroupCount(usage.cached), GroupCount(usage.output));
  if (usage.cost_nano_usd) {
    const std::int64_t micro = (*usage.cost_nano_usd + 500) / 1000;
    line += fmt::format(" = ${}.{:06}", micro / 1'000'000, micro % 1'000'000);
  }
  if (saving.tokens > 0) {
    line += fmt::format("; context saved {} tokens ({:.1f} %)", GroupCount(saving.tokens),
                        saving.percent);
  }
  return line;
}

}  // namespace dossier::chat
