#include "ask/documents/sql_tables.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "inspect/description/clean.h"
#include "inspect/description/names.h"
#include "inspect/records/record_json.h"

namespace dossier::ask {
namespace {

using inspect::FieldType;

constexpr std::size_t kMostColumns = 1'900;  // SQLite allows 2,000
constexpr std::uint64_t kRowsAtOnce = 10'000;
constexpr std::size_t kBytesAtOnce = 4 << 20;
constexpr std::size_t kMostColumnsShown = 40;
constexpr std::size_t kMostHint = 4'096;  // bytes

// Returns the SQLite type for the values of a column.
std::string TypeOf(const inspect::TypeSet& types) {
  bool whole = false, real = false, text = false;
  for (const FieldType type : types.List()) {
    switch (type) {
      case FieldType::kInteger:
      case FieldType::kBoolean:
        whole = true;
        break;
      case FieldType::kNumber:
        real = true;
        break;
      case FieldType::kNull:
      case FieldType::kEmpty:
        break;
      default:
        text = true;
    }
  }
  if (text) return whole || real ? "" : "TEXT";
  return real ? "REAL" : whole ? "INTEGER" : "";
}

// Returns the first of NAME, NAME_2, … that is not taken, ignoring case.
std::string Unique(const std::string& name, std::set<std::string>* taken) {
  std::string unique = name;
  for (int copy = 2; !taken->insert(ToLowerAscii(unique)).second; ++copy) {
    unique = fmt::format("{}_{}", name, copy);
  }
  return unique;
}

// The top-level fields of records, with the types of their values.
class TopFields {
 public:
  void Add(const std::string& name, FieldType type) {
    const auto [found, fresh] = places_.try_emplace(name, fields_.size());
    if (fresh) fields_.push_back({name, {}});
    fields_[found->second].second.Add(type);
  }

  // Adds the fields described from the first records; `types`: whether with their types.
  enum class Types { kTaken, kOfOthers };
  void AddDescribed(const inspect::Description& description, Types types) {
    for (const inspect::Field& field : description.fields) {
      if (field.path.empty() || field.path[0].find('\0') != std::string::npos) continue;
      Add(field.path[0], FieldType::kNull);
      if (types == Types::kOfOthers) continue;
      if (field.path.size() > 1) Add(field.path[0], FieldType::kObject);
      if (field.path.size() > 1) continue;
      for (const FieldType type : field.types.List()) Add(field.path[0], type);
    }
  }

  std::vector<SqlColumn> Columns() const {
    std::set<std::string> taken = {"_index", "_json"};
    std::vector<SqlColumn> columns;
    for (const auto& [name, types] : fields_) {
      if (columns.size() == kMostColumns) break;
      columns.push_back({.name = Unique(name, &taken), .field = name, .type = TypeOf(types)});
    }
    return columns;
  }

 private:
  std::vector<std::pair<std::string, inspect::TypeSet>> fields_;
  std::map<std::string, std::size_t, std::less<>> places_;
};

std::vector<SqlColumn> ColumnsOf(const inspect::Description& description) {
  TopFields fields;
  fields.AddDescribed(description, TopFields::Types::kTaken);
  return fields.Columns();
}

FieldType TypeOfJson(std::string_view value) {
  switch (value[0]) {
    case '"':
      return FieldType::kString;
    case '{':
      return FieldType::kObject;
    case '[':
      return FieldType::kArray;
    case 't':
    case 'f':
      return FieldType::kBoolean;
    case 'n':
      return FieldType::kNull;
    default:
      return value.find_first_not_of("-0123456789") == std::string_view::npos ? FieldType::kInteger
                                                                              : FieldType::kNumber;
  }
}

// Returns "2024/orders.csv" for "2024/orders.csv.gz", whose text is read unpacked.
std::string_view UnpackedName(std::string_view name) {
  const bool packed = !inspect::GuessByName(name).compression.empty();
  return packed ? name.substr(0, name.rfind('.')) : name;
}

// Returns "orders" for "2024/orders.csv".
std::string StemOf(std::string_view name) {
  name = UnpackedName(name.substr(name.find_last_of('/') + 1));
  const std::size_t dot = name.rfind('.');
  return std::string(dot == std::string_view::npos || dot == 0 ? name : name.substr(0, dot));
}

std::string ColumnsText(const SqlTable& table) {
  std::string text = "_index INTEGER";
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (i == kMostColumnsShown) {
      return text + fmt::format(", … and {} more", table.columns.size() - i);
    }
    const SqlColumn& column = table.columns[i];
    const bool plain = std::ranges::all_of(column.name, IsWordByte);
    text += fmt::format(", {}{}{}", plain ? column.name : ToJson(Json(column.name)),
                        column.type.empty() ? "" : " ", column.type);
  }
  return text;
}

std::string RowsText(std::uint64_t rows) {
  return fmt::format("{} row{}", GroupDigits(rows), rows == 1 ? "" : "s");
}

}  // namespace

std::vector<SqlTable> SqlTablesOf(std::span<const SqlDocument> documents) {
  std::vector<SqlTable> tables;
  std::map<std::string, int> stems;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const inspect::Description& about = *documents[i].description;
    if (!about.records || !inspect::HasRecords(about)) continue;
    tables.push_back({.document = i, .columns = ColumnsOf(about), .rows = about.records->records});
    ++stems[ToLowerAscii(StemOf(documents[i].name))];
  }
  std::set<std::string> taken;
  for (SqlTable& table : tables) {
    const std::string name(documents[table.document].name);
    if (documents.size() > 1) table.names.push_back(Unique(name.empty() ? "text" : name, &taken));
  }
  for (SqlTable& table : tables) {
    const std::string stem = StemOf(documents[table.document].name);
    const std::string lower = ToLowerAscii(stem);
    const std::string unpacked(UnpackedName(documents[table.document].name));
    if (documents.size() > 1 && taken.insert(ToLowerAscii(unpacked)).second) {
      table.names.push_back(unpacked);
    }
    if (tables.size() == 1) {
      table.names.insert(table.names.begin(), "records");
    } else if (!stem.empty() && stems[lower] == 1 && !taken.contains(lower)) {
      table.names.push_back(stem);
    }
  }
  return tables;
}

Result<std::vector<SqlColumn>> AllSqlColumns(const inspect::RecordReader& reader,
                                             const inspect::Description& description,
                                             const CancelToken& cancel) {
  TopFields fields;
  fields.AddDescribed(description, TopFields::Types::kOfOthers);
  // Field names by their encoded form, which is the same in most records, for fast look-up.
  std::map<std::string, std::string, std::less<>> decoded;
  for (std::uint64_t row = 0; row < reader.count();) {
    if (cancel.cancelled()) return MakeError(ErrorCode::kCancelled, "{}", cancel.reason());
    DOSSIER_ASSIGN_OR_RETURN(const std::string rows,
                             reader.ReadJson(row, kRowsAtOnce, kBytesAtOnce, &row));
    for (inspect::JsonParts records(rows); records.Next();) {
      for (inspect::JsonParts parts(records.value()); parts.Next();) {
        auto name = decoded.find(parts.name());
        if (name == decoded.end()) {
          const auto text = ParseJson(parts.name());
          const bool usable =
              text && text->is_string() &&
              std::string_view(text->get_string()).find('\0') == std::string_view::npos;
          name = decoded.emplace(parts.name(), usable ? std::string(text->get_string()) : "").first;
        }
        if (!name->second.empty()) fields.Add(name->second, TypeOfJson(parts.value()));
      }
    }
  }
  return fields.Columns();
}

JsonArray SqlTablesJson(const std::vector<SqlTable>& tables) {
  JsonArray list;
  for (const SqlTable& table : tables) {
    list.push_back(
        JsonObject{{"ctx", table.document}, {"names", boost::json::value_from(table.names)}});
  }
  return list;
}

std::string SqlHint(const std::vector<ContextDocument>& documents) {
  std::vector<std::string> lines;
  std::vector<SqlDocument> texts;
  for (const ContextDocument& document : documents) {
    texts.push_back({document.name, &document.description});
  }
  for (const SqlTable& table : SqlTablesOf(texts)) {
    std::string name = ToJson(Json(table.names[0]));
    if (table.names.size() > 1) name += " or " + ToJson(Json(table.names[1]));
    lines.push_back(fmt::format("{} ({}): {}", name, RowsText(table.rows), ColumnsText(table)));
  }
  for (const ContextDocument& document : documents) {
    if (!document.database) continue;
    for (const inspect::SqliteTable& table : document.database->tables) {
      const std::string rows = table.rows ? RowsText(*table.rows)
                               : table.kind == inspect::SqliteTable::Kind::kView
                                   ? "a view"
                                   : "rows not counted";
      lines.push_back(fmt::format("{} of {} ({}): {}", ToJson(Json(table.name)),
                                  ToJson(Json(document.name)), rows, table.sql));
    }
  }
  if (lines.empty()) return "";
  std::string hint = "SQL tables for sql(query):";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string line = inspect::CleanText(lines[i]);
    if (hint.size() + line.size() > kMostHint) {
      return hint + fmt::format("\n  … and {} more", lines.size() - i);
    }
    hint += "\n  " + line;
  }
  return hint;
}

}  // namespace dossier::ask
