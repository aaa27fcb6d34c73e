#include "model/local_connect.h"

namespace dossier::model {

Result<Connection> ConnectLocal(const Choice& choice, const ConnectOptions&, const CancelToken&) {
  return MakeError(ErrorCode::kUnavailable,
                   "the local model {} is not built yet; set a provider's key, or point --base-url "
                   "at a running OpenAI-compatible server",
                   choice.model);
}

}  // namespace dossier::model
