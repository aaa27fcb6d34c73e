#include "inspect/formats/csv_scanner.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/text/utf8_kernels.h"
#include "inspect/formats/csv_kernels.h"
#include "inspect/text/record_lines.h"

namespace dossier::inspect {
namespace {

constexpr std::size_t kMaxFaults = 10;
constexpr std::uint64_t kBefore = std::numeric_limits<std::uint64_t>::max();  // what is fed

}  // namespace

CsvScanner::CsvScanner(const CsvScanOptions& options) : options_(options) {
  if (options.start == CsvStart::kRow) {
    matching_ = !options.comment.empty() && !options.first_is_row;
    return;
  }
  row_start_ = cell_start_ = quote_at_ = kBefore;
  if (options.start == CsvStart::kInsideQuotes) state_ = State::kQuoted;
}

void CsvScanner::Feed(std::string_view text) {
  const auto find = utf8::internal::HasAvx2() ? internal::FindCsvAvx2 : internal::FindCsvScalar;
  block_ = text;
  if (matching_) MatchComment(text);
  for (std::size_t at = 0; at < text.size(); at += 64) {
    char padded[64];
    const char* data = text.data() + at;
    if (text.size() - at < 64) {
      std::memset(padded, 'x', sizeof padded);
      std::memcpy(padded, data, text.size() - at);
      data = padded;
    }
    const internal::CsvMasks masks = find(data, options_.delimiter);
    for (std::uint64_t bits = masks.quotes | masks.others; bits != 0; bits &= bits - 1) {
      const int i = std::countr_zero(bits);
      // The padding may look like a delimiter.
      if (at + static_cast<std::size_t>(i) >= text.size()) break;
      Special(data[i], fed_ + at + static_cast<std::size_t>(i));
      if (matching_) MatchComment(text.substr(at + static_cast<std::size_t>(i) + 1));
    }
  }
  if (in_comment_) KeepComment(fed_ + text.size());
  fed_ += text.size();
}

// `text`: of a line, from the byte behind those that matched.
void CsvScanner::MatchComment(std::string_view text) {
  while (!text.empty() && matched_ < options_.comment.size()) {
    if (text.front() != options_.comment[matched_]) {
      matching_ = false;
      return;
    }
    ++matched_;
    text.remove_prefix(1);
  }
  in_comment_ = matched_ == options_.comment.size();
  matching_ = !in_comment_;
  if (!in_comment_) return;
  comment_ = options_.comment;
  comment_kept_ = row_start_ + comment_.size();
}

// Adds the bytes of the comment that lie in front of offset `to`, all of them in this block.
void CsvScanner::KeepComment(std::uint64_t to) {
  if (to > comment_kept_ && comment_.size() <= kMaxJudgedLine) {
    comment_ += block_.substr(comment_kept_ - fed_, to - comment_kept_);
  }
  comment_kept_ = std::max(comment_kept_, to);
}

void CsvScanner::EndComment() {
  in_comment_ = false;
  if (IsMarkedRow(comment_, options_.delimiter, options_.marked_row_cells)) {
    ++summary_.rows;
    return;
  }
  ++summary_.comments;
  if (!summary_.first_comment) summary_.first_comment = CsvFault{row_start_};
}

void CsvScanner::Special(char c, std::uint64_t at) {
  if (state_ == State::kQuoteSeen) {
    if (c == '"' && at == closing_at_ + 1) {  // a doubled quote
      state_ = State::kQuoted;
      return;
    }
    // Text between the closing quote and the next delimiter is no part of RFC 4180.
    if (at > closing_at_ + 1 || c == '"') {
      ++summary_.stray_quotes;
      if (!summary_.first_stray) summary_.first_stray = CsvFault{closing_at_};
    }
    state_ = State::kPlain;
    if (c == '"') return;
  }
  if (c == '"' && !in_comment_) {
    Quote(at);
    return;
  }
  if (state_ == State::kQuoted) return;
  if (in_comment_ && c != '\n' && c != '\r') return;
  if (c == options_.delimiter) {
    ++cells_;
    cell_start_ = at + 1;
    return;
  }
  EndRow(at);
  row_start_ = cell_start_ = at + 1;
  matching_ = !options_.comment.empty();
  matched_ = 0;
}

void CsvScanner::Quote(std::uint64_t at) {
  if (state_ == State::kQuoted) {
    state_ = State::kQuoteSeen;
    closing_at_ = at;
    return;
  }
  const bool literal = at == options_.literal_quote_at ||
                       (options_.literal_from_there && at >= options_.literal_quote_at);
  if (at == cell_start_ && !literal) {
    state_ = State::kQuoted;
    quote_at_ = at;
    return;
  }
  ++summary_.stray_quotes;
  if (!summary_.first_stray) summary_.first_stray = CsvFault{at};
}

void CsvScanner::EndRow(std::uint64_t at) {
  if (at == row_start_) return;  // blank, or the LF of a CRLF
  if (in_comment_) {
    KeepComment(at);
    EndComment();
    return;
  }
  ++summary_.rows;
  const std::uint64_t cells = cells_ + 1;
  cells_ = 0;
  summary_.most_cells = std::max(summary_.most_cells, cells);
  if (options_.columns == 0 || cells == options_.columns || summary_.rows <= options_.skip_rows) {
    return;
  }
  ++summary_.ragged;
  if (summary_.ragged_rows.size() < kMaxFaults) {
    summary_.ragged_rows.push_back({row_start_, cells});
  }
}

const CsvSummary& CsvScanner::Finish(TextEnds ends) {
  if (finished_) return summary_;
  finished_ = true;
  if (ends == TextEnds::kLater) return summary_;
  if (state_ == State::kQuoteSeen && fed_ > closing_at_ + 1) {
    ++summary_.stray_quotes;
    if (!summary_.first_stray) summary_.first_stray = CsvFault{closing_at_};
  }
  if (state_ == State::kQuoted) summary_.open_quote = CsvFault{quote_at_};
  EndRow(fed_);
  return summary_;
}

namespace {

// Cells one byte at a time, for the beginning of a text.
class HeadParser {
 public:
  HeadParser(std::string_view head, char delimiter, std::size_t literal_quote_at,
             const CsvComments& comments)
      : head_(head),
        delimiter_(delimiter),
        literal_quote_at_(literal_quote_at),
        comments_(comments) {}

  std::vector<CsvRow> Parse(std::size_t limit, TextEnds ends) {
    while (at_ < head_.size() && rows_.size() < limit && !too_wide_) {
      if (head_[at_] == '\n' || head_[at_] == '\r') {
        ++at_;  // blank, or the LF of a CRLF
        continue;
      }
      if (IsComment()) {
        at_ = LineEnd();
        continue;
      }
      CsvRow row = ParseRow();
      row.whole = row_ended_ || ends == TextEnds::kHere;
      if (row.whole || rows_.empty()) rows_.push_back(std::move(row));
    }
    return std::move(rows_);
  }

  // Where a quote was opened that is not closed before the end.
  std::optional<std::size_t> open_quote() const { return open_quote_; }

 private:
  std::size_t LineEnd() const { return std::min(head_.find_first_of("\r\n", at_), head_.size()); }

  bool IsComment() const {
    const bool row = comments_.mark.empty() || (comments_.first_is_row && rows_.empty());
    return !row && head_.substr(at_).starts_with(comments_.mark) &&
           !IsMarkedRow(head_.substr(at_, LineEnd() - at_), delimiter_, comments_.marked_row_cells);
  }

  CsvRow ParseRow() {
    CsvRow row{.offset = at_};
    row_ended_ = false;
    while (true) {
      row.cells.push_back(ParseCell());
      too_wide_ = row.cells.size() > kMaxColumns;
      if (at_ == head_.size() || too_wide_) break;
      const char c = head_[at_++];
      if (c == delimiter_) continue;
      row_ended_ = true;
      break;
    }
    row.end = at_;
    return row;
  }

  std::string ParseCell() {
    std::string cell;
    const bool quoted = at_ < head_.size() && head_[at_] == '"' && at_ != literal_quote_at_;
    if (quoted) ParseQuoted(&cell);
    while (at_ < head_.size() && head_[at_] != delimiter_ && head_[at_] != '\n' &&
           head_[at_] != '\r') {
      cell += head_[at_++];
    }
    return cell;
  }

  void ParseQuoted(std::string* cell) {
    const std::size_t opened = at_++;
    while (at_ < head_.size()) {
      const char c = head_[at_++];
      if (c != '"') {
        *cell += c;
      } else if (at_ < head_.size() && head_[at_] == '"') {
        *cell += head_[at_++];
      } else {
        return;
      }
    }
    open_quote_ = opened;
  }

  const std::string_view head_;
  const char delimiter_;
  const std::size_t literal_quote_at_;
  const CsvComments comments_;
  std::size_t at_ = 0;
  bool row_ended_ = false;
  bool too_wide_ = false;  // the last row
  std::vector<CsvRow> rows_;
  std::optional<std::size_t> open_quote_;
};

}  // namespace

bool IsMarkedRow(std::string_view line, char delimiter, std::uint64_t cells) {
  if (cells == 0 || line.size() > kMaxJudgedLine) return false;
  std::uint64_t found = 1;
  for (std::size_t at = 0;; ++at, ++found) {
    while (at < line.size() && line[at] == '"') {  // a doubled quote closes and opens again
      at = line.find('"', at + 1);
      if (at == std::string_view::npos) return false;
      ++at;
    }
    at = line.find(delimiter, at);
    if (at == std::string_view::npos) return found == cells;
  }
}

std::vector<CsvRow> ParseCsv(std::string_view head, char delimiter, std::size_t limit,
                             TextEnds ends, const CsvComments& comments) {
  // A quote that stays open this long is taken for a stray one.
  constexpr std::size_t kLongestCell = 64 << 10;
  HeadParser parser(head, delimiter, std::string_view::npos, comments);
  std::vector<CsvRow> rows = parser.Parse(limit, ends);
  const auto open = parser.open_quote();
  if (!open) return rows;
  if (ends == TextEnds::kLater && head.size() - *open < kLongestCell) return rows;
  return HeadParser(head, delimiter, *open, comments).Parse(limit, ends);
}

}  // namespace dossier::inspect
