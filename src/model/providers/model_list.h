// Reads the models that a provider lists: the answer to GET /models, for Ollama also /api/tags.
//
//   DOSSIER_ASSIGN_OR_RETURN(auto models, FetchModelList(provider, key, Millis(10'000), cancel));
//   models[0].name;      // "llama3.2:3b"
//   DOSSIER_RETURN_IF_ERROR(KeepModelList(data_folder, provider, models, catalog, "2026-11-25"));
//
// Names are untrusted: those that a terminal cannot show unchanged, or that are longer than 200
// bytes, are left out. Thread-safety: functions; they block.

#ifndef DOSSIER_MODEL_PROVIDERS_MODEL_LIST_H_
#define DOSSIER_MODEL_PROVIDERS_MODEL_LIST_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/result.h"
#include "model/catalog/catalog.h"
#include "model/catalog/keys.h"

namespace dossier::model {

// Missing values are unset. Prices are dollars per million tokens.
struct ListedModel {
  std::string name;
  std::optional<std::int64_t> window, max_output;
  std::optional<double> price_input, price_output;
};

// Returns the models in an answer of any provider's format; unset if it is not a list.
std::optional<std::vector<ListedModel>> ParseModelList(std::string_view body);

// Asks the provider, with its key if it has one. Errors: kAuth (the key is refused), kNetwork
// (unreachable, no list in the answer), kTooLong, kTimeout, kCancelled; all name the address.
Result<std::vector<ListedModel>> FetchModelList(const Provider& provider, std::string_view key,
                                                Millis limit, const CancelToken& cancel);

// Writes the models that `catalog` has no entry for to ModelListFolder as a catalogue file, which
// replaces the last one. Returns their number. Errors: kIo.
Result<std::size_t> KeepModelList(const std::string& data_folder, const Provider& provider,
                                  const std::vector<ListedModel>& models, const Catalog& catalog,
                                  std::string_view today);

// Finds OpenAI-compatible servers on this machine: shown, but never chosen automatically.
//
//   for (const LocalServer& server : ProbeLocalServers(UsualPlaces(catalog, environment))) {
//     Show(server);
//   }
//
// Thread-safety: functions over their arguments; a probe starts one thread per place and waits for
// all.

// A place where a server may be, and the provider it belongs to.
struct ServerPlace {
  std::string provider;  // "ollama"
  int port = 0;
};

// Returns the places of providers that need no key and are on this machine, as set by their
// variables; each port once.
std::vector<ServerPlace> UsualPlaces(const Catalog& catalog, const Environment& environment);

struct LocalServer {
  std::string provider;  // the name to reach it by: -m PROVIDER/NAME
  int port = 0;
  std::string base_url;             // "http://127.0.0.1:8080/v1"
  std::vector<std::string> models;  // at most 100 names, cleaned for a terminal; may be empty
  bool needs_key = false;           // it answered with 401 or 403
};

// Asks 127.0.0.1 for /v1/models on all ports at once, and for Ollama's /api/tags if there is no
// such list; ports without such an answer within `limit` are left out. In the order of `places`.
std::vector<LocalServer> ProbeLocalServers(std::span<const ServerPlace> places,
                                           Millis limit = Millis(200));

// Returns "ollama answers at http://127.0.0.1:11434/v1 (llama3.2, qwen3): -m ollama/llama3.2".
std::string Describe(const LocalServer& server);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_PROVIDERS_MODEL_LIST_H_
