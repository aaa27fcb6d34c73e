// Renders templates for compare.py: lines of JSON in, lines of JSON out.
//
//   {"template": "{{ N }}", "variables": {"N": 7}}  ->  {"text": "7"} or {"error": "column 4: …"}

#include <iostream>
#include <string>

#include "base/json/json.h"
#include "sources/template/template_render.h"

namespace dossier::sources {
namespace {

TemplateValue ValueOf(const Json& json) {
  switch (json.kind()) {
    case boost::json::kind::bool_:
      return TemplateValue(json.get_bool());
    case boost::json::kind::int64:
      return TemplateValue(json.get_int64());
    case boost::json::kind::double_:
      return TemplateValue(json.get_double());
    case boost::json::kind::string:
      return TemplateValue(std::string(json.get_string()));
    case boost::json::kind::array: {
      TemplateValue::List list;
      for (const Json& item : json.get_array()) list.push_back(ValueOf(item));
      return list;
    }
    case boost::json::kind::object: {
      TemplateValue::Map map;
      for (const auto& [key, item] : json.get_object()) {
        map.push_back({std::string(key), ValueOf(item)});
      }
      return map;
    }
    default:
      return TemplateValue();
  }
}

Json RenderLine(const std::string& line) {
  const auto request = ParseJson(line);
  if (!request) return JsonObject{{"error", request.error().message}};
  TemplateVariables variables;
  for (const auto& [name, value] : Find(*request, "variables")->as_object()) {
    variables[std::string(name)] = {ValueOf(value), VariableOrigin::kConfig};
  }
  const auto text = RenderTemplate(FindString(*request, "template").value_or(""), variables);
  if (!text) return JsonObject{{"error", text.error().message}};
  return JsonObject{{"text", *text}};
}

}  // namespace
}  // namespace dossier::sources

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << dossier::ToJson(dossier::sources::RenderLine(line)) << '\n';
  }
}
