// A schema on the first line, a value behind it: neither may crash, hang or read outside.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/schema/json_schema.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = text.find('\n');
  auto json = dossier::ParseJson(text.substr(0, line));
  if (!json) return 0;
  const auto schema = dossier::model::JsonSchema::Compile(*std::move(json));
  if (!schema) return 0;
  const auto value = dossier::ParseJson(line == text.npos ? "null" : text.substr(line + 1));
  if (value) static_cast<void>(schema->Check(*value));
  return 0;
}
