#include "memory/records/schema.h"

#include <fcntl.h>
#include <sys/vfs.h>

#include <filesystem>
#include <thread>

#include "base/files/file.h"
#include "base/random.h"
#include "store/sqlite.h"

namespace dossier::memory {
namespace {

using store::Database;
using store::Statement;

constexpr std::int64_t kApplicationId = 0x444F534D;  // "DOSM": tells a store from other databases

constexpr char kCreate[] = R"sql(
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE branches(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  parent_id INTEGER,
  fork_seq INTEGER NOT NULL,
  node_uid TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  seq INTEGER NOT NULL);
CREATE TABLE ops(
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  branch_id INTEGER NOT NULL,
  op TEXT NOT NULL,
  actor TEXT NOT NULL,
  block_id TEXT NOT NULL,
  node_id TEXT NOT NULL,
  phase TEXT NOT NULL,
  details TEXT NOT NULL);
CREATE INDEX ops_by_branch ON ops(branch_id, seq);
CREATE TABLE core(
  seq INTEGER PRIMARY KEY,
  branch_id INTEGER NOT NULL,
  key TEXT NOT NULL,
  value TEXT,
  importance INTEGER NOT NULL,
  expires_at INTEGER,
  pinned INTEGER NOT NULL,
  updated_at INTEGER NOT NULL);
CREATE INDEX core_by_key ON core(branch_id, key, seq);
CREATE TABLE records(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  seq INTEGER NOT NULL,
  branch_id INTEGER NOT NULL,
  tier TEXT NOT NULL,
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  text_hash BLOB NOT NULL,
  thread TEXT NOT NULL,
  ref TEXT NOT NULL,
  at INTEGER NOT NULL,
  phase TEXT NOT NULL,
  supersedes INTEGER,
  tokens INTEGER NOT NULL,
  meta TEXT NOT NULL);
CREATE INDEX records_by_hash ON records(text_hash);
CREATE INDEX records_by_time ON records(branch_id, tier, at);
CREATE INDEX records_by_thread ON records(thread, at) WHERE thread <> '';
CREATE TABLE tags(
  record_id INTEGER NOT NULL,
  position INTEGER NOT NULL,
  tag TEXT NOT NULL,
  PRIMARY KEY(record_id, position)) WITHOUT ROWID;
CREATE INDEX tags_by_tag ON tags(tag, record_id);
CREATE TABLE hidden(
  branch_id INTEGER NOT NULL,
  record_id INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY(branch_id, record_id, seq)) WITHOUT ROWID;
CREATE TABLE summary_sources(
  summary_id INTEGER NOT NULL,
  record_id INTEGER NOT NULL,
  PRIMARY KEY(summary_id, record_id)) WITHOUT ROWID;
CREATE TABLE compressions(key TEXT PRIMARY KEY, text TEXT NOT NULL, at INTEGER NOT NULL)
  WITHOUT ROWID;
CREATE TABLE vectors(
  text_hash BLOB NOT NULL,
  model TEXT NOT NULL,
  dim INTEGER NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY(text_hash, model)) WITHOUT ROWID;
)sql";

// Root is not a write: the first write of a store is 1.
constexpr std::string_view kInsertRoot =
    "INSERT INTO branches(id, name, parent_id, fork_seq, node_uid, created_at, seq) "
    "VALUES(1, ?, NULL, 0, '', ?, 0)";

enum class Found : std::uint8_t { kNothing, kStore };

Status CheckVersion(Database& db, const std::string& path) {
  auto found = db.QueryInt("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'schema_version'");
  if (!found && found.error().code == ErrorCode::kInternal) {  // the table does not exist
    return MakeError(ErrorCode::kDamaged, "{}", found.error().message);
  }
  DOSSIER_ASSIGN_OR_RETURN(const std::int64_t version, std::move(found));
  if (version > kSchemaVersion) {
    return MakeError(ErrorCode::kConfig,
                     "{} was written by a newer dossier (version {}, this one knows {}): use that "
                     "version; the file is untouched",
                     path, version, kSchemaVersion);
  }
  if (version < 1) return MakeError(ErrorCode::kDamaged, "{} does not say its version", path);
  return {};
}

// Views, foreign virtual tables and generated columns could produce rows without end or values of
// any size. What SQLite has parsed counts: a forged row of its schema may claim to be a table.
Status RefuseMadeRows(Database& db, const std::string& path) {
  DOSSIER_ASSIGN_OR_RETURN(
      Statement query,
      db.Prepare("SELECT t.name FROM pragma_table_list t WHERE t.type = 'view' OR "
                 "(t.type = 'virtual' AND t.name <> 'search') OR EXISTS "
                 "(SELECT 1 FROM pragma_table_xinfo(t.name) WHERE hidden IN (2, 3))"));
  DOSSIER_ASSIGN_OR_RETURN(const bool found, query.Step());
  if (!found) return {};
  return MakeError(ErrorCode::kRefused,
                   "{} is no memory store: its {} computes its rows instead of storing them", path,
                   query.View(0));
}

Result<Found> Look(Database& db, const std::string& path) {
  // One statement gives one view of the file: another process may be creating the tables now.
  DOSSIER_ASSIGN_OR_RETURN(Statement query,
                           db.Prepare("SELECT application_id, (SELECT COUNT(*) FROM sqlite_schema) "
                                      "FROM pragma_application_id"));
  DOSSIER_RETURN_IF_ERROR(query.Step());
  const std::int64_t id = query.Int(0);
  const std::int64_t tables = query.Int(1);
  query.Reset();
  if (id == 0 && tables == 0) return Found::kNothing;
  if (id != kApplicationId) {
    return MakeError(ErrorCode::kDamaged, "{} is a database of another program, no memory store",
                     path);
  }
  DOSSIER_RETURN_IF_ERROR(RefuseMadeRows(db, path));
  DOSSIER_RETURN_IF_ERROR(CheckVersion(db, path));
  return Found::kStore;
}

// Several processes may create the file at once: for this pragma SQLite reports "busy" at once,
// without its own waiting.
Status UseJournal(Database& db, std::string_view mode, Millis busy_wait) {
  const auto end = std::chrono::steady_clock::now() + busy_wait;
  while (true) {
    Status done = db.Execute(fmt::format("PRAGMA journal_mode = {}", mode));
    if (done || done.error().code != ErrorCode::kLocked || std::chrono::steady_clock::now() > end) {
      return done;
    }
    std::this_thread::sleep_for(Millis(2));
  }
}

Status PutMeta(Database& db, std::string_view key, const std::string& value) {
  DOSSIER_ASSIGN_OR_RETURN(Statement insert, db.Prepare("INSERT INTO meta VALUES(?, ?)"));
  return insert.With(key, value).Done();
}

Status CreateTables(Database& db, const std::string& path, const DatabaseOptions& options) {
  DOSSIER_ASSIGN_OR_RETURN(store::Transaction transaction, store::Transaction::Begin(db));
  DOSSIER_ASSIGN_OR_RETURN(const Found found, Look(db, path));
  if (found == Found::kStore) return {};  // another process was faster
  DOSSIER_RETURN_IF_ERROR(db.Execute(kCreate));
  DOSSIER_RETURN_IF_ERROR(db.Execute(std::string(kCreateSearch)));
  DOSSIER_RETURN_IF_ERROR(
      PutMeta(db, "store_id", options.new_store_id.empty() ? RandomHex(32) : options.new_store_id));
  DOSSIER_RETURN_IF_ERROR(PutMeta(db, "schema_version", std::to_string(kSchemaVersion)));
  DOSSIER_RETURN_IF_ERROR(PutMeta(db, "tokenizer_version", std::to_string(kTokenizerVersion)));
  DOSSIER_RETURN_IF_ERROR(PutMeta(db, "created_at", std::to_string(options.now)));
  {
    DOSSIER_ASSIGN_OR_RETURN(Statement root, db.Prepare(kInsertRoot));
    DOSSIER_RETURN_IF_ERROR(root.With(kRootBranch, options.now).Done());
  }
  DOSSIER_RETURN_IF_ERROR(db.Execute(fmt::format("PRAGMA application_id = {}", kApplicationId)));
  return transaction.Commit();
}

// What was said to a model or a user is private.
Status MakePrivateFile(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) DOSSIER_RETURN_IF_ERROR(MakeFolders(folder, 0700));
  const UniqueFd made(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!made.valid() && errno != EEXIST) return MakeErrnoError(errno, path);
  return {};
}

Error NoStore(const std::string& path) {
  return {ErrorCode::kNotFound,
          fmt::format("no memory store at {}; make one with `dossier memory init`", path)};
}

bool IsOnNetwork(const std::string& path, Placement placement) {
  if (placement != Placement::kDetect) return placement == Placement::kNetwork;
  return NetworkFileSystemOf(path).has_value();
}

Status Configure(Database& db, const DatabaseOptions& options, bool network) {
  DOSSIER_RETURN_IF_ERROR(UseJournal(db, network ? "DELETE" : "WAL", options.busy_wait));
  // NORMAL: a reported write is in the log file and survives this process; only a power cut may
  // lose the newest writes, never the file. A rollback journal has no such level.
  // The log is checkpointed every 16 MB: a long load would otherwise write its pages many times.
  const bool full = network || options.durability == WriteDurability::kFull;
  return db.Execute(
      fmt::format("PRAGMA synchronous = {}; PRAGMA temp_store = MEMORY; "
                  "PRAGMA trusted_schema = OFF; PRAGMA cache_size = -16000; "
                  "PRAGMA journal_size_limit = 16777216; "
                  "PRAGMA wal_autocheckpoint = 4000",
                  full ? "FULL" : "NORMAL"));
}

}  // namespace

std::optional<std::string> NetworkFileSystemOf(const std::string& path) {
  std::string folder = std::filesystem::path(path).parent_path();
  struct statfs info{};
  if (statfs(folder.empty() ? "." : folder.c_str(), &info) != 0) return std::nullopt;
  const auto name = store::NetworkFileSystemName(static_cast<std::uint32_t>(info.f_type));
  return name ? std::optional(std::string(*name)) : std::nullopt;
}

Result<Database> OpenMemoryDatabase(const std::string& path, const DatabaseOptions& options) {
  const bool create = options.mode == OpenMode::kCreate;
  if (create) {
    DOSSIER_RETURN_IF_ERROR(MakePrivateFile(path));
  } else if (!Exists(path)) {
    return tl::unexpected(NoStore(path));
  }
  DOSSIER_ASSIGN_OR_RETURN(Database db, Database::Open(path, {.file = store::FileMode::kExisting,
                                                              .busy_wait = options.busy_wait}));
  DOSSIER_ASSIGN_OR_RETURN(const Found found, Look(db, path));
  if (found == Found::kNothing && !create) return tl::unexpected(NoStore(path));
  DOSSIER_RETURN_IF_ERROR(Configure(db, options, IsOnNetwork(path, options.placement)));
  if (found == Found::kNothing) DOSSIER_RETURN_IF_ERROR(CreateTables(db, path, options));
  return db;
}

}  // namespace dossier::memory
