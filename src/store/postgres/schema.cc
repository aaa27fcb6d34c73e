#include "store/postgres/schema.h"

#include <array>
#include <optional>
#include <string_view>

namespace dossier::store {
namespace {

// Element N migrates the tables from version N to N + 1.
//
// Event data is `json`, not `jsonb`: a run continued by another machine keeps the bytes that the
// first one wrote, and a text may contain U+0000. Indexes know only whether a run is at work, not
// its lease time, so renewing a lease touches no index.
constexpr std::array<std::string_view, kSharedStoreVersion> kMigrations = {R"sql(
CREATE TABLE runs(
  id text PRIMARY KEY,
  owner text NOT NULL,
  state text NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled')),
  priority int NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  not_before timestamptz NOT NULL DEFAULT now(),
  attempts int NOT NULL DEFAULT 0,
  fruitless int NOT NULL DEFAULT 0,
  worker text,
  epoch bigint NOT NULL DEFAULT 0,
  lease_until timestamptz,
  request jsonb NOT NULL,
  result jsonb
) WITH (fillfactor = 70);
CREATE INDEX runs_waiting ON runs(priority DESC, created_at, id) WHERE state = 'queued';
CREATE INDEX runs_at_work ON runs(owner) WHERE state = 'running';
CREATE INDEX runs_newest ON runs(created_at DESC, id DESC);
CREATE TABLE events(
  run text NOT NULL,
  seq bigint NOT NULL,
  epoch bigint NOT NULL,
  time timestamptz NOT NULL,
  call bigint NOT NULL,
  type text NOT NULL,
  data json NOT NULL,
  PRIMARY KEY(run, seq)
);
CREATE TABLE blobs(sha256 bytea PRIMARY KEY, size bigint NOT NULL);
CREATE TABLE blob_chunks(
  sha256 bytea NOT NULL, n int NOT NULL, data bytea NOT NULL, PRIMARY KEY(sha256, n));
CREATE TABLE workers(
  id text PRIMARY KEY, host text NOT NULL, version text NOT NULL, slots int NOT NULL,
  seen_at timestamptz NOT NULL DEFAULT now());
)sql"};

constexpr std::string_view kLock = "SELECT pg_advisory_lock(7233184988217307459)";
constexpr std::string_view kUnlock = "SELECT pg_advisory_unlock(7233184988217307459)";

// 0: no tables yet.
Result<std::int64_t> VersionOf(PostgresConnection& connection) {
  DOSSIER_ASSIGN_OR_RETURN(const PostgresRows there,
                           connection.Run("SELECT to_regclass('meta') IS NOT NULL"));
  if (there.Text(0, 0) != "t") return 0;
  DOSSIER_ASSIGN_OR_RETURN(const PostgresRows rows,
                           connection.Run("SELECT value FROM meta WHERE key = 'schema'"));
  const std::int64_t version = rows.empty() ? 0 : rows.Int(0, 0);
  if (version > kSharedStoreVersion) {
    return MakeError(ErrorCode::kConfig,
                     "the shared store has schema {}, and this dossier knows up to {}: update "
                     "dossier on this machine",
                     version, kSharedStoreVersion);
  }
  return version;
}

Status Migrate(PostgresConnection& connection) {
  DOSSIER_ASSIGN_OR_RETURN(const std::int64_t from, VersionOf(connection));
  if (from == kSharedStoreVersion) return {};  // another process was first
  if (from == 0) {
    DOSSIER_RETURN_IF_ERROR(connection.Run(
        "CREATE TABLE IF NOT EXISTS meta(key text PRIMARY KEY, value text NOT NULL)"));
  }
  for (auto version = static_cast<std::size_t>(from); version < kMigrations.size(); ++version) {
    DOSSIER_RETURN_IF_ERROR(connection.RunScript(kMigrations[version]));
  }
  DOSSIER_RETURN_IF_ERROR(connection.Run(
      "INSERT INTO meta VALUES('schema', $1) ON CONFLICT(key) DO UPDATE SET value = $1",
      {kSharedStoreVersion}));
  return {};
}

Status MigrateAtOnce(PostgresConnection& connection) {
  DOSSIER_RETURN_IF_ERROR(connection.Begin());
  const Status done = Migrate(connection);
  if (done) return connection.Commit();
  connection.Rollback();
  return done;
}

}  // namespace

Status PrepareSchema(PostgresConnection& connection) {
  DOSSIER_ASSIGN_OR_RETURN(const std::int64_t version, VersionOf(connection));
  if (version == kSharedStoreVersion) return {};
  // The lock is taken before the transaction: within one, the server keeps the view of the tables
  // that it had before it waited. A lost connection releases it.
  DOSSIER_RETURN_IF_ERROR(connection.Run(kLock));
  const Status done = MigrateAtOnce(connection);
  DOSSIER_RETURN_IF_ERROR(connection.Run(kUnlock));
  return done;
}

}  // namespace dossier::store
