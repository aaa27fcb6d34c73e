#include "cli/runs/event_lines.h"

#include "base/text/text.h"
#include "cli/terminal/counted.h"

namespace dossier::cli {
namespace {

std::string Tokens(const Json& data, std::string_view key) {
  return GroupDigits(static_cast<std::uint64_t>(FindInt(data, key).value_or(0)));
}

std::string WhatWasDone(std::string_view kind, std::string_view turns) {
  if (kind == "summary") return fmt::format("turns {} became a summary", turns);
  if (kind == "stub") return fmt::format("turns {} left the prompt", turns);
  return "old outputs were shortened";
}

}  // namespace

std::string CompactionLine(const Json& data) {
  return fmt::format(
      "{}: {} -> {} tokens; the journal keeps them",
      WhatWasDone(FindString(data, "kind").value_or(""), FindString(data, "turns").value_or("")),
      Tokens(data, "before"), Tokens(data, "after"));
}

std::string PassageLine(const Json& data) {
  const Json* score = Find(data, "score");
  return fmt::format("{}: {} ({:.1f})", FindString(data, "passage").value_or(""),
                     FindString(data, "answer").value_or(""),
                     score && score->is_number() ? score->to_number<double>() : 0.0);
}

std::string AgentStep(std::string_view type, const Json& data) {
  const std::int64_t attempt = FindInt(data, "attempt").value_or(1);
  const std::string again = attempt > 1 ? fmt::format(", attempt {}", attempt) : std::string();
  if (type == "task.claimed") return "claimed";
  if (type == "engine.started") return fmt::format("{} works{}", TextAt(data, "engine"), again);
  if (type == "patch.taken") {
    return fmt::format("patch of {}, +{} -{}",
                       Counted(StringsOf(Find(data, "files")).size(), "file"),
                       FindInt(data, "added").value_or(0), FindInt(data, "deleted").value_or(0));
  }
  if (type == "check.finished") {
    const std::string result = TextAt(data, "result"), reason = TextAt(data, "reason");
    return fmt::format("check {} {}{}", TextAt(data, "check"), result,
                       result == "passed" || reason.empty() ? "" : ": " + reason);
  }
  if (type == "review.started") {
    return fmt::format("{} reviews{}", TextAt(data, "reviewer"), again);
  }
  if (type == "review.finished") return fmt::format("review: {}", TextAt(data, "verdict"));
  if (type == "merge.intent") return "merges";
  return {};
}

}  // namespace dossier::cli
