// The one place through which every model request of the process passes: order, budget,
// concurrency, retry.
//
// The number of requests in flight adapts: halved when the server says that it has too much to do
// (429, 503, 529), one more for each window of successes. A wait that such an answer asks for
// (Retry-After) holds back all that is queued, at most GateOptions::longest_delay.
//
// Just before an attempt is sent, its prompt and the longest reply that it may get are reserved in
// the ledger. Where the rest of a limit does not suffice for the whole reply, the request is sent
// with a smaller Sampling::max_output, down to 256; where it does not suffice for that, the attempt
// waits for others in flight to give back what they did not use, or is refused.
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

#ifndef DOSSIER_MODEL_CLIENT_GATE_H_
#define DOSSIER_MODEL_CLIENT_GATE_H_

#include <functional>
#include <memory>

#include "model/client/client.h"
#include "model/client/ledger.h"
#include "tokens/counter/counter.h"

namespace dossier::model {

struct GateOptions {
  int concurrency = 16;     // requests in flight
  int retries = 4;          // after the first attempt
  Millis first_delay{500};  // doubled each time, full jitter
  Millis longest_delay{60'000};
  std::uint64_t seed = 0;  // of the jitter
  // What the tokens of a request cost at the most; empty or unset: unknown, and then a ledger with
  // a limit of cost refuses.
  std::function<std::optional<TokenPrice>(const Request&)> price;
  std::shared_ptr<const tokens::Counter> counter;  // null: four bytes are a token
  // Of the model, in tokens; 0: unknown. What a request without a cap of its own may get.
  std::int64_t max_output = 0;
  std::int64_t window = 0;
};

class Gate {
 public:
  static std::unique_ptr<Gate> Make(std::shared_ptr<Client> client, GateOptions options,
                                    std::shared_ptr<const Clock> clock);
  virtual ~Gate() = default;  // cancels what is in flight, waits for its sinks

  // Never blocks. The sink gets OnSending, OnRetry, OnDelta, and OnDone once; a refused reservation
  // is an OnDone with kLimit, without an OnSending.
  virtual void Submit(std::shared_ptr<const Request> request, Ledger& ledger, Stage stage,
                      CancelToken cancel, std::shared_ptr<Sink> sink) = 0;
  // Waits for the reply; `on_delta` may be empty.
  Result<Reply> Complete(Request request, Ledger& ledger, Stage stage, const CancelToken& cancel,
                         std::function<void(std::string_view)> on_delta = {});

  virtual int in_flight() const = 0;
  // The most tokens that are reserved for a prompt of which we count `expected`.
  virtual std::int64_t MostInput(std::int64_t expected) const = 0;
};

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_CLIENT_GATE_H_
