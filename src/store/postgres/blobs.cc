#include "store/postgres/blobs.h"

#include <algorithm>
#include <optional>

#include "base/hash.h"

namespace dossier::store {
namespace {

constexpr std::size_t kChunk = 1u << 20;  // bytes
// For a piece that is too long: reads one byte more than a whole piece, and no more.
constexpr std::string_view kReadChunk =
    "SELECT substring(data FROM 1 FOR 1048577) FROM blob_chunks "
    "WHERE sha256=$1::bytea AND n=$2::int";
static_assert(kChunk == 1'048'576);

// In the format of PostgreSQL's `decode`.
PostgresValue Named(std::string_view sha256) { return {std::string("\\x") + std::string(sha256)}; }

Result<std::optional<std::int64_t>> SizeOf(PostgresConnection& connection,
                                           std::string_view sha256) {
  DOSSIER_ASSIGN_OR_RETURN(
      const PostgresRows rows,
      connection.Run("SELECT size FROM blobs WHERE sha256=$1::bytea", {Named(sha256)}));
  if (rows.empty()) return std::nullopt;
  return rows.Int(0, 0);
}

// Readers look for the row of `blobs`, which becomes visible together with its pieces.
Status Store(PostgresConnection& connection, std::string_view sha256, std::string_view bytes) {
  DOSSIER_ASSIGN_OR_RETURN(
      const PostgresRows mine,
      connection.Run("INSERT INTO blobs VALUES($1::bytea, $2::bigint) ON CONFLICT DO NOTHING",
                     {Named(sha256), static_cast<std::int64_t>(bytes.size())}));
  if (mine.changed() == 0) return {};  // another process stored it meanwhile
  std::int64_t n = 0;
  for (std::size_t at = 0; at < bytes.size(); at += kChunk, ++n) {
    DOSSIER_RETURN_IF_ERROR(
        connection.Run("INSERT INTO blob_chunks VALUES($1::bytea, $2::int, $3)",
                       {Named(sha256), n, PostgresValue::Bytes(bytes.substr(at, kChunk))}));
  }
  return {};
}

}  // namespace

Status PutBlob(PostgresConnection& connection, std::string_view sha256, std::string_view bytes) {
  DOSSIER_ASSIGN_OR_RETURN(const auto size, SizeOf(connection, sha256));
  if (size) return {};
  DOSSIER_RETURN_IF_ERROR(connection.Begin());
  if (const Status stored = Store(connection, sha256, bytes); !stored) {
    connection.Rollback();
    return stored;
  }
  return connection.Commit();
}

Status FetchBlob(PostgresConnection& connection, std::string_view sha256, ContentStore& content) {
  // Put marks the body as used, and restores it if another worker removes it just now.
  if (content.Has(sha256)) {
    if (const auto text = content.Get(sha256)) return content.Put(*text).map([](const auto&) {});
  }
  DOSSIER_ASSIGN_OR_RETURN(const auto size, SizeOf(connection, sha256));
  if (!size) {
    return MakeError(ErrorCode::kNotFound, "the shared store has no body {}", sha256);
  }
  // A damaged body stays until the whole one atomically replaces it: another run of this machine
  // may have stored a whole one meanwhile, and be about to open it. An abandoned writer leaves
  // nothing behind.
  DOSSIER_ASSIGN_OR_RETURN(ContentWriter writer, ContentWriter::Start(content));
  Sha256 hash;
  std::int64_t bytes = 0;
  for (std::int64_t n = 0; bytes < *size; ++n) {
    DOSSIER_ASSIGN_OR_RETURN(
        const PostgresRows rows,
        connection.Run(kReadChunk, {Named(sha256), n}, PostgresConnection::Answer::kBytes));
    if (rows.empty()) break;
    // All pieces but the last have the same length, so their number is known; no row stores the
    // length.
    const std::string piece = rows.Text(0, 0);
    if (piece.size() != std::min<std::uint64_t>(kChunk, static_cast<std::uint64_t>(*size - bytes)))
      break;
    hash.Update(piece);
    bytes += static_cast<std::int64_t>(piece.size());
    DOSSIER_RETURN_IF_ERROR(writer.Write(piece));
  }
  if (bytes != *size || hash.Hex() != sha256) {
    return MakeError(ErrorCode::kDamaged,
                     "the body {} in the shared store does not match its hash: {} of {} bytes are "
                     "there, or they were changed",
                     sha256, bytes, *size);
  }
  DOSSIER_RETURN_IF_ERROR(std::move(writer).Finish());
  return {};
}

void AddBodiesOf(const Json& data, std::set<std::string>* hashes) {
  if (const auto* object = data.if_object()) {
    for (const auto& [key, value] : *object) {
      const auto* text = value.if_string();
      if (key == "sha256" && text && IsSha256Hex({text->data(), text->size()})) {
        hashes->insert(std::string(text->data(), text->size()));
      } else {
        AddBodiesOf(value, hashes);
      }
    }
  } else if (const auto* array = data.if_array()) {
    for (const Json& element : *array) AddBodiesOf(element, hashes);
  }
}

Status FetchBodiesOf(PostgresConnection& connection, std::span<const Event> events,
                     ContentStore& content) {
  std::set<std::string> bodies;
  for (const Event& event : events) {
    if (event.type != "context.stored") AddBodiesOf(Json(event.data), &bodies);
  }
  for (const std::string& sha256 : bodies) {
    const Status fetched = FetchBlob(connection, sha256, content);
    if (!fetched && fetched.error().code != ErrorCode::kNotFound) return fetched;
  }
  return {};
}

}  // namespace dossier::store
