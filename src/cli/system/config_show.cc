#include "cli/system/config_show.h"

#include <algorithm>

#include "base/files/file.h"
#include "base/files/git_folders.h"
#include "base/text/redact.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "config/edit.h"
#include "config/expand.h"
#include "config/keys.h"
#include "config/trust.h"
#include "store/prune.h"

namespace dossier::cli {
namespace {

using config::Value;

constexpr std::string_view kHidden = "***";

std::string Safe(std::string_view text) {
  return utf8::CleanForTerminal(utf8::Sanitize(Redact(text)));
}

// On one line, as it could stand in a file.
std::string FlowText(const YamlNode& node, const std::string& key) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "null";
    case YamlNode::Kind::kScalar:
      if (config::IsSecret(key)) return std::string(kHidden);
      if (node.style == YamlNode::Style::kPlain) return Safe(node.scalar);
      return Safe(config::QuoteScalar(node.scalar));
    case YamlNode::Kind::kList: {
      std::string out = "[";
      for (const YamlNode& item : node.items) {
        out += (out.size() > 1 ? ", " : "") + FlowText(item, key);
      }
      return out + "]";
    }
    case YamlNode::Kind::kMap: {
      std::string out = "{";
      for (const YamlEntry& entry : node.entries) {
        out += fmt::format("{}{}: {}", out.size() > 1 ? ", " : "", Safe(entry.key),
                           FlowText(entry.value, key + "." + entry.key));
      }
      return out + "}";
    }
  }
  return "";
}

Json Masked(const YamlNode& node, const std::string& key) {
  if (node.kind == YamlNode::Kind::kMap) {
    JsonObject map;
    for (const YamlEntry& entry : node.entries) {
      map[entry.key] = Masked(entry.value, key + "." + entry.key);
    }
    return map;
  }
  if (node.kind == YamlNode::Kind::kList) {
    JsonArray list;
    for (const YamlNode& item : node.items) list.push_back(Masked(item, key));
    return list;
  }
  if (node.kind == YamlNode::Kind::kScalar && config::IsSecret(key)) return Json(kHidden);
  Json value = ToJsonValue(node);
  if (const auto* text = value.if_string()) return Json(Redact(std::string_view(*text)));
  return value;
}

// Calls `visit` for every value that has one origin, with its dotted name.
template <typename Visit>
void ForEachValue(const Value& map, const std::string& prefix, const Visit& visit) {
  for (const config::Entry& entry : map.entries) {
    const std::string name = prefix + entry.key;
    if (entry.value.is_map() && !entry.value.entries.empty()) {
      ForEachValue(entry.value, name + ".", visit);
    } else {
      visit(name, entry.value);
    }
  }
}

void ShowAsYaml(const Value& map, const std::string& prefix, const std::string& indent,
                const ConfigArguments& arguments, std::ostream& out) {
  for (const config::Entry& entry : map.entries) {
    const std::string name = prefix + entry.key;
    out << indent << Safe(entry.key) << ":";
    if (entry.value.is_map() && !entry.value.entries.empty()) {
      out << "\n";
      ShowAsYaml(entry.value, name + ".", indent + "  ", arguments, out);
      continue;
    }
    out << " " << FlowText(config::ToYaml(entry.value), name);
    if (arguments.origin) out << "  # " << Safe(entry.value.origin.ToText());
    out << "\n";
  }
}

void ShowDefaults(const config::Config& config, std::ostream& out) {
  for (const config::Key& key : config::Keys()) {
    if (key.fallback.empty() || config.raw.Find(key.name)) continue;
    out << fmt::format("# {}: {}  # default\n", key.name, key.fallback);
  }
}

Json AllAsJson(const config::Config& config) {
  JsonArray files, values, warnings;
  for (const std::string& file : config.files) files.push_back(Json(file));
  for (const std::string& warning : config.warnings) warnings.push_back(Json(warning));
  ForEachValue(config.raw, "", [&](const std::string& name, const Value& value) {
    values.push_back(JsonObject{{"key", name},
                                {"value", Masked(config::ToYaml(value), name)},
                                {"origin", value.origin.ToText()}});
  });
  for (const config::Key& key : config::Keys()) {
    if (key.fallback.empty() || config.raw.Find(key.name)) continue;
    values.push_back(JsonObject{{"key", key.name},
                                {"value", config::ToJsonValue(config::FromText(key.fallback, {}))},
                                {"origin", "default"}});
  }
  return JsonObject{{"schema", "dossier.config/1"},
                    {"files", std::move(files)},
                    {"values", std::move(values)},
                    {"warnings", std::move(warnings)}};
}

}  // namespace

Status CheckKey(const std::string& key) {
  if (config::FindKey(key)) return {};
  for (const config::Key& known : config::Keys()) {
    if (known.name.starts_with(key + ".")) return {};
  }
  return MakeError(ErrorCode::kUsage, "unknown key '{}'{}", key, config::NearestKey(key));
}

void ShowConfig(const config::Config& config, const ConfigArguments& arguments, std::ostream& out) {
  if (arguments.json) {
    out << ToPrettyJson(AllAsJson(config)) << "\n";
    return;
  }
  ShowAsYaml(config.raw, "", "", arguments, out);
  if (arguments.origin) ShowDefaults(config, out);
}

Status GetKey(const config::Config& config, const ConfigArguments& arguments, std::ostream& out) {
  DOSSIER_RETURN_IF_ERROR(CheckKey(arguments.key));
  const Value* value = config.raw.Find(arguments.key);
  const config::Key* key = config::FindKey(arguments.key);
  Value fallback;
  if (!value && key && key->name == arguments.key && !key->fallback.empty()) {
    fallback = config::FromText(key->fallback, {});
    value = &fallback;
  }
  if (!value) {
    return MakeError(ErrorCode::kNotFound, "{} is not set", arguments.key);
  }
  const YamlNode node = config::ToYaml(*value);
  if (arguments.json) {
    out << ToJson(JsonObject{{"schema", "dossier.config/1"},
                             {"key", arguments.key},
                             {"value", Masked(node, arguments.key)},
                             {"origin", value->origin.ToText()}})
        << "\n";
  } else if (node.kind == YamlNode::Kind::kScalar && !config::IsSecret(arguments.key)) {
    out << Safe(node.scalar) << "\n";
  } else {
    out << FlowText(node, arguments.key) << "\n";
  }
  return {};
}

// What grows by itself; the repository is the user's own.
bool HasSize(std::string_view name) {
  constexpr std::string_view kNames[] = {"data",  "runs",  "conversations",
                                         "cache", "state", "repository_state"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

void ShowPaths(const config::Config& config, const PathsArguments& arguments, std::ostream& out) {
  const config::UserFolders& user = config.user;
  const config::TrustStore trust(user.state, SystemClock());
  std::vector<std::pair<std::string, std::string>> rows = {
      {"config", user.config},         {"config_file", user.config_file()},
      {"keys", user.config + "/keys"}, {"data", user.data},
      {"runs", user.data + "/runs"},   {"conversations", config.conversations.path},
      {"cache", user.cache},           {"state", user.state},
      {"trust_file", trust.file()},
  };
  if (const auto git = FindGitFolders(".")) {
    rows.emplace_back("repository", git->root);
    rows.emplace_back("repository_state", git->common + "/dossier");
  }
  if (arguments.json) {
    JsonObject paths{{"schema", "dossier.paths/1"}};
    JsonObject sizes;
    for (const auto& [name, path] : rows) {
      paths[name] = path;
      if (HasSize(name) && Exists(path)) sizes[name] = store::BytesBelow(path);
    }
    paths["sizes"] = std::move(sizes);
    JsonArray files;
    for (const std::string& file : config.files) files.push_back(Json(file));
    paths["config_files"] = std::move(files);
    out << ToPrettyJson(paths) << "\n";
    return;
  }
  for (const auto& [name, path] : rows) {
    std::string state = Exists(path) ? "" : "  (not there yet)";
    if (state.empty() && HasSize(name)) {
      state = fmt::format("  ({})", FormatSize(store::BytesBelow(path)));
    }
    out << fmt::format("{:<18}{}{}\n", name, Safe(path), state);
  }
}

}  // namespace dossier::cli
