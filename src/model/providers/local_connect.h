// The local model: the managed llama.cpp server, started when first used.
//
//   DOSSIER_ASSIGN_OR_RETURN(Connection connection, ConnectLocal(choice, options, cancel));
//
// Thread-safety: may be called from many threads and processes; there is one server for all.

#ifndef DOSSIER_MODEL_PROVIDERS_LOCAL_CONNECT_H_
#define DOSSIER_MODEL_PROVIDERS_LOCAL_CONNECT_H_

#include "base/cancel.h"
#include "model/providers/connect.h"

namespace dossier::model {

// Errors: as Connect.
Result<Connection> ConnectLocal(const Choice& choice, const ConnectOptions& options,
                                const CancelToken& cancel);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_PROVIDERS_LOCAL_CONNECT_H_
