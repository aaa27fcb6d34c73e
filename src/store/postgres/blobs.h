// Stores bodies by content hash in the shared store, in pieces of 1 MiB.
//
//   DOSSIER_RETURN_IF_ERROR(PutBlob(*connection, sha256, bytes));
//   DOSSIER_RETURN_IF_ERROR(FetchBlob(*connection, sha256, content));   // into the local store
//
// Readers see a blob whole or not at all; fetching checks its hash. Errors: kNotFound (absent),
// kDamaged (it does not match its hash); those of the connection and of the content store.
// Thread-safety: as the connection.

#ifndef DOSSIER_STORE_POSTGRES_BLOBS_H_
#define DOSSIER_STORE_POSTGRES_BLOBS_H_

#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "base/result.h"
#include "store/content.h"
#include "store/journal.h"
#include "store/postgres/connection.h"

namespace dossier::store {

// Must not be called within a transaction. An existing blob is left unchanged.
Status PutBlob(PostgresConnection& connection, std::string_view sha256, std::string_view bytes);
// Does nothing if `content` already has the body and it matches its hash.
Status FetchBlob(PostgresConnection& connection, std::string_view sha256, ContentStore& content);
// Adds the hashes of the bodies that an event names.
void AddBodiesOf(const Json& data, std::set<std::string>* hashes);
// Fetches the bodies of a run's events into `content`, except the texts of its context. A hash
// without a stored body is ignored.
Status FetchBodiesOf(PostgresConnection& connection, std::span<const Event> events,
                     ContentStore& content);

}  // namespace dossier::store

#endif  // DOSSIER_STORE_POSTGRES_BLOBS_H_
