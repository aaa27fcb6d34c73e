// Secrets out of what memory keeps (MEM-52): shapes of base/redact.h, and any named value whose
// name says that it is one.
//
//   std::string text = "HF_TOKEN = abc and hf_0123456789";
//   RedactSecrets(&text);            // 2; text is "HF_TOKEN=*** and ***"
//   RedactNamed("api_key", &value);  // 1; value is "***"
//
// What is redacted already stays as it is and is not counted. Thread-safety: pure functions.

#ifndef DOSSIER_MEMORY_REDACTION_H_
#define DOSSIER_MEMORY_REDACTION_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "memory/types.h"

namespace dossier::memory {

// How many were replaced. In quoted JSON the value alone is, so that it stays JSON.
std::int64_t RedactSecrets(std::string* text);
// The value of something that has a name: a core entry, a field.
std::int64_t RedactNamed(std::string_view name, std::string* value);
// All of it that is a text of the writer's own.
std::int64_t RedactRecord(Record* record);
// All strings in it, at any depth.
std::int64_t RedactJson(JsonObject* object);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_REDACTION_H_
