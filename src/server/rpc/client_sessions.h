// Code sessions of a client program: names persist from block to block, and code can call the
// program's own functions.
//
//   ClientSessions sessions(workspace, callbacks);
//   sessions.Open({{"tools", {{{"name", "price"}, {"parameters", {"item"}}}}}}, scope);
//   // {"session":"s1","sandbox":{…}}
//   sessions.Run({{"session", "s1"}, {"code", "print(price('A1'))"}}, scope);
//   // {"status":"ok","out":"3\n","last":"","error":null,…}
//
// A session is strict: no network, files or models, with the limits of docs/guide/sandbox.md. An
// exception in the code is a result; errors are kNotFound (session, name, context), kLocked (a
// block of the session runs; a cancelled one is waited for), kInvalidArgument and those of
// sandbox::Session::Run. A plain session (workers/python/dossier_plain.py) is for programs that
// bring their own prompts: it defines none of our names. Thread-safety: all methods from any
// thread; one block per session at a time.

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

// The context of one request of the client.
struct RpcScope {
  Json id;
  CancelToken cancel;
  std::function<void(JsonObject event)> event;  // reports progress to the client; may be empty
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
