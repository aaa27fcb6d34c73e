// Which OpenAI-compatible servers run on this machine: shown, never chosen unasked.
//
//   for (const LocalServer& server : ProbeLocalServers(kUsualPorts, Millis(200))) Show(server);
//
// Thread-safety: a function over its arguments; starts a thread for each port and waits for all.

#ifndef DOSSIER_MODEL_PROVIDERS_PROBE_H_
#define DOSSIER_MODEL_PROVIDERS_PROBE_H_

#include <span>
#include <string>
#include <vector>

#include "base/clock.h"

namespace dossier::model {

// llama.cpp, Ollama, LM Studio, vLLM.
inline constexpr int kUsualPorts[] = {8080, 11434, 1234, 8000};

struct LocalServer {
  int port = 0;
  std::string base_url;             // "http://127.0.0.1:8080/v1"
  std::vector<std::string> models;  // at most 100 names, cleaned for a terminal; may be empty
  bool needs_key = false;           // it answered 401 or 403
};

// Asks 127.0.0.1 for /v1/models on every port, all at once; what does not answer like such a server
// within `limit` is left out. In the order of `ports`.
std::vector<LocalServer> ProbeLocalServers(std::span<const int> ports, Millis limit);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_PROVIDERS_PROBE_H_
