#include "inspect/records/record_reader.h"

#include <iterator>
#include <unordered_map>
#include <unordered_set>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "inspect/description/number_style.h"
#include "inspect/formats/csv_shape.h"
#include "inspect/formats/deb822.h"
#include "inspect/formats/items.h"
#include "inspect/formats/log_shape.h"
#include "inspect/formats/markdown_sections.h"
#include "inspect/formats/pipe_tables.h"
#include "inspect/records/record_json.h"
#include "inspect/records/record_table.h"

namespace dossier::inspect {

namespace {

constexpr std::uint64_t kSampledRecords = 1000;

enum class CellKind : std::uint8_t { kText, kNumber, kBoolean };

// Names and values of one record. An empty name marks a cell without a column.
using Cells = std::vector<std::pair<std::string, std::string>>;

class JsonRows final : public RecordJsonWriter {
 public:
  void Append(std::string_view record, std::string* out) const override {
    if (record.starts_with('{')) {
      out->append(record);
      return;
    }
    fmt::format_to(std::back_inserter(*out), "{{\"{}\":{}}}", kRowValue, record);
  }
};

// Members of a JSON object: their names become a field.
class MemberRows final : public RecordJsonWriter {
 public:
  explicit MemberRows(std::string_view key) : key_(key) {}

  void Append(std::string_view record, std::string* out) const override {
    std::size_t at = 0;
    SkipJsonString(record, &at);
    fmt::format_to(std::back_inserter(*out), "{{\"{}\":{}", key_, record.substr(0, at));
    at = SkipJsonSpace(record, SkipJsonSpace(record, at) + 1);
    if (at >= record.size() || record[at] != '{') {
      fmt::format_to(std::back_inserter(*out), ",\"{}\":{}}}", kRowValue, record.substr(at));
      return;
    }
    at = SkipJsonSpace(record, at + 1);
    if (record[at] != '}') out->push_back(',');
    out->append(record.substr(at));
  }

 private:
  std::string key_;
};

std::string_view BooleanText(std::string_view cell) {
  const std::string lower = ToLowerAscii(TrimSpace(cell));
  if (lower == "true") return "true";
  if (lower == "false") return "false";
  return {};
}

// Returns the kind according to the description; nullopt if it is undecided.
std::optional<CellKind> DescribedKind(const Field& field) {
  const bool number = field.types.Has(FieldType::kInteger) || field.types.Has(FieldType::kNumber);
  const bool boolean = field.types.Has(FieldType::kBoolean);
  const bool other = field.types.Has(FieldType::kString) || field.types.Has(FieldType::kDate) ||
                     field.types.Has(FieldType::kDatetime);
  if (number && (other || boolean)) return std::nullopt;
  if (number) return CellKind::kNumber;
  return boolean && !other ? CellKind::kBoolean : CellKind::kText;
}

// The kind of a field's cells. `mark`: how numbers are written, if not as in JSON.
struct FieldKind {
  CellKind cell = CellKind::kText;
  std::optional<DecimalMark> mark;

  std::string Number(std::string_view text) const {
    return mark ? NumberText(PlainNumber(text, *mark)) : NumberText(text);
  }
};

// Kinds of fields by name: from the description, else from the first records. A column whose
// numerals are no numbers there is text, whatever the description's fewer records say.
class FieldKinds {
 public:
  explicit FieldKinds(const Description& description) : lone_dots_(LoneDotsOf(description)) {
    for (const Field& field : description.fields) {
      if (field.path.size() != 1) continue;
      described_.insert(field.path[0]);
      if (field.style) styles_[field.path[0]] = *field.style;
      if (field.style && field.style->mark == DecimalMark::kComma) file_ = DecimalMark::kComma;
      const auto cell = DescribedKind(field);
      if (cell) known_[field.path[0]] = {*cell, MarkOf(field.path[0])};
    }
  }

  void Sample(const Cells& cells) {
    for (const auto& [name, value] : cells) {
      const auto known = known_.find(name);
      if (TrimSpace(value).empty()) continue;
      if (known != known_.end() && known->second.cell != CellKind::kNumber) continue;
      Tally& tally = tallies_[name];
      tally.forms.Add(value);
      ++tally.values;
      tally.numbers += FieldKind{CellKind::kNumber, MarkOf(name)}.Number(value).empty() ? 0 : 1;
    }
  }
  void EndSampling() {
    for (const auto& [name, tally] : tallies_) {
      // The description lists only a limited number of columns.
      const auto style =
          described_.contains(name) ? std::nullopt : tally.forms.Style(file_, lone_dots_);
      if (style) styles_[name] = *style;
      FieldKind& kind = known_[name];
      const bool number =
          kind.cell == CellKind::kNumber || style || tally.numbers * 100 >= tally.values * 95;
      kind.mark = MarkOf(name);
      if (kind.mark == DecimalMark::kUnknown) kind.mark = tally.forms.mark();
      const bool undecided = style && style->undecided;
      kind.cell =
          number && !undecided && tally.forms.AreNumbers(kind.mark.value_or(DecimalMark::kDot))
              ? CellKind::kNumber
              : CellKind::kText;
    }
    tallies_.clear();
  }

  FieldKind Of(const std::string& name) const {
    const auto found = known_.find(name);
    return found == known_.end() ? FieldKind() : found->second;
  }

 private:
  struct Tally {
    std::uint32_t values = 0, numbers = 0;
    NumeralForms forms;
  };

  std::optional<DecimalMark> MarkOf(const std::string& name) const {
    const auto style = styles_.find(name);
    return style == styles_.end() ? std::nullopt : std::optional(style->second.mark);
  }

  const LoneDots lone_dots_;
  DecimalMark file_ = DecimalMark::kUnknown;
  std::unordered_set<std::string> described_;
  std::unordered_map<std::string, FieldKind> known_;
  std::unordered_map<std::string, NumberStyle> styles_;
  std::unordered_map<std::string, Tally> tallies_;
};

void AppendCell(const FieldKind& kind, std::string_view cell, std::string* out) {
  if (kind.cell == CellKind::kText) return AppendJsonString(cell, out);
  if (TrimSpace(cell).empty()) {
    out->append("null");
    return;
  }
  const std::string typed =
      kind.cell == CellKind::kNumber ? kind.Number(cell) : std::string(BooleanText(cell));
  if (typed.empty()) return AppendJsonString(cell, out);
  out->append(typed);
}

// Records made of named texts: CSV, deb822, logs.
class NamedRows : public RecordJsonWriter {
 public:
  explicit NamedRows(const Description& description) : kinds_(description) {}

  void Append(std::string_view record, std::string* out) const override {
    out->push_back('{');
    bool first = true;
    for (const auto& [name, value] : Read(record)) {
      if (!first) out->push_back(',');
      first = false;
      AppendJsonString(name, out);
      out->push_back(':');
      AppendCell(kinds_.Of(name), value, out);
    }
    out->push_back('}');
  }

  void LearnTypes(std::string_view text, const RecordIndex& index) {
    ByteRange range;
    auto first = index.Locate(0);
    std::size_t position = first ? first->begin : text.size();
    for (std::uint64_t i = 0; i < kSampledRecords && index.Next(&position, &range); ++i) {
      kinds_.Sample(Read(Slice(text, range)));
    }
    kinds_.EndSampling();
  }

 protected:
  virtual Cells Read(std::string_view record) const = 0;

 private:
  FieldKinds kinds_;
};

class TableRows final : public NamedRows {
 public:
  TableRows(std::string_view text, const Description& description)
      : NamedRows(description), shape_(description.table.value_or(TableShape{})) {
    if (!description.table && description.format == Format::kTsv) shape_.delimiter = '\t';
    std::size_t position = TableStart(text, shape_);
    names_ = ColumnNames(TakeHeader(text, shape_, &position));
  }

 protected:
  Cells Read(std::string_view record) const override {
    std::vector<std::string> values = ParseCells(record, shape_.delimiter);
    Cells cells;
    cells.reserve(values.size());
    for (std::size_t column = 0; column < values.size(); ++column) {
      cells.emplace_back(column < names_.size() ? names_[column] : ColumnName(column),
                         std::move(values[column]));
    }
    return cells;
  }

 private:
  TableShape shape_;
  std::vector<std::string> names_;
};

class PipeRows final : public NamedRows {
 public:
  PipeRows(std::string_view text, const Description& description)
      : NamedRows(description), text_(text), tables_(FindPipeTables(text)) {}

 protected:
  Cells Read(std::string_view record) const override {
    return ReadPipeRow(tables_, record, static_cast<std::uint64_t>(record.data() - text_.data()));
  }

 private:
  std::string_view text_;
  std::vector<PipeTable> tables_;
};

class SectionRows final : public NamedRows {
 public:
  using NamedRows::NamedRows;

 protected:
  Cells Read(std::string_view record) const override { return ReadSection(record); }
};

class ItemRows final : public NamedRows {
 public:
  ItemRows(std::string_view text, const Description& description)
      : NamedRows(description),
        text_(text),
        format_(description.format),
        shape_(description.flavour),
        items_(FindItems(format_, shape_, text)) {}

 protected:
  Cells Read(std::string_view record) const override {
    const auto begin = static_cast<std::uint64_t>(record.data() - text_.data());
    return ReadItem(format_, shape_, text_, items_, {begin, begin + record.size()});
  }

 private:
  std::string_view text_;
  Format format_;
  std::string shape_;
  Items items_;
};

class StanzaRows final : public NamedRows {
 public:
  explicit StanzaRows(const Description& description)
      : NamedRows(description), style_(StanzaStyleNamed(description.flavour)) {}

 protected:
  Cells Read(std::string_view record) const override { return ParseStanza(record, style_); }

 private:
  StanzaStyle style_;
};

class LogRows final : public NamedRows {
 public:
  explicit LogRows(const Description& description)
      : NamedRows(description),
        shape_(LogShapeNamed(description.log_shape).value_or(LogShape::kTimestampLevel)) {}

 protected:
  Cells Read(std::string_view record) const override { return ParseLogRecord(shape_, record); }

 private:
  LogShape shape_;
};

// Returns null for JSON, and for texts without records.
std::unique_ptr<NamedRows> MakeNamedRows(std::string_view text, const Description& description) {
  switch (FormOf(description.format)) {
    case RecordForm::kTable:
      return std::make_unique<TableRows>(text, description);
    case RecordForm::kPipes:
      if (description.flavour == kSections) return std::make_unique<SectionRows>(description);
      return std::make_unique<PipeRows>(text, description);
    case RecordForm::kStanzas:
      return std::make_unique<StanzaRows>(description);
    case RecordForm::kLog:
      return std::make_unique<LogRows>(description);
    case RecordForm::kItems:
      if (!description.records) return nullptr;
      return std::make_unique<ItemRows>(text, description);
    case RecordForm::kJson:
    case RecordForm::kNone:
      break;
  }
  return nullptr;
}

// Removes digits from the front of *rest.
std::string_view TakeDigits(std::string_view* rest) {
  const std::size_t end = std::min(rest->find_first_not_of("0123456789"), rest->size());
  const std::string_view digits = rest->substr(0, end);
  rest->remove_prefix(end);
  return digits;
}

void AppendEscape(unsigned char c, std::string* out) {
  switch (c) {
    case '"':
      out->append("\\\"");
      break;
    case '\\':
      out->append("\\\\");
      break;
    case '\n':
      out->append("\\n");
      break;
    case '\r':
      out->append("\\r");
      break;
    case '\t':
      out->append("\\t");
      break;
    default:
      fmt::format_to(std::back_inserter(*out), "\\u{:04x}", c);
  }
}

}  // namespace

std::string NumberText(std::string_view cell) {
  std::string_view rest = TrimSpace(cell);
  std::string out;
  if (rest.starts_with('-')) out.push_back('-');
  if (rest.starts_with('-') || rest.starts_with('+')) rest.remove_prefix(1);
  const std::string_view whole = TakeDigits(&rest);
  if (whole.size() > 15 || (whole.size() > 1 && whole[0] == '0')) return {};
  out.append(whole.empty() ? "0" : whole);
  std::string_view fraction;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    fraction = TakeDigits(&rest);
    if (fraction.empty()) return {};
    out.append(".").append(fraction);
  }
  if (whole.empty() && fraction.empty()) return {};
  if (rest.starts_with('e') || rest.starts_with('E')) {
    out.push_back('e');
    rest.remove_prefix(1);
    if (rest.starts_with('-') || rest.starts_with('+')) {
      out.push_back(rest[0]);
      rest.remove_prefix(1);
    }
    const std::string_view exponent = TakeDigits(&rest);
    if (exponent.empty() || exponent.size() > 3) return {};
    out.append(exponent);
  }
  return rest.empty() ? out : std::string();
}

void AppendJsonString(std::string_view text, std::string* out) {
  out->push_back('"');
  std::size_t plain = 0;  // start of the bytes that need no escape
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto c = static_cast<unsigned char>(text[at]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    out->append(text, plain, at - plain);
    AppendEscape(c, out);
    plain = at + 1;
  }
  out->append(text, plain);
  out->push_back('"');
}

std::unique_ptr<RecordJsonWriter> MakeRowWriter(std::string_view text,
                                                const Description& description,
                                                const RecordIndex& index) {
  auto rows = MakeNamedRows(text, description);
  if (!rows && !description.records_key.empty()) {
    return std::make_unique<MemberRows>(description.records_key);
  }
  if (!rows) return std::make_unique<JsonRows>();
  rows->LearnTypes(text, index);
  return rows;
}

RecordReader::RecordReader(std::string_view text, RecordIndex index,
                           std::unique_ptr<RecordJsonWriter> writer)
    : text_(text), index_(std::move(index)), writer_(std::move(writer)) {}
RecordReader::RecordReader(RecordReader&&) noexcept = default;
RecordReader& RecordReader::operator=(RecordReader&&) noexcept = default;
RecordReader::~RecordReader() = default;

Result<RecordReader> RecordReader::Open(std::string_view text, const Description& description,
                                        const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(RecordIndex index, BuildIndex(text, description, cancel));
  auto writer = MakeRowWriter(text, description, index);
  return RecordReader(text, std::move(index), std::move(writer));
}

Result<std::string> RecordReader::ReadJson(std::uint64_t first, std::uint64_t max_records,
                                           std::size_t max_bytes, std::uint64_t* next) const {
  *next = first;
  if (first > count()) {
    return MakeError(ErrorCode::kInvalidArgument, "record {} is not there: there are {} records",
                     GroupDigits(first), GroupDigits(count()));
  }
  std::string out = "[";
  if (first < count() && max_records > 0) {
    DOSSIER_ASSIGN_OR_RETURN(ByteRange range, index_.Locate(first));
    std::size_t position = range.begin;
    while (*next - first < max_records && index_.Next(&position, &range)) {
      if (range.size() > kMaxRecordBytes) {
        if (*next > first) break;
        return MakeError(
            ErrorCode::kTooLong, "record {} has {} bytes; at most {} can be read as one row",
            GroupDigits(first), GroupDigits(range.size()), GroupDigits(kMaxRecordBytes));
      }
      const std::size_t before = out.size();
      if (*next > first) out.push_back(',');
      writer_->Append(Slice(text_, range), &out);
      if (*next > first && out.size() + 1 > max_bytes) {
        out.resize(before);
        break;
      }
      ++*next;
    }
  }
  out.push_back(']');
  return utf8::IsValid(out) ? out : utf8::Sanitize(out);
}

Result<ByteRange> RecordReader::Span(std::uint64_t first, std::uint64_t last) const {
  if (first > last || last > count()) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "records {} to {} are not there: there are {} records", GroupDigits(first),
                     GroupDigits(last), GroupDigits(count()));
  }
  if (first == last) {
    if (first == count()) return ByteRange{text_.size(), text_.size()};
    DOSSIER_ASSIGN_OR_RETURN(const ByteRange at, index_.Locate(first));
    return ByteRange{at.begin, at.begin};
  }
  DOSSIER_ASSIGN_OR_RETURN(const ByteRange begin, index_.Locate(first));
  DOSSIER_ASSIGN_OR_RETURN(const ByteRange end, index_.Locate(last - 1));
  return ByteRange{begin.begin, end.end};
}

}  // namespace dossier::inspect
