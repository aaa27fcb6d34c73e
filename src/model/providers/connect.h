// Connects to a chosen model: makes the client that answers.
//
//   DOSSIER_ASSIGN_OR_RETURN(ConnectedModel connection,
//                            Connect(choice, {.progress = say}, cancel));
//   auto gate = Gate::Make(connection.client, {.concurrency = 16}, clock);
//
// For the local model this starts the managed server if it is not running, and sets the entry's
// window to that of the server.
//
// Thread-safety: Connect may be called from any thread; the client's own rules apply to it.

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
  std::optional<std::int64_t> context_tokens;      // for the local server; unset: by memory
  std::optional<Millis> idle;                      // for the local server; unset: 10 min
  std::string local_server;                        // a llama-server; empty: the default one
  std::vector<std::string> known_models;           // the provider's names, to suggest the nearest
  std::string commands_folder;                     // the user's presets for provider `command`
  std::function<std::optional<std::string>(std::string_view)> environment;  // for `command`
  std::map<std::string, std::string> headers;  // config key `extra_headers`; of providers only
  // kNone (--offline): only this machine may be contacted. A replay needs no network.
  enum class Network { kAllowed, kNone } network = Network::kAllowed;
  // kNothing: starts no program or server; the connection describes the model and is never used.
  enum class Start { kNeeded, kNothing } start = Start::kNeeded;
  std::shared_ptr<Recorder> recorder;  // records everything that is answered
  std::shared_ptr<Recording> replay;   // answers instead of the provider
};

struct ConnectedModel {
  std::shared_ptr<Client> client;
  Entry entry;                                     // with the actual window
  std::shared_ptr<const tokens::Counter> counter;  // exact for the local model
  std::string description;     // "local Qwen2.5-Coder-1.5B-Instruct, port 40123"
  bool stop_sequences = true;  // the server supports Sampling::stop
  int parallel = 0;            // requests it handles at once; 0: as in the model data
};

// Checks that `options` allow the choice to be asked: what runs on this machine needs no network,
// and a replay none at all. Connect checks too; this answers before anything is opened. Errors:
// kNetwork, naming the address or the preset; those of LoadPreset.
Status CheckNetwork(const Choice& choice, const ConnectOptions& options);

// Errors: those of the client and of CheckNetwork; kUnavailable if the local model cannot run, with
// the reason and alternatives; kNotFound if its weights are missing (`dossier models pull`).
Result<ConnectedModel> Connect(const Choice& choice, const ConnectOptions& options,
                               const CancelToken& cancel);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_PROVIDERS_CONNECT_H_
