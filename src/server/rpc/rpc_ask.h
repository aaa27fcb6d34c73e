// `ask` of the rpc protocol: a question over a context, with <dossier/ask.h>'s settings as JSON.
//
//   Asker asker(workspace);
//   asker.Ask({{"question", "How many?"}, {"context", "c3f9a01b2c4d5"}, {"max_usd", 0.5}}, scope);
//
// The result is the object of `dossier ask --json`. If there is no usable answer, or only what a
// limit left, the reply has an error, and the object as partial result. Models stay open, one for
// each set of settings. Thread-safety: Ask from any thread.

#ifndef DOSSIER_SERVER_RPC_RPC_ASK_H_
#define DOSSIER_SERVER_RPC_RPC_ASK_H_

#include <dossier/ask.h>

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "server/rpc/client_sessions.h"
#include "server/workspace.h"

namespace dossier::server {

struct RpcReply {
  Json result;
  std::optional<Error> error;  // then `result` is partial, or null
};

class Asker {
 public:
  Asker(Workspace& workspace, Callbacks& callbacks)
      : workspace_(workspace), callbacks_(callbacks) {}
  Result<RpcReply> Ask(const JsonObject& params, const RpcScope& scope);
  // Estimates an Ask with the same model and mode; nothing is sent.
  Result<RpcReply> Estimate(const JsonObject& params, const RpcScope& scope);

 private:
  Result<Model> Open(const Json& params, std::string_view name, const CancelToken& cancel);
  Result<std::vector<Context>> ContextsOf(const Json& params) const;
  std::vector<AskTool> ToolsOf(const Json& params, const RpcScope& scope) const;

  Workspace& workspace_;
  Callbacks& callbacks_;
  std::mutex mutex_;                     // held while a model is opened
  std::map<std::string, Model> models_;  // by name and settings
};

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_RPC_RPC_ASK_H_
