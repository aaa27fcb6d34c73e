// The one place through which every model request of the process passes: order, budget,
// concurrency, retry (MOD-20 to 23).
//
// The number of requests in flight adapts: halved when the server says that it has too much to do
// (429, 503, 529), one more for each window of successes. A wait that such an answer asks for
// (Retry-After) holds back all that is queued, at most GateOptions::longest_delay.
//
//   Gate gate(client, {.concurrency = 16}, clock);
//   Result<Reply> reply = gate.Complete(request, ledger, Stage::kNormal, cancel);     // waits
//   gate.Submit(request, ledger, Stage::kNormal, cancel, sink);                        // thousands
//   in flight
//
// Thread-safety: all methods from any thread. A gate owns one timer thread; the network thread
// belongs to the client. The ledger must outlive the requests given with it.
//
// Ownership: a gate shares its client with whoever made it, and with nobody else: when the gate's
// destructor returns, it has let go of the client, whatever the client still holds of the gate's.
// A gate is destroyed by a thread that is neither its own nor its client's, so no sink owns it.

#ifndef DOSSIER_MODEL_GATE_H_
#define DOSSIER_MODEL_GATE_H_

#include <memory>

#include "model/client.h"
#include "model/ledger.h"

namespace dossier::model {

struct GateOptions {
  int concurrency = 16;     // requests in flight
  int retries = 4;          // after the first attempt
  Millis first_delay{500};  // doubled each time, full jitter (MOD-21)
  Millis longest_delay{60'000};
  std::uint64_t seed = 0;  // of the jitter
  // Nano-dollars a prompt token, for reservations (Entry::price_input); unset: none reserved.
  std::optional<std::int64_t> price_input;
};

class Gate {
 public:
  static std::unique_ptr<Gate> Make(std::shared_ptr<Client> client, GateOptions options,
                                    std::shared_ptr<const Clock> clock);
  virtual ~Gate() = default;  // cancels what is in flight, waits for its sinks

  // Never blocks. The sink gets OnRetry, OnDelta, and OnDone once; a refused reservation is an
  // OnDone with kLimit.
  virtual void Submit(std::shared_ptr<const Request> request, Ledger& ledger, Stage stage,
                      CancelToken cancel, std::shared_ptr<Sink> sink) = 0;
  // Waits for the reply; `on_delta` may be empty.
  Result<Reply> Complete(Request request, Ledger& ledger, Stage stage, const CancelToken& cancel,
                         std::function<void(std::string_view)> on_delta = {});

  virtual int in_flight() const = 0;
};

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_GATE_H_
