// A script behind an OpenAI-compatible endpoint, with recording: what `models serve-script` runs,
// and the server of the acceptance tests (MOD-50).
//
//   DOSSIER_ASSIGN_OR_RETURN(auto server, ServeScript(script, {.record_path = "requests.jsonl"}));
//   Use(fmt::format("http://127.0.0.1:{}/v1", server->port()));
//
// Serves POST /v1/chat/completions, streamed and not, and GET /v1/models. A request for which no
// rule is left gets status 400 with the reason. One line is recorded for every request, before its
// answer:
// {"method","target","authorized","body"}; the key itself is never written.
//
// Thread-safety: the server has its own threads; stop it by destroying it.

#ifndef DOSSIER_MODEL_SERVE_SCRIPT_H_
#define DOSSIER_MODEL_SERVE_SCRIPT_H_

#include <memory>
#include <string>

#include "base/http_listener.h"
#include "model/scripted.h"

namespace dossier::model {

struct ServeScriptOptions {
  int port = 0;             // 0: any free port
  std::string record_path;  // JSONL, appended; empty: nothing is recorded
};

// Errors: kNetwork (port), kIo and kPermission (the record).
Result<std::unique_ptr<HttpListener>> ServeScript(std::shared_ptr<Script> script,
                                                  ServeScriptOptions options);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_SERVE_SCRIPT_H_
