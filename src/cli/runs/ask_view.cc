#include "cli/runs/ask_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <vector>

#include "base/text/text.h"
#include "base/text/utf8.h"
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

// Returns "3 of 40 sub-calls failed (cut 2, empty 1)"; for map_llm the items that got no label,
// over all its calls.
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

// Returns ": why", without what was already printed as a warning.
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

// Returns "the limit of calls was reached, and "; "" if none was.
std::string LimitsReached(const ask::Outcome& outcome) {
  std::vector<std::string> names;
  for (const ask::LimitHit& hit : outcome.limits_hit) names.push_back(hit.limit);
  return names.empty() ? ""
                       : fmt::format("the limit of {} was reached, and ", Join(names, " and "));
}

void ShowLastOutput(const ask::Outcome& outcome, std::ostream& err) {
  if (outcome.last_output.empty()) return;
  err << "dossier: the last output, which nobody called an answer: "
      << ShownOnOneLine(outcome.last_output) << "\n";
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
  for (const ask::OutFile& file : outcome.files.value_or(std::vector<ask::OutFile>())) {
    if (flags.quiet) break;
    err << fmt::format("dossier: wrote {} ({}, SHA-256 {})\n", file.path, FormatSize(file.bytes),
                       file.sha256);
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
      ShowLastOutput(outcome, err);
      break;
    case ask::RunStatus::kFailed:
      ShowLastOutput(outcome, err);
      if (!outcome.last_output.empty()) {
        err << "dossier: `dossier runs resume " << outcome.run << "` goes on, `dossier runs show "
            << outcome.run << "` shows what was done\n";
      }
      break;
    case ask::RunStatus::kInterrupted:
      err << "dossier: " << (outcome.error ? outcome.error->message : "interrupted")
          << (outcome.text.empty() ? "" : "; the answer so far is not confirmed")
          << "; `dossier runs resume " << outcome.run << "` goes on, `dossier runs show "
          << outcome.run << "` shows what was done\n";
      break;
    default:
      break;
  }
  err << std::flush;
}

namespace {

constexpr std::size_t kShownWord = 60;  // code points of a word in a message
constexpr std::size_t kShownWords = 3;

std::string Quoted(std::string_view word) {
  const std::string_view start = utf8::Prefix(word, kShownWord);
  return fmt::format("\"{}{}\"", start, start.size() < word.size() ? "…" : "");
}

std::string QuotedList(const std::vector<std::string>& words) {
  std::vector<std::string> shown;
  for (const std::string& word : words) {
    if (shown.size() == kShownWords) break;
    shown.push_back(Quoted(word));
  }
  const std::size_t more = words.size() - shown.size();
  return Join(shown, ", ") + (more > 0 ? fmt::format(" and {} more", more) : "");
}

tl::unexpected<Error> NoQuestion(const std::vector<std::string>& paths, std::string_view command) {
  if (paths.empty()) {
    return MakeError(ErrorCode::kUsage,
                     "{0}: the question is missing: dossier {0} [FILE]... \"QUESTION\"", command);
  }
  return MakeError(ErrorCode::kUsage,
                   "{0}: {1} {2}, so the question is missing: dossier {0} {3}{4} \"QUESTION\"; to "
                   "ask just that word, end it with a question mark",
                   command, QuotedList(paths), paths.size() == 1 ? "is a context" : "are contexts",
                   paths[0], paths.size() > 1 ? " …" : "");
}

}  // namespace

Result<AskWords> ReadAskWords(const std::vector<std::string>& words,
                              const std::function<bool(const std::string&)>& exists,
                              std::string_view command) {
  AskWords read;
  std::vector<std::string> unknown;
  for (const std::string& word : words) {
    if (word == "-" || exists(word)) {
      read.paths.push_back(word);
    } else if (!TrimSpace(word).empty()) {
      unknown.push_back(word);
    }
  }
  if (unknown.size() > 1) {
    return MakeError(ErrorCode::kUsage,
                     "{}: {} name no file or folder, and one question is asked at a time: check "
                     "the paths, or put the whole question between quotation marks",
                     command, QuotedList(unknown));
  }
  if (unknown.size() == 1) {
    read.question = std::move(unknown[0]);
    return read;
  }
  const auto dash = std::find(read.paths.begin(), read.paths.end(), "-");
  if (dash == read.paths.end()) return NoQuestion(read.paths, command);
  read.paths.erase(dash);
  read.question = "-";
  return read;
}

namespace {

constexpr std::string_view kDivider = "; ";

std::string Took(const ask::Outcome& outcome) {
  const model::LedgerUse& use = outcome.usage;
  const auto count = [](std::int64_t number, std::string_view what) {
    return Counted(static_cast<std::uint64_t>(number), what);
  };
  std::string text = count(outcome.turns, "turn") + ", " + count(use.calls, "call");
  if (use.cached_calls > 0) text += fmt::format(" (and {} from the cache)", use.cached_calls);
  text += fmt::format(", {}{}", use.spent.total.estimated ? "about " : "",
                      count(use.spent.tokens(), "token"));
  return text + ", " + CostText(use.spent.total.cost_nano_usd);
}

// Returns "all", "37 %" or "less than 1 %".
std::string Share(double share) {
  if (share >= 1) return "all";
  if (share < 0.01) return "less than 1 %";
  return fmt::format("{:.0f} %", std::min(99.0, share * 100));
}

std::string Read(const ask::EvidenceSummary& evidence) {
  std::string text;
  if (evidence.read_by_models > 0) text = "models read " + Share(evidence.read_by_models);
  if (evidence.read_by_code > 0) {
    text += (text.empty() ? "" : ", ") + ("code read " + Share(evidence.read_by_code));
  }
  if (text.empty()) text = "no reading was seen";
  if (evidence.files_left_out == 0) return text;
  return fmt::format("{} left out, of the rest {}", Counted(evidence.files_left_out, "file"), text);
}

// Returns "2 of 3 quotes verified, 1 reference to nothing"; empty if the answer cites nothing.
std::string QuotesText(const std::vector<ask::Citation>& citations) {
  std::uint64_t quotes = 0, verified = 0, wrong = 0;
  for (const ask::Citation& one : citations) {
    const bool holds = one.status == ask::Citation::Status::kVerified;
    if (one.quote.empty()) {
      wrong += one.status == ask::Citation::Status::kOutOfRange ? 1 : 0;
    } else {
      ++quotes;
      verified += holds ? 1 : 0;
    }
  }
  std::vector<std::string> parts;
  if (quotes > 0) {
    parts.push_back(fmt::format("{} of {} verified", verified, Counted(quotes, "quote")));
  }
  if (wrong > 0) parts.push_back(Counted(wrong, "reference") + " to nothing");
  return Join(parts, ", ");
}

}  // namespace

std::string CostText(std::optional<std::int64_t> nano_usd) {
  if (!nano_usd) return "of unknown cost";
  if (*nano_usd <= 0) return "free";
  constexpr std::int64_t kShown = 50'000;  // half of the last digit
  if (*nano_usd < kShown) return "less than $0.0001";
  return fmt::format("${:.4f}", static_cast<double>(*nano_usd) / 1e9);
}

std::string EvidenceText(const ask::EvidenceSummary& evidence) {
  std::vector<std::string> parts = {Read(evidence)};
  if (evidence.attempts > 1) {
    parts.push_back(fmt::format("{} of {} attempts agree", evidence.agreeing, evidence.attempts));
  }
  if (!evidence.doubts.empty()) parts.push_back(Counted(evidence.doubts.size(), "doubt"));
  return Join(parts, kDivider);
}

std::string ClosingLine(const ask::Outcome& outcome) {
  std::vector<std::string> parts = {Took(outcome), EvidenceText(outcome.evidence)};
  if (std::string quotes = QuotesText(outcome.citations); !quotes.empty()) {
    parts.push_back(std::move(quotes));
  }
  if (!outcome.warnings.empty()) parts.push_back(Counted(outcome.warnings.size(), "warning"));
  if (!outcome.run.empty()) parts.emplace_back("dossier runs show last");
  return Join(parts, kDivider);
}

std::string FitClosingLine(std::string_view line, int columns) {
  std::string text;
  std::uint64_t used = 0;  // columns in the current line
  while (!line.empty()) {
    const std::size_t end = line.find(kDivider);
    const std::string_view part = line.substr(0, end);
    line.remove_prefix(end == line.npos ? line.size() : end + kDivider.size());
    const std::uint64_t wide = utf8::CodePoints(part) + 1;  // with the divider's first character
    const bool fits = used + wide < static_cast<std::uint64_t>(std::max(1, columns));
    if (used > 0) text += fits ? kDivider : std::string_view(";\n");
    used = (used > 0 && fits ? used + 1 : 0) + wide;
    text += part;
  }
  return text + "\n";
}

}  // namespace dossier::cli
