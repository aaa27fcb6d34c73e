#include "sql.h"

#include <sqlite3.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "sql_rows.h"

namespace dossier::worker {
namespace {

constexpr int kStepsBetweenLooks = 20'000;  // of SQLite's machine: about a millisecond
constexpr Millis kLockLook{50};             // how long an interrupt may wait for another query
constexpr int kMostSqlText = 1 << 20;       // bytes of a query

// What the authorizer refuses, as a model knows it.
std::string_view NameOfAction(int action) {
  switch (action) {
    case SQLITE_ATTACH:
      return "ATTACH";
    case SQLITE_DETACH:
      return "DETACH";
    case SQLITE_PRAGMA:
      return "PRAGMA";
    case SQLITE_INSERT:
      return "INSERT";
    case SQLITE_UPDATE:
      return "UPDATE";
    case SQLITE_DELETE:
      return "DELETE";
    case SQLITE_TRANSACTION:
    case SQLITE_SAVEPOINT:
      return "a transaction";
    default:
      return "a change of the schema";
  }
}

std::string Clean(const void* bytes, int size) {
  const std::string_view text(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
  return utf8::IsValid(text) ? std::string(text) : utf8::Sanitize(text);
}

std::string BlobLiteral(const void* bytes, int size) {
  std::string out = "X'";
  for (int i = 0; i < size; ++i) {
    out += fmt::format("{:02X}", static_cast<const unsigned char*>(bytes)[i]);
  }
  return out + "'";
}

Json ColumnValue(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return sqlite3_column_int64(statement, column);
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    case SQLITE_TEXT: {
      const void* text = sqlite3_column_text(statement, column);
      return Json(Clean(text, sqlite3_column_bytes(statement, column)));
    }
    case SQLITE_BLOB: {
      const void* bytes = sqlite3_column_blob(statement, column);
      return Json(BlobLiteral(bytes, sqlite3_column_bytes(statement, column)));
    }
    default:
      return nullptr;
  }
}

// The keys of a row: columns of one name are told apart by a number.
std::vector<std::string> KeysOf(sqlite3_stmt* statement) {
  std::vector<std::string> keys;
  for (int i = 0; i < sqlite3_column_count(statement); ++i) {
    const char* name = sqlite3_column_name(statement, i);
    const std::string base = name ? name : "?";
    std::string key = base;
    for (int copy = 2; std::ranges::find(keys, key) != keys.end(); ++copy) {
      key = fmt::format("{}_{}", base, copy);
    }
    keys.push_back(std::move(key));
  }
  return keys;
}

Status Bind(sqlite3_stmt* statement, int index, const Json& value) {
  int status = SQLITE_OK;
  if (value.is_null()) {
    status = sqlite3_bind_null(statement, index);
  } else if (const bool* flag = value.if_bool()) {
    status = sqlite3_bind_int(statement, index, *flag ? 1 : 0);
  } else if (const std::int64_t* whole = value.if_int64()) {
    status = sqlite3_bind_int64(statement, index, *whole);
  } else if (value.is_double() || value.is_uint64()) {
    status = sqlite3_bind_double(statement, index, value.to_number<double>());
  } else if (const auto* text = value.if_string()) {
    status = sqlite3_bind_text64(statement, index, text->data(), text->size(), SQLITE_STATIC,
                                 SQLITE_UTF8);
  } else {
    return MakeError(ErrorCode::kInvalidArgument,
                     "sql: parameter {} is a list or an object; a parameter is null, a number or a "
                     "text. For IN write one ? a value",
                     index);
  }
  if (status == SQLITE_OK) return {};
  return MakeError(ErrorCode::kInvalidArgument, "sql: parameter {} does not fit", index);
}

}  // namespace

class SqlSession::Impl {
 public:
  Impl(std::vector<MappedContext> databases, JsonObject features)
      : files_(std::move(databases)), features_(std::move(features)) {}

  // `ask` asks the host, `stopped` says whether the block is to end.
  Result<Json> Query(std::string_view query, const JsonArray& params, const AskHost& ask,
                     const std::function<bool()>& stopped);

 private:
  struct Close {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  using DatabasePointer = std::unique_ptr<sqlite3, Close>;
  using StatementPointer = std::unique_ptr<sqlite3_stmt, Close>;

  Status Open();
  // A field of what the host answers.
  Result<Json> AskAtOpen(std::string method, JsonObject args, std::string_view field);
  Status AttachFile(const MappedContext& context);
  Status Run(const std::string& statement);
  void Harden();
  static int Authorize(void* self, int action, const char* one, const char* two, const char*,
                       const char*);
  Result<StatementPointer> Prepare(std::string_view query);
  Result<Json> Collect(sqlite3_stmt* statement);
  Error Failed(int status);
  std::string Tables() const;

  const std::vector<MappedContext> files_;
  const JsonObject features_;
  std::timed_mutex mutex_;  // guards all below
  std::vector<SqlTable> tables_;
  std::vector<std::string> opened_;  // names of attached files
  std::string unopened_;             // sentences about the others, for errors
  AskHost ask_;  // what the virtual tables call: the query's own, while one runs
  const AskHost* asking_ = nullptr;
  const std::function<bool()>* stopped_ = nullptr;
  bool unasked_ = true;  // the authorizer has been asked nothing about this query
  std::string refused_;  // by the authorizer
  bool interrupted_ = false;
  DatabasePointer database_;  // last: closed before what its tables use
};

Status SqlSession::Impl::Run(const std::string& statement) {
  if (sqlite3_exec(database_.get(), statement.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) {
    return {};
  }
  return MakeError(ErrorCode::kInternal, "sql: {}", sqlite3_errmsg(database_.get()));
}

Result<Json> SqlSession::Impl::AskAtOpen(std::string method, JsonObject args,
                                         std::string_view field) {
  CallOutcome outcome;
  if (!ask_(std::move(method), std::move(args), &outcome)) return tl::unexpected(Failed(0));
  if (outcome.kind != CallOutcome::Kind::kOk) {
    return MakeError(ErrorCode::kInternal, "sql: {}", outcome.message);
  }
  const Json* found = Find(outcome.value, field);
  return found ? *found : Json(nullptr);
}

Status SqlSession::Impl::Open() {
  sqlite3* database = nullptr;
  const int status =
      sqlite3_open_v2(":memory:", &database,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY, nullptr);
  database_.reset(database);
  if (status != SQLITE_OK) return MakeError(ErrorCode::kLimit, "sql: no memory for a database");
  // The same run draws the same numbers.
  const auto seed = FindInt(Json(features_), "seed").value_or(1);
  sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, static_cast<int>(seed | 1), nullptr);
  ask_ = [this](std::string method, JsonObject args, CallOutcome* outcome) {
    if (!asking_ || !(*asking_)(std::move(method), std::move(args), outcome)) {
      interrupted_ = true;
      return false;
    }
    return true;
  };
  DOSSIER_ASSIGN_OR_RETURN(const Json known, AskAtOpen("sql_tables", {}, "tables"));
  DOSSIER_ASSIGN_OR_RETURN(tables_, ReadSqlTables(known));
  DOSSIER_RETURN_IF_ERROR(RegisterRows(database, &tables_, &ask_));
  DOSSIER_RETURN_IF_ERROR(Run("PRAGMA temp_store=MEMORY; PRAGMA cell_size_check=ON"));
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    DOSSIER_ASSIGN_OR_RETURN(const Json columns,
                             AskAtOpen("columns", {{"ctx", tables_[i].context}}, "columns"));
    DOSSIER_RETURN_IF_ERROR(ReadSqlColumns(columns, &tables_[i]));
    for (const std::string& name : tables_[i].names) {
      DOSSIER_RETURN_IF_ERROR(Run(
          fmt::format("CREATE VIRTUAL TABLE {} USING dossier_rows({})", QuotedSqlName(name), i)));
    }
  }
  opened_.clear();
  unopened_.clear();
  for (const MappedContext& file : files_) {
    const std::string& name = file.description().name;
    const Status attached = AttachFile(file);
    if (attached) {
      opened_.push_back(name);
    } else {
      unopened_ += fmt::format("; {} is not open ({})", QuotedSqlName(name),
                               utf8::Sanitize(attached.error().message));
    }
  }
  Harden();
  return {};
}

// Straight from the map: pages are read when a query needs them, and nobody can write to it.
Status SqlSession::Impl::AttachFile(const MappedContext& context) {
  std::string name = context.description().name;
  for (const char* own : {"main", "temp"}) {
    if (sqlite3_stricmp(name.c_str(), own) == 0) name += "_2";
  }
  DOSSIER_RETURN_IF_ERROR(Run("ATTACH ':memory:' AS " + QuotedSqlName(name)));
  const auto size = static_cast<sqlite3_int64>(context.bytes().size());
  auto* bytes = reinterpret_cast<unsigned char*>(
      const_cast<char*>(context.bytes().data()));  // READONLY below
  if (sqlite3_deserialize(database_.get(), name.c_str(), bytes, size, size,
                          SQLITE_DESERIALIZE_READONLY) == SQLITE_OK) {
    return {};
  }
  auto failed = MakeError(ErrorCode::kInvalidArgument, "sql: {}", sqlite3_errmsg(database_.get()));
  DOSSIER_RETURN_IF_ERROR(Run("DETACH " + QuotedSqlName(name)));
  return failed;
}

void SqlSession::Impl::Harden() {
  sqlite3* database = database_.get();
  for (const auto& [option, value] :
       {std::pair(SQLITE_DBCONFIG_DEFENSIVE, 1), std::pair(SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
        std::pair(SQLITE_DBCONFIG_ENABLE_TRIGGER, 0),
        std::pair(SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0)}) {
    sqlite3_db_config(database, option, value, nullptr);
  }
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, static_cast<int>(kMostSqlBytes));
  sqlite3_limit(database, SQLITE_LIMIT_SQL_LENGTH, kMostSqlText);
  sqlite3_limit(database, SQLITE_LIMIT_WORKER_THREADS, 0);
  sqlite3_set_authorizer(database, Authorize, this);
  sqlite3_progress_handler(
      database, kStepsBetweenLooks,
      [](void* self) {
        Impl& sql = *static_cast<Impl*>(self);
        sql.interrupted_ = sql.interrupted_ || (sql.stopped_ && (*sql.stopped_)());
        return sql.interrupted_ ? 1 : 0;
      },
      this);
}

int SqlSession::Impl::Authorize(void* self, int action, const char* one, const char* two,
                                const char*, const char*) {
  Impl& sql = *static_cast<Impl*>(self);
  const bool first = std::exchange(sql.unasked_, false);  // of the query: what it is itself
  if (action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE) {
    return SQLITE_OK;
  }
  // What tables that are modules ask for while they are opened: full text search, json_each. They
  // write nothing: the files are read-only, and so is every statement that is run.
  const std::string_view of = one ? one : "";
  const bool opens = (action == SQLITE_UPDATE && of == "sqlite_master") ||
                     (action == SQLITE_PRAGMA && of == "data_version");
  if (opens && !first) return SQLITE_OK;
  const std::string_view function = action == SQLITE_FUNCTION && two ? two : "";
  const bool loads =
      sqlite3_stricmp(two, "load_extension") == 0 || sqlite3_stricmp(two, "fts3_tokenizer") == 0;
  if (action == SQLITE_FUNCTION && !loads) return SQLITE_OK;
  sql.refused_ = loads ? function : NameOfAction(action);
  return SQLITE_DENY;
}

Error SqlSession::Impl::Failed(int status) {
  if (interrupted_) return {ErrorCode::kCancelled, "sql: the block was stopped"};
  if (status == SQLITE_NOMEM) {
    return {ErrorCode::kLimit, "sql: the query needs more memory than the block may use"};
  }
  if (status == SQLITE_TOOBIG) {
    return {ErrorCode::kTooLong, "sql: a value or the query is too long"};
  }
  if (!refused_.empty()) {
    return {ErrorCode::kInvalidArgument,
            fmt::format("sql only reads: {} is refused. Write one SELECT", refused_)};
  }
  const char* said = sqlite3_errmsg(database_.get());
  std::string message = utf8::Sanitize(said);
  if (message.starts_with("no such table") || message.starts_with("no such column")) {
    message += Tables();
  }
  return {ErrorCode::kInvalidArgument, fmt::format("sql: {}", message)};
}

// "; there is "records"("_index", "id")": what a query may name.
std::string SqlSession::Impl::Tables() const {
  constexpr std::size_t kMostShown = 600;
  std::string shown;
  for (const SqlTable& table : tables_) {
    if (shown.size() > kMostShown) break;
    shown += fmt::format("{}{}(_index", shown.empty() ? "; there is " : ", ",
                         QuotedSqlName(table.names[0]));
    for (const SqlColumn& column : table.columns) {
      if (shown.size() > kMostShown) break;
      shown += ", " + QuotedSqlName(column.name);
    }
    shown += ")";
  }
  for (const std::string& name : opened_) {
    if (shown.size() > 2 * kMostShown) break;
    shown += fmt::format("{}the tables of {}", shown.empty() ? "; there are " : ", ",
                         QuotedSqlName(name));
  }
  return shown + std::string(utf8::Prefix(unopened_, kMostShown));
}

Result<SqlSession::Impl::StatementPointer> SqlSession::Impl::Prepare(std::string_view query) {
  if (query.find('\0') != std::string_view::npos) {
    return MakeError(ErrorCode::kInvalidArgument, "sql: the query has a NUL character");
  }
  if (query.size() > kMostSqlText) {
    return MakeError(ErrorCode::kTooLong, "sql: the query has {} bytes; at most {} are read",
                     GroupDigits(query.size()), GroupDigits(kMostSqlText));
  }
  sqlite3_stmt* made = nullptr;
  const char* rest = nullptr;
  const int status = sqlite3_prepare_v2(database_.get(), query.data(),
                                        static_cast<int>(query.size()), &made, &rest);
  StatementPointer statement(made);
  if (status != SQLITE_OK) return tl::unexpected(Failed(status));
  if (!statement) return MakeError(ErrorCode::kInvalidArgument, "sql: the query is empty");
  sqlite3_stmt* second = nullptr;
  const auto left = static_cast<int>(query.data() + query.size() - rest);
  const int more = sqlite3_prepare_v2(database_.get(), rest, left, &second, nullptr);
  const StatementPointer other(second);
  if (more != SQLITE_OK || other) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "sql runs one statement, and this query has more behind its first");
  }
  // EXPLAIN and SELECT alone get this far; what could write would not be read-only.
  if (sqlite3_stmt_readonly(statement.get()) == 0) {
    return MakeError(ErrorCode::kInvalidArgument, "sql only reads. Write one SELECT");
  }
  return statement;
}

Result<Json> SqlSession::Impl::Collect(sqlite3_stmt* statement) {
  const std::vector<std::string> keys = KeysOf(statement);
  JsonArray rows;
  std::uint64_t count = 0, bytes = 0;
  for (int status = 0; (status = sqlite3_step(statement)) != SQLITE_DONE;) {
    if (status != SQLITE_ROW) return tl::unexpected(Failed(status));
    if (++count > kMostSqlRows) {
      rows.clear();  // those behind are only counted
      continue;
    }
    JsonObject row;
    row.reserve(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      Json value = ColumnValue(statement, static_cast<int>(i));
      bytes += 16 + keys[i].size() + (value.is_string() ? value.get_string().size() : 0);
      row[keys[i]] = std::move(value);
    }
    if (bytes > kMostSqlBytes) {
      return MakeError(ErrorCode::kTooLong,
                       "sql: the first {} rows of the result have more than {} MB: select fewer "
                       "columns or rows",
                       GroupDigits(count), kMostSqlBytes >> 20);
    }
    rows.emplace_back(std::move(row));
  }
  if (count > kMostSqlRows) {
    return MakeError(ErrorCode::kTooLong,
                     "sql: the result has {} rows, and at most {} are given: aggregate, or take a "
                     "part by WHERE or LIMIT",
                     GroupDigits(count), GroupDigits(kMostSqlRows));
  }
  return Json(std::move(rows));
}

Result<Json> SqlSession::Impl::Query(std::string_view query, const JsonArray& params,
                                     const AskHost& ask, const std::function<bool()>& stopped) {
  // Python lets go of its own lock while a query runs.
  std::unique_lock lock(mutex_, kLockLook);
  while (!lock.owns_lock()) {
    if (stopped()) return MakeError(ErrorCode::kCancelled, "sql: the block was stopped");
    lock.try_lock_for(kLockLook);
  }
  refused_.clear();
  unasked_ = true;
  interrupted_ = false;
  asking_ = &ask;
  stopped_ = &stopped;
  if (!database_) {
    if (Status opened = Open(); !opened) {
      database_.reset();
      return tl::unexpected(std::move(opened).error());
    }
  }
  DOSSIER_ASSIGN_OR_RETURN(const StatementPointer statement, Prepare(query));
  const auto wanted = static_cast<std::size_t>(sqlite3_bind_parameter_count(statement.get()));
  if (wanted != params.size()) {
    return MakeError(ErrorCode::kInvalidArgument,
                     "sql: the query has {} parameters, and {} were given", wanted, params.size());
  }
  for (std::size_t i = 0; i < params.size(); ++i) {
    DOSSIER_RETURN_IF_ERROR(Bind(statement.get(), static_cast<int>(i) + 1, params[i]));
  }
  return Collect(statement.get());
}

SqlSession::SqlSession(std::vector<MappedContext> databases, JsonObject features)
    : impl_(std::make_unique<Impl>(std::move(databases), std::move(features))) {}
SqlSession::~SqlSession() = default;

CallOutcome SqlSession::Query(std::string_view query, const JsonArray& params, Bridge& bridge,
                              std::int64_t thread, const std::function<bool()>& check) {
  const AskHost ask = [&](std::string method, JsonObject args, CallOutcome* outcome) {
    *outcome = bridge.Call(std::move(method), std::move(args), {}, thread, check);
    return outcome->kind != CallOutcome::Kind::kInterrupted;
  };
  Result<Json> rows =
      MakeError(ErrorCode::kLimit, "sql: the query needs more memory than the block may use");
  try {
    rows = impl_->Query(query, params, ask, check);
  } catch (const std::bad_alloc&) {  // as it says already
  }
  if (rows) return {.kind = CallOutcome::Kind::kOk, .value = std::move(*rows)};
  const ErrorCode code = rows.error().code;
  if (code == ErrorCode::kCancelled) return {.kind = CallOutcome::Kind::kInterrupted};
  return {.code = code == ErrorCode::kTooLong ? "too_large"
                  : code == ErrorCode::kLimit ? "limit"
                                              : "bad_argument",
          .message = rows.error().message};
}

}  // namespace dossier::worker
