#include "inspect/formats/table_footer.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text/text.h"
#include "inspect/description/number_style.h"
#include "inspect/description/value_type.h"

namespace dossier::inspect {
namespace {

constexpr std::size_t kMostFooterRows = 10;
constexpr std::size_t kFewestRows = 2;  // above a footer

bool IsText(std::string_view cell) {
  return !cell.empty() && TypeOfText(cell) == FieldType::kString && !IsNumeral(cell);
}

// What the rows so far have in one column.
class Column {
 public:
  void Add(std::string_view cell) {
    ++rows_;
    filled_ += cell.empty() ? 0 : 1;
    texts_ += IsText(cell) ? 1 : 0;
    labelled_ = labelled_ || cell.find(": ") != std::string_view::npos;
    for (std::size_t i = 0; i < kMarks.size(); ++i) {
      if (cell.empty()) continue;
      const auto value = NumberOfText(PlainNumber(cell, kMarks[i]));
      readable_[i] = readable_[i] && value;
      if (!value) continue;
      sums_[i] += *value;
      addends_[i] += *value != 0 ? 1 : 0;
    }
  }

  bool always_filled() const { return filled_ == rows_; }
  bool never_text() const { return texts_ == 0; }
  // `Source: X` where no cell reads so.
  bool IsNote(std::string_view cell) const {
    return !labelled_ && cell.find(": ") != std::string_view::npos;
  }
  // Whether a number may be the sum of these and more rows.
  bool MaySum(std::string_view cell) const {
    for (std::size_t i = 0; i < kMarks.size(); ++i) {
      const auto value = NumberOfText(PlainNumber(cell, kMarks[i]));
      if (value && readable_[i] && addends_[i] > 1 && std::abs(*value) >= std::abs(sums_[i])) {
        return true;
      }
    }
    return false;
  }

  enum class Fit : std::uint8_t { kNone, kSome, kSum };
  // How a number below the rows fits them: as their sum, as their mean or number, or not.
  Fit FitOf(std::string_view cell) const {
    Fit best = Fit::kNone;
    for (std::size_t i = 0; i < kMarks.size(); ++i) {
      const std::string plain = PlainNumber(cell, kMarks[i]);
      const auto value = NumberOfText(plain);
      if (!value || !readable_[i] || filled_ == 0) continue;
      if (Near(plain, *value, sums_[i])) return addends_[i] > 1 ? Fit::kSum : Fit::kSome;
      const bool some = Near(plain, *value, sums_[i] / static_cast<double>(filled_)) ||
                        *value == static_cast<double>(rows_);
      if (some) best = Fit::kSome;
    }
    return best;
  }

 private:
  static constexpr std::array<DecimalMark, 2> kMarks = {DecimalMark::kDot, DecimalMark::kComma};

  // As far as the decimals of `plain` say.
  static bool Near(std::string_view plain, double value, double wanted) {
    const std::size_t point = plain.find('.');
    const double decimals =
        point == std::string_view::npos ? 0 : static_cast<double>(plain.size() - point - 1);
    const double step = decimals == 0 ? 1e-9 : 0.5000001 * std::pow(10.0, -decimals);
    return std::abs(value - wanted) <= std::max(step, 1e-12 * std::abs(wanted));
  }

  std::size_t rows_ = 0, filled_ = 0, texts_ = 0;
  bool labelled_ = false;
  std::array<std::size_t, 2> addends_{};  // that are not 0
  std::array<double, 2> sums_{};
  std::array<bool, 2> readable_{true, true};
};

using Columns = std::vector<Column>;

// All numbers of the row fit, and one is a sum.
bool HoldsSums(const FooterRow& row, const Columns& columns) {
  bool sum = false;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (!IsNumeral(row.At(c))) continue;
    const Column::Fit fit = columns[c].FitOf(row.At(c));
    if (fit == Column::Fit::kNone) return false;
    sum = sum || fit == Column::Fit::kSum;
  }
  return sum;
}

// What a row lacks, and has instead, of what all rows above it have.
struct Difference {
  bool lacks = false;  // a cell
  bool text = false;   // where they have dates or numbers
};

Difference DifferenceOf(const FooterRow& row, const Columns& columns) {
  Difference found;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (!columns[c].always_filled()) continue;
    found.lacks = found.lacks || row.At(c).empty();
    found.text = found.text || (columns[c].never_text() && IsText(row.At(c)));
  }
  return found;
}

// Why the row is no record below rows of such columns; empty: it may be one. `above`: what was
// found between them and the row.
std::string WhyFooter(const FooterRow& row, const Columns& columns,
                      const std::vector<FoundFooterRow>& above) {
  const Difference different = DifferenceOf(row, columns);
  const std::size_t filled = row.filled();
  if (filled == 0) return "no cell is filled";
  if ((different.lacks || different.text) && HoldsSums(row, columns)) {
    return "sums of the rows above";
  }
  // `Bo,` below `Ann,31` is a record that lacks its age.
  bool apart = row.cells.size() == 1 || different.text || !above.empty();
  for (std::size_t c = 0; c < columns.size(); ++c) apart = apart || columns[c].IsNote(row.At(c));
  const bool lone =
      filled == 1 && different.lacks && apart &&
      std::ranges::none_of(row.cells, [](const auto& cell) { return IsNumeral(cell); });
  return lone ? fmt::format("1 of {} cells is filled", columns.size()) : "";
}

// A table at hand, row by row.
class Body {
 public:
  explicit Body(const FooterTable& table) : table_(table) {}

  std::size_t size() const { return table_.rows; }
  FooterRow Row(std::size_t row) const { return table_.row(row); }
  // The columns of the first `count` rows.
  Columns First(std::size_t count) const {
    Columns columns(table_.columns);
    for (std::size_t r = 0; r < count; ++r) Add(Row(r), &columns);
    return columns;
  }
  static void Add(const FooterRow& row, Columns* columns) {
    for (std::size_t c = 0; c < columns->size(); ++c) (*columns)[c].Add(row.At(c));
  }
  // Whether a look at all rows may tell anything. In a long table the last row has to differ, or
  // one of its numbers is as large as the sum of the first rows.
  bool WorthReading() const {
    if (size() < kFewestRows + 1 || table_.columns < 2) return false;
    if (size() <= kShortTable) return true;
    const FooterRow last = Row(size() - 1);
    const Columns sample = First(kSampledRows);
    const Difference different = DifferenceOf(last, sample);
    for (std::size_t c = 0; c < sample.size(); ++c) {
      if (sample[c].MaySum(last.At(c))) return true;
    }
    return different.lacks || different.text;
  }

 private:
  static constexpr std::size_t kShortTable = 1000;
  static constexpr std::size_t kSampledRows = 100;

  const FooterTable& table_;
};

}  // namespace

TableFooter FindFooter(const FooterTable& table) {
  TableFooter footer;
  const Body body(table);
  if (!body.WorthReading()) return footer;
  const std::size_t earliest =
      std::max(kFewestRows, body.size() - std::min(body.size(), kMostFooterRows));
  Columns columns = body.First(earliest);
  // The longest end whose rows are all none below what stands above it.
  for (std::size_t first = earliest; first < body.size(); ++first) {
    std::vector<FoundFooterRow> found;
    for (std::size_t r = first; r < body.size(); ++r) {
      const FooterRow row = body.Row(r);
      std::string why = WhyFooter(row, columns, found);
      if (why.empty()) break;
      found.push_back({row.offset, std::move(why), row.cells.size() != table.columns});
    }
    if (found.size() == body.size() - first) {
      footer.rows = std::move(found);
      return footer;
    }
    const FooterRow last = body.Row(first);
    footer.sums_last = first > kFewestRows && HoldsSums(last, columns);
    footer.last_offset = last.offset;
    Body::Add(last, &columns);
  }
  return footer;
}

}  // namespace dossier::inspect
