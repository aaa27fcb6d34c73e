// Bodies by content hash in the shared store, in pieces of 1 MiB.
//
//   DOSSIER_RETURN_IF_ERROR(PutBlob(*connection, sha256, bytes));
//   DOSSIER_RETURN_IF_ERROR(FetchBlob(*connection, sha256, content));   // into the local store
//
// A blob is whole or absent for every reader, and checked by its hash when it is fetched.
// Errors: kNotFound (absent), kDamaged (it does not match its hash); those of the connection and of
// the content store. Thread-safety: as the connection.

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

// Not within a transaction. What is there already is left alone.
Status PutBlob(PostgresConnection& connection, std::string_view sha256, std::string_view bytes);
// What `content` has already is not fetched again, unless it does not match its hash.
Status FetchBlob(PostgresConnection& connection, std::string_view sha256, ContentStore& content);
// The bodies that an event names.
void AddBodiesOf(const Json& data, std::set<std::string>* hashes);
// Those of a run's events into `content`, without the texts of its context. A hash that is no
// body's names nothing.
Status FetchBodiesOf(PostgresConnection& connection, std::span<const Event> events,
                     ContentStore& content);

}  // namespace dossier::store

#endif  // DOSSIER_STORE_POSTGRES_BLOBS_H_
