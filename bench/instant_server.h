// An HTTP/1.1 server that answers at once, or never: what clients are measured against. One
// process, one thread, so that its CPU is not counted as the client's.
//
//   DOSSIER_ASSIGN_OR_RETURN(InstantServer server, InstantServer::Start());
//   Use(fmt::format("http://127.0.0.1:{}/v1", server.port()));     // POST to …/hold is never
//   answered server.requests();                                             // so many have arrived
//
// Ownership: the process ends with the object. Thread-safety: as a value.

#ifndef DOSSIER_BENCH_INSTANT_SERVER_H_
#define DOSSIER_BENCH_INSTANT_SERVER_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <utility>

#include "base/result.h"

namespace dossier::bench {

class InstantServer {
 public:
  static Result<InstantServer> Start();
  InstantServer(InstantServer&& other) noexcept
      : pid_(std::exchange(other.pid_, 0)), port_(other.port_), requests_(other.requests_) {}
  InstantServer& operator=(InstantServer&&) = delete;
  ~InstantServer();

  int port() const { return port_; }
  std::uint64_t requests() const { return requests_->load(); }

 private:
  InstantServer(pid_t pid, int port, std::atomic<std::uint64_t>* requests)
      : pid_(pid), port_(port), requests_(requests) {}

  pid_t pid_;
  int port_;
  std::atomic<std::uint64_t>* requests_;  // shared with the process; a page that is never unmapped
};

}  // namespace dossier::bench

#endif  // DOSSIER_BENCH_INSTANT_SERVER_H_
