// The one place through which every model request of the process passes: order, budget,
// concurrency, retry.
//
// The number of requests in flight adapts: it is halved when the server reports overload (429, 503,
// 529), and grows by one for each window of successes. A wait that such an answer asks for
// (Retry-After) delays the whole queue, at most by GateOptions::longest_delay.
//
// Just before an attempt is sent, its prompt and its longest possible reply are reserved in the
// ledger. If the rest of a limit is too small for the whole reply, the request gets a smaller
// Sampling::max_output, down to 256; if it is too small for that, the attempt waits for requests in
// flight to return unused tokens, or is refused.
//
//   auto gate = Gate::Make(client, {.concurrency = 16}, clock);
//   Result<Reply> reply = gate->Complete(request, ledger, Stage::kNormal, cancel);     // waits
//   gate->Submit(request, ledger, Stage::kNormal, cancel, sink);  // thousands at once
//
// Thread-safety: all methods from any thread. A gate owns one timer thread; the client owns the
// network thread. The ledger must outlive its requests.
//
// Ownership: a gate shares its client only with its maker: when its destructor returns, it has
// released the client, whatever the client still holds of the gate. A gate must be destroyed on a
// thread that is neither its own nor its client's, so no sink may own it.

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
  // Returns the highest token prices of a request; empty or unset: unknown, and then a ledger with
  // a cost limit refuses.
  std::function<std::optional<TokenPrice>(const Request&)> price;
  std::shared_ptr<const tokens::Counter> counter;  // null: four bytes count as a token
  // Of the model, in tokens; 0: unknown. Applies to a request without its own cap.
  std::int64_t max_output = 0;
  std::int64_t window = 0;
};

class Gate {
 public:
  static std::unique_ptr<Gate> Make(std::shared_ptr<Client> client, GateOptions options,
                                    std::shared_ptr<const Clock> clock);
  virtual ~Gate() = default;  // cancels requests in flight and waits for their sinks

  // Never blocks. The sink gets OnSending, OnRetry, OnDelta, and OnDone once; a refused reservation
  // is an OnDone with kLimit, without OnSending.
  virtual void Submit(std::shared_ptr<const Request> request, Ledger& ledger, Stage stage,
                      CancelToken cancel, std::shared_ptr<Sink> sink) = 0;
  // Waits for the reply; `on_delta` may be empty.
  Result<Reply> Complete(Request request, Ledger& ledger, Stage stage, const CancelToken& cancel,
                         std::function<void(std::string_view)> on_delta = {});

  virtual int in_flight() const = 0;
  // Returns the most tokens reserved for a prompt that we count as `expected`.
  virtual std::int64_t MostInput(std::int64_t expected) const = 0;
};

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_CLIENT_GATE_H_
