// SQLite behind four small classes. The only place that knows its C interface.
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
// Errors name the database file: kDamaged (not a database, or damaged: with the way out), kLocked
// (another process held it longer than kBusyWait), kPermission, kIo (disk full and disk errors).
// Thread-safety: none; one connection and its statements have one user at a time. A connection must
// not be used in a child after fork(). Statements must not outlive their Database.

#ifndef DOSSIER_STORE_SQLITE_H_
#define DOSSIER_STORE_SQLITE_H_

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace dossier::store {

class Statement {
 public:
  // Starts the statement anew with these values for its parameters, in order. Text is not copied:
  // it must live until the statement is done, stepped to its end, or started anew.
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

  // Columns of the current row, from 0. NULL is 0 and "".
  std::int64_t Int(int column) const;
  std::string Text(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}

  void Reset();
  void Bind(int index, std::string_view text);
  void BindInt(int index, std::int64_t number);
  template <std::integral Integer>
  void Bind(int index, Integer number) {
    BindInt(index, static_cast<std::int64_t>(number));
  }

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Database {
 public:
  // How long a statement waits for another process or connection.
  static constexpr Millis kBusyWait{10'000};

  // Opens or makes the file; reads nothing yet.
  static Result<Database> Open(const std::string& path);

  Result<Statement> Prepare(std::string_view sql);
  // Runs statements without parameters, separated by semicolons; their rows are dropped.
  Status Execute(const std::string& sql);
  // The first column of the first row of `sql`, 0 without one.
  Result<std::int64_t> QueryInt(std::string_view sql);
  // Leaves the write-ahead log as it is when the last connection closes: moving it into the file
  // costs syncs, and the next opener reads it anyway.
  Status KeepLogAtClose();
  // Moves the log into the file and empties it, if no other connection is in the way.
  Status EmptyLog();
  // Rows that the last INSERT, UPDATE or DELETE changed.
  std::int64_t changes() const;

 private:
  friend class Transaction;
  struct Close {
    void operator()(sqlite3* db) const;
  };
  explicit Database(sqlite3* db) : db_(db) {}

  std::unique_ptr<sqlite3, Close> db_;
};

// Holds the write lock from Begin on; rolled back at its end unless committed.
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

}  // namespace dossier::store

#endif  // DOSSIER_STORE_SQLITE_H_
