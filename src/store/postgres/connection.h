// A connection to PostgreSQL: statements with parameters, transactions, notifications.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto database, PostgresConnection::Open("postgresql:///dossier"));
//   DOSSIER_ASSIGN_OR_RETURN(const PostgresRows rows,
//                            database->Run("SELECT state FROM runs WHERE id = $1", {run}));
//   rows.Text(0, 0);   // "queued"
//
// The next statement outside a transaction reopens a lost connection. Errors: kNetwork if the
// server cannot be reached, with host and cause, never the password; kUsage for an invalid address
// or one with a password; kUnavailable if this build or this machine has no libpq; kConfig for
// missing permissions of the address's user; kFailed for anything else that the server refuses. An
// unknown user or database is kNetwork, too: a database that is being restored comes back.
// Thread-safety: one owner.

#ifndef DOSSIER_STORE_POSTGRES_CONNECTION_H_
#define DOSSIER_STORE_POSTGRES_CONNECTION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/result.h"

namespace dossier::store {

// Returns true if `text` names a PostgreSQL store, not a folder.
bool IsPostgresAddress(std::string_view text);
// Refuses a password, as every user can read a command line. Errors: kUsage, with alternatives.
Status RefusePasswordIn(std::string_view flag, std::string_view address);
// Reduces an error message of libpq to a part of one line: without its hints and labels.
std::string CauseOf(std::string_view message);

// A parameter of a statement. A text must not contain zero bytes; kBytes may.
struct PostgresValue {
  enum class Form : std::uint8_t { kText, kBytes, kNull } form = Form::kText;
  std::string value;

  PostgresValue(std::string text) : value(std::move(text)) {}            // NOLINT
  PostgresValue(std::string_view text) : value(text) {}                  // NOLINT
  PostgresValue(const char* text) : value(text) {}                       // NOLINT
  PostgresValue(std::int64_t number) : value(std::to_string(number)) {}  // NOLINT
  static PostgresValue Bytes(std::string_view bytes);
  static PostgresValue Null();
  static PostgresValue OrNull(const std::optional<std::string>& text);
};

class PostgresRows {
 public:
  using Row = std::vector<std::optional<std::string>>;
  PostgresRows(std::vector<Row> rows, std::int64_t changed)
      : rows_(std::move(rows)), changed_(changed) {}

  std::size_t size() const { return rows_.size(); }
  bool empty() const { return rows_.empty(); }
  bool IsNull(std::size_t row, std::size_t column) const { return !rows_[row][column]; }
  // "" and 0 for NULL.
  std::string Text(std::size_t row, std::size_t column) const;
  std::int64_t Int(std::size_t row, std::size_t column) const;
  double Number(std::size_t row, std::size_t column) const;
  // The number of rows that a statement without result rows changed.
  std::int64_t changed() const { return changed_; }

 private:
  std::vector<Row> rows_;
  std::int64_t changed_;
};

class PostgresConnection {
 public:
  // The format of result columns: kBytes for bytea.
  enum class Answer : std::uint8_t { kText, kBytes };

  static Result<std::unique_ptr<PostgresConnection>> Open(std::string address);
  virtual ~PostgresConnection() = default;

  virtual Result<PostgresRows> Run(std::string_view statement,
                                   const std::vector<PostgresValue>& values = {},
                                   Answer answer = Answer::kText) = 0;
  // The same for frequent statements: planned once per connection, under `name`.
  virtual Result<PostgresRows> RunPrepared(std::string_view name, std::string_view statement,
                                           const std::vector<PostgresValue>& values) = 0;
  // Runs several statements, separated by semicolons, as one transaction.
  virtual Status RunScript(std::string_view statements) = 0;
  // Starts a transaction that lasts until Commit or Rollback; losing the connection fails it.
  virtual Status Begin() = 0;
  virtual Status Commit() = 0;
  virtual void Rollback() = 0;
  // From now on notifications of `channel` end a Wait, also after a reconnect.
  virtual Status Listen(std::string_view channel) = 0;
  // Waits for a notification, the time `most`, or `cancel`. Returns the notifications' payloads.
  virtual Result<std::vector<std::string>> Wait(Millis most, const CancelToken& cancel) = 0;
};

}  // namespace dossier::store

#endif  // DOSSIER_STORE_POSTGRES_CONNECTION_H_
