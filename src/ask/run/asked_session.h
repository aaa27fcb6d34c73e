// A session of questions: those asked earlier under one name, read from the journal.
//
//   DOSSIER_ASSIGN_OR_RETURN(request.session,
//                            ReadSession(*journal, {.name = "letters"}, options, cancel));
//
// A session has no store of its own: it is the runs that were started with its name, in order. Its
// variables are restored by running their blocks again (subcalls/session_restore.h). Thread-safety:
// a function over a journal.

#ifndef DOSSIER_ASK_RUN_ASKED_SESSION_H_
#define DOSSIER_ASK_RUN_ASKED_SESSION_H_

#include <string>

#include "ask/documents/context_set.h"
#include "ask/engine.h"
#include "base/cancel.h"
#include "base/result.h"
#include "sandbox/session/session.h"
#include "store/journal.h"

namespace dossier::ask {

struct WantedSession {
  std::string name;  // letters, digits, ".", "-" and "_"; at most 64
  sandbox::Dialect dialect = sandbox::Dialect::kPython;
  std::string before = {};  // a run of the session: it and all later ones are left out
};

// Waits for the descriptions of all contexts. Errors: kUsage (an invalid name, or a session in
// another language); kNotFound (a context no longer exists); those of the journal.
Result<AskedSession> ReadSession(store::Journal& journal, const WantedSession& wanted,
                                 const ContextOptions& options, const CancelToken& cancel);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_RUN_ASKED_SESSION_H_
