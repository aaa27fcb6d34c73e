#include "config/power.h"

#include <algorithm>
#include <iterator>

#include "base/text/text.h"
#include "config/expand.h"
#include "config/keys.h"
#include "config/read_value.h"

namespace dossier::config {
namespace {

class Finder {
 public:
  std::vector<std::string> Find(const Value& root) {
    for (const Entry& entry : root.entries) {
      if (!entry.value.is_null()) CheckKey(entry.key, entry.value);
      FindVariables(entry.key, entry.value);
    }
    return std::move(powers_);
  }

 private:
  void Add(std::string what, int line) {
    powers_.push_back(fmt::format("{} (line {})", what, line));
  }

  void CheckKey(const std::string& name, const Value& value) {
    switch (PowerOf(name)) {
      case Power::kNone:
        return;
      case Power::kAlways:
        return Add(name, value.node.line);
      case Power::kModel:
        if (NamesAPlace(value.node.scalar)) Add(name, value.node.line);
        return;
      case Power::kParams:
        return CheckParams(name, value);
      case Power::kAgents:
        for (const Entry& entry : value.entries) {
          if (entry.value.is_null() || !IsAgentPower(entry.key, ToJsonValue(entry.value))) continue;
          Add(name + "." + entry.key, entry.value.node.line);
        }
        return;
    }
  }

  // An unknown key is sent to the provider under --compat, so it is judged as one of params.
  static Power PowerOf(const std::string& name) {
    if (const Key* key = FindKey(name)) return key->power;
    for (const Key& key : Keys()) {
      if (key.name.starts_with(name + ".")) return key.power;
    }
    return Power::kParams;
  }

  // A provider, an address or a program is where the data goes; a name alone is one of the user's
  // own providers.
  static bool NamesAPlace(std::string_view model) {
    return model.find_first_of("/:#@") != std::string_view::npos;
  }

  // Parameters that stand in for a part of the request itself.
  static bool ReplacesRequest(std::string_view name) {
    constexpr std::string_view kParts[] = {"model", "messages", "system", "tools", "contents"};
    return std::find(std::begin(kParts), std::end(kParts), name) != std::end(kParts);
  }

  void CheckParams(const std::string& name, const Value& value) {
    if (name != "params" && IsAccessName(name)) return Add(name, value.node.line);
    for (const Entry& entry : value.entries) {
      const std::string inner = name + "." + entry.key;
      if (IsAccessName(entry.key) || ReplacesRequest(entry.key)) {
        Add(inner, entry.value.node.line);
      } else {
        CheckParams(inner, entry.value);
      }
    }
    CheckListed(name, value.node);
  }

  void CheckListed(const std::string& name, const YamlNode& node) {
    for (const YamlNode& item : node.items) CheckListed(name, item);
    for (const YamlEntry& entry : node.entries) {
      if (IsAccessName(entry.key)) Add(name + "." + entry.key, entry.line);
      CheckListed(name, entry.value);
    }
  }

  void FindVariables(const std::string& name, const Value& value) {
    FindInNode(name, value.node);
    for (const Entry& entry : value.entries) FindVariables(name + "." + entry.key, entry.value);
  }

  void FindInNode(const std::string& name, const YamlNode& node) {
    if (HasVariable(node.scalar)) Add("${…} in " + name, node.line);
    for (const YamlNode& item : node.items) FindInNode(name, item);
    for (const YamlEntry& entry : node.entries) FindInNode(name, entry.value);
  }

  std::vector<std::string> powers_;
};

bool LeavesTheFolder(std::string_view path) {
  if (path.starts_with('/') || path.starts_with('~')) return true;
  const auto parts = Split(path, '/');
  return std::find(parts.begin(), parts.end(), "..") != parts.end();
}

}  // namespace

std::string NumberedLines(std::string_view text) {
  std::string out;
  std::size_t number = 0;
  for (const std::string_view line : Split(text, '\n')) {
    ++number;
    if (!TrimSpace(line).empty()) out += fmt::format("{:>5}  {}\n", number, line);
  }
  return out;
}

std::vector<std::string> FindPowers(const Value& values) { return Finder().Find(values); }

bool IsAgentPower(std::string_view key, const Json& value) {
  constexpr std::string_view kPowers[] = {"engines", "checks", "runs"};
  if (std::find(std::begin(kPowers), std::end(kPowers), key) != std::end(kPowers)) return true;
  if (const auto* text = value.if_string()) return LeavesTheFolder(*text);
  const auto* list = value.if_array();
  return list && std::any_of(list->begin(), list->end(),
                             [&](const Json& item) { return IsAgentPower("", item); });
}

}  // namespace dossier::config
