#include "ask/reply/citations.h"

#include <fmt/format.h>
#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "ask/documents/served_document.h"
#include "base/json/json.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::ask {
namespace {

constexpr std::uint64_t kShortestQuote = 10;      // characters
constexpr std::size_t kLongestQuote = 4'000;      // bytes; a longer one is no quote, but the text
constexpr std::size_t kMostQuotes = 200;          // of one answer
constexpr std::size_t kWindow = 64u << 20;        // bytes searched between two looks at the clock
constexpr std::size_t kOverlap = 64u << 10;       // bytes, for quotes that lie across windows
constexpr std::int64_t kSearchMemory = 64 << 20;  // bytes, of the automaton of all quotes

// A reference or a quote: where it stands in the answer.
struct Piece {
  std::size_t at = 0, end = 0;  // bytes
  std::size_t paragraph = 0;
};

struct Reference : Piece {
  std::string text;                     // as written
  std::optional<std::size_t> document;  // unset: there is none such
  enum class Unit { kWhole, kLines, kCharacters } unit = Unit::kWhole;
  std::uint64_t first = 0, last = 0;  // lines from 0, both included; characters, `last` excluded
  bool bare_number = false;           // **3**
};

struct Quote : Piece {
  std::string text;
};

// Starts of paragraphs: behind blank lines.
std::vector<std::size_t> Paragraphs(std::string_view text) {
  std::vector<std::size_t> starts = {0};
  static const re2::RE2 kBlank(R"(\n[ \t\r]*\n\s*)");
  re2::StringPiece found;
  for (std::size_t at = 0; kBlank.Match(text, at, text.size(), re2::RE2::UNANCHORED, &found, 1);) {
    at = static_cast<std::size_t>(found.data() + found.size() - text.data());
    starts.push_back(at);
  }
  return starts;
}

std::size_t ParagraphOf(std::size_t at, const std::vector<std::size_t>& starts) {
  return static_cast<std::size_t>(std::ranges::upper_bound(starts, at) - starts.begin()) - 1;
}

class ReferenceReader {
 public:
  ReferenceReader(std::string_view answer, const ContextSet& context)
      : answer_(answer), context_(context) {}

  std::vector<Reference> Read() {
    // One pattern, so that `Doc **3**` is not read a second time as `**3**`.
    static const re2::RE2 kReference(R"(\[([^\[\]\n]{1,300}):(\d{1,12})(?:-(\d{1,12}))?\])"
                                     R"(|\[([^\[\]\n]{1,300})@(\d{1,15})-(\d{1,15})\])"
                                     R"(|\bDoc (?:\*\*(\d{1,9})\*\*|(\d{1,9})\b))"
                                     R"(|\bcontexts?\[(\d{1,9})\])"
                                     R"(|\*\*(\d{1,9})\*\*)");
    std::vector<Reference> out;
    re2::StringPiece groups[11];
    std::size_t at = 0;
    while (kReference.Match(answer_, at, answer_.size(), re2::RE2::UNANCHORED, groups, 11)) {
      at = static_cast<std::size_t>(groups[0].data() + groups[0].size() - answer_.data());
      if (auto reference = Make(groups)) out.push_back(std::move(*reference));
    }
    return out;
  }

 private:
  std::optional<Reference> Make(const re2::StringPiece* groups) const {
    Reference made;
    made.text = groups[0].as_string();
    made.at = static_cast<std::size_t>(groups[0].data() - answer_.data());
    made.end = made.at + groups[0].size();
    const auto text = [&](int group) {
      return std::string_view(groups[group].data(), groups[group].size());
    };
    const auto number = [&](int group) {
      return ExactNumber<std::uint64_t>(text(group)).value_or(0);
    };
    if (groups[1].data()) {
      // [12:30] is a time of day.
      if (text(1).find_first_not_of("0123456789:") == std::string_view::npos) return std::nullopt;
      made.document = Named(text(1));
      made.unit = Reference::Unit::kLines;
      made.first = number(2);
      made.last = groups[3].data() ? number(3) : made.first;
      if (made.first == 0 || made.last < made.first) made.document.reset();
      if (made.first > 0) --made.first;
      if (made.last > 0) --made.last;
    } else if (groups[4].data()) {
      made.document = Named(text(4));
      made.unit = Reference::Unit::kCharacters;
      made.first = number(5);
      made.last = number(6);
      if (made.last <= made.first) made.document.reset();
    } else {
      int group = 7;
      while (!groups[group].data()) ++group;
      const std::uint64_t index = number(group);
      if (index < context_.documents().size()) made.document = index;
      made.bare_number = group == 10;
    }
    return made;
  }

  // By the whole name, or by its last part where only one document has it.
  std::optional<std::size_t> Named(std::string_view name) const {
    const auto& documents = context_.documents();
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < documents.size(); ++i) {
      const std::string_view own = documents[i].name;
      if (own == name) return i;
      if (!own.ends_with(name) || own[own.size() - name.size() - 1] != '/') continue;
      if (found) return std::nullopt;
      found = i;
    }
    return found;
  }

  const std::string_view answer_;
  const ContextSet& context_;
};

struct Mark {
  std::string_view open, close;
};
constexpr Mark kMarks[] = {{"\"", "\""}, {"“", "”"},   {"„", "“"},
                           {"«", "»"},   {"「", "」"}, {"`", "`"}};

// The quote that `mark` opens at `at`, which ends in the same paragraph.
std::optional<Quote> QuoteAt(std::string_view answer, std::size_t at, std::size_t paragraph_end,
                             const Mark& mark) {
  const std::size_t start = at + mark.open.size();
  const std::size_t close = answer.find(mark.close, start);
  if (close == std::string_view::npos || close >= paragraph_end) return std::nullopt;
  Quote quote;
  quote.at = at;
  quote.end = close + mark.close.size();
  quote.text = answer.substr(start, close - start);
  return quote;
}

std::vector<Quote> ReadQuotes(std::string_view answer, const std::vector<std::size_t>& starts) {
  std::vector<Quote> out;
  for (std::size_t at = 0; at < answer.size() && out.size() < kMostQuotes;) {
    // Code in a fence quotes nothing.
    if (answer.substr(at).starts_with("```")) {
      const std::size_t close = answer.find("```", answer.find_first_not_of('`', at));
      at = std::min(answer.find_first_not_of('`', close), answer.size());
      continue;
    }
    const auto* mark = std::ranges::find_if(
        kMarks, [&](const Mark& one) { return answer.substr(at).starts_with(one.open); });
    if (mark == std::end(kMarks)) {
      ++at;
      continue;
    }
    const std::size_t next = ParagraphOf(at, starts) + 1;
    const std::size_t end = next < starts.size() ? starts[next] : answer.size();
    auto quote = QuoteAt(answer, at, end, *mark);
    at = quote ? quote->end : at + mark->open.size();
    if (!quote || quote->text.size() > kLongestQuote) continue;
    if (utf8::CodePoints(TrimSpace(quote->text)) < kShortestQuote) continue;
    out.push_back(std::move(*quote));
  }
  return out;
}

// Words with white space between them, of whatever amount. A comma or a full stop that the sentence
// around puts inside the quote is not part of it.
std::string PatternOf(std::string_view quote) {
  quote = TrimSpace(quote);
  while (!quote.empty() && (quote.back() == ',' || quote.back() == '.')) quote.remove_suffix(1);
  static const re2::RE2 kWord(R"(([^\s\pZ]+))");
  std::string pattern;
  re2::StringPiece rest(quote), word;
  while (re2::RE2::FindAndConsume(&rest, kWord, &word)) {
    pattern += (pattern.empty() ? "" : R"([\s\pZ]+)") + re2::RE2::QuoteMeta(word);
  }
  return pattern;
}

re2::RE2::Options SearchOptions() {
  re2::RE2::Options options;
  options.set_case_sensitive(false);
  options.set_log_errors(false);
  options.set_max_mem(kSearchMemory);
  return options;
}

// The texts of the documents, and where the quotes stand in them.
class Finder {
 public:
  Finder(const ContextSet& context, const std::vector<Quote>& quotes, const CancelToken& cancel)
      : context_(context), cancel_(cancel) {
    for (const Quote& quote : quotes) patterns_.push_back(PatternOf(quote.text));
    for (std::size_t i = 0; i < context.documents().size() && !cancel.cancelled(); ++i) Scan(i);
  }

  std::optional<std::string_view> Text(std::size_t document) const {
    const auto stored = context_.Stored(document);
    if (!stored) return std::nullopt;
    return (*stored)->map.bytes();
  }

  const LineIndex& Lines(std::size_t document) {
    auto& index = lines_[document];
    if (!index) index = std::make_unique<LineIndex>(Text(document).value_or(""));
    return *index;
  }

  bool Holds(std::size_t document, std::size_t quote) const {
    const auto found = held_.find(document);
    return found != held_.end() && std::ranges::binary_search(found->second, int(quote));
  }

  // Where `quote` first begins between the bytes `from` and `to`.
  std::optional<std::uint64_t> Place(std::size_t document, std::size_t quote, std::uint64_t from,
                                     std::uint64_t to) const {
    if (!Holds(document, quote)) return std::nullopt;
    const std::string_view text = Text(document).value_or("");
    const re2::RE2 pattern(patterns_[quote], SearchOptions());
    re2::StringPiece found;
    if (from >= text.size() ||
        !pattern.Match(text, from, text.size(), re2::RE2::UNANCHORED, &found, 1)) {
      return std::nullopt;
    }
    const auto at = static_cast<std::uint64_t>(found.data() - text.data());
    return at < to ? std::optional(at) : std::nullopt;
  }

  // "[notes.txt:12]".
  std::string PlaceText(std::size_t document, std::uint64_t at) {
    return fmt::format("[{}:{}]", context_.documents()[document].name,
                       Lines(document).LineAt(at) + 1);
  }

 private:
  // All quotes in one pass over the document.
  void Scan(std::size_t document) {
    const std::string_view text = Text(document).value_or("");
    re2::RE2::Set set(SearchOptions(), re2::RE2::UNANCHORED);
    for (const std::string& pattern : patterns_) set.Add(pattern, nullptr);
    std::vector<int>& held = held_[document];
    if (patterns_.empty() || !set.Compile()) return;
    for (std::size_t at = 0; at < text.size() && !cancel_.cancelled(); at += kWindow) {
      std::vector<int> found;
      set.Match(text.substr(at, kWindow + kOverlap), &found);
      held.insert(held.end(), found.begin(), found.end());
    }
    std::ranges::sort(held);
  }

  const ContextSet& context_;
  const CancelToken& cancel_;
  std::vector<std::string> patterns_;
  std::map<std::size_t, std::vector<int>> held_;  // by document: quotes, sorted
  std::map<std::size_t, std::unique_ptr<LineIndex>> lines_;
};

// The bytes that a reference names; unset: its document does not reach so far.
struct Bytes {
  std::uint64_t from = 0, to = 0;
};
std::optional<Bytes> RangeOf(const Reference& reference, Finder& finder) {
  if (!reference.document) return std::nullopt;
  const auto text = finder.Text(*reference.document);
  if (!text) return std::nullopt;
  switch (reference.unit) {
    case Reference::Unit::kWhole:
      return Bytes{0, text->size()};
    case Reference::Unit::kLines: {
      const LineIndex& lines = finder.Lines(*reference.document);
      if (reference.last >= lines.count()) return std::nullopt;
      return Bytes{lines.Start(reference.first), lines.Start(reference.last + 1)};
    }
    case Reference::Unit::kCharacters: {
      const CharacterIndex characters(*text);
      if (reference.last > characters.count()) return std::nullopt;
      return Bytes{characters.ToByte(reference.first), characters.ToByte(reference.last)};
    }
  }
  return std::nullopt;
}

// The reference that goes with a quote: the next one of its paragraph that stands before another
// quote, else the last one in front of it.
const Reference* ReferenceOf(std::size_t quote, const std::vector<Quote>& quotes,
                             const std::vector<Reference>& references) {
  const Quote& own = quotes[quote];
  const std::size_t next = quote + 1 < quotes.size() ? quotes[quote + 1].at : std::string::npos;
  const Reference* before = nullptr;
  for (const Reference& reference : references) {
    if (reference.paragraph != own.paragraph) continue;
    if (reference.at >= own.end && reference.at < next) return &reference;
    if (reference.end <= own.at) before = &reference;
  }
  return before;
}

Citation JudgeQuote(std::size_t index, const Quote& quote, const Reference* reference,
                    std::size_t documents, Finder& finder) {
  Citation out{.ref = reference ? reference->text : "", .quote = quote.text};
  const auto range = reference ? RangeOf(*reference, finder) : std::nullopt;
  if (range) {
    const std::size_t document = *reference->document;
    if (const auto at = finder.Place(document, index, range->from, range->to)) {
      out.found = finder.PlaceText(document, *at);
      out.status = Citation::Status::kVerified;
      return out;
    }
  }
  for (std::size_t document = 0; document < documents; ++document) {
    const auto at = finder.Place(document, index, 0, std::string_view::npos);
    if (!at) continue;
    out.found = finder.PlaceText(document, *at);
    out.status = reference ? Citation::Status::kElsewhere : Citation::Status::kVerified;
    break;
  }
  if (reference && !range) out.status = Citation::Status::kOutOfRange;
  return out;
}

}  // namespace

JsonObject Citation::ToJson() const {
  constexpr std::string_view kNames[] = {"verified", "elsewhere", "not_found", "out_of_range",
                                         "in_range"};
  const auto or_null = [](const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
  };
  return {{"ref", or_null(ref)},
          {"quote", or_null(quote)},
          {"status", kNames[static_cast<std::size_t>(status)]},
          {"found", or_null(found)}};
}

Json CitationsJson(const std::vector<Citation>& citations) {
  JsonArray list;
  for (const Citation& one : citations) list.push_back(one.ToJson());
  return list;
}

std::vector<Citation> CheckCitations(std::string_view answer, const ContextSet& context,
                                     const CancelToken& cancel) {
  const std::string_view trimmed = TrimSpace(answer);
  if (trimmed.starts_with('{') || trimmed.starts_with('[') || trimmed.starts_with('"')) {
    if (ParseJson(trimmed)) return {};
  }
  const std::vector<std::size_t> starts = Paragraphs(answer);
  std::vector<Quote> quotes = ReadQuotes(answer, starts);
  std::vector<Reference> references = ReferenceReader(answer, context).Read();
  for (Quote& quote : quotes) quote.paragraph = ParagraphOf(quote.at, starts);
  for (Reference& reference : references) {
    reference.paragraph = ParagraphOf(reference.at, starts);
  }
  std::erase_if(references, [&](const Reference& reference) {
    return reference.bare_number && std::ranges::none_of(quotes, [&](const Quote& quote) {
             return quote.paragraph == reference.paragraph;
           });
  });
  if (quotes.empty() && references.empty()) return {};
  Finder finder(context, quotes, cancel);
  if (cancel.cancelled()) return {};
  std::vector<std::pair<std::size_t, Citation>> found;  // by the place in the answer
  std::vector<const Reference*> used;
  for (std::size_t i = 0; i < quotes.size(); ++i) {
    used.push_back(ReferenceOf(i, quotes, references));
    found.emplace_back(quotes[i].at,
                       JudgeQuote(i, quotes[i], used.back(), context.documents().size(), finder));
  }
  for (const Reference& reference : references) {
    if (std::ranges::find(used, &reference) != used.end()) continue;
    const bool there = RangeOf(reference, finder).has_value();
    found.emplace_back(reference.at, Citation{.ref = reference.text,
                                              .status = there ? Citation::Status::kInRange
                                                              : Citation::Status::kOutOfRange});
  }
  std::ranges::stable_sort(found, {}, &std::pair<std::size_t, Citation>::first);
  std::vector<Citation> out;
  for (auto& [at, citation] : found) out.push_back(std::move(citation));
  return out;
}

}  // namespace dossier::ask
