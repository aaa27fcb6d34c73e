// Which OpenAI-compatible servers run on this machine: shown, never chosen unasked.
//
//   for (const LocalServer& server : ProbeLocalServers(UsualPlaces(catalog, environment))) {
//     Show(server);
//   }
//
// Thread-safety: functions over their arguments; a probe starts a thread for each place and waits
// for all.

#ifndef DOSSIER_MODEL_PROVIDERS_PROBE_H_
#define DOSSIER_MODEL_PROVIDERS_PROBE_H_

#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "model/catalog/catalog.h"
#include "model/catalog/keys.h"

namespace dossier::model {

// Where a server may be, and the provider whose place that is.
struct ServerPlace {
  std::string provider;  // "ollama"
  int port = 0;
};

// The providers of the data that need no key and are on this machine, where they are moved to by
// their variables; each port once.
std::vector<ServerPlace> UsualPlaces(const Catalog& catalog, const Environment& environment);

struct LocalServer {
  std::string provider;  // by whose name it is reached: -m PROVIDER/NAME
  int port = 0;
  std::string base_url;             // "http://127.0.0.1:8080/v1"
  std::vector<std::string> models;  // at most 100 names, cleaned for a terminal; may be empty
  bool needs_key = false;           // it answered 401 or 403
};

// Asks 127.0.0.1 for /v1/models on every port, all at once, and for Ollama's /api/tags where there
// is no such list; what does not answer like such a server within `limit` is left out. In the order
// of `places`.
std::vector<LocalServer> ProbeLocalServers(std::span<const ServerPlace> places,
                                           Millis limit = Millis(200));

// "ollama answers at http://127.0.0.1:11434/v1 (llama3.2, qwen3): -m ollama/llama3.2".
std::string Describe(const LocalServer& server);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_PROVIDERS_PROBE_H_
