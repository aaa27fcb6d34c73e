// Code sessions of a program: names persist from block to block, and code calls the program's own
// functions.
//
//   ClientSessions sessions(workspace, callbacks);
//   sessions.Open({{"tools", {{{"name", "price"}, {"parameters", {"item"}}}}}}, scope);
//   // {"session":"s1","sandbox":{…}}
//   sessions.Run({{"session", "s1"}, {"code", "print(price('A1'))"}}, scope);
//   // {"status":"ok","out":"3\n","last":"","error":null,…}
//
// A session is strict, without network, files and models, with the limits of docs/guide/sandbox.md.
// What code raises is a result; errors are kNotFound (session, name, context), kLocked (a block of
// it runs; one that was cancelled is waited for), kInvalidArgument and those of
// sandbox::Session::Run. A plain session (workers/python/dossier_plain.py) is for programs that
// bring their own prompts: no name is ours. Thread-safety: all methods from any thread; one block a
// session at a time.

#ifndef DOSSIER_SERVER_RPC_CLIENT_SESSIONS_H_
#define DOSSIER_SERVER_RPC_CLIENT_SESSIONS_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/cancel.h"
#include "base/json/json.h"
#include "base/result.h"
#include "server/rpc/callbacks.h"
#include "server/workspace.h"

namespace dossier::server {

// One request of the client, for what works on it.
struct RpcScope {
  Json id;
  CancelToken cancel;
  std::function<void(JsonObject event)> event;  // tells the client how far it is; may be empty
};

class ClientSessions {
 public:
  ClientSessions(Workspace& workspace, Callbacks& callbacks)
      : workspace_(workspace), callbacks_(callbacks) {}
  ~ClientSessions();

  Result<Json> Open(const JsonObject& params, const RpcScope& scope);
  Result<Json> Run(const JsonObject& params, const RpcScope& scope);
  Result<Json> Get(const JsonObject& params, const RpcScope& scope);
  Result<Json> Close(const JsonObject& params, const RpcScope& scope);

 private:
  class Live;
  Result<std::shared_ptr<Live>> Find(const JsonObject& params);

  Workspace& workspace_;
  Callbacks& callbacks_;
  std::mutex mutex_;  // guards what follows
  int opened_ = 0;
  std::map<std::string, std::shared_ptr<Live>> live_;
};

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_RPC_CLIENT_SESSIONS_H_
