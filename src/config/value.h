// Settings as a tree in which every value knows where it came from.
//
//   Value merged = MakeMap({});
//   for (Value& layer : layers) Merge(std::move(layer), MapRule::kByKey, &merged);
//   merged.Find("compaction.mode")->origin.ToText();     // "dossier.yml:7"
//
// Text stands as it was written, `${NAME}` included, so that it can be shown without the values of
// the environment; config/expand.h makes the tree that is acted on.
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
  std::string name;          // path of the file, the variable or the flag
  int line = 0, column = 0;  // of a file, from 1

  // "dossier.yml:7", "$DOSSIER_MODEL", "--model", "default".
  std::string ToText() const;
  // As ToText, with the column of a file: how an error begins.
  std::string Place() const;

  bool operator==(const Origin&) const = default;
};

struct MapEntry;

// A map holds `entries`, which may be of several origins. Anything else is of one: `node`.
struct Value {
  YamlNode node;  // of a map: kind and place only
  std::vector<MapEntry> entries;
  Origin origin;

  bool is_map() const { return node.kind == YamlNode::Kind::kMap; }
  bool is_null() const { return node.kind == YamlNode::Kind::kNull; }
  // The value at a dotted path; null if it or a map on the way is not there.
  const Value* Find(std::string_view path) const;
};

struct MapEntry {
  std::string key;
  Value value;
};

Value MakeMap(Origin origin);
Value FromYaml(YamlNode node, const std::string& file);
// A scalar as if it stood plain in a file; anything but scalars from variables and flags is YAML.
Value FromText(std::string_view text, Origin origin);
// One tree again, for readers of YAML; its lines are those of the origins.
YamlNode ToYaml(const Value& value);
Json ToJsonValue(const Value& value);

enum class MapRule { kByKey, kWhole };
// Puts `high` over `low`: maps merge by key at every level, all else is replaced. With kWhole only
// the first level merges (`--compat`).
void Merge(Value high, MapRule rule, Value* low);
// Sets the value at a dotted path, making the maps on the way.
void Set(std::string_view path, Value value, Value* root);

}  // namespace dossier::config

#endif  // DOSSIER_CONFIG_VALUE_H_
