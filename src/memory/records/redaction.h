// Secrets out of what memory keeps, by the detector of base/text/redact.h; "***" takes their place.
//
//   std::string text = "the key is hf_…";  // with a real tail
//   RedactSecrets(&text);                  // 1; text is "the key is ***"
//   RedactNamed("api_key", &value);        // 1 if the value is a secret; value is "***"
//
// What is redacted already stays as it is and is not counted. Thread-safety: pure functions.

#ifndef DOSSIER_MEMORY_RECORDS_REDACTION_H_
#define DOSSIER_MEMORY_RECORDS_REDACTION_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json/json.h"
#include "memory/records/types.h"

namespace dossier::memory {

// How many were replaced: the value alone, so that JSON stays JSON.
std::int64_t RedactSecrets(std::string* text);
// The value of something that has a name: a core entry, a field.
std::int64_t RedactNamed(std::string_view name, std::string* value);
// All of it that is a text of the writer's own.
std::int64_t RedactRecord(Record* record);
// All strings in it, at any depth.
std::int64_t RedactJson(JsonObject* object);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_RECORDS_REDACTION_H_
