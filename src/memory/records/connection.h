// Connections to a store's file: each has one user at a time and prepares its statements once.
//
//   DOSSIER_ASSIGN_OR_RETURN(const ConnectionLease lease, state.connections->Borrow());
//   DOSSIER_RETURN_IF_ERROR(ForEachRow(
//       lease.connection(), "SELECT id, name FROM branches WHERE id < ?",
//       [&](const store::Statement& row) { names.push_back(row.Text(1)); }, 10));
//
// Thread-safety: Connections may be borrowed from any thread; a Connection belongs to the holder of
// its lease. Errors: those of the database.

#ifndef DOSSIER_MEMORY_RECORDS_CONNECTION_H_
#define DOSSIER_MEMORY_RECORDS_CONNECTION_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "memory/records/schema.h"
#include "store/sqlite.h"

namespace dossier::memory {

// Finds the process that holds a lock after a wait timed out. The kernel knows it; no file is kept.
//
//   FindLockHolder("memory.sqlite")   // 4711; none if it is free by now or the kernel does not say
//
// Thread-safety: pure functions over files.

struct LockedRange {
  std::uint64_t inode = 0;
  std::uint64_t first = 0, last = 0;  // bytes of the file
};

// Returns the process that has a write lock on any byte of `range` in `locks` (/proc/locks text).
std::optional<pid_t> FindHolder(std::string_view locks, const LockedRange& range);

// Finds the holder of the writers' lock of the SQLite database at `path`.
std::optional<pid_t> FindLockHolder(const std::string& path);

std::string HostName();

class Connection {
 public:
  explicit Connection(store::Database db) : db_(std::move(db)) {}

  store::Database& db() { return db_; }
  // Returns the prepared statement for `sql` and keeps it for the next use. `sql` must not contain
  // data. A statement has one use at a time; call Reset on it when done.
  Result<store::Statement*> Use(std::string_view sql);

  // Tokenizers for the folded words of a text and for an index's terms, which match by position.
  const store::Tokenizer& words() const { return words_; }
  const store::Tokenizer& terms() const { return terms_; }

 private:
  store::Database db_;
  const store::Tokenizer words_{db_, {"unicode61", "remove_diacritics", "2"}};
  const store::Tokenizer terms_{db_, {"porter", "unicode61", "remove_diacritics", "2"}};
  std::map<std::string, std::unique_ptr<store::Statement>, std::less<>> statements_;
};

class ReaderPool;

// A borrowed connection; it is returned when the lease is destroyed.
class ConnectionLease {
 public:
  explicit ConnectionLease(Connection* borrowed)
      : connection_(borrowed) {}  // its owner outlives the lease
  ConnectionLease(std::unique_ptr<Connection> owned, std::shared_ptr<ReaderPool> pool);
  ConnectionLease(ConnectionLease&& other) noexcept = default;
  ConnectionLease& operator=(ConnectionLease&&) = delete;
  ~ConnectionLease();

  Connection& connection() const { return *connection_; }

 private:
  Connection* connection_;
  std::unique_ptr<Connection> owned_;
  std::shared_ptr<ReaderPool> pool_;
};

class Connections {
 public:
  virtual ~Connections() = default;
  virtual Result<ConnectionLease> Borrow() = 0;
};

// Opens a new connection if none is idle, so that no reader waits for another.
class ReaderPool final : public Connections, public std::enable_shared_from_this<ReaderPool> {
 public:
  ReaderPool(std::string path, DatabaseOptions options)
      : path_(std::move(path)), options_(std::move(options)) {}

  Result<ConnectionLease> Borrow() override;

 private:
  friend class ConnectionLease;
  void GiveBack(std::unique_ptr<Connection> connection);

  const std::string path_;
  const DatabaseOptions options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_;
};

// Calls `row` with each row of `sql`, whose parameters are `values`. `row` returns Status or
// nothing; a failure ends the reading.
template <typename Row, typename... Values>
Status ForEachRow(Connection& connection, std::string_view sql, const Row& row,
                  const Values&... values) {
  DOSSIER_ASSIGN_OR_RETURN(store::Statement* const statement, connection.Use(sql));
  statement->With(values...);
  while (true) {
    DOSSIER_ASSIGN_OR_RETURN(const bool more, statement->Step());
    if (!more) break;
    if constexpr (std::is_void_v<std::invoke_result_t<Row, const store::Statement&>>) {
      row(*statement);
    } else if (Status done = row(*statement); !done) {
      statement->Reset();
      return done;
    }
  }
  statement->Reset();
  return {};
}

// Runs a statement that returns no rows.
template <typename... Values>
Status Run(Connection& connection, std::string_view sql, const Values&... values) {
  DOSSIER_ASSIGN_OR_RETURN(store::Statement* const statement, connection.Use(sql));
  return statement->With(values...).Done();
}

// Returns the first column of the first row; nullopt without a row or for NULL.
template <typename... Values>
Result<std::optional<std::int64_t>> ReadInt(Connection& connection, std::string_view sql,
                                            const Values&... values) {
  std::optional<std::int64_t> number;
  DOSSIER_RETURN_IF_ERROR(ForEachRow(
      connection, sql, [&](const store::Statement& row) { number = row.OptionalInt(0); },
      values...));
  return number;
}
template <typename... Values>
Result<std::optional<std::string>> ReadText(Connection& connection, std::string_view sql,
                                            const Values&... values) {
  std::optional<std::string> text;
  DOSSIER_RETURN_IF_ERROR(ForEachRow(
      connection, sql, [&](const store::Statement& row) { text = row.OptionalText(0); },
      values...));
  return text;
}

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_RECORDS_CONNECTION_H_
