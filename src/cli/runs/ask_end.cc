#include "cli/runs/ask_end.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <vector>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/terminal/counted.h"
#include "cli/terminal/terminal.h"

namespace dossier::cli {
namespace {

std::string ShownOnOneLine(std::string_view text) {
  constexpr std::size_t kShown = 200;  // code points
  std::string line(utf8::Prefix(text, kShown));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return line.size() < text.size() ? line + "…" : line;
}

// "3 of 40 sub-calls failed (cut 2, empty 1)"; of map_llm the items that got no label, of all its
// calls together.
std::vector<std::string> FailedSubcalls(const std::vector<ask::Warning>& warnings) {
  struct Sum {
    std::int64_t all = 0, failed = 0;
    std::map<std::string, std::int64_t> kinds;
  };
  Sum calls, items;
  for (const ask::Warning& warning : warnings) {
    if (warning.code != "subcalls_failed") continue;
    const bool of_map = Find(warning.data, "items") != nullptr;
    Sum& sum = of_map ? items : calls;
    sum.all += FindInt(warning.data, of_map ? "items" : "sent").value_or(0);
    sum.failed += FindInt(warning.data, "failed").value_or(0);
    const Json* kinds = Find(warning.data, "kinds");
    if (!kinds || !kinds->is_object()) continue;
    for (const auto& [kind, count] : kinds->get_object()) {
      if (count.is_int64()) sum.kinds[std::string(kind)] += count.get_int64();
    }
  }
  std::vector<std::string> lines;
  const auto add = [&](const Sum& sum, std::string_view form) {
    if (sum.failed == 0) return;
    std::vector<std::string> kinds;
    for (const auto& [kind, count] : sum.kinds) kinds.push_back(fmt::format("{} {}", kind, count));
    lines.push_back(fmt::format(fmt::runtime(form), GroupDigits(sum.failed), GroupDigits(sum.all),
                                Join(kinds, ", ")));
  };
  add(calls, "subcalls_failed: {} of {} sub-calls failed ({})");
  add(items, "subcalls_failed: {} of {} items of map_llm got no label ({})");
  return lines;
}

// ": why", without what was printed as a warning already.
std::string ReasonsToTell(const ask::Outcome& outcome, const GlobalFlags& flags) {
  std::vector<std::string> reasons;
  for (const std::string& doubt : outcome.evidence.doubts) {
    const bool told = std::ranges::any_of(outcome.warnings, [&](const ask::Warning& warning) {
      const auto* text = warning.data.if_string();
      return text && std::string_view(*text) == doubt;
    });
    if (flags.quiet || !told) reasons.push_back(doubt);
  }
  return reasons.empty() ? "" : fmt::format(": {}", Join(reasons, " "));
}

// "the limit of calls was reached, and "; "" where none was.
std::string LimitsReached(const ask::Outcome& outcome) {
  std::vector<std::string> names;
  for (const ask::LimitHit& hit : outcome.limits_hit) names.push_back(hit.limit);
  return names.empty() ? ""
                       : fmt::format("the limit of {} was reached, and ", Join(names, " and "));
}

}  // namespace

void ExplainEnd(const GlobalFlags& flags, const ask::Outcome& outcome, const CancelToken& cancel,
                std::ostream& err) {
  const std::string code =
      cancel.cancelled() ? cancel.reason() : fmt::format("exit {}", outcome.exit_code());
  const bool stopped = outcome.status == ask::RunStatus::kInterrupted;
  if (outcome.error && !stopped) PrintError(err, *outcome.error);
  if (!flags.quiet) {
    for (const ask::Warning& warning : outcome.warnings) {
      if (const auto* text = warning.data.if_string()) {
        PrintWarning(err, fmt::format("{}: {}", warning.code, std::string_view(*text)));
      }
    }
    for (const std::string& line : FailedSubcalls(outcome.warnings)) PrintWarning(err, line);
  }
  switch (outcome.status) {
    case ask::RunStatus::kExtracted:
      PrintWarning(err, fmt::format("{}; this is the model's best answer so far ({})",
                                    outcome.limits_hit.empty() ? "the work was ended early"
                                                               : "a limit was reached",
                                    code));
      break;
    case ask::RunStatus::kPartial:
      PrintWarning(err, fmt::format("this answer is not confirmed{} ({})",
                                    ReasonsToTell(outcome, flags), code));
      break;
    case ask::RunStatus::kNone:
      if (!outcome.error) {
        err << "dossier: " << LimitsReached(outcome) << "no answer was found; `dossier runs show "
            << outcome.run << "` shows what was tried\n";
      }
      if (!outcome.last_output.empty()) {
        err << "dossier: the last output, which nobody called an answer: "
            << ShownOnOneLine(outcome.last_output) << "\n";
      }
      break;
    case ask::RunStatus::kInterrupted:
      err << "dossier: " << (outcome.error ? outcome.error->message : "interrupted")
          << (outcome.text.empty() ? "" : "; the answer so far is not confirmed")
          << "; `dossier runs show " << outcome.run << "` shows what was done\n";
      break;
    default:
      break;
  }
  err << std::flush;
}

}  // namespace dossier::cli
