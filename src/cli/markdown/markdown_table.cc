#include "cli/markdown/markdown_table.h"

#include <algorithm>
#include <numeric>
#include <sstream>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "cli/markdown/text_flow.h"

namespace dossier::cli {
namespace {

constexpr int kLeastColumn = 5;
constexpr std::string_view kBar = " │ ", kCross = "─┼─", kDash = "─";
constexpr int kBarWidth = 3;

enum class Align : std::uint8_t { kLeft, kCenter, kRight };

std::string Repeat(std::string_view text, int count) {
  std::string repeated;
  for (int i = 0; i < count; ++i) repeated += text;
  return repeated;
}

// Renders one cell as lines of at most `width` columns.
std::vector<std::string> CellLines(std::string_view cell, int width, Style base,
                                   const TableOptions& options) {
  std::ostringstream out;
  TextFlow flow({.columns = width, .color = options.color}, out, TextFlow::Narrow::kAllowed);
  flow.Write(RenderInline(cell, options.markers, base));
  flow.EndLine();
  const std::string text = std::move(out).str();
  std::vector<std::string> lines;
  for (const std::string_view line : Split(text, '\n')) lines.emplace_back(line);
  if (lines.size() > 1) lines.pop_back();
  return lines;
}

std::string Pad(const std::string& text, int width, Align align) {
  const int missing = std::max(0, width - StyledWidth(text));
  const int left = align == Align::kLeft ? 0 : (align == Align::kRight ? missing : missing / 2);
  return Repeat(" ", left) + text + Repeat(" ", missing - left);
}

std::vector<Align> ReadAligns(const std::vector<std::string>& cells) {
  std::vector<Align> aligns;
  for (const std::string& cell : cells) {
    const bool right = cell.ends_with(':');
    aligns.push_back(!right ? Align::kLeft
                            : (cell.starts_with(':') ? Align::kCenter : Align::kRight));
  }
  return aligns;
}

// Shrinks the widest columns first: all above a common cap are cut to it.
std::vector<int> FitColumns(std::vector<int> natural, int available) {
  if (std::accumulate(natural.begin(), natural.end(), 0) <= available) return natural;
  const auto total = [&](int cap) {
    int sum = 0;
    for (const int width : natural) sum += std::min(width, cap);
    return sum;
  };
  int cap = 1;
  while (total(cap + 1) <= available) ++cap;
  int spare = available - total(cap);
  for (int& width : natural) {
    const bool cut = width > cap;
    width = std::min(width, cap + (cut && spare > 0 ? 1 : 0));
    if (cut && spare > 0) --spare;
  }
  return natural;
}

class Table {
 public:
  Table(const std::vector<std::string>& lines, const TableOptions& options) : options_(options) {
    header_ = SplitRow(lines[0]);
    aligns_ = ReadAligns(SplitRow(lines[1]));
    aligns_.resize(header_.size(), Align::kLeft);
    for (std::size_t i = 2; i < lines.size(); ++i) {
      rows_.push_back(SplitRow(lines[i]));
      rows_.back().resize(header_.size());
    }
  }

  std::vector<std::string> Draw() {
    const int columns = static_cast<int>(header_.size());
    const int available = options_.width - kBarWidth * (columns - 1);
    const std::vector<int> natural = NaturalWidths();
    const int needed = std::accumulate(natural.begin(), natural.end(), 0);
    if (needed > available && available < columns * kLeastColumn) return DrawAsList();
    widths_ = FitColumns(natural, available);
    DrawRow(header_, Style::kBold);
    std::string rule;
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      if (i > 0) rule += kCross;
      rule += Repeat(kDash, widths_[i]);
    }
    lines_.push_back(Dim(rule));
    for (const auto& row : rows_) DrawRow(row, Style::kPlain);
    return std::move(lines_);
  }

 private:
  std::vector<int> NaturalWidths() const {
    std::vector<int> widths(header_.size(), 1);
    const auto measure = [&](const std::vector<std::string>& row, Style base) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        for (const std::string& line : CellLines(row[i], options_.width, base, options_)) {
          widths[i] = std::max(widths[i], StyledWidth(line));
        }
      }
    };
    measure(header_, Style::kBold);
    for (const auto& row : rows_) measure(row, Style::kPlain);
    return widths;
  }

  std::string Dim(std::string_view text) const {
    std::ostringstream none;
    return TextFlow({.color = options_.color}, none).Styled(Style::kDim, text);
  }

  void DrawRow(const std::vector<std::string>& row, Style base) {
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 1;
    for (std::size_t i = 0; i < row.size(); ++i) {
      cells.push_back(CellLines(row[i], widths_[i], base, options_));
      height = std::max(height, cells.back().size());
    }
    for (std::size_t at = 0; at < height; ++at) {
      std::string line;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        if (i > 0) line += Dim(kBar);
        line += Pad(at < cells[i].size() ? cells[i][at] : std::string(), widths_[i], aligns_[i]);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      lines_.push_back(std::move(line));
    }
  }

  std::vector<std::string> DrawAsList() {
    for (std::size_t n = 0; n < rows_.size(); ++n) {
      if (n > 0) lines_.push_back(Dim(Repeat(kDash, std::min(options_.width, 20))));
      for (std::size_t i = 0; i < header_.size(); ++i) {
        const std::string text = fmt::format("{}: {}", header_[i], rows_[n][i]);
        for (std::string& line : CellLines(text, options_.width, Style::kPlain, options_)) {
          lines_.push_back(std::move(line));
        }
      }
    }
    return std::move(lines_);
  }

  const TableOptions options_;
  std::vector<std::string> header_;
  std::vector<Align> aligns_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<int> widths_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> SplitRow(std::string_view line) {
  line = TrimSpace(line);
  if (line.starts_with('|')) line.remove_prefix(1);
  std::vector<std::string> cells;
  std::string cell;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '|') {
      cell += '|';
      ++i;
    } else if (line[i] == '|') {
      cells.emplace_back(TrimSpace(cell));
      cell.clear();
    } else {
      cell += line[i] == '\t' ? ' ' : line[i];
    }
  }
  if (!TrimSpace(cell).empty()) cells.emplace_back(TrimSpace(cell));
  return cells;
}

bool IsDelimiterRow(std::string_view line) {
  const std::vector<std::string> cells = SplitRow(line);
  return !cells.empty() && std::ranges::all_of(cells, [](std::string_view cell) {
    if (cell.starts_with(':')) cell.remove_prefix(1);
    if (cell.ends_with(':')) cell.remove_suffix(1);
    return !cell.empty() && cell.find_first_not_of('-') == std::string_view::npos;
  });
}

std::vector<std::string> DrawTable(const std::vector<std::string>& lines,
                                   const TableOptions& options) {
  return Table(lines, options).Draw();
}

}  // namespace dossier::cli
