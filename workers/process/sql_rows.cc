#include "sql_rows.h"

#include <sqlite3.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>
#include <list>
#include <memory>
#include <new>
#include <optional>
#include <unordered_map>

#include "base/text/parse.h"
#include "inspect/records/record_json.h"

namespace dossier::worker {
namespace {

constexpr std::uint64_t kFirstBlock = 64, kLargestBlock = 8192;  // records
constexpr std::uint64_t kLookedUpBlock = 16;         // around a row that a join asks for
constexpr std::int64_t kBlockBytes = 2 << 20;        // of rows as JSON, but one row
constexpr std::size_t kKeptBytes = 16 << 20;         // of blocks of one table
constexpr int kScansBeforeIndex = 2;                 // of a field by `=`: then its index is made
constexpr std::uint64_t kLargestIndex = 20'000'000;  // rows
constexpr double kRowsUnknown = 1e6;

enum Plan : int { kScan = 0, kByIndex = 1, kByField = 2 };  // low bits of idxNum
constexpr int kNoColumns = 4;                               // flag: values are not looked at

std::string TextOfJsonString(std::string_view token) {
  const std::string_view inside = token.substr(1, token.size() - 2);
  if (inside.find('\\') == std::string_view::npos) return std::string(inside);
  const auto value = ParseJson(token);
  return value && value->is_string() ? std::string(value->get_string()) : std::string(inside);
}

// Records as they came, and where each begins.
struct Block {
  std::uint64_t first = 0;
  std::string text;
  std::vector<std::pair<std::size_t, std::size_t>> rows;  // begin and end in `text`
};

void Split(Block* block) {
  inspect::JsonParts rows(block->text);
  while (rows.Next()) {
    const auto begin = static_cast<std::size_t>(rows.value().data() - block->text.data());
    block->rows.emplace_back(begin, begin + rows.value().size());
  }
}

// The rows of one field by a hash of its values, so that a lookup finds some too many, none too
// few.
struct FieldIndex {
  std::vector<std::pair<std::uint32_t, std::uint64_t>> rows;  // hash, row; in order
};

struct Module {
  const std::vector<SqlTable>* tables;
  const AskHost* ask;
};

struct Table : sqlite3_vtab {
  const SqlTable* about = nullptr;
  const AskHost* ask = nullptr;
  std::optional<std::uint64_t> count;
  std::unordered_map<std::string, std::size_t> places;  // of fields
  std::list<std::shared_ptr<Block>> kept;               // newest first
  std::vector<int> scans;                               // by `=`, of each field
  std::vector<std::unique_ptr<FieldIndex>> indexes;

  int Fail(std::string_view message) {
    sqlite3_free(zErrMsg);
    zErrMsg = sqlite3_mprintf("%.*s", static_cast<int>(message.size()), message.data());
    return SQLITE_ERROR;
  }

  int Count(std::uint64_t* rows) {
    if (!count) {
      CallOutcome outcome;
      if (!(*ask)("records_info", {{"ctx", about->context}}, &outcome)) return SQLITE_INTERRUPT;
      if (outcome.kind != CallOutcome::Kind::kOk) return Fail(outcome.message);
      count = static_cast<std::uint64_t>(FindInt(outcome.value, "count").value_or(0));
    }
    *rows = *count;
    return SQLITE_OK;
  }

  std::shared_ptr<Block> Kept(std::uint64_t row) {
    for (auto found = kept.begin(); found != kept.end(); ++found) {
      if (row < (*found)->first || row >= (*found)->first + (*found)->rows.size()) continue;
      kept.splice(kept.begin(), kept, found);
      return kept.front();
    }
    return nullptr;
  }

  // The block that `row` lies in: one that is kept, or a new one of at most `most` records.
  int Fetch(std::uint64_t row, std::uint64_t most, std::shared_ptr<Block>* block) {
    if (*block = Kept(row); *block) return SQLITE_OK;
    CallOutcome outcome;
    if (!(*ask)("records",
                {{"ctx", about->context},
                 {"from", row},
                 {"max_records", most},
                 {"max_bytes", kBlockBytes},
                 {"read", true}},
                &outcome)) {
      return SQLITE_INTERRUPT;
    }
    if (outcome.kind != CallOutcome::Kind::kOk) return Fail(outcome.message);
    auto fresh = std::make_shared<Block>();
    fresh->first = row;
    fresh->text = std::move(outcome.raw);
    Split(fresh.get());
    if (fresh->rows.empty()) return Fail("a record could not be read");
    kept.push_front(fresh);
    std::size_t bytes = 0;
    for (auto old = kept.begin(); old != kept.end();) {
      bytes += (*old)->text.size();
      old = old != kept.begin() && bytes > kKeptBytes ? kept.erase(old) : std::next(old);
    }
    *block = std::move(fresh);
    return SQLITE_OK;
  }
};

// The values of one record, found when the first of them is wanted.
class RowValues {
 public:
  void Forget() { known_ = false; }

  // The JSON of field `place`; empty: the record lacks it.
  std::string_view Find(const Table& table, std::string_view record, std::size_t place) {
    if (!known_) Read(table, record);
    return values_[place];
  }

 private:
  void Read(const Table& table, std::string_view record) {
    const auto& columns = table.about->columns;
    values_.assign(columns.size(), {});
    known_ = true;
    std::size_t expected = 0;
    for (inspect::JsonParts parts(record); parts.Next();) {
      // Records of one table mostly have their fields in one order.
      const std::string_view plain = parts.name().substr(1, parts.name().size() - 2);
      std::size_t place = columns.size();
      if (expected < columns.size() && columns[expected].field == plain) {
        place = expected;
      } else if (const auto found = table.places.find(TextOfJsonString(parts.name()));
                 found != table.places.end()) {
        place = found->second;
      }
      if (place == columns.size()) continue;
      values_[place] = parts.value();
      expected = place + 1;
    }
  }

  bool known_ = false;
  std::vector<std::string_view> values_;
};

// A value of JSON as SQLite keeps it in a column of a declared type.
struct SqlValue {
  enum class Kind { kNull, kInteger, kReal, kText } kind = Kind::kNull;
  std::int64_t integer = 0;
  double real = 0;
  std::string text;
};

SqlValue NumberOf(std::string_view token, std::string_view type) {
  SqlValue value;
  const bool whole = token.find_first_not_of("-0123456789") == std::string_view::npos;
  if (whole && type != "REAL") {
    const auto [end, error] =
        std::from_chars(token.data(), token.data() + token.size(), value.integer);
    if (error == std::errc()) {
      value.kind = SqlValue::Kind::kInteger;
      return value;
    }
  }
  value.real = std::strtod(std::string(token).c_str(), nullptr);
  value.kind = value.real == value.real ? SqlValue::Kind::kReal : SqlValue::Kind::kNull;  // NaN
  return value;
}

SqlValue ValueOf(std::string_view token, std::string_view type) {
  using Kind = SqlValue::Kind;
  if (token.empty() || token == "null") return {};
  if (token[0] == '"') return {.kind = Kind::kText, .text = TextOfJsonString(token)};
  if (token[0] == '{' || token[0] == '[') return {.kind = Kind::kText, .text = std::string(token)};
  SqlValue value = token == "true"    ? SqlValue{.kind = Kind::kInteger, .integer = 1}
                   : token == "false" ? SqlValue{.kind = Kind::kInteger, .integer = 0}
                                      : NumberOf(token, type);
  if (type != "TEXT" || value.kind == Kind::kNull) return value;
  const bool logical = token[0] == 't' || token[0] == 'f';
  return {.kind = Kind::kText,
          .text = logical ? std::to_string(value.integer) : std::string(token)};
}

std::uint32_t HashOf(const SqlValue& value) {
  using Kind = SqlValue::Kind;
  if (value.kind == Kind::kText) {
    return static_cast<std::uint32_t>(std::hash<std::string>()(value.text));
  }
  // 5 and 5.0 are equal.
  const double real =
      value.kind == Kind::kInteger ? static_cast<double>(value.integer) : value.real;
  return static_cast<std::uint32_t>(std::hash<double>()(real == 0 ? 0.0 : real));
}

// What a field is compared with, if its index can tell: a number beside numbers, a text beside
// texts.
std::optional<SqlValue> Wanted(sqlite3_value* value, std::string_view type) {
  using Kind = SqlValue::Kind;
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
      if (type != "INTEGER" && type != "REAL") return std::nullopt;
      return SqlValue{.kind = Kind::kInteger, .integer = sqlite3_value_int64(value)};
    case SQLITE_FLOAT:
      if (type != "INTEGER" && type != "REAL") return std::nullopt;
      return SqlValue{.kind = Kind::kReal, .real = sqlite3_value_double(value)};
    case SQLITE_TEXT: {
      if (type != "TEXT") return std::nullopt;
      const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
      const auto size = static_cast<std::size_t>(sqlite3_value_bytes(value));
      return SqlValue{.kind = Kind::kText, .text = std::string(text ? text : "", size)};
    }
    default:
      return std::nullopt;
  }
}

struct Cursor : sqlite3_vtab_cursor {
  Table& table() const { return *static_cast<Table*>(pVtab); }

  int Filter(int plan, sqlite3_value** arguments);
  int Next() {
    ++at;
    return Settle();
  }
  bool AtEnd() const { return at >= end; }
  std::uint64_t row() const { return found ? (*found)[at].second : at; }
  int Column(sqlite3_context* context, int column);

  // Of rows, or of `found`.
  std::uint64_t at = 0, end = 0;
  const decltype(FieldIndex::rows)* found = nullptr;
  bool looks = true;  // at values
  std::uint64_t ahead = kFirstBlock;
  std::shared_ptr<Block> block;
  RowValues values;

 private:
  int Settle();
  std::string_view Record() const {
    const auto [begin, stop] = block->rows[row() - block->first];
    return std::string_view(block->text).substr(begin, stop - begin);
  }
  void Narrow(int operation, sqlite3_value* bound);
  int LookUp(std::size_t place, sqlite3_value* wanted, std::uint64_t rows);
  int MakeIndex(std::size_t place, std::uint64_t rows);
};

int Cursor::Filter(int plan, sqlite3_value** arguments) {
  std::uint64_t rows = 0;
  if (const int status = table().Count(&rows); status != SQLITE_OK) return status;
  at = 0;
  end = rows;
  found = nullptr;
  looks = (plan & kNoColumns) == 0;
  ahead = kFirstBlock;
  const int operations = plan >> 8;  // of `_index`: two of 8 bits; or the field
  if ((plan & 3) == kByIndex) {
    for (int i = 0; i < 2; ++i) {
      const int operation = operations >> (8 * i) & 0xFF;
      if (operation != 0) Narrow(operation, arguments[i]);
    }
  } else if ((plan & 3) == kByField) {
    const int status = LookUp(static_cast<std::size_t>(operations), arguments[0], rows);
    if (status != SQLITE_OK) return status;
  }
  return Settle();
}

// SQLite checks each row again, so a bound that is no number narrows nothing.
void Cursor::Narrow(int operation, sqlite3_value* bound) {
  if (sqlite3_value_numeric_type(bound) != SQLITE_INTEGER) return;
  const std::int64_t number = sqlite3_value_int64(bound);
  const std::uint64_t place = number < 0 ? 0 : static_cast<std::uint64_t>(number);
  const bool from = operation == SQLITE_INDEX_CONSTRAINT_GE ||
                    operation == SQLITE_INDEX_CONSTRAINT_GT ||
                    operation == SQLITE_INDEX_CONSTRAINT_EQ;
  const bool to = operation == SQLITE_INDEX_CONSTRAINT_LE ||
                  operation == SQLITE_INDEX_CONSTRAINT_LT ||
                  operation == SQLITE_INDEX_CONSTRAINT_EQ;
  if (from) at = std::max(at, std::min(place, end));
  if (to) end = number < 0 ? at : std::min(end, place + 1);
}

int Cursor::LookUp(std::size_t place, sqlite3_value* wanted, std::uint64_t rows) {
  const auto value = Wanted(wanted, table().about->columns[place].type);
  if (sqlite3_value_type(wanted) == SQLITE_NULL) end = 0;
  if (!value || rows > kLargestIndex) return SQLITE_OK;
  if (!table().indexes[place]) {
    if (++table().scans[place] <= kScansBeforeIndex) return SQLITE_OK;
    if (const int status = MakeIndex(place, rows); status != SQLITE_OK) return status;
  }
  found = &table().indexes[place]->rows;
  const std::uint32_t hash = HashOf(*value);
  const auto before = [](const auto& entry, std::uint32_t key) { return entry.first < key; };
  const auto behind = [](std::uint32_t key, const auto& entry) { return key < entry.first; };
  at = static_cast<std::uint64_t>(std::lower_bound(found->begin(), found->end(), hash, before) -
                                  found->begin());
  end = static_cast<std::uint64_t>(std::upper_bound(found->begin(), found->end(), hash, behind) -
                                   found->begin());
  return SQLITE_OK;
}

int Cursor::MakeIndex(std::size_t place, std::uint64_t rows) {
  auto index = std::make_unique<FieldIndex>();
  index->rows.reserve(rows);
  const std::string& type = table().about->columns[place].type;
  std::shared_ptr<Block> part;
  for (std::uint64_t row = 0; row < rows; ++row) {
    if (!part || row >= part->first + part->rows.size()) {
      const int status = table().Fetch(row, kLargestBlock, &part);
      if (status != SQLITE_OK) return status;
    }
    const auto [begin, stop] = part->rows[row - part->first];
    values.Forget();
    const SqlValue value = ValueOf(
        values.Find(table(), std::string_view(part->text).substr(begin, stop - begin), place),
        type);
    if (value.kind != SqlValue::Kind::kNull) index->rows.emplace_back(HashOf(value), row);
  }
  std::sort(index->rows.begin(), index->rows.end());
  table().indexes[place] = std::move(index);
  return SQLITE_OK;
}

// Has the block of the row at hand.
int Cursor::Settle() {
  values.Forget();
  if (AtEnd() || !looks) return SQLITE_OK;
  if (block && row() >= block->first && row() < block->first + block->rows.size()) return SQLITE_OK;
  const std::uint64_t most = found ? kLookedUpBlock : std::min(ahead, end - at);
  ahead = std::min(ahead * 4, kLargestBlock);
  return table().Fetch(row(), most, &block);
}

int Cursor::Column(sqlite3_context* context, int column) {
  const auto& columns = table().about->columns;
  if (column == 0) {
    sqlite3_result_int64(context, static_cast<sqlite3_int64>(row()));
    return SQLITE_OK;
  }
  if (!looks) return SQLITE_OK;
  const auto give = [context](std::string_view text) {
    sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  };
  const auto place = static_cast<std::size_t>(column) - 1;
  if (place >= columns.size()) return give(Record()), SQLITE_OK;
  const SqlValue value = ValueOf(values.Find(table(), Record(), place), columns[place].type);
  switch (value.kind) {
    case SqlValue::Kind::kNull:
      break;
    case SqlValue::Kind::kInteger:
      sqlite3_result_int64(context, value.integer);
      break;
    case SqlValue::Kind::kReal:
      sqlite3_result_double(context, value.real);
      break;
    case SqlValue::Kind::kText:
      give(value.text);
      break;
  }
  return SQLITE_OK;
}

// No exception passes through SQLite, which is C.
template <typename Body>
int Guarded(const Body& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  }
}

std::string Declaration(const SqlTable& table) {
  std::string text = "CREATE TABLE rows(_index INTEGER";
  for (const SqlColumn& column : table.columns)
    text += ", " + QuotedSqlName(column.name) + " " + column.type;
  return text + ", _json TEXT HIDDEN)";
}

int Connect(sqlite3* database, void* data, int argc, const char* const* argv, sqlite3_vtab** out,
            char** error) {
  return Guarded([&] {
    const auto& module = *static_cast<const Module*>(data);
    const auto number = argc == 4 ? ExactNumber<std::size_t>(argv[3]) : std::nullopt;
    if (!number || *number >= module.tables->size()) {
      *error = sqlite3_mprintf("no such table of the context");
      return SQLITE_ERROR;
    }
    auto table = std::make_unique<Table>();
    static_cast<sqlite3_vtab&>(*table) = {};
    table->about = &(*module.tables)[*number];
    table->ask = module.ask;
    const auto& columns = table->about->columns;
    for (std::size_t i = 0; i < columns.size(); ++i) table->places.emplace(columns[i].field, i);
    table->scans.resize(columns.size());
    table->indexes.resize(columns.size());
    const int status = sqlite3_declare_vtab(database, Declaration(*table->about).c_str());
    if (status == SQLITE_OK) *out = table.release();
    return status;
  });
}

int Disconnect(sqlite3_vtab* table) {
  const std::unique_ptr<Table> gone(static_cast<Table*>(table));
  return SQLITE_OK;
}

bool IsBound(int operation) {
  return operation == SQLITE_INDEX_CONSTRAINT_EQ || operation == SQLITE_INDEX_CONSTRAINT_GT ||
         operation == SQLITE_INDEX_CONSTRAINT_GE || operation == SQLITE_INDEX_CONSTRAINT_LT ||
         operation == SQLITE_INDEX_CONSTRAINT_LE;
}

// A row of `_index`, else a field that equals something, else a range of `_index`, else all.
int BestIndex(sqlite3_vtab* vtab, sqlite3_index_info* info) {
  const auto& table = *static_cast<Table*>(vtab);
  const double rows = table.count ? static_cast<double>(*table.count) : kRowsUnknown;
  int by_field = -1, bounds = 0, operations = 0;
  int chosen[2] = {-1, -1};
  bool exact = false;
  for (int i = 0; i < info->nConstraint; ++i) {
    const auto& constraint = info->aConstraint[i];
    if (!constraint.usable || !IsBound(constraint.op)) continue;
    const bool equal = constraint.op == SQLITE_INDEX_CONSTRAINT_EQ;
    if (constraint.iColumn <= 0) {  // -1: the rowid
      if (exact || (bounds == 2 && !equal)) continue;
      if (equal) bounds = operations = 0;  // narrower than any range
      exact = equal;
      operations |= constraint.op << (8 * bounds);
      chosen[bounds++] = i;
    } else if (equal && by_field < 0 &&
               static_cast<std::size_t>(constraint.iColumn) <= table.about->columns.size() &&
               std::strcmp(sqlite3_vtab_collation(info, i), "BINARY") == 0) {
      by_field = i;
    }
  }
  info->idxNum = kScan;
  info->estimatedCost = rows * 10;
  info->estimatedRows = static_cast<sqlite3_int64>(rows);
  if (by_field >= 0 && !exact) {
    info->idxNum = kByField | (info->aConstraint[by_field].iColumn - 1) << 8;
    info->aConstraintUsage[by_field].argvIndex = 1;
    info->estimatedCost = 100 + rows / 100;
    info->estimatedRows = static_cast<sqlite3_int64>(10 + rows / 1000);
  } else if (bounds > 0) {
    info->idxNum = kByIndex | operations << 8;
    for (int i = 0; i < bounds; ++i) info->aConstraintUsage[chosen[i]].argvIndex = i + 1;
    info->estimatedCost = exact ? 10 : rows;
    info->estimatedRows = exact ? 1 : static_cast<sqlite3_int64>(rows / 4 + 1);
  }
  if ((info->colUsed & ~1ull) == 0 && (info->idxNum & 3) != kByField) info->idxNum |= kNoColumns;
  const bool in_order = info->nOrderBy == 1 && info->aOrderBy[0].iColumn <= 0 &&
                        info->aOrderBy[0].desc == 0 && (info->idxNum & 3) != kByField;
  info->orderByConsumed = in_order ? 1 : 0;
  return SQLITE_OK;
}

int OpenCursor(sqlite3_vtab*, sqlite3_vtab_cursor** out) {
  return Guarded([out] {
    auto cursor = std::make_unique<Cursor>();
    *out = cursor.release();
    return SQLITE_OK;
  });
}

int CloseCursor(sqlite3_vtab_cursor* cursor) {
  const std::unique_ptr<Cursor> gone(static_cast<Cursor*>(cursor));
  return SQLITE_OK;
}

Cursor& At(sqlite3_vtab_cursor* cursor) { return *static_cast<Cursor*>(cursor); }

constexpr sqlite3_module MakeModule() {
  sqlite3_module module{};
  module.iVersion = 1;
  module.xCreate = Connect;
  module.xConnect = Connect;
  module.xBestIndex = BestIndex;
  module.xDisconnect = Disconnect;
  module.xDestroy = Disconnect;
  module.xOpen = OpenCursor;
  module.xClose = CloseCursor;
  module.xFilter = [](sqlite3_vtab_cursor* cursor, int plan, const char*, int,
                      sqlite3_value** arguments) {
    return Guarded([&] { return At(cursor).Filter(plan, arguments); });
  };
  module.xNext = [](sqlite3_vtab_cursor* cursor) {
    return Guarded([&] { return At(cursor).Next(); });
  };
  module.xEof = [](sqlite3_vtab_cursor* cursor) { return At(cursor).AtEnd() ? 1 : 0; };
  module.xColumn = [](sqlite3_vtab_cursor* cursor, sqlite3_context* context, int column) {
    return Guarded([&] { return At(cursor).Column(context, column); });
  };
  module.xRowid = [](sqlite3_vtab_cursor* cursor, sqlite3_int64* row) {
    *row = static_cast<sqlite3_int64>(At(cursor).row());
    return SQLITE_OK;
  };
  return module;
}
constexpr sqlite3_module kModule = MakeModule();

}  // namespace

std::string QuotedSqlName(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

Result<std::vector<SqlTable>> ReadSqlTables(const Json& list) {
  std::vector<SqlTable> tables;
  const JsonArray* items = list.if_array();
  for (const Json& item : items ? *items : JsonArray()) {
    SqlTable table;
    const auto context = FindInt(item, "ctx");
    table.names = StringsOf(Find(item, "names"));
    if (!context || *context < 0 || table.names.empty()) {
      return MakeError(ErrorCode::kProtocol, "bridge: open with a table that is none");
    }
    table.context = static_cast<std::size_t>(*context);
    tables.push_back(std::move(table));
  }
  return tables;
}

Status ReadSqlColumns(const Json& list, SqlTable* table) {
  const JsonArray* items = list.if_array();
  for (const Json& column : items ? *items : JsonArray()) {
    std::vector<std::string> parts = StringsOf(&column);
    if (parts.size() != 3) {
      return MakeError(ErrorCode::kProtocol, "bridge: a column that is none");
    }
    table->columns.push_back({std::move(parts[0]), std::move(parts[1]), std::move(parts[2])});
  }
  return {};
}

Status RegisterRows(sqlite3* database, const std::vector<SqlTable>* tables, const AskHost* ask) {
  auto module = std::make_unique<Module>(Module{tables, ask});
  const int status = sqlite3_create_module_v2(
      database, "dossier_rows", &kModule, module.release(),
      [](void* data) { const std::unique_ptr<Module> gone(static_cast<Module*>(data)); });
  if (status != SQLITE_OK) return MakeError(ErrorCode::kInternal, "sql: no module for rows");
  return {};
}

}  // namespace dossier::worker
