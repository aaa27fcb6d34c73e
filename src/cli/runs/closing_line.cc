#include "cli/runs/closing_line.h"

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/terminal/counted.h"

namespace dossier::cli {
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

// "all", "37 %", "less than 1 %".
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
  return text.empty() ? "no reading was seen" : text;
}

// "2 of 3 quotes verified, 1 reference to nothing"; empty where the answer cites nothing.
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
  std::uint64_t used = 0;  // columns of the line being written
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
