#include "model/openai_client.h"

namespace dossier::model {

Result<std::shared_ptr<Client>> MakeOpenAiClient(OpenAiOptions) {
  return MakeError(ErrorCode::kUnavailable, "not yet");
}

}  // namespace dossier::model
