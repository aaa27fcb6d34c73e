// Provides a model as an address, for code that speaks HTTP to it directly, such as `eval`, whose
// proxy is between systems and the model.
//
//   DOSSIER_ASSIGN_OR_RETURN(const ModelEndpoint model, OpenEndpoint(settings, say, cancel));
//   Post(model.base_url + "/chat/completions", model.headers, body);
//
// The local model is started, and a script is served on loopback, while `server` exists.
// Thread-safety: a function over files, the environment and the network.

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
  driver::BoundModel bound;          // name, window, prices, counter
  std::string base_url;              // "https://api.openai.com/v1"
  std::vector<std::string> headers;  // including the key: never show them
  // The address if it identifies the server; empty for one on any free port of this machine.
  std::string address;
  std::string weights;  // SHA-256 of the local model's weights, if known
  std::string script;   // SHA-256 of a scripted model's file
  std::shared_ptr<HttpListener> server;
};

// Errors: as OpenModel; kUnavailable for a provider that is not OpenAI-compatible.
Result<ModelEndpoint> OpenEndpoint(const ModelSettings& settings,
                                   const std::function<void(std::string_view)>& say,
                                   const CancelToken& cancel);

}  // namespace dossier::app

#endif  // DOSSIER_APP_MODEL_ENDPOINT_H_
