#include "config/value.h"

#include <algorithm>

namespace dossier::config {
namespace {

MapEntry* FindEntry(Value& map, std::string_view key) {
  const auto found = std::find_if(map.entries.begin(), map.entries.end(),
                                  [&](const MapEntry& entry) { return entry.key == key; });
  return found == map.entries.end() ? nullptr : &*found;
}

// A schema is one value: merging two would give a schema that nobody wrote.
bool MergesByKey(std::string_view key) { return key != "json_schema"; }

}  // namespace

std::string Origin::ToText() const {
  switch (kind) {
    case Kind::kDefault:
      return "default";
    case Kind::kFile:
      return fmt::format("{}:{}", name, line);
    case Kind::kVariable:
      return "$" + name;
    case Kind::kFlag:
      return name;
  }
  return name;
}

std::string Origin::Place() const {
  return kind == Kind::kFile ? fmt::format("{}:{}:{}", name, line, column) : ToText();
}

const Value* Value::Find(std::string_view path) const {
  const auto dot = path.find('.');
  const std::string_view key = path.substr(0, dot);
  for (const MapEntry& entry : entries) {
    if (entry.key != key) continue;
    return dot == std::string_view::npos ? &entry.value : entry.value.Find(path.substr(dot + 1));
  }
  return nullptr;
}

Value MakeMap(Origin origin) {
  Value value;
  value.node.kind = YamlNode::Kind::kMap;
  value.origin = std::move(origin);
  return value;
}

Value FromYaml(YamlNode node, const std::string& file) {
  Value value;
  value.origin = {Origin::Kind::kFile, file, node.line, node.column};
  for (YamlEntry& entry : node.entries) {
    value.entries.push_back({std::move(entry.key), FromYaml(std::move(entry.value), file)});
  }
  node.entries.clear();
  value.node = std::move(node);
  return value;
}

Value FromText(std::string_view text, Origin origin) {
  Value value;
  value.node.kind = YamlNode::Kind::kScalar;
  value.node.scalar = text;
  value.origin = std::move(origin);
  return value;
}

YamlNode ToYaml(const Value& value) {
  YamlNode node = value.node;
  for (const MapEntry& entry : value.entries) {
    node.entries.push_back(
        {entry.key, entry.value.node.line, entry.value.node.column, ToYaml(entry.value)});
  }
  return node;
}

Json ToJsonValue(const Value& value) { return ToJsonValue(ToYaml(value)); }

void Merge(Value high, MapRule rule, Value* low) {
  if (!high.is_map() || !low->is_map()) {
    *low = std::move(high);
    return;
  }
  for (MapEntry& entry : high.entries) {
    MapEntry* below = FindEntry(*low, entry.key);
    if (!below) {
      low->entries.push_back(std::move(entry));
    } else if (rule == MapRule::kWhole || !MergesByKey(entry.key)) {
      below->value = std::move(entry.value);
    } else {
      Merge(std::move(entry.value), rule, &below->value);
    }
  }
}

void Set(std::string_view path, Value value, Value* root) {
  const auto dot = path.find('.');
  const std::string_view key = path.substr(0, dot);
  MapEntry* entry = FindEntry(*root, key);
  if (!entry)
    entry = &root->entries.emplace_back(MapEntry{std::string(key), MakeMap(value.origin)});
  if (dot == std::string_view::npos) {
    entry->value = std::move(value);
    return;
  }
  if (!entry->value.is_map()) entry->value = MakeMap(value.origin);
  Set(path.substr(dot + 1), std::move(value), &entry->value);
}

}  // namespace dossier::config
