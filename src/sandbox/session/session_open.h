// The `open` message: what a session's process receives before its first block.
//
//   Message message = MakeOpenMessage(spec, id);           // host; the contexts' descriptors go
//   along DOSSIER_ASSIGN_OR_RETURN(SessionOpening opening, ReadOpenMessage(message));   // worker
//
// Thread-safety: pure functions.

#ifndef DOSSIER_SANDBOX_SESSION_SESSION_OPEN_H_
#define DOSSIER_SANDBOX_SESSION_SESSION_OPEN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "sandbox/session/message.h"
#include "sandbox/session/session.h"

namespace dossier::sandbox {

struct SessionOpening {
  std::uint64_t seed = 0;
  Limits limits;
  std::vector<ContextText> contexts;  // without descriptors
  JsonObject features;  // SessionSpec.features, limits, named_models, context_string_max
};

Message MakeOpenMessage(const SessionSpec& spec, std::uint64_t id);
// Errors: kProtocol.
Result<SessionOpening> ReadOpenMessage(const Message& message);

}  // namespace dossier::sandbox

#endif  // DOSSIER_SANDBOX_SESSION_SESSION_OPEN_H_
