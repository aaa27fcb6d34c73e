// Replaces secrets in what memory keeps by "***", found by the detector of base/text/redact.h.
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

// Replaces each secret's value, so that JSON stays valid, and returns how many there were.
std::int64_t RedactSecrets(std::string* text);
// The same for the value of something with a name, such as a core entry or a field.
std::int64_t RedactNamed(std::string_view name, std::string* value);
// The same for all texts of a record that its writer chose.
std::int64_t RedactRecord(Record* record);
// The same for all strings of a JSON object, at any depth.
std::int64_t RedactJson(JsonObject* object);

}  // namespace dossier::memory

#endif  // DOSSIER_MEMORY_RECORDS_REDACTION_H_
