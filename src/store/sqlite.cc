#include "store/sqlite.h"

#include <sqlite3.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <vector>

#include "base/random.h"

namespace dossier::store {
namespace {

constexpr Millis kLogNap{10};

std::string FileOf(sqlite3* db) {
  const char* file = db ? sqlite3_db_filename(db, "main") : nullptr;
  return file && *file ? file : "database";
}

ErrorCode CodeOf(int result) {
  switch (result & 0xff) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return ErrorCode::kDamaged;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return ErrorCode::kLocked;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return ErrorCode::kPermission;
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_NOLFS:
      return ErrorCode::kIo;
    default:
      return ErrorCode::kInternal;
  }
}

// Describes the last failure of `db`, with the file's name and a remedy if there is one.
Error LastError(sqlite3* db) {
  const int result = sqlite3_extended_errcode(db);
  const int system_errno = sqlite3_system_errno(db);
  const std::string file = FileOf(db);
  Error error{CodeOf(result), fmt::format("{}: {}", file, sqlite3_errmsg(db))};
  if (error.code == ErrorCode::kDamaged) {
    error.message +=
        fmt::format("; move it away (with {0}-wal and {0}-shm) to start a new one", file);
  } else if ((result & 0xff) == SQLITE_CANTOPEN && system_errno != 0) {
    error = ErrnoError(system_errno, file);
  } else if ((result & 0xff) == SQLITE_IOERR && system_errno != 0) {
    error.message += fmt::format(" ({})", std::strerror(system_errno));
  }
  return error;
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

void Statement::Reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

void Statement::Bind(int index, std::string_view text) {
  sqlite3_bind_text64(statement_.get(), index, text.data() ? text.data() : "", text.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
}

void Statement::Bind(int index, const Blob& blob) {
  // A null pointer would bind NULL.
  sqlite3_bind_blob64(statement_.get(), index, blob.bytes.data() ? blob.bytes.data() : "",
                      blob.bytes.size(), SQLITE_STATIC);
}

void Statement::Bind(int index, double number) {
  sqlite3_bind_double(statement_.get(), index, number);
}

void Statement::Bind(int index, std::nullopt_t) { sqlite3_bind_null(statement_.get(), index); }

void Statement::BindInt(int index, std::int64_t number) {
  sqlite3_bind_int64(statement_.get(), index, number);
}

Result<bool> Statement::Step() {
  const int result = sqlite3_step(statement_.get());
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_DONE) return false;
  Error error = LastError(sqlite3_db_handle(statement_.get()));
  Reset();
  return tl::unexpected(std::move(error));
}

Status Statement::Done() {
  auto row = Step();
  if (!row) return tl::unexpected(std::move(row).error());
  Reset();
  return {};
}

std::int64_t Statement::Int(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string_view Statement::View(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (!text) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::string Statement::Text(int column) const { return std::string(View(column)); }

std::string Statement::Bytes(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  if (!bytes) return {};
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return {bytes, static_cast<std::size_t>(size)};
}

bool Statement::IsNull(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::size_t Statement::RowBytes() const {
  std::size_t bytes = 0;
  for (int column = 0; column < sqlite3_column_count(statement_.get()); ++column) {
    const int type = sqlite3_column_type(statement_.get(), column);
    if (type != SQLITE_TEXT && type != SQLITE_BLOB) continue;
    bytes += static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  }
  return bytes;
}

std::optional<std::int64_t> Statement::OptionalInt(int column) const {
  return IsNull(column) ? std::nullopt : std::optional(Int(column));
}

std::optional<std::string> Statement::OptionalText(int column) const {
  return IsNull(column) ? std::nullopt : std::optional(Text(column));
}

namespace {

// Without a log there is none to lock or to make: the file is all, and does not change.
std::string ReadOnlyUri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    const bool special = c == '?' || c == '#' || c == '%';
    uri += special ? fmt::format("%{:02X}", c) : std::string(1, c);
  }
  return access((path + "-wal").c_str(), F_OK) == 0 ? uri : uri + "?immutable=1";
}

}  // namespace

struct Database::BusyWait {
  Millis limit;
  Random random{SystemEntropy()};
  std::chrono::steady_clock::time_point until;
};

void Database::DropBusyWait::operator()(BusyWait* wait) const {
  std::unique_ptr<BusyWait> owned(wait);
}

// Naps get longer, up to 25 ms, like SQLite's own on average.
int Database::OnBusy(void* wait, int naps) {
  auto& busy = *static_cast<BusyWait*>(wait);
  const auto now = std::chrono::steady_clock::now();
  if (naps == 0) busy.until = now + busy.limit;
  if (now >= busy.until) return 0;
  const std::uint64_t longest = 500ull << std::min(naps, 6);  // microseconds
  std::this_thread::sleep_for(
      std::chrono::microseconds(100 + busy.random.Below(std::min<std::uint64_t>(longest, 25'000))));
  return 1;
}

void Database::Close::operator()(sqlite3* db) const { sqlite3_close_v2(db); }

Result<Database> Database::Open(const std::string& path, const OpenOptions& options) {
  sqlite3* raw = nullptr;
  const bool reads = options.file == FileMode::kReadOnly;
  const int create = options.file == FileMode::kCreate ? SQLITE_OPEN_CREATE : 0;
  const int access = reads ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI : SQLITE_OPEN_READWRITE;
  const int result = sqlite3_open_v2(reads ? ReadOnlyUri(path).c_str() : path.c_str(), &raw,
                                     access | SQLITE_OPEN_NOMUTEX | create, nullptr);
  Database db(raw);
  if (!raw) return MakeError(ErrorCode::kIo, "{}: out of memory", path);
  if (result != SQLITE_OK) {
    const int system_errno = sqlite3_system_errno(raw);
    if (system_errno != 0) return MakeErrnoError(system_errno, path);
    return MakeError(ErrorCode::kIo, "{}: {}", path, sqlite3_errmsg(raw));
  }
  sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  db.busy_wait_.reset(std::make_unique<BusyWait>(BusyWait{.limit = options.busy_wait}).release());
  sqlite3_busy_handler(raw, OnBusy, db.busy_wait_.get());
  return db;
}

Result<Statement> Database::Prepare(std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  const int result = sqlite3_prepare_v3(db_.get(), sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  if (result != SQLITE_OK) return tl::unexpected(LastError(db_.get()));
  return Statement(raw);
}

Status Database::Execute(const std::string& sql) {
  if (sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return tl::unexpected(LastError(db_.get()));
  }
  return {};
}

Result<std::int64_t> Database::QueryInt(std::string_view sql) {
  DOSSIER_ASSIGN_OR_RETURN(Statement query, Prepare(sql));
  DOSSIER_ASSIGN_OR_RETURN(const bool row, query.Step());
  return row ? query.Int(0) : 0;
}

Status Database::KeepLogAtClose() {
  if (sqlite3_db_config(db_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr) != SQLITE_OK) {
    return tl::unexpected(LastError(db_.get()));
  }
  return {};
}

Status Database::EmptyLog(LogInUse in_use) {
  // With a busy handler SQLite would wait for readers while holding the write lock.
  const auto until = std::chrono::steady_clock::now() + busy_wait_->limit;
  while (true) {
    sqlite3_busy_handler(db_.get(), nullptr, nullptr);
    const auto busy = QueryInt("PRAGMA wal_checkpoint(TRUNCATE)");
    sqlite3_busy_handler(db_.get(), OnBusy, busy_wait_.get());
    if (!busy) return tl::unexpected(busy.error());
    if (*busy == 0 || in_use == LogInUse::kLeaveIt) return {};
    if (std::chrono::steady_clock::now() >= until) {
      return MakeError(ErrorCode::kLocked,
                       "{0}: somebody is reading it, so {0}-wal still holds what was removed; try "
                       "again",
                       FileOf(db_.get()));
    }
    std::this_thread::sleep_for(kLogNap);
  }
}

std::int64_t Database::changes() const { return sqlite3_changes64(db_.get()); }

std::int64_t Database::last_insert_id() const { return sqlite3_last_insert_rowid(db_.get()); }

bool Database::in_transaction() const { return sqlite3_get_autocommit(db_.get()) == 0; }

Tokenizer::Tokenizer(Database& db, std::initializer_list<const char*> words) {
  fts5_api* api = nullptr;  // SQLite's own way to it is a parameter of a statement
  auto find = db.Prepare("SELECT fts5(?)");
  if (!find) return;
  sqlite3_bind_pointer(find->statement_.get(), 1, static_cast<void*>(&api), "fts5_api_ptr",
                       nullptr);
  if (!find->Step() || !api) return;
  void* context = nullptr;
  fts5_tokenizer methods{};
  if (api->xFindTokenizer(api, *words.begin(), &context, &methods) != SQLITE_OK) return;
  std::vector<const char*> arguments(words.begin() + 1, words.end());
  Fts5Tokenizer* made = nullptr;
  if (methods.xCreate(context, arguments.data(), static_cast<int>(arguments.size()), &made) !=
      SQLITE_OK) {
    return;
  }
  tokenizer_ = {made, methods.xDelete};
  tokenize_ = methods.xTokenize;
}

void Tokenizer::ForEach(std::string_view text,
                        const std::function<void(std::string_view token)>& take) const {
  if (!tokenizer_) return;
  const OnToken on_token = [](void* taker, int, const char* token, int size, int, int) {
    (*static_cast<const std::function<void(std::string_view)>*>(taker))(
        {token, static_cast<std::size_t>(size)});
    return SQLITE_OK;
  };
  auto taker = take;
  tokenize_(tokenizer_.get(), &taker, FTS5_TOKENIZE_DOCUMENT, text.data(),
            static_cast<int>(text.size()), on_token);
}

Result<Transaction> Transaction::Begin(Database& db) {
  DOSSIER_RETURN_IF_ERROR(db.Execute("BEGIN IMMEDIATE"));
  return Transaction(db);
}

Transaction::~Transaction() {
  // SQLite rolls back by itself after some errors (disk full); a second rollback would only fail.
  if (db_ && db_->in_transaction()) static_cast<void>(db_->Execute("ROLLBACK"));
}

Status Transaction::Commit() {
  DOSSIER_RETURN_IF_ERROR(db_->Execute("COMMIT"));
  db_ = nullptr;
  return {};
}

Result<Savepoint> Savepoint::Begin(Database& db) {
  DOSSIER_RETURN_IF_ERROR(db.Execute("SAVEPOINT part"));
  return Savepoint(db);
}

Savepoint::~Savepoint() {
  if (db_ && db_->in_transaction()) {
    static_cast<void>(db_->Execute("ROLLBACK TO part; RELEASE part"));
  }
}

Status Savepoint::Release() {
  DOSSIER_RETURN_IF_ERROR(db_->Execute("RELEASE part"));
  db_ = nullptr;
  return {};
}

namespace {

struct Row {
  std::uint32_t f_type;
  std::string_view name;
};

// From statfs(2) and the file systems' own headers.
constexpr Row kRows[] = {
    {0x6969, "NFS"},      {0x0BD00BD0, "Lustre"}, {0x47504653, "GPFS"},  {0x19830326, "BeeGFS"},
    {0x00C36400, "Ceph"}, {0xFF534D42, "CIFS"},   {0xFE534D42, "SMB"},   {0x517B, "SMB"},
    {0x5346414F, "AFS"},  {0x73757245, "Coda"},   {0xAAD7AAEA, "PanFS"},
};

}  // namespace

std::optional<std::string_view> NetworkFileSystemName(std::uint32_t f_type) {
  for (const Row& row : kRows) {
    if (row.f_type == f_type) return row.name;
  }
  return std::nullopt;
}

Status RefuseNetworkFileSystem(const std::string& folder) {
  struct statfs info{};
  if (statfs(folder.c_str(), &info) != 0) return MakeErrnoError(errno, folder);
  if (const auto name = NetworkFileSystemName(static_cast<std::uint32_t>(info.f_type))) {
    return MakeError(
        ErrorCode::kConfig,
        "{} is on {}, where the journal's database is not safe: set XDG_DATA_HOME to a "
        "folder on a local disk",
        folder, *name);
  }
  return {};
}

}  // namespace dossier::store
