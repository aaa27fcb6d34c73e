// The Model Context Protocol over HTTP, at the path /mcp, both eras on one address.
//
//   DOSSIER_ASSIGN_OR_RETURN(const auto server, HttpServer::Start(catalog, {.port = 8790}));
//   server->port();
//
// A POST with `MCP-Protocol-Version: 2026-07-28` describes itself; any other belongs to a session
// that `initialize` opened. Only pages and programs of this machine are answered: Host and Origin
// must be local or allowed. An address other than loopback needs keys. A key limits scopes (403),
// requests a minute (429) and gives access only to its own sessions (404); one with a daily budget
// may not ask. Errors of Start: kNetwork (the address is taken), kRefused (an address that others
// reach, without keys). Thread-safety: all methods from any thread. Ownership: the catalog must
// outlive it; the destructor ends all that runs.

#ifndef DOSSIER_SERVER_MCP_HTTP_SERVER_H_
#define DOSSIER_SERVER_MCP_HTTP_SERVER_H_

#include <memory>
#include <string>
#include <vector>

#include "base/net/url.h"
#include "base/result.h"
#include "server/key_ring.h"
#include "server/mcp/catalog.h"
#include "server/mcp/connection.h"
#include "server/owners.h"

namespace dossier::mcp {

struct HttpOptions {
  ListenAddress address;
  std::vector<std::string> allow_hosts;    // for Host and Origin, besides this machine's names
  std::shared_ptr<server::KeyRing> keys;   // null: no key is needed
  std::shared_ptr<server::Owners> owners;  // records what each key opened and asked; with keys
  ServerInfo info;
  // Tests make these short.
  Millis stream_after{5'000};    // an answer that takes longer becomes a stream
  Millis comment_every{15'000};  // on a silent stream
  Millis session_idle{1'800'000};
};

class HttpServer {
 public:
  static Result<std::unique_ptr<HttpServer>> Start(ServerOffer& catalog, HttpOptions options);
  virtual ~HttpServer() = default;
  virtual int port() const = 0;
};

}  // namespace dossier::mcp

#endif  // DOSSIER_SERVER_MCP_HTTP_SERVER_H_
