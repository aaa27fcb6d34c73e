#include "driver/bound_model.h"

namespace dossier::driver {

model::Request RequestTo(const BoundModel& model, const assembly::Assembled& prompt,
                         model::Purpose purpose) {
  return {.model = model.name,
          .messages = prompt.messages,
          .sampling = model.sampling,
          .purpose = purpose,
          .estimated_tokens = prompt.tokens,
          .deadline = model.deadline,
          .idle_limit = model.idle_limit};
}

}  // namespace dossier::driver
