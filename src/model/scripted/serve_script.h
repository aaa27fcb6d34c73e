// Serves a script through the providers' interfaces and records requests: used by `models
// serve-script` and by the acceptance tests.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto server, ServeScript(script, {.record_path = "requests.jsonl"}));
//   Use(fmt::format("http://127.0.0.1:{}/v1", server->port()));
//
// Serves, streamed or not, POST /v1/chat/completions (OpenAI), /v1/messages (Anthropic) and
// /v1beta/models/NAME:generateContent (Gemini), and GET /v1/models. Requests that the provider
// would refuse, especially for the order of roles, are refused in its error format; so are requests
// without a matching rule, with status 400 and the reason. One line is recorded per request, before
// its answer: {"method","target","authorized","body"}; the key itself is never written.
//
// Thread-safety: the server has its own threads; destroy it to stop it.

#ifndef DOSSIER_MODEL_SCRIPTED_SERVE_SCRIPT_H_
#define DOSSIER_MODEL_SCRIPTED_SERVE_SCRIPT_H_

#include <memory>
#include <optional>
#include <string>

#include "base/net/http_listener.h"
#include "model/dialects/role_rules.h"
#include "model/scripted/scripted.h"

namespace dossier::model {

struct ServeScriptOptions {
  int port = 0;                    // 0: any free port
  std::string record_path;         // JSONL, appended; empty: nothing is recorded
  std::optional<RoleRules> rules;  // replace the provider's own; `form` must be the provider's
};

// Errors: kNetwork (port), kIo and kPermission (the record file).
Result<std::unique_ptr<HttpListener>> ServeScript(std::shared_ptr<Script> script,
                                                  const ServeScriptOptions& options);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_SCRIPTED_SERVE_SCRIPT_H_
