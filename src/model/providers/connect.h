// From a chosen model to a client that answers.
//
//   DOSSIER_ASSIGN_OR_RETURN(ConnectedModel connection, Connect(choice, {.progress = say},
//   cancel)); auto gate = Gate::Make(connection.client, {}, clock);
//
// For the local model this starts the managed server if it does not run and sets the entry's window
// to what the server was given.
//
// Thread-safety: Connect may be called from any thread; the client that it gives says its own
// rules.

#ifndef DOSSIER_MODEL_PROVIDERS_CONNECT_H_
#define DOSSIER_MODEL_PROVIDERS_CONNECT_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "model/catalog/catalog.h"
#include "model/client/client.h"
#include "model/scripted/recording.h"
#include "tokens/counter/counter.h"

namespace dossier::model {

struct ConnectOptions {
  std::function<void(std::string_view)> progress;  // one line at a time, for stderr; may be empty
  std::optional<std::int64_t> context_tokens;      // of the local server; unset: by memory
  std::optional<Millis> idle;                      // of the local server; unset: 10 min
  std::string local_server;                        // a llama-server; empty: the usual one
  std::vector<std::string> known_models;           // names of the provider, for the nearest ones
  std::string commands_folder;                     // the user's presets of provider `command`
  std::function<std::optional<std::string>(std::string_view)> environment;  // for `command`
  std::map<std::string, std::string> headers;  // config key `extra_headers`; of providers only
  // kNone (--offline): what is not on this machine is refused. A replay needs no network.
  enum class Network { kAllowed, kNone } network = Network::kAllowed;
  // kNothing: no program and no server; the connection tells what it would be, and is never asked.
  enum class Start { kNeeded, kNothing } start = Start::kNeeded;
  std::shared_ptr<Recorder> recorder;  // writes down all that is answered
  std::shared_ptr<Recording> replay;   // answers instead of the provider
};

struct ConnectedModel {
  std::shared_ptr<Client> client;
  Entry entry;                                     // window as it really is
  std::shared_ptr<const tokens::Counter> counter;  // exact for the local model
  std::string description;     // "local Qwen2.5-Coder-1.5B-Instruct, port 40123"
  bool stop_sequences = true;  // the server honours Sampling::stop
  int parallel = 0;            // requests that it works on at once; 0: as the model data say
};

// Whether `options` let the choice be asked: what runs on this machine needs no network, and a
// replay none at all. Connect looks, too; here is the answer before anything is opened.
// Errors: kNetwork, naming the address or the preset; those of LoadPreset.
Status CheckNetwork(const Choice& choice, const ConnectOptions& options);

// Errors: as the client's and CheckNetwork's; kUnavailable when the local model cannot run, saying
// why and what else can be done; kNotFound when its weights are missing (`dossier models pull`).
Result<ConnectedModel> Connect(const Choice& choice, const ConnectOptions& options,
                               const CancelToken& cancel);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_PROVIDERS_CONNECT_H_
