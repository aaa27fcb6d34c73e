// Tables and databases: Parquet, Arrow, Avro, SQLite.

#include <algorithm>
#include <optional>

#include "base/json/json.h"
#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "inspect/containers/binary_kinds.h"
#include "inspect/containers/byte_reader.h"
#include "inspect/containers/sqlite_file.h"

namespace dossier::inspect {
namespace {

constexpr std::uint64_t kMostColumns = 100'000;

// Thrift's compact protocol, https://github.com/apache/thrift/blob/master/doc/specs.
class ThriftReader {
 public:
  enum Type : std::uint8_t {
    kStop = 0,
    kTrue = 1,
    kFalse = 2,
    kByte = 3,
    kDouble = 7,
    kBinary = 8,
    kList = 9,
    kSet = 10,
    kMap = 11,
    kStruct = 12
  };

  explicit ThriftReader(std::string_view bytes) : in_(bytes) {}

  bool ok() const { return in_.ok(); }
  std::size_t left() const { return in_.left(); }
  std::int64_t Integer() { return in_.ZigZag(); }
  std::string_view Text() { return in_.Take(in_.Varint()); }

  // Returns the type of the next field of a structure whose last one was `*id`; kStop at its end.
  std::uint8_t Next(std::int64_t* id) {
    const std::uint64_t header = in_.Little(1);
    const auto type = static_cast<std::uint8_t>(header & 0x0F);
    if (!in_.ok() || type == kStop) return kStop;
    const auto step = static_cast<std::int64_t>(header >> 4);
    *id = step > 0 ? *id + step : in_.ZigZag();
    return type;
  }
  // Returns the number of list elements; each takes at least one byte.
  std::uint64_t ListSize(std::uint8_t* type) {
    const std::uint64_t header = in_.Little(1);
    *type = static_cast<std::uint8_t>(header & 0x0F);
    const std::uint64_t size = header >> 4 == 15 ? in_.Varint() : header >> 4;
    return size <= in_.left() ? size : 0;
  }
  void Skip(std::uint8_t type, int depth = 0) {
    if (depth > 32) in_.Take(std::uint64_t{in_.left()} + 1);  // fails
    switch (type) {
      case kTrue:
      case kFalse:
        break;
      case kByte:
        in_.Take(1);
        break;
      case kDouble:
        in_.Take(8);
        break;
      case kBinary:
        Text();
        break;
      case kList:
      case kSet: {
        std::uint8_t element = 0;
        const std::uint64_t size = ListSize(&element);
        for (std::uint64_t i = 0; i < size && ok(); ++i) SkipElement(element, depth);
        break;
      }
      case kMap: {
        const std::uint64_t size = in_.Varint();
        const std::uint64_t types = size > 0 ? in_.Little(1) : 0;
        for (std::uint64_t i = 0; i < size && ok(); ++i) {
          SkipElement(static_cast<std::uint8_t>(types >> 4), depth);
          SkipElement(static_cast<std::uint8_t>(types & 0x0F), depth);
        }
        break;
      }
      case kStruct:
        for (std::int64_t id = 0; const std::uint8_t field = Next(&id);) Skip(field, depth + 1);
        break;
      default:
        Integer();
    }
  }

 private:
  // Flags take one byte in lists and maps, and none as fields.
  void SkipElement(std::uint8_t type, int depth) {
    Skip(type == kTrue || type == kFalse ? std::uint8_t{kByte} : type, depth + 1);
  }

  ByteReader in_;
};

// An element of Parquet's schema, which is a tree in depth-first order.
struct ParquetElement {
  std::optional<std::int64_t> type, converted;
  std::int64_t logical = 0;  // the member of the union LogicalType that is set; 0: none
  std::uint64_t children = 0;
  std::string name;
};

ParquetElement ReadElement(ThriftReader* in) {
  ParquetElement element;
  std::int64_t id = 0;
  while (const std::uint8_t type = in->Next(&id)) {
    if (id == 1) {
      element.type = in->Integer();
    } else if (id == 4 && type == ThriftReader::kBinary) {
      element.name = in->Text();
    } else if (id == 5) {
      element.children = static_cast<std::uint64_t>(std::max<std::int64_t>(0, in->Integer()));
    } else if (id == 6) {
      element.converted = in->Integer();
    } else if (id == 10 && type == ThriftReader::kStruct) {
      if (const std::uint8_t member = in->Next(&element.logical)) {
        in->Skip(member);
        for (std::int64_t more = 0; const std::uint8_t next = in->Next(&more);) in->Skip(next);
      }
    } else {
      in->Skip(type);
    }
  }
  return element;
}

// The type by LogicalType, which newer writers use alone: nanoseconds have no converted type.
std::optional<FieldType> LogicalParquetType(std::int64_t logical) {
  constexpr std::int64_t kString = 1, kDecimal = 5, kDate = 6, kTime = 7, kTimestamp = 8;
  switch (logical) {
    case kString:
    case kTime:
      return FieldType::kString;
    case kDecimal:
      return FieldType::kNumber;
    case kDate:
      return FieldType::kDate;
    case kTimestamp:
      return FieldType::kDatetime;
    default:
      return std::nullopt;
  }
}

// The logical type decides, else the converted one, else the physical one.
FieldType ParquetType(const ParquetElement& element) {
  constexpr std::int64_t kUtf8 = 0, kDecimal = 5, kDate = 6, kTimeMillis = 7, kTimestampMillis = 9,
                         kTimestampMicros = 10;
  if (const auto logical = LogicalParquetType(element.logical)) return *logical;
  if (element.converted == kUtf8) return FieldType::kString;
  if (element.converted == kDecimal) return FieldType::kNumber;
  if (element.converted == kDate) return FieldType::kDate;
  if (element.converted == kTimestampMillis || element.converted == kTimestampMicros) {
    return FieldType::kDatetime;
  }
  if (element.converted >= kTimeMillis && element.converted < kTimestampMillis) {
    return FieldType::kString;
  }
  switch (element.type.value_or(6)) {
    case 0:
      return FieldType::kBoolean;
    case 1:
    case 2:
      return FieldType::kInteger;
    case 3:  // INT96 is only used for times
      return FieldType::kDatetime;
    case 4:
    case 5:
      return FieldType::kNumber;
    default:
      return FieldType::kString;
  }
}

// Adds the columns: leaves of the tree, and lists and maps as a whole.
void AddParquetFields(const BinaryFile& file, const std::vector<ParquetElement>& elements,
                      Description* out) {
  struct Open {
    std::uint64_t children;
    bool hidden;  // inside a list or a map
  };
  std::vector<Open> open;
  std::vector<std::string> path;
  for (std::size_t i = 1; i < elements.size(); ++i) {
    const ParquetElement& element = elements[i];
    while (!open.empty() && open.back().children == 0) {
      open.pop_back();
      path.pop_back();
    }
    const bool hidden = !open.empty() && open.back().hidden;
    if (!open.empty()) --open.back().children;
    path.push_back(element.name);
    const bool repeated =
        element.converted == 1 || element.converted == 2 || element.converted == 3;
    const bool group = element.children > 0;
    if (!hidden && group && repeated) {
      AddField(file, path, element.converted == 3 ? FieldType::kArray : FieldType::kObject, out);
    } else if (!hidden && !group) {
      AddField(file, path, ParquetType(element), out);
    }
    if (group && open.size() < 64) {
      open.push_back({element.children, hidden || repeated});
    } else {
      path.pop_back();
    }
  }
}

// Flatbuffers, in which Arrow writes its schema: tables that contain the place of each value.
class FlatTable {
 public:
  FlatTable(std::string_view bytes, std::uint64_t at) : bytes_(bytes), at_(at) {}

  // Returns the place of a slot's value; nullopt if the table does not have it.
  std::optional<std::uint64_t> Slot(std::size_t slot) const {
    ByteReader in(bytes_, at_);
    const std::uint64_t back = in.Little(4);  // signed: the slot table may be on either side
    const std::uint64_t slots =
        at_ -
        static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(back)));
    ByteReader table(bytes_, slots);
    const std::uint64_t size = table.Little(2);
    if (!in.ok() || !table.ok() || 6 + 2 * slot > size) return std::nullopt;
    table.Seek(slots + 4 + 2 * slot);
    const std::uint64_t offset = table.Little(2);
    if (!table.ok() || offset == 0) return std::nullopt;
    return at_ + offset;
  }
  std::uint64_t Number(std::size_t slot, std::size_t size) const {
    const auto at = Slot(slot);
    return at ? ByteReader(bytes_, *at).Little(size) : 0;
  }
  // Returns the beginning of the table, text or list that a slot refers to.
  std::optional<std::uint64_t> Follow(std::size_t slot) const {
    const auto at = Slot(slot);
    if (!at) return std::nullopt;
    ByteReader in(bytes_, *at);
    const std::uint64_t step = in.Little(4);
    if (!in.ok() || step == 0) return std::nullopt;
    return *at + step;
  }
  std::string_view Text(std::size_t slot) const {
    const auto at = Follow(slot);
    if (!at) return {};
    ByteReader in(bytes_, *at);
    return in.Take(in.Little(4));
  }
  std::vector<FlatTable> Tables(std::size_t slot) const {
    std::vector<FlatTable> out;
    const auto at = Follow(slot);
    if (!at) return out;
    ByteReader in(bytes_, *at);
    const std::uint64_t count = in.Little(4);
    if (!in.ok() || count > in.left() / 4) return out;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t here = in.at();
      out.emplace_back(bytes_, here + in.Little(4));
    }
    return out;
  }

 private:
  std::string_view bytes_;
  std::uint64_t at_;
};

FieldType ArrowType(std::uint64_t type) {
  constexpr FieldType kTypes[] = {
      FieldType::kNull,   FieldType::kNull,   FieldType::kInteger,  FieldType::kNumber,
      FieldType::kString, FieldType::kString, FieldType::kBoolean,  FieldType::kNumber,
      FieldType::kDate,   FieldType::kString, FieldType::kDatetime, FieldType::kString,
      FieldType::kArray,  FieldType::kObject, FieldType::kObject,   FieldType::kString,
      FieldType::kArray,  FieldType::kObject, FieldType::kNumber,   FieldType::kString,
      FieldType::kString, FieldType::kArray};
  return type < std::size(kTypes) ? kTypes[type] : FieldType::kString;
}

// Adds the outermost names of a record.
void AddAvroFields(const BinaryFile& file, const Json& schema, Description* out) {
  const Json* fields = Find(schema, "fields");
  if (!fields || !fields->is_array()) return;
  for (const Json& field : fields->as_array()) {
    const Json* type = Find(field, "type");
    // ["null", "string"] means optional.
    if (type && type->is_array()) {
      const JsonArray& types = type->as_array();
      const auto one = std::ranges::find_if(types, [](const Json& kind) { return kind != "null"; });
      type = one == types.end() ? nullptr : &*one;
    }
    const std::string name = type && type->is_string() ? std::string(type->as_string())
                             : type                    ? TextAt(*type, "type")
                                                       : std::string();
    const FieldType found = name == "int" || name == "long"       ? FieldType::kInteger
                            : name == "float" || name == "double" ? FieldType::kNumber
                            : name == "boolean"                   ? FieldType::kBoolean
                            : name == "array"                     ? FieldType::kArray
                            : name == "record" || name == "map"   ? FieldType::kObject
                            : name == "null"                      ? FieldType::kNull
                                                                  : FieldType::kString;
    AddField(file, {TextAt(field, "name")}, found, out);
  }
}

// The columns of `CREATE TABLE t (a TEXT, "b c" INT, PRIMARY KEY (a))` with their declarations.
std::vector<std::string_view> ColumnsOf(std::string_view sql) {
  std::vector<std::string_view> columns;
  const std::size_t start = sql.find('(');
  if (start == std::string_view::npos) return columns;
  int depth = 0;
  char quote = 0;
  std::size_t begin = start + 1;
  for (std::size_t i = start + 1; i < sql.size(); ++i) {
    const char c = sql[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'' || c == '`' || c == '[') {
      quote = c == '[' ? ']' : c;
    } else if ((c == ',' || c == ')') && depth == 0) {
      columns.push_back(TrimSpace(sql.substr(begin, i - begin)));
      if (c == ')') return columns;
      begin = i + 1;
    } else {
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    }
  }
  return columns;
}

// Returns the name at the front, without quotes.
std::string_view ColumnName(std::string_view column, std::string_view* rest) {
  const char first = column.empty() ? ' ' : column.front();
  const bool quoted = first == '"' || first == '`' || first == '[' || first == '\'';
  const std::size_t end =
      quoted ? column.find(first == '[' ? ']' : first, 1) : column.find_first_of(" \t\r\n(");
  if (end == std::string_view::npos) {
    *rest = {};
    return quoted ? column.substr(1) : column;
  }
  *rest = TrimSpace(column.substr(end + (quoted ? 1 : 0)));
  return quoted ? column.substr(1, end - 1) : column.substr(0, end);
}

// Follows SQLite's rules for the meaning of a declared type.
FieldType SqliteType(std::string_view rest) {
  const std::string type = ToLowerAscii(rest.substr(0, rest.find_first_of(",()")));
  const auto has = [&](std::string_view word) { return type.find(word) != std::string::npos; };
  if (has("int")) return FieldType::kInteger;
  if (has("char") || has("clob") || has("text")) return FieldType::kString;
  if (has("real") || has("floa") || has("doub") || has("num") || has("dec")) {
    return FieldType::kNumber;
  }
  return has("bool") ? FieldType::kBoolean : FieldType::kString;
}

void AddSqliteFields(const BinaryFile& file, const SqliteTable& table, Description* out) {
  constexpr std::string_view kConstraints[] = {"primary", "unique", "check", "foreign",
                                               "constraint"};
  for (const std::string_view column : ColumnsOf(table.sql)) {
    const std::string word = ToLowerAscii(column.substr(0, column.find_first_of(" \t\r\n(")));
    if (std::ranges::find(kConstraints, word) != std::end(kConstraints)) continue;
    std::string_view rest;
    const std::string_view name = ColumnName(column, &rest);
    if (!name.empty()) AddField(file, {table.name, std::string(name)}, SqliteType(rest), out);
  }
}

}  // namespace

Status DescribeParquet(const BinaryFile& file, Description* out) {
  constexpr std::uint64_t kEnds = 12;  // both marks and the length
  if (file.size < kEnds) return Damaged("too short for a Parquet file");
  DOSSIER_ASSIGN_OR_RETURN(const std::string end, ReadRange(file.source, file.size - 8, 8));
  if (end.substr(4) != "PAR1") return Damaged("it does not end as a Parquet file does");
  const std::uint64_t length = ByteReader(end).Little(4);
  if (length > kMostHeld || length > file.size - kEnds) {
    return Damaged("its footer would have {} bytes", GroupDigits(length));
  }
  DOSSIER_ASSIGN_OR_RETURN(const std::string footer, ReadRange(file.source, file.size - 8 - length,
                                                               static_cast<std::size_t>(length)));
  ThriftReader in(footer);
  std::vector<ParquetElement> elements;
  std::optional<std::int64_t> rows;
  std::uint64_t groups = 0;
  std::int64_t id = 0;
  while (const std::uint8_t type = in.Next(&id)) {
    std::uint8_t element = 0;
    if (id == 2 && type == ThriftReader::kList) {
      const std::uint64_t count = std::min(in.ListSize(&element), kMostColumns);
      for (std::uint64_t i = 0; i < count && in.ok(); ++i) elements.push_back(ReadElement(&in));
    } else if (id == 3) {
      rows = in.Integer();
    } else if (id == 4 && type == ThriftReader::kList) {
      groups = in.ListSize(&element);
      break;  // column locations follow
    } else {
      in.Skip(type);
    }
  }
  if (!in.ok() || elements.empty() || !rows || *rows < 0) {
    return Damaged("its footer cannot be read");
  }
  AddParquetFields(file, elements, out);
  out->records = RecordSummary{.records = static_cast<std::uint64_t>(*rows)};
  out->kind_detail = Counted(out->fields_total, "column") + ", " + Counted(groups, "row group");
  out->details = {{"rows", static_cast<std::uint64_t>(*rows)},
                  {"columns", out->fields_total},
                  {"row_groups", groups}};
  return {};
}

Status DescribeArrow(const BinaryFile& file, Description* out) {
  constexpr std::size_t kMostSchema = 1 << 20;
  constexpr std::uint64_t kContinues = 0xFFFFFFFF;
  const std::uint64_t start = file.kind == "arrow file" ? 8 : 0;
  ByteReader in(file.head, start);
  std::uint64_t length = in.Little(4);
  if (length == kContinues) length = in.Little(4);  // older files have no mark before it
  if (!in.ok() || length > kMostSchema || in.at() + length > file.size) {
    return Damaged("its schema would have {} bytes", GroupDigits(length));
  }
  DOSSIER_ASSIGN_OR_RETURN(const std::string schema,
                           ReadRange(file.source, in.at(), static_cast<std::size_t>(length)));
  const FlatTable message(schema, ByteReader(schema).Little(4));
  constexpr std::uint64_t kSchemaMessage = 1;
  const auto header = message.Follow(2);
  if (message.Number(1, 1) != kSchemaMessage || !header) return Damaged("it begins with no schema");
  for (const FlatTable& field : FlatTable(schema, *header).Tables(1)) {
    // Many fields may share one long name.
    AddField(file, {std::string(field.Text(0).substr(0, 1024))}, ArrowType(field.Number(2, 1)),
             out);
  }
  out->kind_detail = Counted(out->fields_total, "column");
  out->details = {{"columns", out->fields_total}};
  return {};
}

Status DescribeAvro(const BinaryFile& file, Description* out) {
  constexpr std::size_t kMostHeader = 1 << 20;
  DOSSIER_ASSIGN_OR_RETURN(
      const std::string header,
      ReadRange(file.source, 0,
                static_cast<std::size_t>(std::min<std::uint64_t>(file.size, kMostHeader))));
  ByteReader in(header, 4);
  const auto text = [&in] {
    const std::int64_t size = in.ZigZag();
    return in.Take(size < 0 ? UINT64_MAX : static_cast<std::uint64_t>(size));
  };
  std::string_view schema, codec = "null";
  // Blocks of a map, the last of which is empty. After a negative count comes the size of the block
  // in bytes.
  for (std::int64_t count = in.ZigZag(); count != 0 && in.ok(); count = in.ZigZag()) {
    if (count < 0) in.ZigZag();
    const std::uint64_t pairs =
        count < 0 ? 0 - static_cast<std::uint64_t>(count) : static_cast<std::uint64_t>(count);
    for (std::uint64_t i = 0; i < pairs && in.ok(); ++i) {
      const std::string_view key = text(), value = text();
      if (key == "avro.schema") schema = value;
      if (key == "avro.codec") codec = value;
    }
  }
  const auto parsed = ParseJson(schema);
  if (!in.ok() || !parsed) return Damaged("its schema cannot be read");
  AddAvroFields(file, *parsed, out);
  codec = codec.substr(0, 100);
  out->kind_detail = fmt::format("{}, codec {}", Counted(out->fields_total, "field"), codec);
  out->details = {{"codec", std::string(codec)}};
  return {};
}

Status DescribeSqlite(const BinaryFile& file, Description* out) {
  DOSSIER_ASSIGN_OR_RETURN(const SqliteFile found, ReadSqliteFile(file.source, file.size));
  for (const SqliteTable& table : found.tables) AddSqliteFields(file, table, out);
  std::uint64_t tables = 0;
  std::vector<std::string> names;
  for (const SqliteTable& table : found.tables) {
    tables += table.kind == SqliteTable::Kind::kTable ? 1 : 0;
    if (names.size() < 10) {
      names.push_back(table.rows ? fmt::format("{} {}", utf8::Prefix(table.name, 60),
                                               Counted(*table.rows, "row"))
                                 : std::string(utf8::Prefix(table.name, 60)));
    }
  }
  out->kind_detail = fmt::format("{}, {} pages of {} bytes", found.encoding,
                                 GroupDigits(found.pages), GroupDigits(found.page_size));
  if (!names.empty()) {
    out->kind_detail += fmt::format("; tables: {}{}", Join(names, ", "),
                                    names.size() < found.tables.size() ? " …" : "");
  }
  if (found.journal == SqliteFile::Journal::kWriteAhead) {
    out->notes.push_back({.code = "write-ahead-log",
                          .offset = {},
                          .line = {},
                          .text = "in write-ahead mode: tables and rows that are still in its -wal "
                                  "file are not counted"});
  }
  out->details = {{"page_size", std::uint64_t{found.page_size}},
                  {"pages", std::uint64_t{found.pages}},
                  {"text_encoding", std::string(found.encoding)},
                  {"tables", tables}};
  return {};
}

}  // namespace dossier::inspect
