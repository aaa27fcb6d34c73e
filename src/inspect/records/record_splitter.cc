// Separates the records of each format.

#include <algorithm>

#include "base/text/text.h"
#include "inspect/formats/deb822.h"
#include "inspect/formats/items.h"
#include "inspect/formats/log_shape.h"
#include "inspect/formats/markdown_sections.h"
#include "inspect/formats/pipe_tables.h"
#include "inspect/records/record_index.h"
#include "inspect/records/record_json.h"
#include "inspect/records/record_table.h"
#include "inspect/text/record_lines.h"

namespace dossier::inspect {
namespace {

constexpr char kRecordSeparator = '\x1e';

std::size_t AfterByteOrderMark(std::string_view text) {
  return text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
}

class NdjsonSplitter final : public RecordSplitter {
 public:
  explicit NdjsonSplitter(std::string_view text) : text_(text) {}
  std::size_t start() const override { return AfterByteOrderMark(text_); }
  bool Next(std::size_t* position, ByteRange* record) const override {
    while (*position < text_.size()) {
      const Line line = NextLine(text_, *position);
      *position = line.next;
      const std::string_view value = TrimJsonSpace(line.text);
      if (value.empty() || !IsJsonValue(value)) continue;
      record->begin = static_cast<std::uint64_t>(value.data() - text_.data());
      record->end = record->begin + value.size();
      return true;
    }
    return false;
  }

 private:
  std::string_view text_;
};

enum class Elements : std::uint8_t { kValues, kMembers };

// Elements of an array, or members of an object with their names, from after its bracket to its end
// or the first fault.
class ElementSplitter final : public RecordSplitter {
 public:
  ElementSplitter(std::string_view text, std::size_t start, Elements elements = Elements::kValues)
      : text_(text), start_(start), elements_(elements) {}
  std::size_t start() const override { return start_; }
  bool Next(std::size_t* position, ByteRange* record) const override {
    std::size_t at = SkipJsonSpace(text_, *position);
    record->begin = at;
    // A number at the end of the text may be truncated.
    const bool valid = SkipName(&at) && SkipJsonValue(text_, &at) &&
                       (at < text_.size() || text_[at - 1] < '0' || text_[at - 1] > '9');
    record->end = at;
    // The comma belongs to the element before it, so that iteration may start at any element.
    at = SkipJsonSpace(text_, at);
    const bool more = valid && at < text_.size() && text_[at] == ',';
    *position = more ? at + 1 : text_.size();
    return valid;
  }

 private:
  bool SkipName(std::size_t* at) const {
    if (elements_ == Elements::kValues) return true;
    if (!SkipJsonString(text_, at)) return false;
    *at = SkipJsonSpace(text_, *at);
    if (*at >= text_.size() || text_[*at] != ':') return false;
    *at = SkipJsonSpace(text_, *at + 1);
    return true;
  }

  std::string_view text_;
  std::size_t start_;
  Elements elements_;
};

// A series of values with white space or RS (RFC 7464) between them.
class SequenceSplitter final : public RecordSplitter {
 public:
  explicit SequenceSplitter(std::string_view text) : text_(text) {}
  std::size_t start() const override { return AfterByteOrderMark(text_); }
  bool Next(std::size_t* position, ByteRange* record) const override {
    std::size_t at = SkipJsonSpace(text_, *position);
    while (at < text_.size()) {
      if (text_[at] == kRecordSeparator) {
        at = SkipJsonSpace(text_, at + 1);
        continue;
      }
      record->begin = at;
      if (SkipJsonValue(text_, &at)) {
        record->end = at;
        *position = at;
        return true;
      }
      // RFC 7464: a malformed value ends at the next separator; without one, nothing is certain.
      at = std::min(text_.find(kRecordSeparator, at), text_.size());
    }
    *position = text_.size();
    return false;
  }

 private:
  std::string_view text_;
};

class TableSplitter final : public RecordSplitter {
 public:
  TableSplitter(std::string_view text, const TableShape& shape)
      : rows_(TableText(text, shape), shape.delimiter, shape.comment, shape.marked_row_cells),
        start_(TableStart(text, shape)) {
    TakeHeader(text, shape, &start_);
  }
  std::size_t start() const override { return start_; }
  bool Next(std::size_t* position, ByteRange* record) const override {
    return rows_.Next(position, record);
  }

 private:
  Rows rows_;
  std::size_t start_;
};

class StanzaSplitter final : public RecordSplitter {
 public:
  StanzaSplitter(std::string_view text, StanzaStyle style) : text_(text), style_(style) {}
  std::size_t start() const override { return AfterByteOrderMark(text_); }
  bool Next(std::size_t* position, ByteRange* record) const override {
    return NextStanza(text_, position, record, style_);
  }

 private:
  std::string_view text_;
  StanzaStyle style_;
};

class LogSplitter final : public RecordSplitter {
 public:
  LogSplitter(std::string_view text, LogShape shape) : text_(text), shape_(shape) {}
  std::size_t start() const override { return AfterByteOrderMark(text_); }
  bool Next(std::size_t* position, ByteRange* record) const override {
    return NextLogRecord(shape_, text_, position, record);
  }

 private:
  std::string_view text_;
  LogShape shape_;
};

// Records that were found by reading the whole text.
class FoundSplitter final : public RecordSplitter {
 public:
  FoundSplitter(std::string_view text, std::vector<ByteRange> rows)
      : size_(text.size()), rows_(std::move(rows)) {}
  std::size_t start() const override { return 0; }
  bool Next(std::size_t* position, ByteRange* record) const override {
    const auto next = std::ranges::lower_bound(rows_, *position, {}, &ByteRange::begin);
    *position = next == rows_.end() ? size_ : next->end;
    if (next == rows_.end()) return false;
    *record = *next;
    return true;
  }

 private:
  std::size_t size_;
  std::vector<ByteRange> rows_;
};

std::vector<ByteRange> PipeRowsOf(std::string_view text) {
  std::vector<ByteRange> rows;
  for (const PipeTable& table : FindPipeTables(text)) {
    rows.insert(rows.end(), table.rows.begin(), table.rows.end());
  }
  return rows;
}

std::unique_ptr<RecordSplitter> ArraySplitter(std::string_view text) {
  const std::size_t at = SkipJsonSpace(text, AfterByteOrderMark(text));
  const bool array = at < text.size() && text[at] == '[';
  return std::make_unique<ElementSplitter>(text, array ? at + 1 : text.size());
}

// Splits the elements of an array or the members of an object inside an object.
std::unique_ptr<RecordSplitter> MemberSplitter(std::string_view text,
                                               const Description& description) {
  std::vector<std::string> path = description.records_in;
  if (description.flavour == "geojson") path = {"features"};
  if (description.flavour == "notebook") path = {"cells"};
  const bool members = !description.records_key.empty();
  if (path.empty() && !members) return nullptr;
  const std::size_t mark = AfterByteOrderMark(text);
  const std::size_t start = FindJsonContainer(text.substr(mark), path, members ? '{' : '[');
  return std::make_unique<ElementSplitter>(
      text, start == std::string_view::npos ? text.size() : mark + start,
      members ? Elements::kMembers : Elements::kValues);
}

std::unique_ptr<RecordSplitter> JsonSplitter(std::string_view text,
                                             const Description& description) {
  switch (description.format) {
    case Format::kNdjson:
      return std::make_unique<NdjsonSplitter>(text);
    case Format::kJson:
      return MemberSplitter(text, description);
    case Format::kJsonArray:
      return ArraySplitter(text);
    case Format::kJsonSeq:
    case Format::kJsonConcat:
      return std::make_unique<SequenceSplitter>(text);
    default:
      return nullptr;
  }
}

std::unique_ptr<RecordSplitter> SplitterOf(std::string_view text, const Description& description) {
  switch (FormOf(description.format)) {
    case RecordForm::kJson:
      return JsonSplitter(text, description);
    case RecordForm::kTable: {
      TableShape shape = description.table.value_or(TableShape{});
      if (!description.table && description.format == Format::kTsv) shape.delimiter = '\t';
      return std::make_unique<TableSplitter>(text, shape);
    }
    case RecordForm::kPipes:
      if (!description.records) return nullptr;
      return std::make_unique<FoundSplitter>(
          text, description.flavour == kSections ? FindSections(text) : PipeRowsOf(text));
    case RecordForm::kItems:
      if (!description.records) return nullptr;
      return std::make_unique<FoundSplitter>(
          text, FindItems(description.format, description.flavour, text).ranges);
    case RecordForm::kStanzas:
      return std::make_unique<StanzaSplitter>(text, StanzaStyleNamed(description.flavour));
    case RecordForm::kLog: {
      const auto shape = LogShapeNamed(description.log_shape);
      return shape ? std::make_unique<LogSplitter>(text, *shape) : nullptr;
    }
    case RecordForm::kNone:
      break;
  }
  return nullptr;
}

}  // namespace

Result<std::unique_ptr<RecordSplitter>> MakeSplitter(std::string_view text,
                                                     const Description& description) {
  auto splitter = SplitterOf(text, description);
  if (!splitter) {
    return MakeError(ErrorCode::kInvalidArgument, "{} has no records: it is {}",
                     description.name.empty() ? "the text" : description.name,
                     FormatName(description.format));
  }
  return splitter;
}

}  // namespace dossier::inspect
