#include "model/schema/schema_source.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/files/file.h"
#include "base/hash.h"
#include "base/net/http_get.h"
#include "base/net/url.h"
#include "base/text/ascii.h"
#include "base/text/parse.h"
#include "base/text/text.h"

namespace dossier::model {
namespace {

Result<std::uint64_t> NumberOf(std::string_view name, std::string_view text) {
  if (const auto number = ExactNumber<std::uint64_t>(text)) return *number;
  return MakeError(ErrorCode::kConfig, "{}: '{}' is no whole number", name, text);
}

bool IsOn(std::string_view text) {
  const std::string word = ToLowerAscii(text);
  return word == "1" || word == "true" || word == "yes" || word == "on";
}

// Makes the schema of an object from its fields, "name, age int: in years", separated by commas, or
// by line ends if descriptions contain commas; nullopt if the text is not such a list.
std::optional<Json> SchemaOfFields(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {"str", "string"}, {"int", "integer"}, {"float", "number"}, {"bool", "boolean"}};
  text = TrimSpace(text);
  JsonObject properties;
  JsonArray required;
  for (std::string_view field : Split(text, text.find('\n') == text.npos ? ',' : '\n')) {
    const std::size_t colon = field.find(':');
    const std::string_view described =
        colon == field.npos ? std::string_view() : TrimSpace(field.substr(colon + 1));
    field = TrimSpace(field.substr(0, colon));
    const std::size_t blank = std::min(field.find(' '), field.size());
    const std::string_view name = field.substr(0, blank);
    const std::string_view type = TrimSpace(field.substr(blank));
    const auto* known = std::ranges::find_if(kTypes, [&](const auto& one) {
      return type == one.first || type == one.second || (type.empty() && one.first == "str");
    });
    const auto in_name = [](char c) { return IsAlnum(c) || c == '_' || c == '-'; };
    if (known == std::end(kTypes) || name.empty() || IsDigit(name[0]) ||
        !std::ranges::all_of(name, in_name)) {
      return std::nullopt;
    }
    JsonObject property{{"type", known->second}};
    if (!described.empty()) property["description"] = described;
    properties[name] = std::move(property);
    required.push_back(Json(name));
  }
  return JsonObject{{"type", "object"},
                    {"properties", std::move(properties)},
                    {"required", std::move(required)},
                    {"additionalProperties", false}};
}

// Returns the age of a file; unset if there is none.
std::optional<std::chrono::seconds> AgeOf(const std::string& path, const Clock& clock) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return std::nullopt;
  const auto written = std::chrono::system_clock::from_time_t(info.st_mtime);
  return std::chrono::duration_cast<std::chrono::seconds>(clock.WallNow() - written);
}

Result<std::string> ReadLimited(const std::string& path, std::uint64_t most) {
  Result<std::string> text = ReadFile(path, most);
  if (!text && text.error().code == ErrorCode::kTooLong) {
    return MakeError(ErrorCode::kConfig, "schema {}: larger than {}", path, FormatSize(most));
  }
  return text;
}

Result<FoundSchema> FindFile(const SchemaSource& source, std::string_view place) {
  std::vector<std::string> paths;
  if (place.starts_with('/')) {
    paths.emplace_back(place);
  } else {
    for (const std::string& folder : source.folders) {
      paths.push_back(fmt::format("{}/{}", folder, place));
    }
  }
  const auto found = std::ranges::find_if(paths, Exists);
  if (found == paths.end()) {
    return MakeError(ErrorCode::kNotFound, "schema {}: no such file; looked for {}", place,
                     Join(paths, ", "));
  }
  DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadLimited(*found, source.rules.most_bytes));
  return SchemaOfText(text, *found);
}

// A download is checked before it is stored, so a copy is always a schema.
Result<FoundSchema> Download(const SchemaSource& source, const std::string& url,
                             const std::string& copy, const CancelToken& cancel) {
  DOSSIER_ASSIGN_OR_RETURN(const std::string text,
                           source.fetch(url, source.rules.limit, source.rules.most_bytes, cancel));
  if (text.size() > source.rules.most_bytes) {
    return MakeError(ErrorCode::kConfig, "schema {}: larger than {}", url,
                     FormatSize(source.rules.most_bytes));
  }
  DOSSIER_ASSIGN_OR_RETURN(FoundSchema found, SchemaOfText(text, url));
  auto kept = MakeFolders(source.cache_folder, 0700);
  if (kept) kept = WriteFileAtomic(copy, text, 0600);
  if (!kept) found.warnings.push_back("the schema was not kept: " + kept.error().message);
  return found;
}

Result<FoundSchema> FindByAddress(const SchemaSource& source, const std::string& url,
                                  const CancelToken& cancel) {
  if (!url.starts_with("https://") && source.rules.plain_http == SchemaRules::PlainHttp::kRefused) {
    return MakeError(ErrorCode::kConfig,
                     "schema {}: only https is used; DOSSIER_ALLOW_HTTP_SCHEMAS=1 allows http",
                     url);
  }
  const std::string copy = fmt::format("{}/{}.json", source.cache_folder, Sha256Hex(url));
  const std::optional<std::chrono::seconds> age = AgeOf(copy, *source.clock);
  const bool offline = source.rules.network == SchemaRules::Network::kOffline || !source.fetch;
  const auto read_copy = [&]() -> Result<FoundSchema> {
    DOSSIER_ASSIGN_OR_RETURN(const std::string text, ReadLimited(copy, source.rules.most_bytes));
    return SchemaOfText(text, url);
  };
  if (age && (offline || *age < source.rules.time_to_live)) {
    Result<FoundSchema> kept = read_copy();
    if (kept || offline) return kept;
  }
  if (offline) {
    return MakeError(ErrorCode::kNetwork, "schema {}: no copy is kept, and offline none is fetched",
                     url);
  }
  Result<FoundSchema> fetched = Download(source, url, copy, cancel);
  if (fetched || !age || fetched.error().code == ErrorCode::kCancelled) return fetched;
  Result<FoundSchema> stale = read_copy();
  if (!stale) return fetched;
  stale->warnings.push_back(fmt::format("schema {}: {}; a copy that is {} h old is used", url,
                                        fetched.error().message, age->count() / 3600));
  return stale;
}

std::string TypeOf(const Json& schema) {
  const Json* type = Find(schema, "type");
  if (type && type->is_string()) return std::string(type->get_string());
  if (!type || !type->is_array()) return "any";
  std::vector<std::string> names;
  for (const Json& name : type->get_array()) {
    if (const auto* text = name.if_string()) names.emplace_back(*text);
  }
  return Join(names, "|");
}

bool IsRequired(const Json& schema, std::string_view name) {
  const Json* required = Find(schema, "required");
  return required && required->is_array() &&
         std::ranges::any_of(required->get_array(), [&](const Json& item) {
           return item.is_string() && item.get_string() == name;
         });
}

}  // namespace

Result<SchemaRules> SchemaRulesOf(
    const std::function<std::optional<std::string>(std::string_view)>& environment) {
  SchemaRules rules;
  const auto look_up = [&](std::string_view name, auto use) -> Status {
    for (std::string_view prefix : {"DOSSIER_", "CLLM_"}) {
      const std::string full = fmt::format("{}{}", prefix, name);
      const std::optional<std::string> value = environment(full);
      if (value && !value->empty()) return use(full, *value);
    }
    return {};
  };
  DOSSIER_RETURN_IF_ERROR(look_up("ALLOW_HTTP_SCHEMAS", [&](auto&, auto& text) -> Status {
    if (IsOn(text)) rules.plain_http = SchemaRules::PlainHttp::kAllowed;
    return {};
  }));
  DOSSIER_RETURN_IF_ERROR(look_up("OFFLINE_MODE", [&](auto&, auto& text) -> Status {
    if (IsOn(text)) rules.network = SchemaRules::Network::kOffline;
    return {};
  }));
  DOSSIER_RETURN_IF_ERROR(look_up("SCHEMA_CACHE_TTL", [&](auto& name, auto& text) -> Status {
    DOSSIER_ASSIGN_OR_RETURN(const std::uint64_t seconds, NumberOf(name, text));
    rules.time_to_live = std::chrono::seconds(std::min<std::uint64_t>(seconds, 1u << 30));
    return {};
  }));
  DOSSIER_RETURN_IF_ERROR(look_up("MAX_SCHEMA_SIZE", [&](auto& name, auto& text) -> Status {
    DOSSIER_ASSIGN_OR_RETURN(rules.most_bytes, NumberOf(name, text));
    return {};
  }));
  return rules;
}

Result<FoundSchema> SchemaOfText(std::string_view text, std::string_view origin) {
  Result<Json> json = ParseJson(text);
  if (!json) {
    if (std::optional<Json> fields = SchemaOfFields(text)) json = *std::move(fields);
  }
  if (!json) {
    return MakeError(ErrorCode::kConfig,
                     "schema {}: no JSON: {}, nor fields such as \"name, age int\"", origin,
                     json.error().message);
  }
  Result<JsonSchema> schema = JsonSchema::Compile(*std::move(json));
  if (!schema) {
    return MakeError(ErrorCode::kConfig, "{}: no JSON Schema: {}", origin, schema.error().message);
  }
  std::vector<std::string> warnings = schema->warnings();
  return FoundSchema{*std::move(schema), std::string(origin), std::move(warnings)};
}

Result<FoundSchema> SchemaSource::Find(std::string_view place, const CancelToken& cancel) const {
  if (IsWebAddress(place)) return FindByAddress(*this, std::string(place), cancel);
  return FindFile(*this, place);
}

Result<SchemaSource::Fetch> FetchByHttp() {
  DOSSIER_ASSIGN_OR_RETURN(std::shared_ptr<HttpLoop> loop, HttpLoop::Make());
  return [loop](const std::string& url, Millis limit, std::uint64_t most_bytes,
                const CancelToken& cancel) -> Result<std::string> {
    return HttpGet(
        *loop,
        {.url = url,
         .headers = {"Accept: application/schema+json, application/json", "User-Agent: dossier"},
         .deadline = limit,
         .idle_limit = limit},
        most_bytes, cancel);
  };
}

JsonObject OutlineSchema(const JsonSchema& schema) {
  const Json& json = schema.json();
  JsonArray list;
  // In draft 7 what stands beside a `$ref` counts for nothing, and may be of any type.
  const Json* properties = Find(json, "properties");
  if (properties && properties->is_object()) {
    for (const auto& member : properties->get_object()) {
      list.push_back(JsonObject{{"name", member.key()},
                                {"type", TypeOf(member.value())},
                                {"required", IsRequired(json, member.key())}});
    }
  }
  return {{"type", TypeOf(json)}, {"properties", std::move(list)}};
}

std::string DescribeSchema(const JsonSchema& schema) {
  const Json outline = OutlineSchema(schema);
  const JsonArray& properties = Find(outline, "properties")->get_array();
  std::string out = fmt::format("type: {}\nproperties: {}\n",
                                FindString(outline, "type").value_or(""), properties.size());
  for (const Json& property : properties) {
    out += fmt::format("{}: {} ({})\n", FindString(property, "name").value_or(""),
                       FindString(property, "type").value_or(""),
                       FindBool(property, "required").value_or(false) ? "required" : "optional");
  }
  return out;
}

}  // namespace dossier::model
