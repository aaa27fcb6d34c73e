// Brings the names of a session's earlier questions back: their blocks run again, in their order,
// and whatever they asked a model, memory or a tool for comes from the journal. Nothing is asked
// twice.
//
//   DOSSIER_RETURN_IF_ERROR(RestoreSession(run, documents, texts, session, before));
//
// A block that asks for something else now fails there, as a warning tells; what it would have set
// is missing. What they had read goes into `before`: an answer may stand on what a name holds.
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

// `documents` and `texts`: of all questions, as the session was opened with them. Behind it the
// newest question is the current one. `before` is over `texts`, too. Errors: kDamaged (a context
// changed since); those of the journal and of Session::Run.
Status RestoreSession(RunState& run, DocumentService& documents,
                      const std::vector<std::string_view>& texts, sandbox::Session& session,
                      Coverage& before);

// What the first message says of a session; empty: there is none before this question.
std::string SessionText(const AskedSession& session);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_SUBCALLS_SESSION_RESTORE_H_
