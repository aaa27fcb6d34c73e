#include "store/postgres/connection.h"

#include <poll.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text/parse.h"
#include "base/text/text.h"
#include "store/postgres/pq_api.h"

namespace dossier::store {

bool IsPostgresAddress(std::string_view text) {
  return text.starts_with("postgresql://") || text.starts_with("postgres://");
}

namespace {

tl::unexpected<Error> PasswordRefused(std::string_view flag) {
  return MakeError(ErrorCode::kUsage,
                   "{}: a password in the address can be read by every user of this machine; leave "
                   "it out and set PGPASSWORD, or write it into ~/.pgpass or a service file "
                   "(~/.pg_service.conf, ?service=NAME)",
                   flag);
}

#ifdef DOSSIER_POSTGRES
// Returns the settings in the address, by libpq's names; nothing for an unreadable address, which
// fails when it is opened.
std::map<std::string, std::string> PartsOf(const std::string& address) {
  const auto pq = LoadPq();
  if (!pq) return {};
  char* why = nullptr;
  PQconninfoOption* const parts = (*pq)->conninfo_parse(address.c_str(), &why);
  if (why) (*pq)->freemem(why);
  std::map<std::string, std::string> set;
  for (const PQconninfoOption* part = parts; part && part->keyword; ++part) {
    if (part->val) set[part->keyword] = part->val;
  }
  if (parts) (*pq)->conninfo_free(parts);
  return set;
}
#endif

}  // namespace

// Without libpq there is no connection, but addresses are still checked.
Status RefusePasswordIn(std::string_view flag, std::string_view address) {
  const std::size_t scheme = address.find("://");
  if (scheme == address.npos) return {};
  const std::string_view rest = address.substr(scheme + 3);
  const std::size_t query = rest.find('?');
  // Up to the query, because a password may contain a slash.
  const std::string_view place = rest.substr(0, query);
  const std::size_t at = place.rfind('@');
  const bool in_user = at != place.npos && place.substr(0, at).find(':') != place.npos;
  // Also finds "sslpassword", which ends in the same word.
  const bool in_query =
      query != rest.npos && ToLowerAscii(rest.substr(query)).find("password=") != rest.npos;
  if (in_user || in_query) return PasswordRefused(flag);
#ifdef DOSSIER_POSTGRES
  if (!IsPostgresAddress(address)) return {};
  const auto parts = PartsOf(std::string(address));
  if (parts.contains("password") || parts.contains("sslpassword")) return PasswordRefused(flag);
#endif
  return {};
}

// Lines that begin with a tab are hints for users of libpq's own programs.
std::string CauseOf(std::string_view message) {
  std::vector<std::string> parts;
  for (const std::string_view line : Split(message, '\n')) {
    if (line.starts_with('\t') || TrimSpace(line).empty()) continue;
    std::string part(TrimSpace(line));
    for (const std::string_view label : {"FATAL:  ", "ERROR:  "}) {
      part = ReplaceAll(std::move(part), label, "");
    }
    parts.push_back(ReplaceAll(std::move(part), "\t", " "));
  }
  return Join(parts, "; ");
}

PostgresValue PostgresValue::Bytes(std::string_view bytes) {
  PostgresValue out(bytes);
  out.form = Form::kBytes;
  return out;
}

PostgresValue PostgresValue::Null() {
  PostgresValue out("");
  out.form = Form::kNull;
  return out;
}

PostgresValue PostgresValue::OrNull(const std::optional<std::string>& text) {
  return text ? PostgresValue(*text) : Null();
}

std::string PostgresRows::Text(std::size_t row, std::size_t column) const {
  return rows_[row][column].value_or("");
}

std::int64_t PostgresRows::Int(std::size_t row, std::size_t column) const {
  return ExactNumber<std::int64_t>(Text(row, column)).value_or(0);
}

double PostgresRows::Number(std::size_t row, std::size_t column) const {
  return ExactNumber<double>(Text(row, column)).value_or(0);
}

#ifdef DOSSIER_POSTGRES
namespace {

constexpr const char* kConnectSeconds = "5";

struct ClearResult {
  const PqApi* pq;
  void operator()(PGresult* result) const { pq->clear(result); }
};
using ResultPtr = std::unique_ptr<PGresult, ClearResult>;

// Returns the first word between quotation marks.
std::string Quoted(std::string_view text) {
  const std::size_t begin = text.find('"');
  const std::size_t end = begin == text.npos ? text.npos : text.find('"', begin + 1);
  return end == text.npos ? "" : std::string(text.substr(begin + 1, end - begin - 1));
}

// Checked before use, as libpq's own messages may repeat a password. Errors: kUsage.
Status CheckAddress(const PqApi& pq, const std::string& address) {
  struct Free {
    const PqApi* pq;
    void operator()(PQconninfoOption* options) const { pq->conninfo_free(options); }
  };
  char* said = nullptr;
  const std::unique_ptr<PQconninfoOption, Free> options(pq.conninfo_parse(address.c_str(), &said),
                                                        Free{&pq});
  const std::string message = said ? said : "";
  if (said) pq.freemem(said);
  if (!options) {
    constexpr std::string_view kUnknown = "invalid URI query parameter:";
    if (message.starts_with(kUnknown)) {
      return MakeError(ErrorCode::kUsage,
                       "--store: the address has the parameter \"{}\", which libpq does not know; "
                       "leave it out",
                       Quoted(message));
    }
    return MakeError(ErrorCode::kUsage,
                     "--store: the address is not one that libpq can read; it has the form "
                     "postgresql://USER@HOST:PORT/DATABASE?NAME=VALUE, other characters written "
                     "as %XX, and no password");
  }
  return {};
}

class LibpqConnection final : public PostgresConnection {
 public:
  LibpqConnection(const PqApi* pq, std::string address) : pq_(pq), address_(std::move(address)) {}
  ~LibpqConnection() override { Close(); }

  Status Connect() {
    Close();
    const char* const names[] = {"dbname",          "connect_timeout",  "fallback_application_name",
                                 "keepalives_idle", "tcp_user_timeout", nullptr};
    const char* const values[] = {address_.c_str(), kConnectSeconds, "dossier", "5",
                                  "10000",          nullptr};
    connection_ = pq_->connectdb_params(names, values, /*expand_dbname=*/1);
    if (!connection_) return MakeError(ErrorCode::kNetwork, "libpq has no memory");
    if (pq_->status(connection_) != CONNECTION_OK) {
      auto lost = NotConnected();
      Close();
      return lost;
    }
    pq_->set_notice_processor(connection_, [](void*, const char*) {}, nullptr);
    for (const std::string& channel : channels_) {
      DOSSIER_RETURN_IF_ERROR(Run("LISTEN " + channel));
    }
    return {};
  }

  Result<PostgresRows> Run(std::string_view statement, const std::vector<PostgresValue>& values,
                           Answer answer) override {
    DOSSIER_RETURN_IF_ERROR(Ready());
    Parameters given(values);
    return Take(
        ResultPtr(pq_->exec_params(connection_, std::string(statement).c_str(), given.count(),
                                   nullptr, given.texts.data(), given.lengths.data(),
                                   given.forms.data(), answer == Answer::kBytes ? 1 : 0),
                  ClearResult{pq_}));
  }

  Result<PostgresRows> RunPrepared(std::string_view name, std::string_view statement,
                                   const std::vector<PostgresValue>& values) override {
    DOSSIER_RETURN_IF_ERROR(Ready());
    const std::string own(name);
    Parameters given(values);
    if (!prepared_.contains(own)) {
      const auto made = Take(ResultPtr(
          pq_->prepare(connection_, own.c_str(), std::string(statement).c_str(), 0, nullptr),
          ClearResult{pq_}));
      if (!made) return made;
      prepared_.insert(own);
    }
    return Take(
        ResultPtr(pq_->exec_prepared(connection_, own.c_str(), given.count(), given.texts.data(),
                                     given.lengths.data(), given.forms.data(), 0),
                  ClearResult{pq_}));
  }

  Status RunScript(std::string_view statements) override {
    DOSSIER_RETURN_IF_ERROR(Ready());
    DOSSIER_RETURN_IF_ERROR(
        Take(ResultPtr(pq_->exec(connection_, std::string(statements).c_str()), ClearResult{pq_})));
    return {};
  }

  Status Begin() override {
    DOSSIER_RETURN_IF_ERROR(Run("BEGIN", {}, Answer::kText));
    open_ = true;
    return {};
  }
  Status Commit() override {
    const auto done = Run("COMMIT", {}, Answer::kText);
    open_ = false;
    if (!done) return tl::unexpected(done.error());
    return {};
  }
  void Rollback() override {
    if (open_ && connection_) (void)Run("ROLLBACK", {}, Answer::kText).has_value();
    open_ = false;
  }

  Status Listen(std::string_view channel) override {
    channels_.insert(std::string(channel));
    DOSSIER_RETURN_IF_ERROR(Run(fmt::format("LISTEN {}", channel), {}, Answer::kText));
    return {};
  }

  Result<std::vector<std::string>> Wait(Millis most, const CancelToken& cancel) override {
    DOSSIER_RETURN_IF_ERROR(Ready());
    std::vector<std::string> notices = TakeNotices();
    if (!notices.empty()) return notices;
    const CancelFd stop(cancel);
    pollfd entries[] = {{pq_->socket(connection_), POLLIN, 0}, {stop.fd(), POLLIN, 0}};
    if (cancel.cancelled()) return notices;
    poll(entries, 2, static_cast<int>(std::clamp<std::int64_t>(most.count(), 0, 3'600'000)));
    if (entries[0].revents == 0) return notices;
    if (pq_->consume_input(connection_) == 0) {
      auto lost = Lost(pq_->error_message(connection_));
      Close();
      return lost;
    }
    return TakeNotices();
  }

 private:
  using PostgresConnection::Run;
  Status Run(const std::string& statement) {
    const auto done = Run(statement, {}, Answer::kText);
    if (!done) return tl::unexpected(done.error());
    return {};
  }

  struct Parameters {
    explicit Parameters(const std::vector<PostgresValue>& values) {
      for (const PostgresValue& one : values) {
        const bool null = one.form == PostgresValue::Form::kNull;
        texts.push_back(null ? nullptr : one.value.c_str());
        lengths.push_back(static_cast<int>(one.value.size()));
        forms.push_back(one.form == PostgresValue::Form::kBytes ? 1 : 0);
      }
    }
    int count() const { return static_cast<int>(texts.size()); }
    std::vector<const char*> texts;
    std::vector<int> lengths, forms;
  };

  Status Ready() {
    if (connection_ && pq_->status(connection_) == CONNECTION_OK) return {};
    if (open_) {
      open_ = false;
      return Lost("the connection was lost within a transaction");
    }
    return Connect();
  }

  void Close() {
    if (connection_) pq_->finish(connection_);
    connection_ = nullptr;
    prepared_.clear();
  }

  std::vector<std::string> TakeNotices() {
    std::vector<std::string> notices;
    while (PGnotify* notice = pq_->notifies(connection_)) {
      notices.emplace_back(notice->extra ? notice->extra : "");
      pq_->freemem(notice);
    }
    return notices;
  }

  // Only the host: nothing else of an address may be in a message.
  std::string Place() const {
    const char* host = connection_ ? pq_->host(connection_) : nullptr;
    if (host && *host) return host;
    const auto parts = PartsOf(address_);
    for (const char* name : {"host", "hostaddr", "service"}) {
      if (parts.contains(name)) return parts.at(name);
    }
    return "the place of the environment";
  }

  tl::unexpected<Error> Lost(std::string_view cause) const {
    return MakeError(ErrorCode::kNetwork, "the database at {} cannot be reached: {}", Place(),
                     CauseOf(cause));
  }

  std::string User() const {
    const char* user = connection_ ? pq_->user(connection_) : nullptr;
    return user ? user : "";
  }

  // If the server refuses this user, its own message says what to do.
  tl::unexpected<Error> NotConnected() const {
    const std::string cause = CauseOf(pq_->error_message(connection_));
    const auto says = [&](std::string_view words) { return cause.find(words) != cause.npos; };
    const auto refused = [&](std::string_view what) {
      return MakeError(ErrorCode::kNetwork, "the database at {} {}", Place(), what);
    };
    if (says("does not exist") && says("database \"")) {
      const std::string name = Quoted(std::string_view(cause).substr(cause.rfind("database \"")));
      return refused(fmt::format(
          "has no database \"{0}\"; `createdb {0}` makes it, or name another in the address",
          name));
    }
    if (says("does not exist") && says("role \"")) {
      return refused(
          fmt::format("knows no user \"{0}\"; `createuser {0}` makes it, or name another "
                      "in the address (postgresql://USER@HOST/DATABASE)",
                      User()));
    }
    if (says("password authentication failed") || says("no password supplied")) {
      return refused(
          fmt::format("does not accept the password of \"{}\"; set PGPASSWORD, or write "
                      "it into ~/.pgpass or a service file",
                      User()));
    }
    if (says("authentication failed") || says("no pg_hba.conf entry")) {
      return refused(
          fmt::format("does not let \"{}\" in from here; name another user in the "
                      "address (postgresql://USER@HOST/DATABASE), or let its owner "
                      "change pg_hba.conf",
                      User()));
    }
    return Lost(cause);
  }

  tl::unexpected<Error> Refused(const std::string& code, const std::string& message) const {
    // No right to a table or a schema; no schema that the user may see.
    if (code != "42501" && code != "3F000") {
      return MakeError(ErrorCode::kFailed, "the database at {} refused a statement ({}): {}",
                       Place(), code, message);
    }
    return MakeError(
        ErrorCode::kConfig,
        "the database at {0} does not allow this to the user \"{1}\": {2}; its owner "
        "can: GRANT CREATE, USAGE ON SCHEMA public TO \"{1}\"; GRANT ALL ON ALL TABLES "
        "IN SCHEMA public TO \"{1}\"",
        Place(), User(), message);
  }

  Result<PostgresRows> Take(ResultPtr result) {
    const ExecStatusType status = result ? pq_->result_status(result.get()) : PGRES_FATAL_ERROR;
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
      const char* state =
          result ? pq_->result_error_field(result.get(), PG_DIAG_SQLSTATE) : nullptr;
      const std::string code = state ? state : "";
      // A stopping server sends a message first. A crashing one does not; messages without a code
      // are libpq's own, which may not have noticed yet that its socket is closed.
      const bool stops = code.empty() || code.starts_with("57P") || code.starts_with("08");
      if (stops || pq_->status(connection_) != CONNECTION_OK) {
        auto lost = Lost(pq_->error_message(connection_));
        Close();
        return lost;
      }
      const char* message = pq_->result_error_field(result.get(), PG_DIAG_MESSAGE_PRIMARY);
      return Refused(code, CauseOf(message ? message : ""));
    }
    std::vector<PostgresRows::Row> rows;
    const int count = pq_->ntuples(result.get());
    rows.reserve(static_cast<std::size_t>(count));
    for (int row = 0; row < count; ++row) rows.push_back(Columns(result.get(), row));
    return PostgresRows(std::move(rows),
                        ExactNumber<std::int64_t>(pq_->cmd_tuples(result.get())).value_or(0));
  }

  PostgresRows::Row Columns(PGresult* result, int row) const {
    PostgresRows::Row columns;
    const int count = pq_->nfields(result);
    for (int column = 0; column < count; ++column) {
      if (pq_->getisnull(result, row, column) != 0) {
        columns.emplace_back();
        continue;
      }
      columns.emplace_back(
          std::string(pq_->getvalue(result, row, column),
                      static_cast<std::size_t>(pq_->getlength(result, row, column))));
    }
    return columns;
  }

  const PqApi* const pq_;
  const std::string address_;
  PGconn* connection_ = nullptr;
  std::set<std::string> channels_, prepared_;
  bool open_ = false;  // a transaction is open
};

}  // namespace

Result<std::unique_ptr<PostgresConnection>> PostgresConnection::Open(std::string address) {
  DOSSIER_RETURN_IF_ERROR(RefusePasswordIn("--store", address));
  DOSSIER_ASSIGN_OR_RETURN(const PqApi* pq, LoadPq());
  DOSSIER_RETURN_IF_ERROR(CheckAddress(*pq, address));
  auto connection = std::make_unique<LibpqConnection>(pq, std::move(address));
  DOSSIER_RETURN_IF_ERROR(connection->Connect());
  return connection;
}

#else

Result<std::unique_ptr<PostgresConnection>> PostgresConnection::Open(std::string address) {
  DOSSIER_RETURN_IF_ERROR(RefusePasswordIn("--store", address));
  return MakeError(ErrorCode::kUnavailable,
                   "this dossier was built without PostgreSQL; build it where libpq-dev is "
                   "installed (scripts/setup), or name a folder");
}

#endif  // DOSSIER_POSTGRES

}  // namespace dossier::store
