// A model as a driver uses it: its identity, its token counter and the gate that reaches it.
//
//   DOSSIER_ASSIGN_OR_RETURN(const BoundModel model, open("openai/gpt-5-mini"));
//   model::Request request = RequestTo(model, prompt, model::Purpose::kRoot);
//
// It is set once, from flags and configuration. Copies share the counter and the gate.
// Thread-safety: plain data; the counter and the gate are thread-safe.

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
  std::string stored;  // name for files, with which it can be opened again; "" if no file names it
  // The source of replies: provider and address, or the hash of a script. Replies are stored under
  // this key; if it is "", they are not stored.
  std::string origin;
  model::Entry entry;
  std::shared_ptr<const tokens::Counter> counter;
  std::shared_ptr<model::Gate> gate;
  enum class Stops { kHonoured, kIgnored } stops = Stops::kHonoured;
  model::Sampling sampling;                      // settings of the caller for all its requests
  Millis deadline{300'000}, idle_limit{60'000};  // of a single attempt
  // Returns the bytes that would go over the wire, without the key. Empty if nobody needs them.
  std::function<std::string(const model::Request&)> wire;
};

// Opens a model by its name or role; "" opens the default model.
using OpenModel = std::function<Result<BoundModel>(const std::string& name)>;

// Makes a request from the model's binding and the prompt; the driver sets the remaining fields.
model::Request RequestTo(const BoundModel& model, const assembly::Assembled& prompt,
                         model::Purpose purpose);

}  // namespace dossier::driver

#endif  // DOSSIER_DRIVER_BOUND_MODEL_H_
