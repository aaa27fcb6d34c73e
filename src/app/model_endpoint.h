// A model as an address: for what speaks HTTP to it itself, such as `eval`, whose proxy stands
// between systems and the model.
//
//   DOSSIER_ASSIGN_OR_RETURN(const ModelEndpoint model, OpenEndpoint(settings, say, cancel));
//   Post(model.base_url + "/chat/completions", model.headers, body);
//
// The local model is started, a script is served on loopback while `server` lives. Thread-safety: a
// function over files, the environment and the network.

#ifndef DOSSIER_APP_MODEL_ENDPOINT_H_
#define DOSSIER_APP_MODEL_ENDPOINT_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/open_model.h"
#include "base/cancel.h"
#include "base/net/http_listener.h"
#include "base/result.h"
#include "driver/bound_model.h"

namespace dossier::app {

struct ModelEndpoint {
  driver::BoundModel bound;          // its name, window, prices, counter
  std::string base_url;              // "https://api.openai.com/v1"
  std::vector<std::string> headers;  // with the key: never to be shown
  // The same where it says which server is meant; empty for one on any free port of this machine.
  std::string address;
  std::string weights;  // SHA-256 of the local model's weights, where it is known
  std::string script;   // SHA-256 of the file that a scripted model answers from
  std::shared_ptr<HttpListener> server;
};

// Errors: as OpenModel; kUnavailable for a provider that does not speak as OpenAI does.
Result<ModelEndpoint> OpenEndpoint(const ModelSettings& settings,
                                   const std::function<void(std::string_view)>& say,
                                   const CancelToken& cancel);

}  // namespace dossier::app

#endif  // DOSSIER_APP_MODEL_ENDPOINT_H_
