// Schemas from addresses.
//
//   DOSSIER_ASSIGN_OR_RETURN(source.fetch, FetchByHttp());
//
// libcurl is loaded by FetchByHttp, not before: most runs need no network for a schema.
// Thread-safety: the function may be called from many threads.

#ifndef DOSSIER_MODEL_SCHEMA_SCHEMA_FETCH_H_
#define DOSSIER_MODEL_SCHEMA_SCHEMA_FETCH_H_

#include "model/schema/schema_source.h"

namespace dossier::model {

// A GET; redirects are not followed. Errors: kUnavailable (libcurl).
Result<SchemaSource::Fetch> FetchByHttp();

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_SCHEMA_SCHEMA_FETCH_H_
