// The requests in the gate, and the number that it sends at once.
//
//   Concurrency most(16);
//   if (in_flight < most.limit()) …
//   most.TooMany(job.epoch);      // the server said 429: half as many from now on
//
// Thread-safety: not thread-safe; the gate guards it.

#ifndef DOSSIER_MODEL_CLIENT_GATE_JOBS_H_
#define DOSSIER_MODEL_CLIENT_GATE_JOBS_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/cancel.h"
#include "base/clock.h"
#include "model/client/client.h"
#include "model/client/ledger.h"

namespace dossier::model {

// A request in progress, with all its attempts.
struct Job {
  // kDelivering: one thread owns the job, to decide or to call its sink; others must not touch it.
  enum class State { kNew, kQueued, kSending, kWaiting, kDelivering, kDone };

  std::shared_ptr<const Request> request;
  Ledger* ledger = nullptr;
  Stage stage = Stage::kNormal;
  CancelToken cancel;
  std::shared_ptr<Sink> sink;
  std::string lane;

  // Guarded by the core's mutex.
  State state = State::kNew;
  int attempt = 0;                  // the one queued, sent or awaited; from 1
  Reservation held;                 // of the attempt in flight, or its place among those that wait
  std::int64_t prompt = 0;          // tokens, by our own count
  std::optional<std::int64_t> cap;  // of the attempt in flight, if not the request's
  std::shared_ptr<CancelSource> sending;  // cancels the attempt in flight
  std::uint64_t cancel_id = 0, retry_timer = 0, limit_timer = 0;
  std::uint64_t epoch = 0;  // the concurrency's epoch when the attempt was sent
  bool told = false;        // OnSending was called
  bool out_of_time = false, overran = false;
  Millis waited{0};
  std::string last_error;  // of the attempt before a retry
};

// Requests of one call of the tree share a lane; sub-calls share one per parent call.
inline std::string LaneOf(const Request& request) {
  if (request.purpose != Purpose::kSubcall && request.purpose != Purpose::kMap) {
    return request.path;
  }
  const std::size_t dot = request.path.rfind('.');
  return (dot == std::string::npos ? std::string() : request.path.substr(0, dot)) + "/";
}

// Status codes of an overloaded server: rate limited, overloaded.
inline bool SaysTooMuch(int status) { return status == 429 || status == 503 || status == 529; }

// Halves when the server is overloaded, and grows by one for each window of successes. Failures of
// requests sent before the last halving are ignored.
class Concurrency {
 public:
  explicit Concurrency(int most) : most_(std::max(1, most)), limit_(most_) {}

  int limit() const { return limit_; }
  std::uint64_t epoch() const { return epoch_; }

  void Succeeded() {
    if (++successes_ < limit_) return;
    successes_ = 0;
    limit_ = std::min(most_, limit_ + 1);
  }
  void TooMany(std::uint64_t sent_in_epoch) {
    successes_ = 0;
    if (sent_in_epoch != epoch_) return;
    ++epoch_;
    limit_ = std::max(1, limit_ / 2);
  }

 private:
  const int most_;
  int limit_;
  int successes_ = 0;
  std::uint64_t epoch_ = 0;
};

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_CLIENT_GATE_JOBS_H_
