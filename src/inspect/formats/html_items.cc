// Rows of tables in HTML. The shape is `tr`, or `tr first` if the first row of a table without <th>
// holds the names of its columns.

#include <optional>
#include <set>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "inspect/description/value_type.h"
#include "inspect/formats/csv_shape.h"
#include "inspect/formats/element_walker.h"
#include "inspect/formats/pipe_tables.h"

namespace dossier::inspect {
namespace {

constexpr std::size_t kMostCells = 1000;  // of a row
constexpr std::uint64_t kMostHtmlColumns = 256;

struct HtmlCell {
  bool header = false;
  std::string text;
};

// The cells of one row; one that spans columns is followed by empty ones.
std::vector<HtmlCell> CellsOf(std::string_view row) {
  std::vector<HtmlCell> cells;
  std::uint64_t from = 0, span = 1;
  bool open = false;
  const auto end_cell = [&](std::uint64_t at) {
    if (!open) return;
    cells.back().text = TextOfHtml(row.substr(from, at - from));
    const bool header = cells.back().header;
    for (; span > 1 && cells.size() < kMostCells; --span) cells.push_back({header, ""});
    open = false;
  };
  TagScanner tags(Markup::kHtml);
  tags.Feed(row, [&](const Tag& tag) {
    const bool cell = tag.name == "td" || tag.name == "th";
    if (!cell && tag.name != "tr") return;
    end_cell(tag.begin);
    if (!cell || tag.kind != TagKind::kOpen || cells.size() >= kMostCells) return;
    cells.push_back({tag.name == "th", ""});
    from = tag.end;
    open = true;
    span = 1;
    for (const auto& [name, value] : AttributesOf(row.substr(tag.begin, tag.end - tag.begin))) {
      const auto columns = ToLowerAscii(name) == "colspan" ? NumberOfText(value) : std::nullopt;
      if (columns && *columns > 1 && *columns < 100) span = static_cast<std::uint64_t>(*columns);
    }
  });
  end_cell(row.size());
  return cells;
}

class HtmlWalker final : public ElementWalker {
 public:
  HtmlWalker(std::string_view shape, std::string_view text, Items* out)
      : ElementWalker(text, out), first_names_(shape.ends_with("first")) {}

  void Take(const Tag& tag) override {
    const bool opens = tag.kind == TagKind::kOpen;
    if (tag.name == "table" && opens) DropRow();  // what holds a table is layout
    if (tag.name == "tr" || tag.name == "table") EndRow(opens ? tag.begin : tag.end);
    if (tag.name == "table") {
      opens ? OpenTable(tag) : CloseTable(tag);
    } else if (tag.name == "tr" && opens && !tables_.empty()) {
      row_ = tag.begin;
    } else if (tag.name == "td" && opens) {
      has_data_ = true;
    } else if (tag.name == "th" && opens) {
      has_names_ = true;
    } else if (tag.name == "caption" ||
               (tag.name.size() == 2 && tag.name[0] == 'h' && IsDigit(tag.name[1]))) {
      TakeTitle(tag);
    }
  }

  void Finish(std::uint64_t end) override {
    EndRow(end);
    if (!out_ || tables_with_rows_ > 1) return;
    for (ItemHead& head : out_->heads) {  // one table needs no name
      std::erase_if(head.cells, [](const auto& cell) { return cell.first == kRowTable; });
    }
  }

 private:
  struct Table {
    std::ptrdiff_t outer;  // the head of the table around it
    std::size_t names = 0;
    std::string title;
    std::uint64_t rows = 0;
    bool told = false;               // as one with rows
    std::optional<ByteRange> first;  // of a table without names: it waits for a second row
  };

  void DropRow() {
    row_.reset();
    if (!tables_.empty()) tables_.back().first.reset();
  }

  void OpenTable(const Tag& tag) {
    if (tables_.size() == kDeepestElement) return;
    tables_.push_back({head_, 0, heading_, 0, false, {}});
    heading_.clear();
    Head(tag.end, {{std::string(kRowTable), tables_.back().title}}, -1);
  }

  void CloseTable(const Tag& tag) {
    if (tables_.empty()) return;
    const std::ptrdiff_t outer = tables_.back().outer;
    tables_.pop_back();
    if (out_ && outer >= 0) Head(tag.end, {}, outer);
    head_ = outer;
  }

  void TakeTitle(const Tag& tag) {
    if (tag.kind == TagKind::kOpen) {
      title_ = tag.end;
      return;
    }
    if (!out_ || title_ == 0) return;
    const std::string title = NameBetween(title_, tag.begin);
    title_ = 0;
    if (tag.name != "caption") {
      heading_ = title;
    } else if (!tables_.empty() && tables_.back().names == 0) {
      tables_.back().title = title;
      Head(tag.end, {{std::string(kRowTable), title}}, -1);
    }
  }

  void EndRow(std::uint64_t end) {
    const bool names = has_names_ && !has_data_;
    const bool row = row_ && (has_data_ || has_names_) && !tables_.empty();
    if (row) {
      Table& table = tables_.back();
      if (names || (first_names_ && table.rows == 0 && table.names == 0)) {
        TakeNames(*row_, end);
      } else {
        AddRow({*row_, end}, &table);
      }
    }
    row_.reset();
    has_data_ = has_names_ = false;
  }

  // A single row without names is layout, too.
  void AddRow(const ByteRange& row, Table* table) {
    if (++table->rows == 1 && table->names == 0) {
      table->first = row;
      return;
    }
    if (table->first) Emit(table->first->begin, table->first->end);
    table->first.reset();
    if (!table->told) ++tables_with_rows_;
    table->told = true;
    Emit(row.begin, row.end);
  }

  // Of several rows of names the last is taken that has the most.
  void TakeNames(std::uint64_t begin, std::uint64_t end) {
    Table& table = tables_.back();
    if (!out_) {
      table.names = 1;
      return;
    }
    std::vector<std::string> names;
    for (HtmlCell& cell : CellsOf(text_.substr(begin, end - begin))) {
      names.push_back(std::move(cell.text));
      if (names.size() == kMostHtmlColumns) break;
    }
    if (names.size() < table.names) return;
    table.names = std::max<std::size_t>(names.size(), 1);
    TextRecord cells{{std::string(kRowTable), table.title}};
    for (std::string& name : ColumnNames(names)) cells.emplace_back("", std::move(name));
    Head(end, std::move(cells), -1);
  }

  const bool first_names_;
  std::vector<Table> tables_;
  std::optional<std::uint64_t> row_;
  bool has_data_ = false, has_names_ = false;
  std::uint64_t title_ = 0;  // where a title begins that is open
  std::string heading_;
  std::uint64_t tables_with_rows_ = 0;
};

// Whether the first row reads like names: no cell of it is a value, though below it some column is.
bool FirstRowNames(std::string_view head, const std::vector<ByteRange>& rows) {
  constexpr std::size_t kLookedAt = 20;
  if (rows.size() < 2) return false;
  const std::vector<HtmlCell> first = CellsOf(Slice(head, rows[0]));
  std::set<std::string_view> seen;
  for (const HtmlCell& cell : first) {
    if (TypeOfText(cell.text) != FieldType::kString || !seen.insert(cell.text).second) return false;
  }
  std::vector<std::size_t> values(first.size());
  const std::size_t count = std::min(rows.size(), kLookedAt);
  for (std::size_t r = 1; r < count; ++r) {
    const std::vector<HtmlCell> cells = CellsOf(Slice(head, rows[r]));
    for (std::size_t c = 0; c < cells.size() && c < values.size(); ++c) {
      const FieldType type = TypeOfText(cells[c].text);
      values[c] += type != FieldType::kString && type != FieldType::kEmpty ? 1 : 0;
    }
  }
  return std::ranges::any_of(values, [&](std::size_t n) { return n * 10 >= (count - 1) * 8; });
}

}  // namespace

std::unique_ptr<ElementWalker> MakeHtmlWalker(std::string_view shape, std::string_view text,
                                              Items* out) {
  return std::make_unique<HtmlWalker>(shape, text, out);
}

// Records if the words of the text are mostly those of its tables.
ShapeScan DetectHtml(std::string_view head) {
  const Items items = FindElements(Format::kHtml, "tr", head);
  if (items.ranges.size() < 2) return {};
  std::size_t words = 0;
  for (const ByteRange& row : items.ranges) words += TextOfHtml(Slice(head, row)).size();
  bool named = false;
  for (const ItemHead& table : items.heads) {
    for (const auto& [name, value] : table.cells) {
      words += value.size();
      named = named || name.empty();
    }
  }
  if (words * 2 < TextOfHtml(head).size()) return {};
  const bool first = !named && FirstRowNames(head, items.ranges);
  return {.fits = true, .shape = first ? "tr first" : "tr", .field_names = {}};
}

TextRecord ReadHtmlRow(const Item& item) {
  TextRecord record;
  std::vector<std::string_view> names;
  for (const auto& [name, value] : item.head) {
    if (name.empty()) {
      names.push_back(value);
    } else {
      record.emplace_back(name, value);
    }
  }
  std::vector<HtmlCell> cells = CellsOf(item.record());
  for (std::size_t c = 0; c < cells.size() && c < kMostHtmlColumns; ++c) {
    record.emplace_back(c < names.size() ? std::string(names[c]) : ColumnName(c),
                        std::move(cells[c].text));
  }
  return record;
}

}  // namespace dossier::inspect
