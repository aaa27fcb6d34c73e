// The limits that all our HTTP servers put on clients: the size of a request's head, the time for a
// head, a silent body, an idle connection and a slow reader, and the number of connections.
//
//   HttpListenerOptions options = GuardedListener(address);
//   options.max_body = 64u << 20;
//   DOSSIER_ASSIGN_OR_RETURN(auto listener, HttpListener::Start(std::move(options), handler));
//
// Thread-safety: a pure function.

#ifndef DOSSIER_SERVER_GUARDED_LISTENER_H_
#define DOSSIER_SERVER_GUARDED_LISTENER_H_

#include "base/clock.h"
#include "base/net/http_listener.h"
#include "base/net/url.h"

namespace dossier::server {

inline HttpListenerOptions GuardedListener(const ListenAddress& address) {
  return {.address = address.host,
          .port = address.port,
          .threads = 4,  // for reading requests; handlers' work has its own threads
          .max_head = 32u << 10,
          .max_connections = 1'024,
          .head_time = Millis(10'000),
          .body_silence = Millis(30'000),
          .idle_time = Millis(75'000),
          .write_time = Millis(60'000)};
}

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_GUARDED_LISTENER_H_
