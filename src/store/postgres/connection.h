// One connection to PostgreSQL: statements with parameters, transactions, notices.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto database, PostgresConnection::Open("postgresql:///dossier"));
//   DOSSIER_ASSIGN_OR_RETURN(const PostgresRows rows,
//                            database->Run("SELECT state FROM runs WHERE id = $1", {run}));
//   rows.Text(0, 0);   // "queued"
//
// A connection that is lost is opened anew by the next statement outside of a transaction.
// Errors: kNetwork where the server cannot be reached, with host and cause, never the password;
// kUsage for an address that is none or has a password in it; kUnavailable where this build or this
// machine has no libpq; kConfig for what the user of the address may not do; kFailed for whatever
// else the server refuses. A server that knows no such user or database is kNetwork, too: a
// database that is being restored comes back. Thread-safety: one owner.

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

// Whether `text` names a PostgreSQL store, not a folder.
bool IsPostgresAddress(std::string_view text);
// Every user of a machine can read the words of a command. Errors: kUsage, naming the ways out.
Status RefusePasswordIn(std::string_view flag, std::string_view address);
// What libpq says of a failure, as a part of one line: without its hints and its labels.
std::string CauseOf(std::string_view message);

// A value of a statement. A text has no zero bytes; bytes may have any.
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
  // Of a statement without rows: how many it changed.
  std::int64_t changed() const { return changed_; }

 private:
  std::vector<Row> rows_;
  std::int64_t changed_;
};

class PostgresConnection {
 public:
  // How the columns of an answer come: kBytes for bytea.
  enum class Answer : std::uint8_t { kText, kBytes };

  static Result<std::unique_ptr<PostgresConnection>> Open(std::string address);
  virtual ~PostgresConnection() = default;

  virtual Result<PostgresRows> Run(std::string_view statement,
                                   const std::vector<PostgresValue>& values = {},
                                   Answer answer = Answer::kText) = 0;
  // The same for what is run often: it is planned once a connection, under `name`.
  virtual Result<PostgresRows> RunPrepared(std::string_view name, std::string_view statement,
                                           const std::vector<PostgresValue>& values) = 0;
  // Several statements, parted by semicolons, as one transaction.
  virtual Status RunScript(std::string_view statements) = 0;
  // From here to Commit or Rollback is one transaction; a lost connection fails it.
  virtual Status Begin() = 0;
  virtual Status Commit() = 0;
  virtual void Rollback() = 0;
  // From now on notices of `channel` end a Wait, on a new connection too.
  virtual Status Listen(std::string_view channel) = 0;
  // Until a notice comes, or `most` is over, or `cancel`; what the notices say, none for none.
  virtual Result<std::vector<std::string>> Wait(Millis most, const CancelToken& cancel) = 0;
};

}  // namespace dossier::store

#endif  // DOSSIER_STORE_POSTGRES_CONNECTION_H_
