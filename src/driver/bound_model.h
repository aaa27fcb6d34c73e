// A model as a driver uses it: which one, how its tokens are counted, how it is reached.
//
//   DOSSIER_ASSIGN_OR_RETURN(const BoundModel model, open("openai/gpt-5-mini"));
//   model::Request request = RequestTo(model, prompt, model::Purpose::kRoot);
//
// Who opens it decides all of this once, from flags and configuration. A driver copies it freely:
// copies share counter and gate. Thread-safety: plain data; counter and gate are safe themselves.

#ifndef DOSSIER_DRIVER_BOUND_MODEL_H_
#define DOSSIER_DRIVER_BOUND_MODEL_H_

#include <functional>
#include <memory>
#include <string>

#include "assembly/assemble.h"
#include "base/clock.h"
#include "base/result.h"
#include "model/catalog/catalog.h"
#include "model/client/client.h"
#include "model/client/gate.h"
#include "tokens/counter/counter.h"

namespace dossier::driver {

struct BoundModel {
  std::string name;    // as the provider knows it
  std::string stored;  // what a file says of it, so that it is found again; "" if no file does
  // Who answers: provider and address, or the hash of a script. Replies are kept under it; "": they
  // are not.
  std::string origin;
  model::Entry entry;
  std::shared_ptr<const tokens::Counter> counter;
  std::shared_ptr<model::Gate> gate;
  enum class Stops { kHonoured, kIgnored } stops = Stops::kHonoured;
  model::Sampling sampling;                      // what the caller set for all its requests
  Millis deadline{300'000}, idle_limit{60'000};  // of one attempt
  // The bytes that would go over the wire, without the key; empty: nobody asks for them.
  std::function<std::string(const model::Request&)> wire;
};

// Opens a model by name or role; "" is the one that is used where nothing says which.
using OpenModel = std::function<Result<BoundModel>(const std::string& name)>;

// A request with what the model's binding and the prompt say; the rest is the driver's to set.
model::Request RequestTo(const BoundModel& model, const assembly::Assembled& prompt,
                         model::Purpose purpose);

}  // namespace dossier::driver

#endif  // DOSSIER_DRIVER_BOUND_MODEL_H_
