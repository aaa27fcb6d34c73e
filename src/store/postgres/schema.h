// The tables of the shared store, their version, and their creation.
//
//   DOSSIER_RETURN_IF_ERROR(PrepareSchema(*connection));
//
// Thread-safety: any number of processes may call it at once on one database: one creates the
// tables, the others wait for it.

#ifndef DOSSIER_STORE_POSTGRES_SCHEMA_H_
#define DOSSIER_STORE_POSTGRES_SCHEMA_H_

#include <cstdint>

#include "base/result.h"
#include "store/postgres/connection.h"

namespace dossier::store {

inline constexpr std::int64_t kSharedStoreVersion = 1;

// Errors: kConfig if a newer version made the tables; those of the connection.
Status PrepareSchema(PostgresConnection& connection);

}  // namespace dossier::store

#endif  // DOSSIER_STORE_POSTGRES_SCHEMA_H_
