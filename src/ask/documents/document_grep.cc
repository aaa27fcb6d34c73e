#include "ask/documents/document_grep.h"

#include <re2/re2.h>

#include <algorithm>
#include <cstring>
#include <deque>

#include "base/text/utf8.h"
#include "inspect/text/record_lines.h"

namespace dossier::ask {
namespace {

constexpr std::size_t kMaxPattern = 64 * 1024;
constexpr std::int64_t kPatternMemory = 16 << 20;
// Searched in one go; small enough to stop soon when asked to.
constexpr std::size_t kWindow = 1 << 20;

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

// Follows the lines up to each match, in order, and fills in what the matches say about lines.
class LineTracker {
 public:
  LineTracker(std::string_view text, std::uint64_t context, std::vector<GrepMatch>* matches)
      : text_(text), context_(context), matches_(matches) {
    Enter(0);
  }

  // `at` never goes back.
  void Add(std::uint64_t at, std::uint64_t length) {
    while (line_.next <= at && line_.next < text_.size()) Enter(line_.next);
    GrepMatch match{.at = at, .length = length, .line = number_, .line_at = start_};
    match.line_length = line_.text.size();
    match.context_at = starts_.front();
    matches_->push_back(match);
  }

  // The lines behind the last matches.
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
  // Before line `number` is entered: matches whose context ends with the current line are complete.
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
  std::deque<std::uint64_t> starts_;  // of the current line and up to `context_` before it
  inspect::Line line_{{}, 0};
  std::uint64_t start_ = 0;
  std::uint64_t number_ = 0;
  std::size_t open_ = 0;  // the first match whose context has no end yet
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
  // RE2 knows LF as the only line end, so windows with a CR are searched line by line.
  void SearchWindow(std::size_t begin, std::size_t end) {
    if (std::memchr(text_.data() + begin, '\r', end - begin) == nullptr) {
      // Without its last line end, which would make one more, empty line.
      SearchLines(begin, text_[end - 1] == '\n' ? end - 1 : end);
      return;
    }
    for (std::size_t at = begin; at < end && !cancel_.cancelled();) {
      const inspect::Line line = inspect::NextLine(text_, at);
      SearchLines(at, at + line.text.size());
      at = line.next;
    }
  }

  // Lines between LF, the last without its end.
  void SearchLines(std::size_t begin, std::size_t end) {
    const re2::StringPiece window = Piece(text_.substr(begin, end - begin));
    std::size_t at = 0;
    std::size_t last_end = re2::StringPiece::npos;
    re2::StringPiece match;
    while (at <= window.size() && !cancel_.cancelled() &&
           pattern_.Match(window, at, window.size(), RE2::UNANCHORED, &match, 1)) {
      const auto found = static_cast<std::size_t>(match.data() - window.data());
      // An empty match right behind another is that one's tail.
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
