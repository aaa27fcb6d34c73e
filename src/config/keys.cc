#include "config/keys.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "assembly/layout/yaml_fields.h"
#include "assembly/layout/yaml_table.h"
#include "base/net/url.h"
#include "base/text/ascii.h"
#include "base/text/nearest.h"
#include "base/text/parse.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

namespace dossier::config {
namespace {

using assembly::Into;

Status ReadAvailable(const Setting& setting, Config* config) {
  constexpr std::string_view kWanted = "a list of maps with command and description";
  if (setting.value.node.kind != YamlNode::Kind::kList) return setting.Wrong(kWanted);
  for (const YamlNode& item : setting.value.node.items) {
    DynamicCommands::Available available;
    // cllm's files may list plain commands, too.
    if (item.kind == YamlNode::Kind::kScalar) available.command = item.scalar;
    for (const YamlEntry& entry : item.entries) {
      if (entry.key == "command") available.command = entry.value.scalar;
      if (entry.key == "description") available.description = entry.value.scalar;
    }
    if (available.command.empty()) return setting.Wrong(kWanted);
    config->dynamic_commands.available.push_back(std::move(available));
  }
  return {};
}

Status ReadParams(const Setting& setting, Config* config) {
  if (!setting.value.is_map()) return setting.Wrong("a map of parameters");
  const Json params = ToJsonValue(setting.value);
  for (const auto& [name, value] : params.as_object()) config->params[name] = value;
  return {};
}

bool IsVariableName(std::string_view name) {
  return !name.empty() && !IsDigit(name[0]) && std::ranges::all_of(name, IsWordByte);
}

Status ReadDeclaredVariables(const Setting& setting, Config* config) {
  if (!setting.value.is_map()) return setting.Wrong("a map of names to defaults");
  for (const MapEntry& entry : setting.value.entries) {
    if (!IsVariableName(entry.key)) {
      return MakeError(ErrorCode::kConfig,
                       "{}: variables: '{}' is no name; use letters, digits and _",
                       entry.value.origin.Place(), entry.key);
    }
    Variable variable{.name = entry.key};
    if (!entry.value.is_null()) variable.value = ToJsonValue(entry.value);
    config->variables.push_back(std::move(variable));
  }
  return {};
}

Status ReadSchema(const Setting& setting, Config* config) {
  if (setting.value.is_map()) {
    config->json_schema = ToJsonValue(setting.value);
    return {};
  }
  auto parsed = ParseJson(setting.value.node.scalar);
  if (!parsed || !parsed->is_object()) return setting.Wrong("a JSON schema: a map, or its text");
  config->json_schema = std::move(*parsed);
  return {};
}

Status ReadList(const Setting& setting, ConfigSection* out) {
  if (setting.value.node.kind != YamlNode::Kind::kList) return setting.Wrong("a list");
  return ReadSection(setting, out);
}

Status ReadNamedSection(const Setting& setting, Config* config) {
  return ReadSection(setting, &config->sections[std::string(setting.key)]);
}

Status ReadHistory(const Setting& setting, DynamicCommands::History* out) {
  using History = DynamicCommands::History;
  return ReadChoice<History>(setting, {{"answer", History::kAnswer}, {"full", History::kFull}},
                             out);
}

Status ReadMode(const Setting& setting, CompactionSettings::Mode* out) {
  using Mode = CompactionSettings::Mode;
  return ReadChoice<Mode>(setting, {{"auto", Mode::kAuto}, {"off", Mode::kOff}}, out);
}

template <std::int64_t kLeast>
Status ReadWholeFrom(const Setting& setting, std::int64_t* out) {
  return ReadWhole(setting, kLeast, out);
}

template <int kMost>
Status ReadNumberTo(const Setting& setting, double* out) {
  return ReadNumber(setting, 0, kMost, out);
}

constexpr Key kKeys[] = {
    {"model", Shape::kScalar, "text", "", Power::kModel, "the model, as [PROVIDER/]NAME",
     Into<ReadText, &Config::model>},
    {"temperature", Shape::kScalar, "number from 0 to 2", "", Power::kNone,
     "of the model's replies", Into<ReadNumberTo<2>, &Config::temperature>},
    {"max_tokens", Shape::kScalar, "whole number from 1 up", "", Power::kNone,
     "tokens of one reply", Into<ReadWholeFrom<1>, &Config::max_tokens>},
    {"stream", Shape::kScalar, "true or false", "", Power::kNone,
     "show replies as they come (default: on a terminal)", Into<ReadFlag, &Config::stream>},
    {"raw_response", Shape::kScalar, "true or false", "false", Power::kNone,
     "print the provider's JSON", Into<ReadFlag, &Config::raw_response>},
    {"debug", Shape::kScalar, "true or false", "false", Power::kNone, "as -v on every command",
     Into<ReadFlag, &Config::debug>},
    {"json_logs", Shape::kScalar, "true or false", "false", Power::kNone,
     "lines of the log file as JSON", Into<ReadFlag, &Config::json_logs>},
    {"log_file", Shape::kScalar, "path", "", Power::kAlways, "messages are appended there, too",
     Into<ReadPath, &Config::log_file>},
    {"default_system_message", Shape::kScalar, "text", "", Power::kAlways,
     "system text of new conversations; empty: none",
     Into<ReadText, &Config::default_system_message>},
    {"conversations_path", Shape::kScalar, "path", "", Power::kAlways,
     "folder of the conversations", Into<ReadPath, &Config::conversations_path>},
    {"params", Shape::kOpenMap, "map", "", Power::kParams,
     "sent to the provider as they are: top_p, seed, stop …", ReadParams},
    {"api_base", Shape::kScalar, "URL", "", Power::kAlways, "address of the provider",
     Into<ReadText, &Config::access, &ProviderAccess::api_base>},
    {"extra_headers", Shape::kOpenMap, "map of texts", "", Power::kAlways,
     "headers of every request",
     Into<ReadHeaders, &Config::access, &ProviderAccess::extra_headers>},
    {"key_env", Shape::kScalar, "name of a variable", "", Power::kAlways,
     "variable that holds the key", Into<ReadText, &Config::access, &ProviderAccess::key_env>},
    {"key_file", Shape::kScalar, "path", "", Power::kAlways, "file that holds the key, mode 0600",
     Into<ReadPath, &Config::access, &ProviderAccess::key_file>},
    {"key_cmd", Shape::kYaml, "program and arguments", "", Power::kAlways,
     "program whose first line of output is the key",
     Into<ReadArgv, &Config::access, &ProviderAccess::key_cmd>},
    {"json_schema", Shape::kYaml, "map or text", "", Power::kAlways, "schema of the reply",
     ReadSchema},
    {"json_schema_file", Shape::kScalar, "path or URL", "", Power::kAlways, "schema of the reply",
     Into<ReadPathOrUrl, &Config::json_schema_file>},
    {"variables", Shape::kOpenMap, "map of names to defaults", "", Power::kAlways,
     "of command templates; null: required", ReadDeclaredVariables},
    {"context_commands", Shape::kYaml, "list", "", Power::kAlways,
     "commands whose output stands in the prompt", Into<ReadList, &Config::context_commands>},
    {"context_max_tokens", Shape::kScalar, "whole number from 1 up", "", Power::kNone,
     "of all context (default: a quarter of the window)",
     Into<ReadWholeFrom<1>, &Config::context_max_tokens>},
    {"allow_dynamic_commands", Shape::kScalar, "true or false", "false", Power::kAlways,
     "the model may run commands",
     Into<ReadFlag, &Config::dynamic_commands, &DynamicCommands::allowed>},
    {"dynamic_commands.available_commands", Shape::kYaml, "list of {command, description}", "",
     Power::kAlways, "commands the model is told of", ReadAvailable},
    {"dynamic_commands.allow", Shape::kYaml, "list of rules", "", Power::kAlways,
     "commands that may run; replaces the built-in list",
     Into<ReadTexts, &Config::dynamic_commands, &DynamicCommands::allow>},
    {"dynamic_commands.deny", Shape::kYaml, "list of rules", "", Power::kAlways,
     "commands that never run", Into<ReadTexts, &Config::dynamic_commands, &DynamicCommands::deny>},
    {"dynamic_commands.require_confirmation", Shape::kScalar, "true or false", "false",
     Power::kAlways, "ask before each command",
     Into<ReadFlag, &Config::dynamic_commands, &DynamicCommands::require_confirmation>},
    {"dynamic_commands.timeout", Shape::kScalar, "time", "30", Power::kAlways, "of one command",
     Into<ReadTime, &Config::dynamic_commands, &DynamicCommands::timeout>},
    {"dynamic_commands.max_commands", Shape::kScalar, "whole number from 1 up", "10",
     Power::kAlways, "of one turn",
     Into<ReadWholeFrom<1>, &Config::dynamic_commands, &DynamicCommands::max_commands>},
    {"dynamic_commands.max_refusals", Shape::kScalar, "whole number from 1 up", "5", Power::kAlways,
     "in a row", Into<ReadWholeFrom<1>, &Config::dynamic_commands, &DynamicCommands::max_refusals>},
    {"dynamic_commands.write", Shape::kScalar, "true or false", "false", Power::kAlways,
     "commands may write in the project",
     Into<ReadFlag, &Config::dynamic_commands, &DynamicCommands::write>},
    {"dynamic_commands.network", Shape::kScalar, "true or false", "false", Power::kAlways,
     "commands may use the network",
     Into<ReadFlag, &Config::dynamic_commands, &DynamicCommands::network>},
    {"dynamic_commands.history", Shape::kScalar, "answer or full", "answer", Power::kAlways,
     "what is stored of a turn with commands",
     Into<ReadHistory, &Config::dynamic_commands, &DynamicCommands::history>},
    {"dynamic_commands.max_output", Shape::kScalar, "whole number from 1 up", "16384",
     Power::kAlways, "bytes of one command's output that the model gets",
     Into<ReadWholeFrom<1>, &Config::dynamic_commands, &DynamicCommands::max_output>},
    {"compaction.mode", Shape::kScalar, "auto or off", "auto", Power::kNone,
     "whether old turns are shortened in requests",
     Into<ReadMode, &Config::compaction, &CompactionSettings::mode>},
    {"compaction.soft_tokens", Shape::kScalar, "whole number from 1 up", "32000", Power::kNone,
     "of history, above which shortening may pay",
     Into<ReadWholeFrom<1>, &Config::compaction, &CompactionSettings::soft_tokens>},
    {"compaction.hard_tokens", Shape::kScalar, "whole number from 1 up", "96000", Power::kNone,
     "of history, above which it must happen",
     Into<ReadWholeFrom<1>, &Config::compaction, &CompactionSettings::hard_tokens>},
    {"compaction.keep_turns", Shape::kScalar, "whole number from 0 up", "2", Power::kNone,
     "newest turns that stay as they are",
     Into<ReadWholeFrom<0>, &Config::compaction, &CompactionSettings::keep_turns>},
    {"compaction.summary_tokens", Shape::kScalar, "whole number from 1 up", "1500", Power::kNone,
     "of a summary",
     Into<ReadWholeFrom<1>, &Config::compaction, &CompactionSettings::summary_tokens>},
    {"compaction.horizon", Shape::kScalar, "whole number from 1 up", "10", Power::kNone,
     "turns over which it must pay",
     Into<ReadWholeFrom<1>, &Config::compaction, &CompactionSettings::horizon>},
    {"compaction.min_gain", Shape::kScalar, "number from 0 to 1", "0.25", Power::kNone,
     "least share of the history saved",
     Into<ReadNumberTo<1>, &Config::compaction, &CompactionSettings::min_gain>},
    {"compaction.model", Shape::kScalar, "text", "", Power::kModel,
     "writes the summaries (default: the conversation's)",
     Into<ReadText, &Config::compaction, &CompactionSettings::model>},
    {"store.limit", Shape::kScalar, "size", "2G", Power::kAlways,
     "of the folder of the runs; above it the oldest runs are removed",
     Into<ReadSize, &Config::store, &JournalSpace::limit>},
    {"store.copy_limit", Shape::kScalar, "size", "64M", Power::kAlways,
     "a larger context is named by path and hash in its run, not copied",
     Into<ReadSize, &Config::store, &JournalSpace::copy_limit>},
    {"limits.window", Shape::kScalar, "time", "", Power::kAlways,
     "within which all runs together keep to the other limits",
     Into<ReadTime, &Config::limits, &SpendingLimits::window>},
    {"limits.calls", Shape::kScalar, "whole number from 1 up", "", Power::kAlways,
     "requests to models within the window",
     Into<ReadWholeFrom<1>, &Config::limits, &SpendingLimits::calls>},
    {"limits.tokens", Shape::kScalar, "whole number from 1 up", "", Power::kAlways,
     "tokens in and out within the window",
     Into<ReadWholeFrom<1>, &Config::limits, &SpendingLimits::tokens>},
    {"limits.usd", Shape::kScalar, "number from 0 to 1000000", "", Power::kAlways,
     "US dollars within the window",
     Into<ReadNumberTo<1'000'000>, &Config::limits, &SpendingLimits::usd>},
    {"ask", Shape::kSection, "map", "", Power::kNone, "defaults of `ask`", ReadNamedSection},
    {"header", Shape::kSection, "map", "", Power::kNone, "the repository header", ReadNamedSection},
    {"agents", Shape::kSection, "map", "", Power::kAgents, "engineer and reviewer work",
     ReadNamedSection},
    {"memory", Shape::kSection, "map", "", Power::kAlways, "stores and branches", ReadNamedSection},
    {"research", Shape::kSection, "map", "", Power::kAlways, "staged runs", ReadNamedSection},
    {"mcp_servers", Shape::kSection, "map", "", Power::kAlways, "tool servers of others, by name",
     ReadNamedSection},
    {"models", Shape::kSection, "map", "", Power::kAlways,
     "aliases, data files, keys by provider (the user's own file only)",
     Into<ReadSection, &Config::models>},
    {"local", Shape::kSection, "map", "", Power::kAlways,
     "the local server (the user's own file only)", Into<ReadSection, &Config::local>},
};

// Words of users who know the flag, or the term of another tool.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"command_allow", "dynamic_commands.allow"},
    {"command_deny", "dynamic_commands.deny"},
    {"confirm_commands", "dynamic_commands.require_confirmation"},
    {"available_commands", "dynamic_commands.available_commands"},
    {"system", "default_system_message"},
    {"system_message", "default_system_message"},
    {"base_url", "api_base"},
    {"schema", "json_schema"},
};

bool IsPrefixOfKey(std::string_view name) {
  return std::any_of(std::begin(kKeys), std::end(kKeys), [&](const Key& key) {
    return key.name.starts_with(name) && key.name.substr(name.size()).starts_with('.');
  });
}

std::string Shown(const Setting& setting) {
  if (setting.value.is_map()) return "a map";
  if (setting.value.node.kind == YamlNode::Kind::kList) return "a list";
  if (IsSecret(setting.key)) return "***";
  const std::string_view text = setting.value.node.scalar;
  constexpr std::size_t kMost = 60;  // bytes
  if (text.size() <= kMost) return fmt::format("\"{}\"", text);
  return fmt::format("\"{}...\"", text.substr(0, utf8::FloorBoundary(text, kMost - 3)));
}

// Walks the tree along the table; collects what the table does not know.
class Reader {
 public:
  Reader(const std::string& folder, Config* config) : folder_(folder), config_(config) {}

  Status Read(const Value& map, const std::string& prefix) {
    for (const MapEntry& entry : map.entries) {
      const std::string name = prefix + entry.key;
      const auto key = std::find_if(std::begin(kKeys), std::end(kKeys),
                                    [&](const Key& row) { return row.name == name; });
      if (key != std::end(kKeys)) {
        if (entry.value.is_null()) continue;  // null is "not set"
        DOSSIER_RETURN_IF_ERROR(key->read(SettingOf(key->name, entry.value), config_));
      } else if (prefix.empty() && IsPrefixOfKey(name)) {
        if (entry.value.is_null()) continue;
        if (!entry.value.is_map()) return SettingOf(name, entry.value).Wrong("a map");
        DOSSIER_RETURN_IF_ERROR(Read(entry.value, name + "."));
      } else {
        Unknown(name, entry.value);
      }
    }
    return {};
  }

 private:
  Setting SettingOf(std::string_view name, const Value& value) const {
    const bool in_file =
        value.origin.kind == Origin::Kind::kFile && config_->mode == CompatMode::kDefault;
    return {name, value,
            in_file ? std::filesystem::path(value.origin.name).parent_path().string() : folder_,
            config_->user.home};
  }

  void Unknown(const std::string& name, const Value& value) {
    if (config_->mode == CompatMode::kCompat && name.find('.') == std::string::npos) {
      if (!value.is_null()) config_->params[name] = ToJsonValue(value);
      return;
    }
    config_->warnings.push_back(fmt::format("{}: unknown key '{}' ignored{}", value.origin.ToText(),
                                            name, NearestKey(name)));
  }

  const std::string& folder_;
  Config* config_;
};

void MarkAsVariable(const std::string& name, Value* value) {
  value->origin = {Origin::Kind::kVariable, name};
  for (MapEntry& entry : value->entries) MarkAsVariable(name, &entry.value);
}

Result<Value> ValueOfVariable(const Key& key, const std::string& name, std::string_view text) {
  if (key.shape == Shape::kScalar) return FromText(text, {Origin::Kind::kVariable, name});
  DOSSIER_ASSIGN_OR_RETURN(YamlNode node, assembly::ReadYaml(text, "$" + name));
  Value value = FromYaml(std::move(node), name);
  MarkAsVariable(name, &value);
  return value;
}

}  // namespace

tl::unexpected<Error> Setting::Wrong(std::string_view wanted) const {
  return MakeError(ErrorCode::kConfig, "{}: {} is {}; it must be {}", value.origin.Place(), key,
                   Shown(*this), wanted);
}

std::span<const Key> Keys() { return kKeys; }

const Key* FindKey(std::string_view name) {
  for (const Key& key : kKeys) {
    if (key.name == name) return &key;
    if (key.shape != Shape::kScalar && name.starts_with(key.name) &&
        name.substr(key.name.size()).starts_with('.')) {
      return &key;
    }
  }
  return nullptr;
}

std::string NearestKey(std::string_view name) {
  for (const auto& [other, key] : kOtherNames) {
    if (other == name) return fmt::format("; did you mean {}?", key);
  }
  std::vector<std::string> names;
  for (const Key& key : kKeys) names.emplace_back(key.name);
  return DidYouMean(name, names);
}

std::string VariableOf(const Key& key) {
  std::string name = "DOSSIER_";
  for (const char c : key.name) {
    name += c == '.' ? '_' : (IsLower(c) ? static_cast<char>(c - 'a' + 'A') : c);
  }
  return name;
}

Result<Value> ReadVariables(const Variables& variables) {
  Value layer = MakeMap({Origin::Kind::kVariable, "environment"});
  for (const Key& key : kKeys) {
    if (key.shape == Shape::kSection) continue;  // DOSSIER_MEMORY is a path, and so on
    const std::string name = VariableOf(key);
    if (const auto text = Lookup(variables, name)) {
      DOSSIER_ASSIGN_OR_RETURN(Value value, ValueOfVariable(key, name, *text));
      Set(key.name, std::move(value), &layer);
    }
  }
  // DOSSIER_PARAMS_TOP_P: parameters are named in lower case by every provider.
  constexpr std::string_view kParams = "DOSSIER_PARAMS_";
  for (auto at = variables.lower_bound(kParams);
       at != variables.end() && at->first.starts_with(kParams); ++at) {
    if (at->second.empty() || at->first.size() == kParams.size()) continue;
    Set("params." + ToLowerAscii(at->first.substr(kParams.size())),
        FromText(at->second, {Origin::Kind::kVariable, at->first}), &layer);
  }
  return layer;
}

bool IsAccessName(std::string_view name) {
  constexpr std::string_view kParts[] = {"base",     "endpoint", "url",         "host", "proxy",
                                         "key",      "secret",   "header",      "auth", "password",
                                         "api_type", "cert",     "organization"};
  const std::string lower = ToLowerAscii(name);
  if (lower == "token" || lower.ends_with("_token")) return true;
  return std::any_of(std::begin(kParts), std::end(kParts),
                     [&](std::string_view part) { return lower.find(part) != std::string::npos; });
}

bool IsSecret(std::string_view name) {
  if (name.starts_with("extra_headers")) return true;
  constexpr std::string_view kParams = "params.";
  return name.starts_with(kParams) && IsAccessName(name.substr(kParams.size()));
}

Status ReadKeys(const std::string& working_folder, Config* config) {
  return Reader(working_folder, config).Read(config->expanded, "");
}

Origin Config::OriginOf(std::string_view key) const {
  const Value* value = raw.Find(key);
  return value ? value->origin : Origin();
}

namespace {

bool IsScalar(const Setting& setting) { return setting.value.node.kind == YamlNode::Kind::kScalar; }

bool IsHeaderText(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  }
  return true;
}

}  // namespace

Status ReadText(const Setting& setting, std::string* out) {
  if (!IsScalar(setting)) return setting.Wrong("a text");
  *out = setting.value.node.scalar;
  return {};
}

Status ReadPath(const Setting& setting, std::string* out) {
  if (!IsScalar(setting)) return setting.Wrong("a path");
  *out = ResolvePath(setting.value.node.scalar, setting.folder, setting.home);
  return {};
}

Status ReadPathOrUrl(const Setting& setting, std::string* out) {
  return IsWebAddress(setting.value.node.scalar) ? ReadText(setting, out) : ReadPath(setting, out);
}

Status ReadFlag(const Setting& setting, bool* out) {
  const std::string word = IsScalar(setting) ? ToLowerAscii(setting.value.node.scalar) : "";
  *out = word == "true" || word == "yes" || word == "on" || word == "1";
  if (*out || word == "false" || word == "no" || word == "off" || word == "0") return {};
  return setting.Wrong("true or false");
}

Status ReadWhole(const Setting& setting, std::int64_t least, std::int64_t* out) {
  const auto number = ExactNumber<std::int64_t>(setting.value.node.scalar);
  if (!IsScalar(setting) || !number || *number < least) {
    return setting.Wrong(fmt::format("a whole number from {} up", least));
  }
  *out = *number;
  return {};
}

Status ReadNumber(const Setting& setting, double low, double high, double* out) {
  const auto number = ExactNumber<double>(setting.value.node.scalar);
  if (!IsScalar(setting) || !number || !(*number >= low && *number <= high)) {
    return setting.Wrong(fmt::format("a number from {} to {}", low, high));
  }
  *out = *number;
  return {};
}

Status ReadTime(const Setting& setting, Millis* out) {
  const auto time = ParseDuration(IsScalar(setting) ? setting.value.node.scalar : "");
  if (!time || time->count() <= 0) return setting.Wrong("a time above 0, such as 30, 500ms or 2m");
  *out = *time;
  return {};
}

Status ReadSize(const Setting& setting, std::uint64_t* out) {
  const auto bytes = ParseSize(IsScalar(setting) ? setting.value.node.scalar : "");
  if (!bytes) return setting.Wrong("a size, such as 500M or 2G");
  *out = *bytes;
  return {};
}

Status ReadTexts(const Setting& setting, std::vector<std::string>* out) {
  if (setting.value.node.kind != YamlNode::Kind::kList) return setting.Wrong("a list of texts");
  out->clear();
  for (const YamlNode& item : setting.value.node.items) {
    if (item.kind != YamlNode::Kind::kScalar) return setting.Wrong("a list of texts");
    out->push_back(item.scalar);
  }
  return {};
}

Status ReadArgv(const Setting& setting, std::vector<std::string>* out) {
  constexpr std::string_view kWanted = "a program and its arguments";
  if (IsScalar(setting)) {
    out->clear();
    for (const std::string_view word : Split(setting.value.node.scalar, ' ')) {
      if (!TrimSpace(word).empty()) out->emplace_back(TrimSpace(word));
    }
  } else {
    DOSSIER_RETURN_IF_ERROR(ReadTexts(setting, out));
  }
  if (out->empty()) return setting.Wrong(kWanted);
  return {};
}

Status ReadHeaders(const Setting& setting, std::map<std::string, std::string>* out) {
  constexpr std::string_view kWanted = "a map of header names to texts of one line";
  if (!setting.value.is_map()) return setting.Wrong(kWanted);
  for (const MapEntry& entry : setting.value.entries) {
    if (entry.value.is_null()) continue;
    const bool good = entry.value.node.kind == YamlNode::Kind::kScalar && !entry.key.empty() &&
                      IsHeaderText(entry.key) && entry.key.find(':') == std::string::npos &&
                      IsHeaderText(entry.value.node.scalar);
    if (!good) return setting.Wrong(kWanted);
    (*out)[entry.key] = entry.value.node.scalar;
  }
  return {};
}

Status ReadSection(const Setting& setting, ConfigSection* out) {
  *out = ConfigSection{ToYaml(setting.value),
                       setting.value.origin.kind == Origin::Kind::kFile
                           ? setting.value.origin.name
                           : setting.value.origin.ToText(),
                       setting.folder};
  return {};
}

}  // namespace dossier::config
