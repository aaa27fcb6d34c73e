// A session of questions: what was asked under one name before, taken from the journal.
//
//   DOSSIER_ASSIGN_OR_RETURN(request.session,
//                            ReadSession(*journal, {.name = "letters"}, options, cancel));
//
// There is no other store of it: a session is the runs that were started with its name, in their
// order. Its names come back by running their blocks again (subcalls/session_restore.h).
// Thread-safety: a function over a journal.

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
  std::string before = {};  // a run of the session: it and those behind it are left out
};

// Waits for the descriptions of all contexts. Errors: kUsage (no such name can be, or the session
// is in another language); kNotFound (a context is not there any more); those of the journal.
Result<AskedSession> ReadSession(store::Journal& journal, const WantedSession& wanted,
                                 const ContextOptions& options, const CancelToken& cancel);

}  // namespace dossier::ask

#endif  // DOSSIER_ASK_RUN_ASKED_SESSION_H_
