#include "model/catalog/catalog_reader.h"

#include <charconv>
#include <cmath>

#include "assembly/layout/yaml_table.h"
#include "base/json/json.h"
#include "base/text/text.h"

namespace dossier::model {
namespace {

void ReadStatus(const YamlPlace& node, std::string& out) {
  ReadOneOf(node, {"documented", "measured", "reported", "unverified"}, out);
}

// For a thinking model whose entry has no amount: the smaller of the allowances that providers
// suggest for ordinary work.
constexpr std::int64_t kThinkingTokens = 8'192;

// Keys by which any map of facts may give its own date, source and status.
constexpr const char* kFactKeys[] = {"as_of", "source", "status"};

void CheckDate(const YamlPlace& node) {
  const std::string& date = node->scalar;
  const bool is_date = date.size() == 10 && date[4] == '-' && date[7] == '-' &&
                       date.find_first_not_of("0123456789-") == std::string::npos;
  if (!is_date) FailAt(node, "as_of is a date, YYYY-MM-DD");
}

// Reads the provenance of `node`: {as_of, source, status}.
JsonObject ReadFact(const YamlPlace& node) {
  JsonObject fact;
  for (const char* key : kFactKeys) {
    if (!node[key]) continue;
    std::string text;
    ReadText(node[key], text);
    fact[key] = text;
  }
  if (node["as_of"]) CheckDate(node["as_of"]);
  std::string status;
  ReadStatus(node["status"], status);
  return fact;
}

void CheckFact(const YamlPlace& node, std::string_view what) {
  for (const char* key : {"as_of", "source"}) {
    if (!node[key] || node[key]->scalar.empty()) {
      FailAt(node, fmt::format("{} has no {}: every fact needs a date and a source", what, key));
    }
  }
  ReadFact(node);
}

void ReadTurnRules(const YamlPlace& node, assembly::Capability& capability) {
  using LateSystem = assembly::Capability::LateSystem;
  using ToolResults = assembly::Capability::ToolResults;
  enum class Prefill { kUnsaid, kNo, kYes, kFlag } prefill = Prefill::kUnsaid;
  ReadFlag(node["assistant_first"], capability.assistant_first);
  ReadFlag(node["merge_same_role"], capability.merge_same_role);
  ReadFlag(node["user_after_tool"], capability.user_after_tool);
  ReadWord<LateSystem>(
      node["late_system"],
      {{"yes", LateSystem::kYes}, {"after_user", LateSystem::kAfterUser}, {"no", LateSystem::kNo}},
      capability.late_system);
  ReadWord<ToolResults>(node["tool_results"],
                        {{"tool", ToolResults::kToolTurn}, {"user", ToolResults::kUserTurn}},
                        capability.tool_results);
  ReadWord<Prefill>(node["prefill"],
                    {{"yes", Prefill::kYes}, {"flag", Prefill::kFlag}, {"no", Prefill::kNo}},
                    prefill);
  if (prefill == Prefill::kUnsaid) return;
  capability.prefill = prefill != Prefill::kNo;
  capability.prefill_flag = prefill == Prefill::kFlag;
}

void ReadCapabilities(const YamlPlace& node, Entry& entry) {
  if (!node) return;
  CheckKeys(
      node,
      {"streaming",       "tools",         "json_schema",     "grammar",         "logprobs",
       "vision",          "thinking",      "thinking_tokens", "system_role",     "assistant_first",
       "merge_same_role", "late_system",   "prefill",         "user_after_tool", "tool_results",
       "image",           "sampling",      "max_tokens_name", "prompt_mode",     "seed_name",
       "as_of",           "required_tool", "stream_options",  "source",          "status"});
  assembly::Capability& capability = entry.capability;
  ReadFlag(node["streaming"], entry.streaming);
  ReadFlag(node["tools"], entry.tools);
  ReadFlag(node["json_schema"], entry.json_schema);
  ReadFlag(node["grammar"], entry.grammar);
  ReadFlag(node["logprobs"], entry.logprobs);
  ReadFlag(node["vision"], entry.vision);
  ReadFlag(node["thinking"], entry.thinking);
  if (entry.thinking) entry.thinking_tokens = kThinkingTokens;
  ReadCount(node["thinking_tokens"], entry.thinking_tokens);
  ReadOneOf(node["system_role"], {"field", "message", "developer", "none"}, capability.system_role);
  ReadTurnRules(node, capability);
  ReadCount(node["image"], capability.image_tokens);
  if (node["image"]) entry.image_assumed = false;
  ReadOneOf(node["max_tokens_name"], {"max_tokens", "max_completion_tokens"},
            entry.max_tokens_name);
  ReadOneOf(node["prompt_mode"], {"reasoning"}, entry.form.prompt_mode);
  ReadOneOf(node["seed_name"], {"seed", "random_seed"}, entry.form.seed_name);
  ReadOneOf(node["required_tool"], {"required", "any"}, entry.form.required_tool);
  ReadFlag(node["stream_options"], entry.form.stream_options);
  if (const YamlPlace sampling = node["sampling"]) {
    if (!sampling.is_list()) FailAt(sampling, "a list of parameter names is wanted");
    entry.sampling.clear();
    for (const YamlNode& item : sampling->items) {
      ReadOneOf(item, {"temperature", "top_p", "seed", "stop"}, entry.sampling.emplace_back());
    }
  }
}

void ReadSmallCount(const YamlPlace& node, int& out) {
  std::int64_t value = out;
  ReadCount(node, value);
  if (value > 1000) FailAt(node, "a number up to 1000 is wanted");
  out = static_cast<int>(value);
}

void ReadCache(const YamlPlace& node, assembly::CacheRules& cache) {
  if (!node) return;
  CheckKeys(node, {"mode", "min_prefix", "breakpoints", "step", "look_back", "ttl", "write", "read",
                   "as_of", "source", "status"});
  using Mode = assembly::CacheRules::Mode;
  ReadWord<Mode>(
      node["mode"],
      {{"none", Mode::kNone}, {"automatic", Mode::kAutomatic}, {"explicit", Mode::kExplicit}},
      cache.mode);
  ReadCount(node["min_prefix"], cache.min_prefix);
  ReadSmallCount(node["breakpoints"], cache.breakpoints);
  ReadCount(node["step"], cache.step);
  ReadSmallCount(node["look_back"], cache.look_back);
  ReadTexts(node["ttl"], cache.ttl);
  ReadNumbers(node["write"], 0, 100, cache.write);
  ReadNumber(node["read"], 0, 100, cache.read);
  ReadStatus(node["status"], cache.status);
  if (!cache.write.empty() && cache.write.size() != std::max<std::size_t>(1, cache.ttl.size())) {
    FailAt(node, "write has one price for each ttl");
  }
}

void ReadTokens(const YamlPlace& node, Entry& entry) {
  if (!node) return;
  CheckKeys(node, {"encoding", "ratio", "bytes_per_token", "margin", "per_message", "per_request",
                   "as_of", "source", "status"});
  ReadText(node["encoding"], entry.tokenizer);
  ReadNumber(node["ratio"], 0.01, 100, entry.ratio);
  ReadNumber(node["bytes_per_token"], 0.01, 1000, entry.bytes_per_token);
  ReadNumber(node["margin"], 0, 1, entry.margin);
  ReadCount(node["per_message"], entry.capability.tokens_per_message);
  ReadCount(node["per_request"], entry.capability.tokens_per_request);
}

// Reads the most that one image costs. It is a separate map, so that it can have its own source.
void ReadImage(const YamlPlace& node, Entry& entry) {
  if (!node) return;
  CheckKeys(node, {"tokens", "assumed", "as_of", "source", "status"});
  if (!node["tokens"]) FailAt(node, "image says tokens, the most that one image costs");
  ReadCount(node["tokens"], entry.capability.image_tokens);
  entry.image_assumed = false;
  ReadFlag(node["assumed"], entry.image_assumed);
}

void ReadPrices(const YamlPlace& node, Entry& entry) {
  if (!node) return;
  CheckKeys(node, {"input", "cached", "output", "as_of", "source", "status"});
  ReadPrice(node["input"], entry.price_input);
  ReadPrice(node["cached"], entry.price_cached);
  ReadPrice(node["output"], entry.price_output);
}

// Reads the entry's own {as_of, source, status}, and those of parts with different ones.
void ReadProvenance(const YamlPlace& node, Entry& entry) {
  Json& facts = entry.capability.entry;
  if (!facts.is_object()) facts = JsonObject();
  for (const auto& [key, value] : ReadFact(node)) facts.as_object()[key] = value;
  for (const char* part : {"prices", "capabilities", "cache", "tokens", "image"}) {
    if (!node[part]) continue;
    JsonObject fact = ReadFact(node[part]);
    if (fact.empty()) continue;
    facts.as_object()[part] = std::move(fact);
  }
  ReadText(node["as_of"], entry.as_of);
  ReadText(node["source"], entry.source);
}

bool IsFamily(std::string_view name) { return name.ends_with('*'); }

// Returns the initial values of a new entry.
Entry FreshEntry(const CatalogData& data, const std::string& provider, const std::string& name) {
  Entry entry = ConservativeEntry(provider, name);
  if (!IsFamily(name)) entry = EntryByFamily(data, provider, name).value_or(std::move(entry));
  entry.known = true;
  entry.family.clear();
  return entry;
}

void ReadEntry(const YamlPlace& node, CatalogData& data) {
  CheckKeys(node, {"name", "provider", "window", "max_output", "max_input", "tokenizer", "prices",
                   "capabilities", "cache", "tokens", "image", "profile", "as_of", "source",
                   "status", "note"});
  if (!node["name"] || !node["provider"]) FailAt(node, "a model needs name and provider");
  const std::string name = node["name"]->scalar, provider = node["provider"]->scalar;
  CheckFact(node, name);
  std::vector<Entry>& entries = IsFamily(name) ? data.families : data.entries;
  auto entry = std::find_if(entries.begin(), entries.end(), [&](const Entry& known) {
    return known.name == name && known.provider == provider;
  });
  if (entry == entries.end()) {
    entries.push_back(FreshEntry(data, provider, name));
    entry = std::prev(entries.end());
  }
  ReadCount(node["window"], entry->capability.window);
  ReadCount(node["max_output"], entry->capability.max_output);
  ReadCount(node["max_input"], entry->capability.max_input);
  if (entry->capability.max_output > entry->capability.window) {
    FailAt(node, name + ": max_output is above the window");
  }
  ReadText(node["tokenizer"], entry->tokenizer);
  ReadTokens(node["tokens"], *entry);
  ReadImage(node["image"], *entry);
  ReadPrices(node["prices"], *entry);
  ReadCapabilities(node["capabilities"], *entry);
  ReadCache(node["cache"], entry->capability.cache);
  ReadOneOf(node["profile"], {"small", "large"}, entry->capability.profile);
  ReadProvenance(node, *entry);
}

void ReadProvider(const std::string& name, const YamlPlace& node,
                  std::vector<Provider>& providers) {
  CheckKeys(node, {"base_url", "base_url_variables", "dialect", "key_variables", "default_model",
                   "other_names", "concurrency", "as_of", "source", "status"});
  CheckFact(node, name);
  auto provider = std::find_if(providers.begin(), providers.end(),
                               [&](const Provider& known) { return known.name == name; });
  if (provider == providers.end()) {
    providers.push_back({.name = name});
    provider = std::prev(providers.end());
  }
  ReadText(node["base_url"], provider->base_url);
  ReadText(node["default_model"], provider->default_model);
  ReadOneOf(node["dialect"], kDialectNames, provider->dialect);
  ReadTexts(node["other_names"], provider->other_names);
  ReadTexts(node["key_variables"], provider->key_variables);
  ReadTexts(node["base_url_variables"], provider->base_url_variables);
  ReadSmallCount(node["concurrency"], provider->concurrency);
  if (provider->concurrency < 1) FailAt(node, name + ": concurrency is below 1");
}

void ReadAll(const YamlPlace& root, CatalogData& data) {
  if (root.is_null()) return;
  CheckKeys(root, {"schema", "providers", "models"});
  std::string schema;
  ReadText(root["schema"], schema);
  if (schema != "dossier.models/1") FailAt(root, "schema: dossier.models/1 is wanted");
  if (const YamlPlace map = root["providers"]) {
    if (!map.is_map()) FailAt(map, "providers is a map of names");
    for (const YamlEntry& item : map->entries) {
      ReadProvider(item.key, item.value, data.providers);
    }
  }
  if (const YamlPlace list = root["models"]) {
    if (!list.is_list()) FailAt(list, "models is a list");
    for (const YamlNode& node : list->items) ReadEntry(node, data);
  }
}

// Returns the billions of parameters in a name: 1.5 in "Qwen2.5-Coder-1.5B-Instruct".
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

std::optional<Entry> EntryByFamily(const CatalogData& data, std::string_view provider,
                                   std::string_view name) {
  const Entry* best = nullptr;
  for (const Entry& family : data.families) {
    const std::string_view start = std::string_view(family.name).substr(0, family.name.size() - 1);
    if (provider.empty() ? start.empty() : family.provider != provider) continue;
    if (!name.starts_with(start) || (best && best->name.size() >= family.name.size())) continue;
    best = &family;
  }
  if (!best) return std::nullopt;
  Entry entry = *best;
  entry.family = best->name;
  entry.name = std::string(name);
  // A family has large and small members.
  if (ConservativeEntry("", name).capability.profile == "small") entry.capability.profile = "small";
  // "gpt-4o*" also includes gpt-4o itself.
  entry.known = best->name.size() == name.size() + 1;
  return entry;
}

Status ReadCatalogFile(std::string_view text, std::string_view file, CatalogData* data) {
  return ReadYamlFile(text, file, [&](const YamlPlace& root) { ReadAll(root, *data); });
}

namespace {

// Users' files may list every model of a provider.
constexpr std::size_t kMaxBytes = 16 << 20;
constexpr std::size_t kMaxNodes = 1'000'000;

double Number(const YamlPlace& node, double least, double most) {
  const Json value = ToJsonValue(*node);
  if (!value.is_number()) FailAt(node, "a number is wanted");
  const double number = value.to_number<double>();
  if (!(number >= least && number <= most)) {
    FailAt(node, fmt::format("a number from {:g} to {:g} is wanted", least, most));
  }
  return number;
}

// Reads one value or a list of them.
template <typename Read>
void ReadList(const YamlPlace& node, Read read) {
  if (!node.is_list()) return read(node);
  for (const YamlNode& item : node->items) read(item);
}

}  // namespace

YamlPlace YamlPlace::operator[](std::string_view key) const {
  YamlPlace found;
  for (const YamlEntry& entry : node_->entries) {
    if (entry.key == key) found.node_ = &entry.value;
  }
  return found;
}

Status ReadYamlFile(std::string_view text, std::string_view file,
                    const std::function<void(const YamlPlace& root)>& read) {
  DOSSIER_ASSIGN_OR_RETURN(
      const YamlNode root,
      assembly::ReadYaml(text, file, {.max_bytes = kMaxBytes, .max_nodes = kMaxNodes}));
  return ReadYamlTree(root, file, read);
}

Status ReadYamlTree(const YamlNode& root, std::string_view file,
                    const std::function<void(const YamlPlace& root)>& read) {
  try {
    read(root);
    return {};
  } catch (const Misplaced& mistake) {
    if (mistake.line == 0) return MakeError(ErrorCode::kConfig, "{}: {}", file, mistake.reason);
    return tl::unexpected(PlaceError(file, mistake.line, mistake.column, mistake.reason));
  }
}

void FailAt(const YamlPlace& node, const std::string& reason) {
  throw Misplaced{node->line, node->column, reason};
}

void CheckKeys(const YamlPlace& node, Names known) {
  if (!node.is_map()) FailAt(node, "a map is wanted here");
  for (const YamlEntry& entry : node->entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    const std::vector<std::string> near =
        NearestNames(entry.key, std::vector<std::string>(known.begin(), known.end()), 1);
    throw Misplaced{entry.line, entry.column,
                    fmt::format("unknown key \"{}\"{}", entry.key,
                                near.empty() ? "" : "; did you mean \"" + near[0] + "\"?")};
  }
}

void ReadText(const YamlPlace& node, std::string& out) {
  if (!node) return;
  if (!node.is_scalar()) FailAt(node, "a text is wanted");
  out = node->scalar;
}

void ReadOneOf(const YamlPlace& node, Names allowed, std::string& out) {
  ReadOneOf(node, std::span(allowed.begin(), allowed.size()), out);
}

void ReadOneOf(const YamlPlace& node, std::span<const std::string_view> allowed, std::string& out) {
  if (!node) return;
  ReadText(node, out);
  if (std::find(allowed.begin(), allowed.end(), out) != allowed.end()) return;
  const std::vector<std::string> names(allowed.begin(), allowed.end());
  FailAt(node, "one of " + Join(names, ", ") + " is wanted");
}

void ReadFlag(const YamlPlace& node, bool& out) {
  if (!node) return;
  const Json value = ToJsonValue(*node);
  if (!value.is_bool()) FailAt(node, "true or false is wanted");
  out = value.as_bool();
}

void ReadCount(const YamlPlace& node, std::int64_t& out) {
  if (!node) return;
  const Json value = ToJsonValue(*node);
  if (!value.is_int64() || value.as_int64() <= 0) FailAt(node, "a whole number above 0 is wanted");
  out = value.as_int64();
}

void ReadCount(const YamlPlace& node, std::optional<std::int64_t>& out) {
  if (!node) return;
  std::int64_t value = 0;
  if (!node.is_null()) ReadCount(node, value);
  out = node.is_null() ? std::nullopt : std::optional(value);
}

void ReadNumber(const YamlPlace& node, double least, double most, double& out) {
  if (node) out = Number(node, least, most);
}

void ReadNumber(const YamlPlace& node, double least, double most, std::optional<double>& out) {
  if (!node) return;
  out = node.is_null() ? std::nullopt : std::optional(Number(node, least, most));
}

void ReadTexts(const YamlPlace& node, std::vector<std::string>& out) {
  if (!node) return;
  out.clear();
  ReadList(node, [&](const YamlPlace& item) { ReadText(item, out.emplace_back()); });
}

void ReadNumbers(const YamlPlace& node, double least, double most, std::vector<double>& out) {
  if (!node) return;
  out.clear();
  ReadList(node, [&](const YamlPlace& item) { out.push_back(Number(item, least, most)); });
}

// Only whole nano-dollars, so that sums are exact.
void ReadPrice(const YamlPlace& node, std::optional<std::int64_t>& out) {
  if (!node) return;
  if (node.is_null()) {
    out.reset();
    return;
  }
  const double nano = Number(node, 0, 1e9) * 1000.0;
  if (std::abs(nano - std::round(nano)) > 1e-6) {
    FailAt(node, "a price is dollars for a million tokens, in steps of 0.001");
  }
  out = std::llround(nano);
}

}  // namespace dossier::model
