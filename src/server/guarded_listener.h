// The limits that every HTTP server of ours puts on its clients: how large a head may be, how long
// a head, a silent body, a connection at rest and a slow reader may take, how many connections
// there are.
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
          .threads = 4,  // that read requests; the work has its own
          .max_head = 32u << 10,
          .max_connections = 1'024,
          .head_time = Millis(10'000),
          .body_silence = Millis(30'000),
          .idle_time = Millis(75'000),
          .write_time = Millis(60'000)};
}

}  // namespace dossier::server

#endif  // DOSSIER_SERVER_GUARDED_LISTENER_H_
