#include "ask/reply/citations.h"

#include <fmt/format.h>
#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "ask/documents/served_document.h"
#include "ask/reply/quotes.h"
#include "base/json/json.h"
#include "base/text/ascii.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::ask {
namespace {

constexpr std::size_t kWindow = 64u << 20;        // bytes searched between two checks of the clock
constexpr std::size_t kOverlap = 64u << 10;       // bytes, for quotes across window boundaries
constexpr std::int64_t kSearchMemory = 64 << 20;  // bytes, for the automaton of all quotes

struct Reference : Piece {
  std::string text;                     // as written
  std::optional<std::size_t> document;  // unset: no such document
  enum class Unit { kWhole, kLines, kCharacters } unit = Unit::kWhole;
  std::uint64_t first = 0, last = 0;  // lines, both inclusive; or characters, `last` exclusive
  bool bare_number = false;           // **3**
};

// Every form of a reference has a digit and one of these. Compiling the pattern costs as much as
// everything else that a short run does with its answer.
bool MayRefer(std::string_view answer) {
  constexpr std::string_view kMarks[] = {"[", "**", "Doc "};
  return answer.find_first_of("0123456789") != answer.npos &&
         std::ranges::any_of(
             kMarks, [&](std::string_view mark) { return answer.find(mark) != answer.npos; });
}

class ReferenceReader {
 public:
  ReferenceReader(std::string_view answer, const ContextSet& context)
      : answer_(answer), context_(context) {}

  std::vector<Reference> Read() {
    if (!MayRefer(answer_)) return {};
    // One pattern, so that `Doc **3**` is not read again as `**3**`.
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

  // Finds a document by its whole name, or by the name's last part if that is unique.
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

// Matches the words with any amount of white space between them. A comma or full stop that the
// surrounding sentence puts inside the quote is not part of it.
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

re2::RE2::Options SearchOptions(Matching matching) {
  re2::RE2::Options options;
  options.set_case_sensitive(matching == Matching::kExact);
  options.set_log_errors(false);
  options.set_max_mem(kSearchMemory);
  return options;
}

// Returns true if the text continues after the match: the word or number is longer than the match.
bool GoesOn(char last, std::string_view behind) {
  if (behind.empty() || !IsAlnum(last)) return false;
  if (IsAlnum(behind[0])) return true;
  const bool number = IsDigit(last) && (behind[0] == '.' || behind[0] == ',');
  return number && behind.size() > 1 && IsDigit(behind[1]);
}

// The same to the left, where a minus sign also belongs to the number.
bool BeganBefore(char first, std::string_view before) {
  if (before.empty() || !IsAlnum(first)) return false;
  const char last = before.back();
  if (IsAlnum(last)) return true;
  if (!IsDigit(first) || before.size() < 2) return IsDigit(first) && last == '-';
  if (last == '.' || last == ',') return IsDigit(before[before.size() - 2]);
  return last == '-' && !IsAlnum(before[before.size() - 2]);
}

// A line that is not blank: its indentation and its words.
struct DepthLine {
  std::size_t depth = 0;
  std::string words;
};
std::vector<DepthLine> DepthLines(std::string_view text) {
  std::vector<DepthLine> out;
  static const re2::RE2 kSpace(R"(([\s\pZ]+))");
  for (const std::string_view line : Split(text, '\n')) {
    DepthLine one{.words = std::string(line)};
    re2::StringPiece rest(line), space;
    if (re2::RE2::Consume(&rest, kSpace, &space)) {
      for (const char c : space) {
        const bool begins = (static_cast<unsigned char>(c) & 0xc0) != 0x80;  // start of a character
        one.depth = c == '\t' ? (one.depth / 8 + 1) * 8 : one.depth + (begins ? 1 : 0);
      }
    }
    re2::RE2::GlobalReplace(&one.words, kSpace, " ");
    one.words = TrimSpace(one.words);
    // As in a pattern: the punctuation of the surrounding sentence is not part of a quote.
    while (one.words.ends_with('.') || one.words.ends_with(',')) one.words.pop_back();
    if (!one.words.empty()) out.push_back(std::move(one));
  }
  return out;
}

// Returns true if lines with the same words have the same relative indentation in both texts.
// Rewrapped text has other lines, so it is not judged.
bool KeepsDepths(std::string_view quote, std::string_view source) {
  const std::vector<DepthLine> left = DepthLines(quote), right = DepthLines(source);
  if (left.size() != right.size() || left.size() < 2) return true;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (left[i].words != right[i].words) return true;
  }
  for (std::size_t i = 0; i < left.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if ((left[i].depth <=> left[k].depth) != (right[i].depth <=> right[k].depth)) return false;
    }
  }
  return true;
}

// The texts of the documents, and the places of the quotes in them.
class Finder {
 public:
  Finder(const ContextSet& context, const std::vector<Quote>& quotes, const CancelToken& cancel,
         Matching matching)
      : context_(context), cancel_(cancel), matching_(matching) {
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

  // Returns where `quote` first begins between the bytes `from` and `to`.
  std::optional<std::uint64_t> Place(std::size_t document, std::size_t quote, std::uint64_t from,
                                     std::uint64_t to) const {
    if (!Holds(document, quote)) return std::nullopt;
    const std::string_view text = Text(document).value_or("");
    const re2::RE2 pattern(patterns_[quote], SearchOptions(matching_));
    re2::StringPiece found;
    if (from >= text.size() ||
        !pattern.Match(text, from, text.size(), re2::RE2::UNANCHORED, &found, 1)) {
      return std::nullopt;
    }
    const auto at = static_cast<std::uint64_t>(found.data() - text.data());
    return at < to ? std::optional(at) : std::nullopt;
  }

  // Returns the whole-word places of `quote` between the bytes `from` and `to`: none, one or two.
  std::vector<Citation::Place> ExactPlaces(std::size_t document, std::size_t quote,
                                           std::uint64_t from, std::uint64_t to) const {
    std::vector<Citation::Place> places;
    if (patterns_[quote].empty()) return places;
    const std::string_view text = Text(document).value_or("");
    to = std::min<std::uint64_t>(to, text.size());
    const re2::RE2 pattern(patterns_[quote], SearchOptions(matching_));
    re2::StringPiece found;
    while (from < to && places.size() < 2 && !cancel_.cancelled() &&
           pattern.Match(text, from, to, re2::RE2::UNANCHORED, &found, 1)) {
      const auto at = static_cast<std::uint64_t>(found.data() - text.data());
      const std::uint64_t end = at + found.size();
      if (!GoesOn(text[end - 1], text.substr(end)) && !BeganBefore(text[at], text.substr(0, at))) {
        places.push_back({document, at, end});
      }
      from = at + 1;
    }
    return places;
  }

  // Returns "[notes.txt:12]".
  std::string PlaceText(std::size_t document, std::uint64_t at) {
    return fmt::format("[{}:{}]", context_.documents()[document].name,
                       Lines(document).LineAt(at) + 1);
  }

 private:
  // Finds all quotes in one pass over the document.
  void Scan(std::size_t document) {
    const std::string_view text = Text(document).value_or("");
    re2::RE2::Set set(SearchOptions(matching_), re2::RE2::UNANCHORED);
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
  const Matching matching_;
  std::vector<std::string> patterns_;
  std::map<std::size_t, std::vector<int>> held_;  // sorted quotes by document
  std::map<std::size_t, std::unique_ptr<LineIndex>> lines_;
};

// The bytes that a reference names; unset: its document is too short.
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

// Returns the reference that belongs to a quote: the next one in its paragraph before another
// quote, else the last one before it.
const Reference* ReferenceOf(std::size_t quote, const std::vector<Quote>& quotes,
                             const std::vector<Reference>& references) {
  const Quote& own = quotes[quote];
  const std::size_t next = quote + 1 < quotes.size() ? quotes[quote + 1].at : std::string::npos;
  // A fence is its own paragraph: its reference is in the paragraph before or after it.
  const std::size_t beside = own.form == Quote::Form::kFence ? 1 : 0;
  const Reference* before = nullptr;
  for (const Reference& reference : references) {
    if (reference.paragraph + beside < own.paragraph) continue;
    if (reference.paragraph > own.last_paragraph + beside) continue;
    if (reference.at >= own.end && reference.at < next) return &reference;
    if (reference.end <= own.at) before = &reference;
  }
  return before;
}

// Returns the text of `place`, extended by the white space before its first line.
std::string_view WithIndent(std::string_view text, const Citation::Place& place) {
  std::uint64_t from = place.from;
  while (from > 0 && (text[from - 1] == ' ' || text[from - 1] == '\t')) --from;
  if (from > 0 && text[from - 1] != '\n') from = place.from;  // it begins inside a line
  return text.substr(from, place.to - from);
}

void JudgeExactly(std::size_t index, std::size_t documents, const Reference* reference,
                  Finder& finder, Citation* out) {
  using Status = Citation::Status;
  std::vector<Citation::Place> places;
  if (out->cited) {
    places = finder.ExactPlaces(out->cited->document, index, out->cited->from, out->cited->to);
    if (!places.empty()) {
      out->status = places.size() == 1 ? Status::kVerified : Status::kAmbiguous;
    }
  }
  for (std::size_t i = 0; places.empty() && i < documents; ++i) {
    if (!finder.Holds(i, index)) continue;
    places = finder.ExactPlaces(i, index, 0, UINT64_MAX);
    out->status = reference ? Status::kElsewhere : Status::kVerified;
  }
  if (reference && !out->cited) out->status = Status::kOutOfRange;
  if (places.empty()) return;
  out->place = places[0];
  out->found = finder.PlaceText(places[0].document, places[0].from);
  const std::string_view text = finder.Text(places[0].document).value_or("");
  if (out->status == Status::kVerified && !KeepsDepths(out->quote, WithIndent(text, places[0]))) {
    out->status = Status::kReindented;
  }
  // A full stop that the search ignored is part of the place if the text has it, too.
  const std::string_view quote = TrimSpace(out->quote);
  const std::string_view stop = quote.substr(quote.find_last_not_of(".,") + 1);
  if (text.substr(out->place->to).starts_with(stop)) out->place->to += stop.size();
}

Citation JudgeQuote(std::size_t index, const Quote& quote, const Reference* reference,
                    std::size_t documents, Finder& finder, Matching matching) {
  Citation out{.ref = reference ? reference->text : "", .quote = quote.text};
  out.quote_at = quote.at;
  out.quote_end = quote.end;
  out.paragraph = quote.paragraph;
  const auto range = reference ? RangeOf(*reference, finder) : std::nullopt;
  if (reference) {
    out.ref_at = reference->at;
    out.ref_end = reference->end;
  }
  if (range) out.cited = {*reference->document, range->from, range->to};
  if (matching == Matching::kExact) {
    JudgeExactly(index, documents, reference, finder, &out);
    return out;
  }
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

std::vector<std::size_t> ParagraphStarts(std::string_view text) {
  std::vector<std::size_t> starts = {0};
  if (text.find('\n') == text.npos) return starts;
  static const re2::RE2 kBlank(R"(\n[ \t\r]*\n\s*)");
  re2::StringPiece found;
  for (std::size_t at = 0; kBlank.Match(text, at, text.size(), re2::RE2::UNANCHORED, &found, 1);) {
    at = static_cast<std::size_t>(found.data() + found.size() - text.data());
    starts.push_back(at);
  }
  return starts;
}

JsonObject Citation::ToJson() const {
  constexpr std::string_view kNames[] = {"verified", "elsewhere", "not_found", "out_of_range",
                                         "in_range", "ambiguous", "reindented"};
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

std::string WithoutReferences(std::string_view answer, const ContextSet& context) {
  std::string left;
  std::size_t done = 0;
  for (const Reference& reference : ReferenceReader(answer, context).Read()) {
    if (!reference.document || reference.unit == Reference::Unit::kWhole) continue;
    left += answer.substr(done, reference.at - done);
    done = reference.end;
  }
  return left.append(answer.substr(done));
}

std::vector<Citation> CheckCitations(std::string_view answer, const ContextSet& context,
                                     const CancelToken& cancel, Matching matching) {
  const std::string_view trimmed = TrimSpace(answer);
  const bool text = trimmed.starts_with('"') && matching == Matching::kFolded;
  if (trimmed.starts_with('{') || trimmed.starts_with('[') || text) {
    if (ParseJson(trimmed)) return {};
  }
  const std::vector<std::size_t> starts = ParagraphStarts(answer);
  std::vector<Quote> quotes = ReadQuotes(answer, starts, matching);
  std::vector<Reference> references = ReferenceReader(answer, context).Read();
  for (Quote& quote : quotes) {
    quote.paragraph = ParagraphOf(quote.at, starts);
    quote.last_paragraph = ParagraphOf(quote.end - 1, starts);
  }
  for (Reference& reference : references) {
    reference.paragraph = ParagraphOf(reference.at, starts);
  }
  std::erase_if(references, [&](const Reference& reference) {
    return reference.bare_number && std::ranges::none_of(quotes, [&](const Quote& quote) {
             return quote.paragraph == reference.paragraph;
           });
  });
  if (quotes.empty() && references.empty()) return {};
  std::vector<Quote> meant;
  for (std::size_t i = 0; i < quotes.size(); ++i) {
    const bool fence = quotes[i].form == Quote::Form::kFence;
    if (!fence || ReferenceOf(i, quotes, references)) meant.push_back(quotes[i]);
  }
  quotes = std::move(meant);
  Finder finder(context, quotes, cancel, matching);
  if (cancel.cancelled()) return {};
  std::vector<std::pair<std::size_t, Citation>> found;  // by position in the answer
  std::vector<const Reference*> used;
  for (std::size_t i = 0; i < quotes.size(); ++i) {
    used.push_back(ReferenceOf(i, quotes, references));
    found.emplace_back(quotes[i].at, JudgeQuote(i, quotes[i], used.back(),
                                                context.documents().size(), finder, matching));
  }
  for (const Reference& reference : references) {
    if (std::ranges::find(used, &reference) != used.end()) continue;
    const auto range = RangeOf(reference, finder);
    Citation alone{.ref = reference.text,
                   .status = range ? Citation::Status::kInRange : Citation::Status::kOutOfRange};
    alone.ref_at = reference.at;
    alone.ref_end = reference.end;
    alone.paragraph = reference.paragraph;
    if (range) alone.cited = {*reference.document, range->from, range->to};
    found.emplace_back(reference.at, std::move(alone));
  }
  std::ranges::stable_sort(found, {}, &std::pair<std::size_t, Citation>::first);
  std::vector<Citation> out;
  for (auto& [at, citation] : found) out.push_back(std::move(citation));
  return out;
}

}  // namespace dossier::ask
