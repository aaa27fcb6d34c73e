// A wrapper of SQLite in six small classes; the only code that uses its C interface.
//
//   DOSSIER_ASSIGN_OR_RETURN(Database db, Database::Open(folder + "/journal.db"));
//   DOSSIER_RETURN_IF_ERROR(db.Execute("CREATE TABLE t(name TEXT, size INTEGER)"));
//   DOSSIER_ASSIGN_OR_RETURN(Statement insert, db.Prepare("INSERT INTO t VALUES(?, ?)"));
//   DOSSIER_RETURN_IF_ERROR(insert.With("a.txt", 12).Done());
//
//   DOSSIER_ASSIGN_OR_RETURN(Statement query, db.Prepare("SELECT name, size FROM t"));
//   while (true) {
//     DOSSIER_ASSIGN_OR_RETURN(const bool row, query.Step());
//     if (!row) break;
//     Use(query.Text(0), query.Int(1));
//   }
//
// Errors name the database file: kDamaged (not a database, or damaged; with a remedy), kLocked
// (another process held it longer than OpenOptions::busy_wait), kPermission, kIo (disk full and
// disk errors). Thread-safety: none; one connection and its statements have one user at a time. A
// connection must not be used in a child after fork(). Statements must not outlive their Database.

#ifndef DOSSIER_STORE_SQLITE_H_
#define DOSSIER_STORE_SQLITE_H_

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

struct Fts5Tokenizer;
struct sqlite3;
struct sqlite3_stmt;

namespace dossier::store {

// Bytes for a parameter that are not text: stored unchanged, with SQLite's type BLOB.
struct Blob {
  std::string_view bytes;
};

class Statement {
 public:
  // Restarts the statement with these values for its parameters, in order. Text is not copied: it
  // must live until the statement is done, stepped to its end, or restarted.
  template <typename... Values>
  Statement& With(const Values&... values) {
    Reset();
    int index = 0;
    (Bind(++index, values), ...);
    return *this;
  }

  // Runs to the next row: true if there is one, false at the end.
  Result<bool> Step();
  // Runs a statement that gives no rows, and resets it, so that it holds no lock.
  Status Done();

  // Releases the current row and the lock that comes with it; With does so too.
  void Reset();

  // Columns of the current row, from 0. NULL is 0 and "".
  std::int64_t Int(int column) const;
  std::string Text(int column) const;
  std::string_view View(int column) const;  // valid until the next row or a read of another type
  std::string Bytes(int column) const;      // of a blob
  bool IsNull(int column) const;
  std::size_t RowBytes() const;  // of the current row's texts and blobs
  std::optional<std::int64_t> OptionalInt(int column) const;  // none for NULL
  std::optional<std::string> OptionalText(int column) const;  // none for NULL

 private:
  friend class Database;
  friend class Tokenizer;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}

  void Bind(int index, std::string_view text);
  void Bind(int index, const Blob& blob);
  void Bind(int index, double number);
  void Bind(int index, std::nullopt_t null);
  void BindInt(int index, std::int64_t number);
  template <std::integral Integer>
  void Bind(int index, Integer number) {
    BindInt(index, static_cast<std::int64_t>(number));
  }
  template <typename Value>
  void Bind(int index, const std::optional<Value>& value) {
    value ? Bind(index, *value) : Bind(index, std::nullopt);
  }

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// kReadOnly: an existing one, of which neither the file nor its folder need be writable.
enum class FileMode : std::uint8_t { kCreate, kExisting, kReadOnly };

class Database {
 public:
  static constexpr Millis kBusyWait{10'000};

  struct OpenOptions {
    FileMode file = FileMode::kCreate;
    // How long a statement waits for another process or connection, in sleeps of random length, so
    // that waiters do not collide repeatedly.
    Millis busy_wait = kBusyWait;
  };

  // Opens or makes the file; reads nothing yet. Views and triggers of the file are not used: those
  // of a foreign file could work for ever.
  static Result<Database> Open(const std::string& path, const OpenOptions& options);
  static Result<Database> Open(const std::string& path) { return Open(path, OpenOptions()); }

  Result<Statement> Prepare(std::string_view sql);
  // Runs statements without parameters, separated by semicolons; their rows are dropped.
  Status Execute(const std::string& sql);
  // Returns the first column of the first row of `sql`, 0 if there is no row.
  Result<std::int64_t> QueryInt(std::string_view sql);
  // Leaves the write-ahead log as it is when the last connection closes: moving it into the file
  // costs syncs, and the next opener reads it anyway.
  Status KeepLogAtClose();
  // Moves the log into the file and empties it. kLeaveIt: not if another connection is in the way.
  // kWait: waits for others as a statement does, without blocking writers meanwhile. Errors:
  // kLocked, if somebody reads longer than that.
  enum class LogInUse : std::uint8_t { kLeaveIt, kWait };
  Status EmptyLog(LogInUse in_use);
  // The number of rows that the last INSERT, UPDATE or DELETE changed.
  std::int64_t changes() const;
  // The rowid of the last row inserted.
  std::int64_t last_insert_id() const;
  // Also false after an error that made SQLite roll back by itself (disk full).
  bool in_transaction() const;

 private:
  struct Close {
    void operator()(sqlite3* db) const;
  };
  struct BusyWait;
  struct DropBusyWait {
    void operator()(BusyWait* wait) const;
  };
  explicit Database(sqlite3* db) : db_(db) {}
  static int OnBusy(void* wait, int naps);

  std::unique_ptr<BusyWait, DropBusyWait> busy_wait_;  // used by db_
  std::unique_ptr<sqlite3, Close> db_;
};

// Splits a text into tokens as FTS5 does for an index. Must not outlive its Database.
class Tokenizer {
 public:
  // `words` as in `tokenize='…'`: {"unicode61", "remove_diacritics", "2"}. A tokenizer that this
  // SQLite does not have finds no tokens.
  Tokenizer(Database& db, std::initializer_list<const char*> words);

  // Calls `take` with each token, in the order of the text, which is UTF-8.
  void ForEach(std::string_view text,
               const std::function<void(std::string_view token)>& take) const;

 private:
  using OnToken = int (*)(void* take, int flags, const char* token, int size, int begin, int end);

  std::shared_ptr<Fts5Tokenizer> tokenizer_;
  int (*tokenize_)(Fts5Tokenizer* tokenizer, void* take, int flags, const char* text, int size,
                   OnToken on_token) = nullptr;
};

// Holds the write lock from Begin on; the destructor rolls back unless committed.
class Transaction {
 public:
  static Result<Transaction> Begin(Database& db);
  Transaction(Transaction&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  Status Commit();

 private:
  explicit Transaction(Database& db) : db_(&db) {}
  Database* db_;
};

// A part of a transaction that can be rolled back alone; the destructor does so unless released.
class Savepoint {
 public:
  static Result<Savepoint> Begin(Database& db);
  Savepoint(Savepoint&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
  Savepoint& operator=(Savepoint&&) = delete;
  ~Savepoint();

  Status Release();

 private:
  explicit Savepoint(Database& db) : db_(&db) {}
  Database* db_;
};

// Detects file systems on which SQLite's write-ahead log is unsafe, because its shared memory is
// not shared between machines.
//
//   DOSSIER_RETURN_IF_ERROR(RefuseNetworkFileSystem(folder));
//
// Thread-safety: pure functions.

// Returns the name of the network file system with statfs's `f_type`; nothing for a local one.
std::optional<std::string_view> NetworkFileSystemName(std::uint32_t f_type);

// Errors: kConfig naming `folder`, the file system and a remedy; as stat() if it cannot be read.
Status RefuseNetworkFileSystem(const std::string& folder);

}  // namespace dossier::store

#endif  // DOSSIER_STORE_SQLITE_H_
