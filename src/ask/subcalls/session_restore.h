// Restores the variables of a session's earlier questions: their blocks run again in order, and
// their requests to a model, memory or a tool are answered from the journal. Nothing is asked
// twice.
//
//   DOSSIER_RETURN_IF_ERROR(RestoreSession(run, documents, texts, session, before));
//
// A block that now makes a different request fails there, with a warning; what it would have set is
// missing. What the blocks had read is added to `before`, since an answer may rely on a variable.
// Thread-safety: one caller.

#ifndef DOSSIER_ASK_SUBCALLS_SESSION_RESTORE_H_
#define DOSSIER_ASK_SUBCALLS_SESSION_RESTORE_H_

#include <string_view>
#include <vector>

#include "ask/documents/document_service.h"
#include "ask/policy/coverage.h"
#include "ask/run/run_state.h"
#include "base/result.h"
#include "sandbox/session/session.h"

namespace dossier::ask {

// `documents` and `texts` are those of all questions, as the session was opened with them.
// Afterwards the newest question is the current one. `before` also refers to `texts`. Errors:
// kDamaged (a context has changed); those of the journal and of Session::Run.
Status RestoreSession(RunState& run, DocumentService& documents,
                      const std::vector<std::string_view>& texts, sandbox::Session& session,
                      Coverage& before);

// Returns what the first message says about a session; empty: no question precedes this one.
std::string SessionText(const AskedSession& session);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_SUBCALLS_SESSION_RESTORE_H_
