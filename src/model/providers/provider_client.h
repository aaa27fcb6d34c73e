// The client of every HTTP provider: transport, events, limits and failures are the same for all; a
// dialect defines a provider's format.
//
//   auto client = MakeProviderClient({.base_url = "http://127.0.0.1:8080/v1", .entry = entry});
//   auto claude = MakeProviderClient({.dialect = "anthropic", .key = key, …});
//
// libcurl is loaded when the first client is made. Thread-safety: as model::Client.

#ifndef DOSSIER_MODEL_PROVIDERS_PROVIDER_CLIENT_H_
#define DOSSIER_MODEL_PROVIDERS_PROVIDER_CLIENT_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/catalog/catalog.h"
#include "model/client/client.h"
#include "model/dialects/dialect.h"

namespace dossier::model {

struct ProviderOptions {
  std::string base_url;    // ends before the version or, for an OpenAI-compatible one, after it
  std::string key;         // sent to this host only; never logged
  std::string key_source;  // "OPENAI_API_KEY", for messages
  std::string provider = "openai";  // "local" also gets cache_prompt and grammar
  std::string dialect = "openai";   // a name for FindDialect
  // Sent in addition to the client's own. Their values are removed from messages, as is the key.
  std::map<std::string, std::string> headers;
  std::vector<std::string> models;  // known names, to suggest the nearest
  Entry entry;
  Streaming stream = Streaming::kYes;
};

// Errors: kUnavailable if libcurl cannot be loaded, naming the package; kConfig for an invalid
// address or dialect, a header with a line break, or one that the client sets itself.
Result<std::shared_ptr<Client>> MakeProviderClient(ProviderOptions options);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_PROVIDERS_PROVIDER_CLIENT_H_
