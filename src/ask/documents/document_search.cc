#include "ask/documents/document_search.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <queue>
#include <unordered_set>

#include "ask/documents/document_words.h"
#include "base/text/utf8.h"
#include "inspect/records/record_index.h"
#include "inspect/text/record_lines.h"

namespace dossier::ask {
namespace {

constexpr std::size_t kMaxTerms = 64;
constexpr std::size_t kMaxPassageLines = 10;
constexpr std::size_t kMaxPassageBytes = 2000;
// Passages kept between the two passes; if there are more, the second pass reads the text again.
constexpr std::size_t kMaxKept = 1 << 18;
// The usual constants of BM25.
constexpr double kSaturation = 1.2;
constexpr double kLengthWeight = 0.75;

// Iterates over the passages of one document.
class PassageWalker {
 public:
  explicit PassageWalker(const TextDocument& document) : text_(document.text) {
    auto splitter = inspect::MakeSplitter(text_, document.description);
    if (!splitter) return;
    splitter_ = std::move(*splitter);
    at_ = splitter_->start();
  }

  bool Next(inspect::ByteRange* passage) {
    if (piece_.begin == piece_.end && !NextWhole()) return false;
    *passage = piece_;
    if (piece_.size() > kMaxPassageBytes) passage->end = CutBefore(piece_.begin + kMaxPassageBytes);
    piece_.begin = passage->end;
    return true;
  }

 private:
  bool NextWhole() {
    if (splitter_) return splitter_->Next(&at_, &piece_);
    piece_ = {};
    std::size_t lines = 0;
    while (at_ < text_.size() && lines < kMaxPassageLines && piece_.size() < kMaxPassageBytes) {
      const inspect::Line line = inspect::NextLine(text_, at_);
      if (!inspect::IsBlankLine(line.text)) {
        if (lines++ == 0) piece_.begin = at_;
        piece_.end = at_ + line.text.size();
      } else if (lines > 0) {
        break;
      }
      at_ = line.next;
    }
    return lines > 0;
  }
  // Cuts a long passage at a space near its end, never inside a character.
  std::uint64_t CutBefore(std::uint64_t end) const {
    constexpr std::size_t kNear = 200;
    const std::size_t space = text_.substr(end - kNear, kNear).rfind(' ');
    if (space != std::string_view::npos) return end - kNear + space + 1;
    const std::size_t floor = utf8::FloorBoundary(text_, end);
    return floor > piece_.begin ? floor : end;
  }

  std::string_view text_;
  std::unique_ptr<inspect::RecordSplitter> splitter_;
  std::size_t at_ = 0;
  inspect::ByteRange piece_;  // the rest of the current passage
};

// The words of the query, looked up by hash.
class Terms {
 public:
  explicit Terms(const std::vector<std::uint64_t>& words) {
    slots_.fill(kNoTerm);
    for (const std::uint64_t word : words) {
      if (count_ < kMaxTerms && Find(word) == kNoTerm) Insert(word);
    }
  }
  std::size_t count() const { return count_; }

  static constexpr std::uint8_t kNoTerm = 255;
  std::uint8_t Find(std::uint64_t word) const {
    for (std::size_t slot = word % kSlots;; slot = (slot + 1) % kSlots) {
      if (slots_[slot] == kNoTerm || words_[slots_[slot]] == word) return slots_[slot];
    }
  }

 private:
  static constexpr std::size_t kSlots = 257;
  void Insert(std::uint64_t word) {
    std::size_t slot = word % kSlots;
    while (slots_[slot] != kNoTerm) slot = (slot + 1) % kSlots;
    slots_[slot] = static_cast<std::uint8_t>(count_);
    words_[count_++] = word;
  }

  std::array<std::uint8_t, kSlots> slots_;
  std::array<std::uint64_t, kMaxTerms> words_{};
  std::size_t count_ = 0;
};

// The frequency of each term in one passage.
struct Tally {
  std::array<std::uint8_t, kMaxTerms> counts{};
  std::uint32_t words = 0;
  bool any = false;
};

Tally CountTerms(std::string_view text, const Terms& terms) {
  Tally tally;
  WordReader reader(text);
  for (std::uint64_t word; reader.Next(&word); ++tally.words) {
    const std::uint8_t term = terms.Find(word);
    if (term == Terms::kNoTerm) continue;
    tally.any = true;
    if (tally.counts[term] < 255) ++tally.counts[term];
  }
  return tally;
}

// Statistics of the first pass about all passages.
struct Statistics {
  std::uint64_t passages = 0, words = 0;
  std::array<std::uint64_t, kMaxTerms> passages_with{};

  void Add(const Tally& tally, std::size_t terms) {
    ++passages;
    words += tally.words;
    for (std::size_t term = 0; tally.any && term < terms; ++term) {
      passages_with[term] += tally.counts[term] > 0 ? 1 : 0;
    }
  }
  double Score(const Tally& tally, std::size_t terms) const {
    const double mean = static_cast<double>(words) / static_cast<double>(passages);
    const double length = kSaturation * (1 - kLengthWeight + kLengthWeight * tally.words / mean);
    double score = 0;
    for (std::size_t term = 0; term < terms; ++term) {
      if (tally.counts[term] == 0) continue;
      const double with = static_cast<double>(passages_with[term]);
      const double all = static_cast<double>(passages);
      const double rarity = std::log(1 + (all - with + 0.5) / (with + 0.5));
      score += rarity * tally.counts[term] * (kSaturation + 1) / (tally.counts[term] + length);
    }
    return score;
  }
};

bool Better(const Passage& a, const Passage& b) {
  if (a.score != b.score) return a.score > b.score;
  return a.document != b.document ? a.document < b.document : a.at < b.at;
}

// The best passages so far.
class Best {
 public:
  explicit Best(std::size_t count) : count_(count) {}
  void Add(const Passage& passage) {
    if (count_ == 0) return;
    if (heap_.size() == count_ && !Better(passage, heap_.top())) return;
    heap_.push(passage);
    if (heap_.size() > count_) heap_.pop();
  }
  std::vector<Passage> Take() && {
    std::vector<Passage> out;
    for (; !heap_.empty(); heap_.pop()) out.push_back(heap_.top());
    std::reverse(out.begin(), out.end());
    return out;
  }

 private:
  struct WorstFirst {
    bool operator()(const Passage& a, const Passage& b) const { return Better(a, b); }
  };
  std::size_t count_;
  std::priority_queue<Passage, std::vector<Passage>, WorstFirst> heap_;
};

struct Kept {
  Passage passage;
  Tally tally;
};

// Calls visit(passage, tally) for every passage. Returns false if cancelled.
template <typename Visit>
bool ForEachPassage(std::span<const TextDocument> documents, const Terms& terms,
                    const CancelToken& cancel, Visit&& visit) {
  for (std::size_t document = 0; document < documents.size(); ++document) {
    PassageWalker walker(documents[document]);
    for (inspect::ByteRange range; walker.Next(&range);) {
      if (cancel.cancelled()) return false;
      const Passage passage{.document = document, .at = range.begin, .length = range.size()};
      visit(passage, CountTerms(inspect::Slice(documents[document].text, range), terms));
    }
  }
  return true;
}

std::vector<std::uint64_t> WordsOf(std::string_view text) {
  std::vector<std::uint64_t> words;
  WordReader reader(text);
  for (std::uint64_t word; reader.Next(&word);) words.push_back(word);
  return words;
}

Result<std::vector<Passage>> SearchWords(std::span<const TextDocument> documents,
                                         const std::vector<std::uint64_t>& words, std::size_t count,
                                         const CancelToken& cancel) {
  const Terms terms(words);
  Statistics statistics;
  std::vector<Kept> kept;
  bool all_kept = true;
  bool finished =
      terms.count() == 0 ||
      ForEachPassage(documents, terms, cancel, [&](const Passage& passage, const Tally& tally) {
        statistics.Add(tally, terms.count());
        if (!tally.any) return;
        all_kept = all_kept && kept.size() < kMaxKept;
        if (all_kept) kept.push_back({passage, tally});
      });
  Best best(count);
  const auto score = [&](Passage passage, const Tally& tally) {
    if (!tally.any) return;
    passage.score = statistics.Score(tally, terms.count());
    best.Add(passage);
  };
  if (all_kept) {
    for (const Kept& one : kept) score(one.passage, one.tally);
  } else {
    finished = finished && ForEachPassage(documents, terms, cancel, score);
  }
  if (!finished) return MakeError(ErrorCode::kCancelled, "the search was stopped");
  return std::move(best).Take();
}

}  // namespace

Result<std::vector<Passage>> SearchPassages(std::span<const TextDocument> documents,
                                            std::string_view query, std::size_t count,
                                            const CancelToken& cancel) {
  return SearchWords(documents, WordsOf(query), count, cancel);
}

PassageCounts CountPassages(std::span<const TextDocument> documents,
                            std::span<const std::uint64_t> words, const CancelToken& cancel) {
  const Terms terms(std::vector<std::uint64_t>(words.begin(), words.end()));
  Statistics statistics;
  ForEachPassage(documents, terms, cancel,
                 [&](const Passage&, const Tally& tally) { statistics.Add(tally, terms.count()); });
  PassageCounts counts{.passages = statistics.passages};
  for (const std::uint64_t word : words) {
    const std::uint8_t term = terms.Find(word);
    counts.with.push_back(term == Terms::kNoTerm ? 0 : statistics.passages_with[term]);
  }
  return counts;
}

std::vector<Passage> FindPassages(std::span<const TextDocument> documents,
                                  std::string_view question, std::size_t max_chars,
                                  const CancelToken& cancel) {
  constexpr std::size_t kCandidates = 64;
  std::vector<Passage> out;
  const auto found = SearchPassages(documents, question, kCandidates, cancel);
  std::unordered_set<std::string_view> seen;
  for (Passage passage : found.value_or(std::vector<Passage>{})) {
    const std::string_view text = documents[passage.document].text;
    std::string_view shown = text.substr(passage.at, passage.length);
    if (!seen.insert(shown).second) continue;
    if (out.empty()) shown = utf8::Prefix(shown, max_chars);  // of the best one at least its start
    const std::uint64_t chars = utf8::CodePoints(shown);
    if (shown.empty() || chars > max_chars) continue;
    max_chars -= chars;
    passage.length = shown.size();
    out.push_back(passage);
  }
  return out;
}

namespace {

constexpr std::size_t kMaxPattern = 64 * 1024;
constexpr std::int64_t kPatternMemory = 16 << 20;
// Size of one search step; small enough to stop soon on request.
constexpr std::size_t kWindow = 1 << 20;

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

// Counts lines up to each match, in order, and fills in the line data of the matches.
class LineTracker {
 public:
  LineTracker(std::string_view text, std::uint64_t context, std::vector<GrepMatch>* matches)
      : text_(text), context_(context), matches_(matches) {
    Enter(0);
  }

  // `at` never decreases.
  void Add(std::uint64_t at, std::uint64_t length) {
    while (line_.next <= at && line_.next < text_.size()) Enter(line_.next);
    GrepMatch match{.at = at, .length = length, .line = number_, .line_at = start_};
    match.line_length = line_.text.size();
    match.context_at = starts_.front();
    matches_->push_back(match);
  }

  // Counts the lines after the last matches.
  void Finish() {
    while (open_ < matches_->size() && line_.next < text_.size()) Enter(line_.next);
    for (; open_ < matches_->size(); ++open_) Close(open_);
  }

 private:
  void Enter(std::size_t start) {
    if (number_ > 0) CloseUpTo(number_ + 1);
    ++number_;
    start_ = start;
    line_ = text_.empty() ? inspect::Line{{}, 0} : inspect::NextLine(text_, start);
    starts_.push_back(start);
    if (starts_.size() > context_ + 1) starts_.pop_front();
  }
  // Before line `number` starts: completes matches whose context ends with the current line.
  void CloseUpTo(std::uint64_t number) {
    while (open_ < matches_->size() && (*matches_)[open_].line + context_ < number) Close(open_++);
  }
  void Close(std::size_t index) {
    GrepMatch& match = (*matches_)[index];
    match.context_length = start_ + line_.text.size() - match.context_at;
  }

  std::string_view text_;
  std::uint64_t context_;
  std::vector<GrepMatch>* matches_;
  std::deque<std::uint64_t> starts_;  // of the current line and up to `context_` lines before
  inspect::Line line_{{}, 0};
  std::uint64_t start_ = 0;
  std::uint64_t number_ = 0;
  std::size_t open_ = 0;  // the first match whose context has not ended yet
};

class Searcher {
 public:
  Searcher(std::string_view text, const RE2& pattern, const GrepOptions& options,
           const CancelToken& cancel)
      : text_(text),
        pattern_(pattern),
        options_(options),
        cancel_(cancel),
        tracker_(text, options.context, &result_.matches) {}

  Result<GrepResult> Run() && {
    for (std::size_t at = 0; at < text_.size() && !cancel_.cancelled();) {
      std::size_t end = text_.size();
      if (end - at > kWindow) end = std::min(text_.find('\n', at + kWindow), end - 1) + 1;
      SearchWindow(at, end);
      at = end;
    }
    if (cancel_.cancelled()) return MakeError(ErrorCode::kCancelled, "the search was stopped");
    tracker_.Finish();
    return std::move(result_);
  }

 private:
  // RE2 knows only LF as line end, so windows with a CR are searched line by line.
  void SearchWindow(std::size_t begin, std::size_t end) {
    if (std::memchr(text_.data() + begin, '\r', end - begin) == nullptr) {
      // Without the last line end, which would add an empty line.
      SearchLines(begin, text_[end - 1] == '\n' ? end - 1 : end);
      return;
    }
    for (std::size_t at = begin; at < end && !cancel_.cancelled();) {
      const inspect::Line line = inspect::NextLine(text_, at);
      SearchLines(at, at + line.text.size());
      at = line.next;
    }
  }

  // Searches lines separated by LF, the last without its end.
  void SearchLines(std::size_t begin, std::size_t end) {
    const re2::StringPiece window = Piece(text_.substr(begin, end - begin));
    std::size_t at = 0;
    std::size_t last_end = re2::StringPiece::npos;
    re2::StringPiece match;
    while (at <= window.size() && !cancel_.cancelled() &&
           pattern_.Match(window, at, window.size(), RE2::UNANCHORED, &match, 1)) {
      const auto found = static_cast<std::size_t>(match.data() - window.data());
      // An empty match right after another match is the tail of that one.
      if (!match.empty() || found != last_end) Report(begin + found, match.size());
      at = last_end = found + match.size();
      if (match.empty() || options_.each == GrepOptions::Each::kLine) {
        const std::size_t line_end = window.find('\n', at);
        if (line_end == re2::StringPiece::npos) return;
        at = line_end + 1;
      }
    }
  }

  void Report(std::size_t at, std::size_t length) {
    if (++result_.total <= options_.max) tracker_.Add(at, length);
  }

  std::string_view text_;
  const RE2& pattern_;
  const GrepOptions& options_;
  const CancelToken& cancel_;
  GrepResult result_;
  LineTracker tracker_;
};

}  // namespace

Result<GrepResult> Grep(std::string_view text, std::string_view pattern, const GrepOptions& options,
                        const CancelToken& cancel) {
  if (pattern.size() > kMaxPattern) {
    return MakeError(ErrorCode::kInvalidArgument, "pattern has {} bytes; at most {} are allowed",
                     pattern.size(), kMaxPattern);
  }
  RE2::Options settings(RE2::Quiet);
  settings.set_never_nl(true);
  settings.set_case_sensitive(options.letter_case == GrepOptions::Case::kSensitive);
  settings.set_max_mem(kPatternMemory);
  const std::string wrapped = fmt::format("(?m){}", pattern);
  const RE2 compiled(Piece(wrapped), settings);
  if (!compiled.ok()) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "pattern \"{}\" is not a regular expression of RE2 ({}); look-around and "
                     "back-references do not exist there, use re on a slice of the text",
                     utf8::Prefix(pattern, 200), compiled.error());
  }
  return Searcher(text, compiled, options, cancel).Run();
}

}  // namespace dossier::ask
