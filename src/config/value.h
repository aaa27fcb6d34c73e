// Settings as a tree in which every value records its origin.
//
//   Value merged = MakeMap({});
//   for (Value& layer : layers) Merge(std::move(layer), MapRule::kByKey, &merged);
//   merged.Find("compaction.mode")->origin.ToText();     // "dossier.yml:7"
//
// Text is kept as written, including `${NAME}`, so that it can be shown without values of the
// environment; config/expand.h produces the expanded tree.
// Thread-safety: plain data and pure functions.

#ifndef DOSSIER_CONFIG_VALUE_H_
#define DOSSIER_CONFIG_VALUE_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/yaml/yaml.h"

namespace dossier::config {

struct Origin {
  enum class Kind { kDefault, kFile, kVariable, kFlag };
  Kind kind = Kind::kDefault;
  std::string name;          // file path, variable or flag
  int line = 0, column = 0;  // in a file, from 1

  // Returns "dossier.yml:7", "$DOSSIER_MODEL", "--model" or "default".
  std::string ToText() const;
  // Like ToText, with the column in a file: the beginning of an error message.
  std::string Place() const;

  bool operator==(const Origin&) const = default;
};

struct MapEntry;

// A map has `entries`, which may differ in origin. Any other value has one origin and a `node`.
struct Value {
  YamlNode node;  // for a map: kind and place only
  std::vector<MapEntry> entries;
  Origin origin;

  bool is_map() const { return node.kind == YamlNode::Kind::kMap; }
  bool is_null() const { return node.kind == YamlNode::Kind::kNull; }
  // Returns the value at a dotted path; null if it or a map on the way does not exist.
  const Value* Find(std::string_view path) const;
};

struct MapEntry {
  std::string key;
  Value value;
};

Value MakeMap(Origin origin);
Value FromYaml(YamlNode node, const std::string& file);
// Returns `text` as a scalar, as if a file contained it unquoted. Callers parse all else as YAML.
Value FromText(std::string_view text, Origin origin);
// Converts back to one tree for readers of YAML; its lines are those of the origins.
YamlNode ToYaml(const Value& value);
Json ToJsonValue(const Value& value);

enum class MapRule { kByKey, kWhole };
// Merges `high` over `low`: maps merge by key at every level, everything else is replaced. With
// kWhole only the first level merges (`--compat`).
void Merge(Value high, MapRule rule, Value* low);
// Sets the value at a dotted path and creates the maps on the way.
void Set(std::string_view path, Value value, Value* root);

}  // namespace dossier::config

#endif  // DOSSIER_CONFIG_VALUE_H_
