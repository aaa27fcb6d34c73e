#include "inspect/records/record_table.h"

#include <cstring>

#include "base/text/text.h"
#include "inspect/formats/csv_scanner.h"
#include "inspect/formats/csv_shape.h"
#include "inspect/text/record_lines.h"

namespace dossier::inspect {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

// Reads the cell of a row that starts at *at, and stops at the delimiter or the row's end.
std::string TakeCell(std::string_view row, char delimiter, std::size_t* at) {
  std::string cell;
  if (*at < row.size() && row[*at] == '"') {
    std::size_t from = *at + 1;
    for (;;) {
      const std::size_t quote = row.find('"', from);
      if (quote == kNone) {  // never closes, so it is text
        cell.clear();
        break;
      }
      cell.append(row.substr(from, quote - from));
      from = quote + 1;
      if (from < row.size() && row[from] == '"') {
        cell.push_back('"');
        ++from;
        continue;
      }
      *at = from;
      break;
    }
  }
  const std::size_t end = std::min(row.find(delimiter, *at), row.size());
  cell.append(row.substr(*at, end - *at));
  *at = end;
  return cell;
}

}  // namespace

bool Rows::Next(std::size_t* position, ByteRange* row) const {
  while (*position < text_.size()) {
    const std::size_t start = *position;
    const Line line = NextLine(text_, start);
    *position = line.next;
    if (line.text.empty()) continue;
    const bool marked = !comment_.empty() && line.text.starts_with(comment_);
    if (marked && !IsMarkedRow(line.text, delimiter_, marked_row_cells_)) continue;
    row->begin = start;
    row->end = start + line.text.size();
    if (marked || std::memchr(line.text.data(), '"', line.text.size()) == nullptr) return true;
    row->end = EndOfQuotedRow(start);
    *position = row->end < text_.size() ? NextLine(text_, row->end).next : row->end;
    return true;
  }
  return false;
}

// Walks the cells of a row; a quote opens only at the start of a cell.
std::size_t Rows::EndOfQuotedRow(std::size_t start) const {
  std::size_t at = start;
  while (at < text_.size()) {
    if (text_[at] == '"') at = SkipQuotedCell(at);
    while (at < text_.size() && text_[at] != delimiter_ && text_[at] != '\n' && text_[at] != '\r') {
      ++at;
    }
    if (at == text_.size() || text_[at] != delimiter_) return at;
    ++at;
  }
  return at;
}

// Returns the offset after the quote that closes the one at `quote`, or `quote` + 1 if none does.
std::size_t Rows::SkipQuotedCell(std::size_t quote) const {
  if (open_quote_.load(std::memory_order_relaxed) == quote) return quote + 1;
  std::size_t at = quote + 1;
  for (;;) {
    at = text_.find('"', at);
    if (at == kNone) {
      open_quote_.store(quote, std::memory_order_relaxed);
      return quote + 1;
    }
    if (at + 1 >= text_.size() || text_[at + 1] != '"') return at + 1;
    at += 2;
  }
}

std::vector<std::string> ParseCells(std::string_view row, char delimiter) {
  std::vector<std::string> cells;
  for (std::size_t at = 0;; ++at) {
    cells.push_back(TakeCell(row, delimiter, &at));
    if (at >= row.size()) return cells;
  }
}

std::vector<std::string> TakeHeader(std::string_view text, const TableShape& shape,
                                    std::size_t* position) {
  if (!shape.header) return {};
  const Rows rows(text, shape.delimiter, shape.header_commented ? "" : shape.comment);
  ByteRange header;
  if (!rows.Next(position, &header)) return {};
  const std::vector<std::string> first = ParseCells(Slice(text, header), shape.delimiter);
  if (!shape.below.empty()) rows.Next(position, &header);
  return JoinHeader(first, shape);
}

std::string_view TableText(std::string_view text, const TableShape& shape) {
  if (shape.end_offset == 0) return text;
  return text.substr(0, shape.end_offset + (text.starts_with("\xEF\xBB\xBF") ? 3 : 0));
}

std::size_t TableStart(std::string_view text, const TableShape& shape) {
  const std::size_t start = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  if (shape.start_offset > 0) {
    return std::min(text.size(), start + static_cast<std::size_t>(shape.start_offset));
  }
  if (start >= text.size()) return start;
  const Line first = NextLine(text, start);
  const bool separator_line =
      first.text.size() == 5 && ToLowerAscii(first.text.substr(0, 4)) == "sep=";
  return separator_line ? first.next : start;
}

}  // namespace dossier::inspect
