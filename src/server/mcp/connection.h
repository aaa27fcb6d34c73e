// One client's connection to a server: its protocol revision, requests and subscriptions. Every
// transport passes its messages here and gets texts back.
//
//   ClientConnection connection(catalog, ticker, {.era = Era::kUndecided});
//   connection.Handle(message, outlet);       // returns at once; the answer comes to the outlet
//   connection.CancelAll("the client left");  // and waits for what runs
//
// Handshake era (2024-11-05 to 2025-11-25): `initialize` first, then requests by its rules. Modern
// era (2026-07-28): every request describes itself in `_meta`; there is no session. The first
// request decides the era of an undecided connection. Requests run concurrently; a cancelled
// request is never answered. Thread-safety: Handle from one thread at a time; everything else from
// any.

#ifndef DOSSIER_SERVER_MCP_CONNECTION_H_
#define DOSSIER_SERVER_MCP_CONNECTION_H_

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "base/cancel.h"
#include "server/mcp/catalog.h"
#include "server/mcp/message.h"
#include "server/ticker.h"

namespace dossier::mcp {

using server::Ticker;

// Oldest first.
inline constexpr std::array<std::string_view, 5> kVersions = {
    "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"};
inline constexpr std::string_view kModernVersion = kVersions[4];
inline constexpr std::string_view kNewestHandshake = kVersions[3];
inline constexpr std::string_view kBatchVersion = kVersions[1];
bool IsHandshakeVersion(std::string_view version);

// Names in `_meta`.
inline constexpr std::string_view kMetaVersion = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view kMetaCapabilities = "io.modelcontextprotocol/clientCapabilities";

enum class Era : std::uint8_t { kUndecided, kHandshake, kModern };

// The destination for the notices and the answer of one request, implemented by a transport; called
// from any thread, one call at a time per request.
class Outlet {
 public:
  virtual ~Outlet() = default;
  virtual void Notify(const std::string& text) = 0;
  // The last call. `error`: the code of an error, 0 for a result.
  virtual void Answer(const std::string& text, int error) = 0;
  // Instead of Answer: the request was cancelled and gets no answer.
  virtual void Drop() = 0;
};

struct ServerInfo {
  std::string name = "dossier", title = "Dossier", version;
};

struct ConnectionOptions {
  Era era = Era::kUndecided;
  std::string version;  // negotiated by an earlier message's handshake
  ServerInfo info;
  server::ApiCaller caller;
  // For notices that belong to no request, such as changed resources; empty: not sent.
  std::function<void(const std::string& text)> notify;
};

class ClientConnection {
 public:
  // Catalog and ticker must outlive it.
  ClientConnection(ServerOffer& catalog, Ticker& ticker, ConnectionOptions options);
  ~ClientConnection();  // as CancelAll

  void Handle(const RpcMessage& message, std::shared_ptr<Outlet> outlet);
  // Answers no more requests. Waits for their threads.
  void CancelAll(const std::string& reason);

  bool busy() const;  // a request has no answer yet

  Era era() const;
  std::string version() const;  // negotiated; "" before that

 private:
  class Impl;
  const std::shared_ptr<Impl> impl_;
};

}  // namespace dossier::mcp

#endif  // DOSSIER_SERVER_MCP_CONNECTION_H_
