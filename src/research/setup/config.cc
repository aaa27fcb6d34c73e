#include "research/setup/config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "assembly/layout/template_scan.h"
#include "base/hash.h"
#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/yaml/yaml.h"
#include "config/edit.h"
#include "config/keys.h"
#include "research/setup/config_keys.h"

namespace dossier::research {
namespace {

using config::MakeMap;
using config::Origin;
using config::Setting;
using config::Value;

constexpr std::pair<std::string_view, double> kTemperatures[] = {
    {"code", 1.0},   {"feedback", 0.5}, {"vlm", 0.5},   {"summary", 0.3}, {"select", 0.3},
    {"report", 1.0}, {"cite", 1.0},     {"write", 1.0}, {"review", 0.75}, {"memory", 0.3},
};

RunConfig Defaults() {
  RunConfig config;
  for (const auto& [role, temperature] : kTemperatures) {
    config.roles[std::string(role)].temperature = temperature;
  }
  return config;
}

// Returns true if a sandbox can show a folder there: system folders are excluded.
bool IsMount(const std::string& mount) {
  constexpr std::string_view kSystem[] = {"usr", "bin", "sbin", "lib", "lib32", "lib64",
                                          "etc", "dev", "proc", "sys", "boot"};
  const bool plain = mount == std::filesystem::path(mount).lexically_normal() &&
                     mount.find_first_of(":,\n") == std::string::npos;
  if (!mount.starts_with('/') || mount.ends_with('/') || !plain) return false;
  const std::string_view first = std::string_view(mount).substr(1, mount.find('/', 1) - 1);
  return std::ranges::find(kSystem, first) == std::end(kSystem);
}

// Reads one value into its field.
struct Reader {
  const ConfigKey& key;
  const Setting& setting;

  Status operator()(bool* out) const { return config::ReadFlag(setting, out); }

  Status operator()(std::int64_t* out) const {
    if (key.form != ConfigKey::Form::kSize) return Whole(out);
    const auto size = ParseSize(setting.value.node.scalar);
    if (!size || static_cast<double>(*size) < key.low || *size > 1ull << 62) {
      return setting.Wrong("a size such as 512M or 4G");
    }
    *out = static_cast<std::int64_t>(*size);
    return {};
  }

  Status operator()(int* out) const {
    constexpr int kMost = std::numeric_limits<int>::max();
    std::int64_t number = 0;
    DOSSIER_RETURN_IF_ERROR(Whole(&number));
    if (number > kMost) return setting.Wrong(fmt::format("a whole number up to {}", kMost));
    *out = static_cast<int>(number);
    return {};
  }

  Status operator()(double* out) const {
    return config::ReadNumber(setting, key.low, key.high, out);
  }

  Status operator()(std::string* out) const {
    if (IsNone()) {
      out->clear();
      return {};
    }
    if (key.form == ConfigKey::Form::kPath) return config::ReadPath(setting, out);
    if (key.words.empty()) {
      DOSSIER_RETURN_IF_ERROR(config::ReadText(setting, out));
      if (key.form == ConfigKey::Form::kMount && !IsMount(*out)) {
        return setting.Wrong("an absolute folder such as /workspace, outside of system folders");
      }
      if (key.form == ConfigKey::Form::kName &&
          (out->find('/') != std::string::npos || out->starts_with('.'))) {
        return setting.Wrong("the name of a file, without folders");
      }
      return {};
    }
    std::size_t word = 0;
    DOSSIER_RETURN_IF_ERROR(Word(&word));
    *out = key.words[word];
    return {};
  }

  Status operator()(std::vector<std::string>* out) const { return config::ReadTexts(setting, out); }

  Status operator()(std::map<std::string, std::string>* out) const {
    if (!setting.value.is_map()) return setting.Wrong("a map of names to texts");
    for (const config::MapEntry& entry : setting.value.entries) {
      const std::string name = fmt::format("{}.{}", setting.key, entry.key);
      const Setting one{name, entry.value, "", ""};
      if (entry.value.is_null()) {
        return one.Wrong("a text, as in {NAME: VALUE} with a blank after the colon");
      }
      DOSSIER_RETURN_IF_ERROR(config::ReadText(one, &(*out)[entry.key]));
    }
    return {};
  }

  template <typename T>
  Status operator()(std::optional<T>* out) const {
    out->reset();
    if (setting.value.is_null() || setting.value.node.scalar == "none") return {};
    return (*this)(&out->emplace());
  }

  template <typename Enum>
    requires std::is_enum_v<Enum>
  Status operator()(Enum* out) const {
    std::size_t word = 0;
    DOSSIER_RETURN_IF_ERROR(Word(&word));
    *out = static_cast<Enum>(word);
    return {};
  }

 private:
  // An unquoted "none" is the way to write the default of a text that is empty.
  bool IsNone() const {
    return key.words.empty() && setting.value.node.scalar == "none" &&
           setting.value.node.style == YamlNode::Style::kPlain;
  }

  Status Whole(std::int64_t* out) const {
    DOSSIER_RETURN_IF_ERROR(config::ReadWhole(setting, static_cast<std::int64_t>(key.low), out));
    if (static_cast<double>(*out) <= key.high) return {};
    return setting.Wrong(fmt::format("a whole number from {} to {}", key.low, key.high));
  }

  Status Word(std::size_t* out) const {
    const auto found = std::find(key.words.begin(), key.words.end(), setting.value.node.scalar);
    if (setting.value.node.kind != YamlNode::Kind::kScalar || found == key.words.end()) {
      return setting.Wrong(
          Join(std::vector<std::string>(key.words.begin(), key.words.end()), " or "));
    }
    *out = static_cast<std::size_t>(found - key.words.begin());
    return {};
  }
};

struct Writer {
  const ConfigKey& key;

  Json operator()(const std::vector<std::string>* list) const {
    return JsonArray(list->begin(), list->end());
  }
  Json operator()(const std::map<std::string, std::string>* map) const {
    JsonObject out;
    for (const auto& [name, text] : *map) out[name] = text;
    return out;
  }
  Json operator()(const std::string* text) const {
    return text->empty() ? Json(nullptr) : Json(*text);
  }
  template <typename T>
  Json operator()(const std::optional<T>* value) const {
    return *value ? Json(**value) : Json(nullptr);
  }
  template <typename T>
  Json operator()(const T* value) const {
    if constexpr (std::is_enum_v<T>) {
      return Json(key.words[static_cast<std::size_t>(*value)]);
    } else {
      return Json(*value);
    }
  }
};

bool IsOptional(const Target& target) {
  return std::visit(
      [](auto* place) {
        using T = std::remove_pointer_t<decltype(place)>;
        return std::is_same_v<T, std::optional<int>> || std::is_same_v<T, std::optional<double>> ||
               std::is_same_v<T, std::optional<std::int64_t>>;
      },
      target);
}

// Checks a key of section `memory`, which the store's table reads, or a budget of a call site.
Status CheckMemoryValue(const std::string& key, const std::string& path, const Value& value) {
  if (!IsStoreKey(key)) {
    std::int64_t number = 0;
    return config::ReadWhole({path, value, "", ""}, 0, &number);
  }
  YamlNode section;
  section.kind = YamlNode::Kind::kMap;
  section.entries.push_back({key, value.node.line, value.node.column, config::ToYaml(value)});
  return driver::ReadMemorySection(std::move(section), value.origin.name).map([](const auto&) {});
}

// Returns the base folder of relative paths in the file.
std::string FolderOf(const Origin& origin) {
  if (origin.kind != Origin::Kind::kFile) return "";
  const auto slash = origin.name.rfind('/');
  return slash == std::string::npos ? "" : origin.name.substr(0, slash);
}

class TreeReader {
 public:
  TreeReader(std::string_view flag_folder, RunConfig* out) : flag_folder_(flag_folder), out_(out) {}

  Status Read(const Value& value, const std::string& path) {
    if (const ConfigKey* key = FindKey(path)) return ReadKey(*key, value);
    const std::string below = path.empty() ? "" : path + ".";
    if (below == "memory." && value.is_null()) return {};
    if (!path.empty() && !IsSection(below)) {
      if (path.starts_with("memory.") && IsMemoryKey(path.substr(7))) {
        if (value.is_null()) return {};
        DOSSIER_RETURN_IF_ERROR(CheckMemoryValue(path.substr(7), path, value));
        out_->memory[path.substr(7)] = config::ToJsonValue(value);
        return {};
      }
      return Unknown(value, path);
    }
    if (value.is_null()) return {};
    if (!value.is_map()) {
      return MakeError(ErrorCode::kConfig, "{}: {} must be a map of keys", value.origin.Place(),
                       path.empty() ? "the configuration" : path);
    }
    for (const config::MapEntry& entry : value.entries) {
      DOSSIER_RETURN_IF_ERROR(Read(entry.value, below + entry.key));
    }
    return {};
  }

 private:
  static bool IsSection(std::string_view below) {
    return std::any_of(Keys().begin(), Keys().end(),
                       [&](const ConfigKey& key) { return key.name.starts_with(below); });
  }

  Status ReadKey(const ConfigKey& key, const Value& value) {
    const Target target = key.at(*out_);
    if (value.is_null() && !IsOptional(target)) return {};  // null keeps the default
    const bool from_file = value.origin.kind == Origin::Kind::kFile;
    const Setting setting{key.name, value, from_file ? FolderOf(value.origin) : flag_folder_, ""};
    return std::visit(Reader{key, setting}, target);
  }

  static Status Unknown(const Value& value, const std::string& path) {
    std::vector<std::string> known;
    for (const ConfigKey& key : Keys()) known.push_back(key.name);
    for (const std::string& key : MemoryKeys()) known.push_back("memory." + key);
    // For a key in the wrong section, suggests its full name rather than a similar one.
    const std::string last = path.substr(path.rfind('.') + 1);
    for (const std::string& name : known) {
      if (name.ends_with("." + last)) {
        return MakeError(ErrorCode::kConfig, "{}: unknown key {} ({}?)", value.origin.Place(), path,
                         name);
      }
    }
    return MakeError(ErrorCode::kConfig, "{}: {}", value.origin.Place(),
                     assembly::Guess("unknown key", path, known));
  }

  std::string flag_folder_;
  RunConfig* out_;
};

void SetOrigin(const Origin& origin, Value* value) {
  value->origin = origin;
  for (config::MapEntry& entry : value->entries) SetOrigin(origin, &entry.value);
}

// Applies KEY=VALUE, with the value as YAML on one line.
Status Override(std::string_view setting, Value* root) {
  const auto equals = setting.find('=');
  if (equals == 0 || equals == std::string_view::npos) {
    return MakeError(ErrorCode::kUsage, "--set {}: it must be KEY=VALUE, as in {}", setting,
                     "agent.num_workers=2");
  }
  const std::string_view key = setting.substr(0, equals);
  const Origin origin{Origin::Kind::kFlag, fmt::format("--set {}", setting), 0, 0};
  DOSSIER_ASSIGN_OR_RETURN(YamlNode node, ParseYaml(setting.substr(equals + 1), origin.name));
  Value value = config::FromYaml(std::move(node), origin.name);
  SetOrigin(origin, &value);
  config::Set(key, std::move(value), root);
  return {};
}

Json ValueOf(const ConfigKey& key, const RunConfig& config) {
  RunConfig copy = config;  // fields are accessed through a mutable RunConfig
  return std::visit([&](const auto* place) { return Writer{key}(place); }, key.at(copy));
}

// Writes "  timeout: 3600\n", preceded by the lines of the maps in which it is the first key.
void WriteKey(std::string_view name, const Json& value, std::vector<std::string>* open,
              std::string* out) {
  const std::vector<std::string_view> parts = Split(name, '.');
  std::size_t depth = 0;
  while (depth + 1 < parts.size() && depth < open->size() && (*open)[depth] == parts[depth]) {
    ++depth;
  }
  open->resize(depth);
  for (; depth + 1 < parts.size(); ++depth) {
    *out += fmt::format("{:{}}{}:\n", "", 2 * depth, parts[depth]);
    open->emplace_back(parts[depth]);
  }
  const std::string text = value.is_string()
                               ? dossier::config::QuoteScalar(std::string_view(value.as_string()))
                               : ToJson(value);
  *out += fmt::format("{:{}}{}: {}\n", "", 2 * depth, parts.back(), text);
}

}  // namespace

Result<RunConfig> ReadConfig(std::string_view yaml, std::string_view file,
                             std::span<const std::string> settings, std::string_view folder) {
  DOSSIER_ASSIGN_OR_RETURN(YamlNode node, ParseYaml(yaml, file));
  Value root = node.kind == YamlNode::Kind::kNull
                   ? MakeMap({})
                   : config::FromYaml(std::move(node), std::string(file));
  for (const std::string& setting : settings) {
    DOSSIER_RETURN_IF_ERROR(Override(setting, &root));
  }
  RunConfig out = Defaults();
  DOSSIER_RETURN_IF_ERROR(TreeReader(folder, &out).Read(root, ""));
  return out;
}

std::string ConfigYaml(const RunConfig& config) {
  std::string out;
  std::vector<std::string> open;
  for (const ConfigKey& key : Keys()) {
    WriteKey(key.name, ValueOf(key, config), &open, &out);
    // The keys of `memory` that others read are listed with those read here.
    if (key.name != "memory.enabled") continue;
    for (const auto& [name, value] : config.memory) {
      WriteKey(fmt::format("memory.{}", std::string_view(name)), value, &open, &out);
    }
  }
  return out;
}

JsonObject FrozenDigests(const RunConfig& config) {
  constexpr std::size_t kDigits = 16;
  JsonObject out;
  const auto add = [&](const std::string& name, const Json& value) {
    out[name] = Sha256Hex(ToJson(value)).substr(0, kDigits);
  };
  for (const ConfigKey& key : Keys()) {
    if (key.resume == ConfigKey::Resume::kFrozen) add(key.name, ValueOf(key, config));
  }
  for (const std::string& key : MemoryKeys()) {
    if (const Json* value = Find(config.memory, key)) add("memory." + key, *value);
  }
  return out;
}

std::vector<std::string> FrozenDifferences(const JsonObject& before, const RunConfig& now) {
  std::vector<std::string> out;
  const JsonObject after = FrozenDigests(now);
  for (const auto& [name, digest] : after) {
    const Json* one = before.if_contains(name);
    // A key that only this program version knows is not a change.
    if (one ? *one != digest : !FindKey(name)) out.emplace_back(name);
  }
  for (const auto& [name, digest] : before) {
    if (!after.contains(name)) out.emplace_back(name);
  }
  return out;
}

Result<MemoryOptions> ReadMemoryOptions(const JsonObject& section) {
  constexpr std::string_view kBudgetEnd = "_budget_chars";
  MemoryOptions options;
  JsonObject of_store;
  for (const auto& [name, value] : section) {
    const std::string key(name);
    if (IsStoreKey(key)) {
      of_store[key] = value;
    } else if (value.is_int64()) {
      options.budget_chars.emplace(key.substr(0, key.size() - kBudgetEnd.size()), value.as_int64());
    }
  }
  DOSSIER_ASSIGN_OR_RETURN(YamlNode node, ParseYaml(ToJson(of_store), "memory"));
  DOSSIER_ASSIGN_OR_RETURN(options.store, driver::ReadMemorySection(std::move(node), "memory"));
  return options;
}

namespace {

constexpr std::size_t kMaxName = 50;  // bytes, all ASCII

std::string_view WithoutDate(std::string_view name) {
  constexpr std::string_view kForm = "0000-00-00_00-00-00_";
  if (name.size() < kForm.size()) return name;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] == '0' ? !IsDigit(name[i]) : name[i] != kForm[i]) return name;
  }
  return name.substr(kForm.size());
}

std::string_view WithoutAttempt(std::string_view name) {
  constexpr std::string_view kMark = "_attempt_";
  const std::size_t at = name.rfind(kMark);
  if (at == std::string_view::npos) return name;
  const std::string_view number = name.substr(at + kMark.size());
  const bool is_number = !number.empty() && std::all_of(number.begin(), number.end(), IsDigit);
  return is_number ? name.substr(0, at) : name;
}

std::string Trim(std::string name) {
  name.erase(0, std::min(name.find_first_not_of('_'), name.size()));
  while (name.ends_with('_')) name.pop_back();
  return name;
}

}  // namespace

std::string OutputName(std::string_view run) {
  if (run.empty()) return "experiment_data.npy";
  std::string name;
  for (const char c : WithoutAttempt(WithoutDate(run))) {
    const bool kept = IsDigit(c) || IsLetter(c) || c == '-';
    if (kept) {
      name.push_back(c);
    } else if (!name.ends_with('_')) {
      name.push_back('_');
    }
  }
  name = Trim(Trim(std::move(name)).substr(0, kMaxName));
  return (name.empty() ? "experiment" : ToLowerAscii(name)) + "_data.npy";
}

}  // namespace dossier::research
