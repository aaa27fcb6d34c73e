#include "model/catalog_reader.h"

#include <charconv>
#include <cmath>

#include "base/text.h"
#include "model/yaml_json.h"

namespace dossier::model {
namespace {

[[noreturn]] void Fail(const YAML::Node& node, const std::string& reason) {
  throw YAML::ParserException(node.Mark(), reason);
}

void CheckKeys(const YAML::Node& node, std::initializer_list<std::string_view> known) {
  if (!node.IsMap()) Fail(node, "a map is wanted here");
  const std::vector<std::string> names(known.begin(), known.end());
  for (const auto& item : node) {
    const std::string& key = item.first.Scalar();
    if (std::find(names.begin(), names.end(), key) != names.end()) continue;
    const std::vector<std::string> near = NearestNames(key, names, 1);
    Fail(item.first, fmt::format("unknown key \"{}\"{}", key,
                                 near.empty() ? "" : "; did you mean \"" + near[0] + "\"?"));
  }
}

void ReadText(const YAML::Node& node, std::string& out) {
  if (!node) return;
  if (!node.IsScalar()) Fail(node, "a text is wanted");
  out = node.Scalar();
}

void ReadOneOf(const YAML::Node& node, std::initializer_list<std::string_view> allowed,
               std::string& out) {
  if (!node) return;
  ReadText(node, out);
  if (std::find(allowed.begin(), allowed.end(), out) != allowed.end()) return;
  const std::vector<std::string> names(allowed.begin(), allowed.end());
  Fail(node, "one of " + Join(names, ", ") + " is wanted");
}

void ReadFlag(const YAML::Node& node, bool& out) {
  if (!node) return;
  const Json value = YamlToJson(node);
  if (!value.is_bool()) Fail(node, "true or false is wanted");
  out = value.as_bool();
}

void ReadCount(const YAML::Node& node, std::int64_t& out) {
  if (!node) return;
  const Json value = YamlToJson(node);
  if (!value.is_int64() || value.as_int64() <= 0) Fail(node, "a whole number above 0 is wanted");
  out = value.as_int64();
}

double Number(const YAML::Node& node) {
  const Json value = YamlToJson(node);
  if (!value.is_number()) Fail(node, "a number is wanted");
  return value.to_number<double>();
}

// Dollars for a million tokens are thousandths of nano-dollars for one: whole nano-dollars only, so
// that sums are exact.
void ReadPrice(const YAML::Node& node, std::optional<std::int64_t>& out) {
  if (!node) return;
  if (node.IsNull()) {
    out.reset();
    return;
  }
  const double nano = Number(node) * 1000.0;
  if (!(nano >= 0) || nano > 1e12 || std::abs(nano - std::round(nano)) > 1e-6) {
    Fail(node, "a price is dollars for a million tokens, in steps of 0.001");
  }
  out = std::llround(nano);
}

// Values that are more than yes or no; YAML reads a bare `yes` as a flag.
void ReadTurnRules(const YAML::Node& node, assembly::Capability& capability) {
  using LateSystem = assembly::Capability::LateSystem;
  std::string late, prefill, results;
  ReadOneOf(node["late_system"], {"yes", "true", "after_user", "no", "false"}, late);
  ReadOneOf(node["prefill"], {"yes", "true", "flag", "no", "false"}, prefill);
  ReadOneOf(node["tool_results"], {"user", "tool"}, results);
  if (!late.empty()) {
    capability.late_system = late == "after_user"                  ? LateSystem::kAfterUser
                             : late == "yes" || late == "true" ? LateSystem::kYes
                                                               : LateSystem::kNo;
  }
  if (!prefill.empty()) {
    capability.prefill_flag = prefill == "flag";
    capability.prefill = prefill == "yes" || prefill == "true" || prefill == "flag";
  }
  if (!results.empty()) {
    capability.tool_results = results == "user" ? assembly::Capability::ToolResults::kUserTurn
                                                : assembly::Capability::ToolResults::kToolTurn;
  }
  if (const YAML::Node image = node["image"]) ReadCount(image, capability.image_tokens.emplace());
}

void ReadCache(const YAML::Node& node, assembly::CacheRules& cache) {
  using Mode = assembly::CacheRules::Mode;
  if (!node) return;
  CheckKeys(node, {"mode", "min_prefix", "breakpoints", "step", "look_back", "ttl", "write", "read",
                   "status"});
  std::string mode;
  ReadOneOf(node["mode"], {"none", "explicit", "automatic"}, mode);
  if (!mode.empty()) {
    cache.mode = mode == "explicit"    ? Mode::kExplicit
                 : mode == "automatic" ? Mode::kAutomatic
                                       : Mode::kNone;
  }
  std::int64_t breakpoints = cache.breakpoints, look_back = cache.look_back;
  ReadCount(node["min_prefix"], cache.min_prefix);
  ReadCount(node["breakpoints"], breakpoints);
  ReadCount(node["step"], cache.step);
  ReadCount(node["look_back"], look_back);
  cache.breakpoints = static_cast<int>(std::min<std::int64_t>(breakpoints, 1000));
  cache.look_back = static_cast<int>(std::min<std::int64_t>(look_back, 1000));
  if (const YAML::Node ttl = node["ttl"]) {
    cache.ttl.clear();
    for (const YAML::Node& item : ttl) cache.ttl.push_back(item.Scalar());
  }
  if (const YAML::Node write = node["write"]) {
    cache.write.clear();
    for (const YAML::Node& item : write) cache.write.push_back(Number(item));
  }
  if (const YAML::Node read = node["read"]) cache.read = Number(read);
  ReadOneOf(node["status"], {"documented", "measured", "reported", "unverified"}, cache.status);
}

void ReadCapabilities(const YAML::Node& node, Entry& entry) {
  if (!node) return;
  CheckKeys(node, {"streaming", "tools", "json_schema", "grammar", "vision", "thinking",
                   "system_role", "assistant_first", "merge_same_role", "late_system", "prefill",
                   "user_after_tool", "tool_results", "image", "sampling", "max_tokens_name"});
  ReadFlag(node["streaming"], entry.streaming);
  ReadFlag(node["tools"], entry.tools);
  ReadFlag(node["json_schema"], entry.json_schema);
  ReadFlag(node["grammar"], entry.grammar);
  ReadFlag(node["vision"], entry.vision);
  ReadFlag(node["thinking"], entry.thinking);
  ReadOneOf(node["system_role"], {"field", "message", "developer", "none"},
            entry.capability.system_role);
  ReadFlag(node["assistant_first"], entry.capability.assistant_first);
  ReadFlag(node["merge_same_role"], entry.capability.merge_same_role);
  ReadFlag(node["user_after_tool"], entry.capability.user_after_tool);
  ReadTurnRules(node, entry.capability);
  ReadOneOf(node["max_tokens_name"], {"max_tokens", "max_completion_tokens"},
            entry.max_tokens_name);
  if (const YAML::Node sampling = node["sampling"]) {
    if (!sampling.IsSequence()) Fail(sampling, "a list of parameter names is wanted");
    entry.sampling = sampling.size() > 0;
  }
}

void CheckFact(const YAML::Node& node, std::string_view what) {
  for (const char* key : {"as_of", "source"}) {
    if (!node[key] || node[key].Scalar().empty()) {
      Fail(node, fmt::format("{} has no {}: every fact needs a date and a source", what, key));
    }
  }
  const std::string& date = node["as_of"].Scalar();
  const bool is_date = date.size() == 10 && date[4] == '-' && date[7] == '-' &&
                       date.find_first_not_of("0123456789-") == std::string::npos;
  if (!is_date) Fail(node["as_of"], "as_of is a date, YYYY-MM-DD");
}

void ReadEntry(const YAML::Node& node, std::vector<Entry>& entries) {
  CheckKeys(node, {"name", "provider", "window", "max_input", "max_output", "tokenizer", "bytes_per_token",
                   "margin", "prices", "capabilities", "cache", "profile", "tokens_per_message",
                   "tokens_per_request", "as_of", "source", "note"});
  if (!node["name"] || !node["provider"]) Fail(node, "a model needs name and provider");
  const std::string name = node["name"].Scalar(), provider = node["provider"].Scalar();
  CheckFact(node, name);
  auto entry = std::find_if(entries.begin(), entries.end(), [&](const Entry& known) {
    return known.name == name && known.provider == provider;
  });
  if (entry == entries.end()) {
    entries.push_back(ConservativeEntry(provider, name));
    entry = std::prev(entries.end());
    entry->known = true;
  }
  ReadCount(node["window"], entry->capability.window);
  ReadCount(node["max_output"], entry->capability.max_output);
  if (const YAML::Node most = node["max_input"]) {
    ReadCount(most, entry->capability.max_input.emplace());
  }
  if (entry->capability.max_output > entry->capability.window) {
    Fail(node, name + ": max_output is above the window");
  }
  ReadText(node["tokenizer"], entry->tokenizer);
  if (node["bytes_per_token"]) entry->bytes_per_token = Number(node["bytes_per_token"]);
  if (node["margin"]) entry->margin = Number(node["margin"]);
  if (!(entry->bytes_per_token > 0) || !(entry->margin >= 0 && entry->margin <= 1)) {
    Fail(node, name + ": bytes_per_token is above 0, margin from 0 to 1");
  }
  if (const YAML::Node prices = node["prices"]) {
    CheckKeys(prices, {"input", "cached", "output"});
    ReadPrice(prices["input"], entry->price_input);
    ReadPrice(prices["cached"], entry->price_cached);
    ReadPrice(prices["output"], entry->price_output);
  }
  ReadCapabilities(node["capabilities"], *entry);
  ReadCache(node["cache"], entry->capability.cache);
  ReadOneOf(node["profile"], {"small", "large"}, entry->capability.profile);
  if (const YAML::Node count = node["tokens_per_message"]) {
    ReadCount(count, entry->capability.tokens_per_message);
  }
  if (const YAML::Node count = node["tokens_per_request"]) {
    ReadCount(count, entry->capability.tokens_per_request);
  }
  ReadText(node["as_of"], entry->as_of);
  ReadText(node["source"], entry->source);
  entry->capability.entry = JsonObject{{"as_of", entry->as_of}, {"source", entry->source}};
}

void ReadProvider(const std::string& name, const YAML::Node& node,
                  std::vector<Provider>& providers) {
  CheckKeys(node, {"base_url", "key_variables", "default_model", "as_of", "source"});
  CheckFact(node, name);
  auto provider = std::find_if(providers.begin(), providers.end(),
                               [&](const Provider& known) { return known.name == name; });
  if (provider == providers.end()) {
    providers.push_back({.name = name});
    provider = std::prev(providers.end());
  }
  ReadText(node["base_url"], provider->base_url);
  ReadText(node["default_model"], provider->default_model);
  if (const YAML::Node variables = node["key_variables"]) {
    provider->key_variables.clear();
    for (const YAML::Node& variable : variables) {
      provider->key_variables.push_back(variable.Scalar());
    }
  }
}

void ReadAll(const YAML::Node& root, std::vector<Entry>& entries,
             std::vector<Provider>& providers) {
  if (root.IsNull()) return;
  CheckKeys(root, {"schema", "providers", "models"});
  std::string schema;
  ReadText(root["schema"], schema);
  if (schema != "dossier.models/1") Fail(root, "schema: dossier.models/1 is wanted");
  if (const YAML::Node map = root["providers"]) {
    if (!map.IsMap()) Fail(map, "providers is a map of names");
    for (const auto& item : map) ReadProvider(item.first.Scalar(), item.second, providers);
  }
  if (const YAML::Node list = root["models"]) {
    if (!list.IsSequence()) Fail(list, "models is a list");
    for (const YAML::Node& node : list) ReadEntry(node, entries);
  }
}

// The billions of parameters that a name states: 1.5 in "Qwen2.5-Coder-1.5B-Instruct".
std::optional<double> SizeInName(std::string_view name) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (!std::isdigit(static_cast<unsigned char>(name[at]))) continue;
    const std::size_t end = std::min(name.find_first_not_of("0123456789.", at), name.size());
    const bool starts = at == 0 || !is_word(name[at - 1]);
    const bool ends = end < name.size() && (name[end] == 'b' || name[end] == 'B') &&
                      (end + 1 == name.size() || !is_word(name[end + 1]));
    double billions = 0;
    if (starts && ends &&
        std::from_chars(name.data() + at, name.data() + end, billions).ec == std::errc()) {
      return billions;
    }
    at = end;
  }
  return std::nullopt;
}

}  // namespace

Entry ConservativeEntry(std::string_view provider, std::string_view name) {
  Entry entry{.name = std::string(name), .provider = std::string(provider), .known = false};
  const std::optional<double> billions = SizeInName(name);
  entry.capability.profile = billions && *billions <= 3.0 ? "small" : "large";
  return entry;
}

Status ReadCatalogFile(std::string_view text, std::string_view file, std::vector<Entry>* entries,
                       std::vector<Provider>* providers) {
  DOSSIER_ASSIGN_OR_RETURN(YAML::Node root, ParseYaml(text, file));
  try {
    ReadAll(root, *entries, *providers);
    return {};
  } catch (const YAML::Exception& error) {
    return YamlError(file, error.mark, error.msg);
  }
}

}  // namespace dossier::model
