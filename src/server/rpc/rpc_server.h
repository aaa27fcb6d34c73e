// The server behind `dossier rpc`: JSON lines for programs of other languages.
//
//   DOSSIER_ASSIGN_OR_RETURN(const auto workspace, Workspace::Open({}));
//   RpcServer server(*workspace, {.in = STDIN_FILENO, .out = STDOUT_FILENO, .version = "0.1.0"});
//   DOSSIER_RETURN_IF_ERROR(server.Serve(cancel));      // until the end of input
//
// docs/formats/rpc.md describes the messages. Each request has a thread; answers are sent in the
// order in which they are ready. The end of input, a lost output and `cancel` stop all requests.
// Errors: kCancelled (by `cancel`), kIo. Thread-safety: call Serve once.

#ifndef DOSSIER_SERVER_RPC_RPC_SERVER_H_
#define DOSSIER_SERVER_RPC_RPC_SERVER_H_

#include <string>

#include "base/cancel.h"
#include "base/result.h"
#include "server/workspace.h"

namespace dossier::server {

struct RpcOptions {
  int in = 0, out = 1;  // descriptors; stay the caller's
  std::string version;  // of the program
};

class RpcServer {
 public:
  RpcServer(Workspace& workspace, RpcOptions options)
      : workspace_(workspace), options_(std::move(options)) {}
  Status Serve(const CancelToken& cancel);

 private:
  Workspace& workspace_;
  const RpcOptions options_;
};

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_RPC_RPC_SERVER_H_
