// Judges values by schemas, for compare.py: a line {"schema": …, "values": […]} in, a line
// {"valid": […]} or {"error": "…"} out.

#include <iostream>

#include "model/schema/json_schema.h"

namespace {

using dossier::Json;

Json Judge(const std::string& line) {
  const dossier::Result<Json> input = dossier::ParseJson(line, 200);
  if (!input) return dossier::JsonObject{{"error", input.error().message}};
  const auto schema = dossier::model::JsonSchema::Compile(*dossier::Find(*input, "schema"));
  if (!schema) return dossier::JsonObject{{"error", schema.error().message}};
  dossier::JsonArray valid;
  for (const Json& value : dossier::Find(*input, "values")->get_array()) {
    valid.emplace_back(schema->Check(value).empty());
  }
  return dossier::JsonObject{{"valid", std::move(valid)}};
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);)
    std::cout << dossier::ToJson(Judge(line)) << "\n";
}
