// The builtin module `_dossier`: what the Python half of the worker needs of the C++ half.
//
//   call(method, args, raw=b"") -> (value, raw)   waits; raises BridgeError(code, message,
//   retryable)
//   sql(query, params) -> [dict]                  one statement that reads; the same error
//   take_items() -> [(index, value, raw)]         of the batch that was interrupted
//   last, once context_count() -> int context_info(i) -> {"name", "bytes", "characters", "meta"}
//   context_view(i) -> memoryview                 read-only, over the map
//   context_text(i) -> str                        decoded once and kept; the zygote of a context
//                                                 has it before the first session
//   features() -> dict
//   dict_version(d) -> int                        another number after each change of d; of no
//   dict,
//                                                 or where Python cannot tell, a new one each time
//   write(stream, data) -> None                   output of the running block; 1 out, 2 err
//
// The module exists from the start of the interpreter; before a session is attached its functions
// raise RuntimeError.

#ifndef DOSSIER_WORKERS_PYTHON_MODULE_H_
#define DOSSIER_WORKERS_PYTHON_MODULE_H_

#include <vector>

#include "language.h"
#include "python_ref.h"

namespace dossier::worker {

// What the module's functions work on. `texts` holds one entry a context, null until decoded.
struct ModuleSession : SessionParts {
  std::vector<Ref> texts;
  std::vector<CallItem> items;  // that came before a batch was interrupted; taken once
};

// Before Py_Initialize.
Status RegisterModule();
// Gives the imported module its session, which must live as long as it is attached; null: none.
// Without a bridge, calls to the host fail.
Status AttachSession(ModuleSession* session);

}  // namespace dossier::worker

#endif  // DOSSIER_WORKERS_PYTHON_MODULE_H_
