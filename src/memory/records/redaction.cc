#include "memory/records/redaction.h"

#include <vector>

#include "base/text/redact.h"

namespace dossier::memory {

std::int64_t RedactSecrets(std::string* text) {
  const std::vector<Secret> found = FindSecrets(*text);
  if (found.empty()) return 0;
  *text = Redact(*text, found, [](const Secret&) { return std::string("***"); });
  return static_cast<std::int64_t>(found.size());
}

std::int64_t RedactNamed(std::string_view name, std::string* value) {
  if (KindOfNamedSecret(name, *value).empty()) return RedactSecrets(value);
  *value = "***";
  return 1;
}

namespace {

std::int64_t RedactValue(std::string_view name, Json* value) {
  if (value->is_object()) return RedactJson(&value->as_object());
  std::int64_t count = 0;
  if (value->is_array()) {
    for (Json& element : value->as_array()) count += RedactValue(name, &element);
  } else if (value->is_string()) {
    std::string text(value->as_string());
    count = RedactNamed(name, &text);
    if (count > 0) *value = text;
  }
  return count;
}

}  // namespace

std::int64_t RedactJson(JsonObject* object) {
  std::int64_t count = 0;
  for (auto& field : *object) count += RedactValue(field.key(), &field.value());
  return count;
}

std::int64_t RedactRecord(Record* record) {
  std::int64_t redacted = RedactSecrets(&record->text) + RedactSecrets(&record->ref) +
                          RedactSecrets(&record->thread) + RedactJson(&record->meta);
  for (std::string& tag : record->tags) redacted += RedactSecrets(&tag);
  return redacted;
}

}  // namespace dossier::memory
