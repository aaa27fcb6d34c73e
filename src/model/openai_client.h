// The OpenAI-compatible client: /chat/completions, streamed and not, over libcurl's multi interface
// on one network thread (MOD-10, 13 to 15).
//
//   auto client = MakeOpenAiClient({.base_url = "http://127.0.0.1:8080/v1", .entry = entry});
//
// libcurl is loaded when the first client is made. Thread-safety: as model::Client.

#ifndef DOSSIER_MODEL_OPENAI_CLIENT_H_
#define DOSSIER_MODEL_OPENAI_CLIENT_H_

#include <memory>
#include <string>
#include <vector>

#include "model/catalog.h"
#include "model/client.h"

namespace dossier::model {

struct OpenAiOptions {
  std::string base_url;  // ends before /chat/completions
  std::string key;       // sent to this host only; never logged
  std::string key_source;              // "OPENAI_API_KEY", for messages
  std::string provider = "openai";     // "local" gets cache_prompt and grammar too
  std::vector<std::string> models;     // known names, for the nearest ones
  Entry entry;
  enum class Stream { kYes, kNo } stream = Stream::kYes;
};

// Errors: kUnavailable if libcurl cannot be loaded, naming the package.
Result<std::shared_ptr<Client>> MakeOpenAiClient(OpenAiOptions options);

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_OPENAI_CLIENT_H_
