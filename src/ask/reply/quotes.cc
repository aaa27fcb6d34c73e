#include "ask/reply/quotes.h"

#include <fmt/format.h>
#include <re2/re2.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::ask {
namespace {

constexpr std::uint64_t kShortestQuote = 10;  // characters
constexpr std::size_t kLongestQuote = 4'000;  // bytes; a longer one is no quote, but the text
constexpr std::size_t kMostQuotes = 200;      // of one answer
// The same of Matching::kExact, where a quote that is not looked at would pass for one that holds.
constexpr std::uint64_t kShortestExact = 2;
constexpr std::size_t kLongestExact = 64u << 10;
constexpr std::size_t kMostExact = 100'000;

// What opens a quote, and what closes it: Unicode's quotation marks as languages pair them, and the
// forms of HTML and LaTeX. Of the longer ones first.
struct Mark {
  std::string_view open;
  std::array<std::string_view, 2> close;
  // What closes a single mark may be an apostrophe: then a letter stands behind it. What opens one
  // may be, too: then it stands behind one.
  enum class Kind { kPlain, kSingle, kApostrophe } kind = Kind::kPlain;
};
constexpr Mark kMarks[] = {{"<blockquote>", {"</blockquote>"}},
                           {"<q>", {"</q>"}},
                           {"&quot;", {"&quot;"}},
                           {"&ldquo;", {"&rdquo;"}},
                           {"&laquo;", {"&raquo;"}},
                           {"``", {"``", "''"}},
                           {"\"", {"\""}},
                           {"“", {"”", "“"}},
                           {"„", {"“", "”"}},
                           {"”", {"”"}},
                           {"‟", {"”"}},
                           {"«", {"»"}},
                           {"»", {"«", "»"}},
                           {"‹", {"›"}},
                           {"›", {"‹", "›"}},
                           {"「", {"」"}},
                           {"『", {"』"}},
                           {"﹁", {"﹂"}},
                           {"﹃", {"﹄"}},
                           {"｢", {"｣"}},
                           {"〝", {"〞", "〟"}},
                           {"⹂", {"“", "”"}},
                           {"＂", {"＂"}},
                           {"＇", {"＇"}, Mark::Kind::kApostrophe},
                           {"‘", {"’"}, Mark::Kind::kSingle},
                           {"‚", {"‘", "’"}, Mark::Kind::kSingle},
                           {"‛", {"’"}, Mark::Kind::kSingle},
                           {"’", {"’"}, Mark::Kind::kApostrophe},
                           {"'", {"'"}, Mark::Kind::kApostrophe},
                           {"`", {"`"}}};

// Whether a digit, or a letter of a script that has words with apostrophes in them, begins at `at`.
bool IsLetterAt(std::string_view text, std::size_t at) {
  if (at >= text.size()) return false;
  const auto kind = utf8proc_category(static_cast<utf8proc_int32_t>(utf8::Next(text, &at)));
  return kind == UTF8PROC_CATEGORY_LU || kind == UTF8PROC_CATEGORY_LL ||
         kind == UTF8PROC_CATEGORY_ND;
}

bool OpensQuote(std::string_view answer, std::size_t at, const Mark& mark) {
  if (!answer.substr(at).starts_with(mark.open)) return false;
  if (mark.kind != Mark::Kind::kApostrophe || at == 0) return true;
  return !IsLetterAt(answer, utf8::FloorBoundary(answer, at - 1));
}

// Where the quote with `mark` that begins at `start` ends; npos if it does not.
std::pair<std::size_t, std::size_t> CloseOf(std::string_view answer, std::size_t start,
                                            const Mark& mark) {
  std::pair<std::size_t, std::size_t> found{answer.npos, answer.npos};
  for (const std::string_view close : mark.close) {
    if (close.empty()) continue;
    std::size_t at = answer.find(close, start);
    while (mark.kind != Mark::Kind::kPlain && at != answer.npos &&
           IsLetterAt(answer, at + close.size())) {
      at = answer.find(close, at + close.size());
    }
    if (at < found.first) found = {at, at + close.size()};
  }
  return found;
}

// The quote that `mark` opens at `at`, which ends in the same paragraph.
std::optional<Quote> QuoteAt(std::string_view answer, std::size_t at, std::size_t paragraph_end,
                             const Mark& mark) {
  const std::size_t start = at + mark.open.size();
  const auto [close, end] = CloseOf(answer, start, mark);
  if (close >= paragraph_end) return std::nullopt;
  Quote quote;
  quote.at = at;
  quote.end = end;
  quote.text = answer.substr(start, close - start);
  return quote;
}

// A block quote of Markdown: lines that begin with `>`, up to a reference in them. None where
// another mark begins inside: then that is the quote.
std::optional<Quote> BlockQuoteAt(std::string_view answer, std::size_t at) {
  if (at > 0 && answer[at - 1] != '\n') return std::nullopt;
  static const re2::RE2 kBlock(R"(((?: {0,3}>[^\n]*(?:\n|$))+))");
  static const re2::RE2 kReference(R"(\s*(?:[-–—]\s*)?\[[^\[\]\n]+[:@]\d[\d-]*\])");
  re2::StringPiece rest(answer.substr(at)), block, found;
  if (!re2::RE2::Consume(&rest, kBlock, &block)) return std::nullopt;
  std::string_view lines(block.data(), block.size());
  if (kReference.Match(block, 0, block.size(), re2::RE2::UNANCHORED, &found, 1)) {
    lines = lines.substr(0, static_cast<std::size_t>(found.data() - block.data()));
  }
  Quote quote;
  quote.at = at;
  quote.end = at + lines.size();
  for (const std::string_view line : Split(lines, '\n')) {
    const std::size_t mark = line.find('>');
    if (mark == line.npos) continue;
    quote.text += fmt::format("{}{}", quote.text.empty() ? "" : "\n",
                              line.substr(std::min(line.size(), mark + 2)));
  }
  const std::string_view text = TrimSpace(quote.text);
  if (std::ranges::any_of(kMarks, [&](const Mark& one) { return text.starts_with(one.open); }))
    return std::nullopt;
  return quote;
}

bool IsQuote(const Quote& quote, std::string_view open, Matching matching) {
  const bool exact = matching == Matching::kExact;
  // What stands in backticks or straight single marks is a name as often as a quote.
  const bool name = open == "`" || open == "'";
  const std::uint64_t shortest = exact && !name ? kShortestExact : kShortestQuote;
  return quote.text.size() <= (exact ? kLongestExact : kLongestQuote) &&
         utf8::CodePoints(TrimSpace(quote.text)) >= shortest;
}

}  // namespace

std::size_t ParagraphOf(std::size_t at, const std::vector<std::size_t>& starts) {
  return static_cast<std::size_t>(std::ranges::upper_bound(starts, at) - starts.begin()) - 1;
}

std::vector<Quote> ReadQuotes(std::string_view answer, const std::vector<std::size_t>& starts,
                              Matching matching) {
  const std::size_t most = matching == Matching::kExact ? kMostExact : kMostQuotes;
  std::vector<Quote> out;
  for (std::size_t at = 0; at < answer.size() && out.size() < most;) {
    // Code in a fence quotes nothing, unless a reference says so.
    if (answer.substr(at).starts_with("```")) {
      Quote fence;
      fence.at = at;
      const std::size_t line = std::min(answer.find('\n', at), answer.size());
      const std::size_t close = answer.find("```", answer.find_first_not_of('`', at));
      at = std::min(answer.find_first_not_of('`', close), answer.size());
      if (matching == Matching::kFolded || close == answer.npos || close < line) continue;
      fence.end = at;
      fence.form = Quote::Form::kFence;
      fence.text = answer.substr(line + 1, close - line - 1);
      if (!TrimSpace(fence.text).empty()) out.push_back(std::move(fence));
      continue;
    }
    if (auto block = BlockQuoteAt(answer, at); block && IsQuote(*block, ">", matching)) {
      at = block->end;
      out.push_back(std::move(*block));
      continue;
    }
    const auto* mark =
        std::ranges::find_if(kMarks, [&](const Mark& one) { return OpensQuote(answer, at, one); });
    if (mark == std::end(kMarks)) {
      ++at;
      continue;
    }
    const std::size_t next = ParagraphOf(at, starts) + 1;
    const std::size_t end = next < starts.size() ? starts[next] : answer.size();
    auto quote = QuoteAt(answer, at, end, *mark);
    at = quote ? quote->end : at + mark->open.size();
    if (quote && IsQuote(*quote, mark->open, matching)) out.push_back(std::move(*quote));
  }
  return out;
}

}  // namespace dossier::ask
