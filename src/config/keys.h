// The table of all configuration keys: type, default, power, meaning, reader. It serves validation,
// suggestions for unknown names, `config show`, `get` and `set`, documentation and completion.
//
//   for (const Key& key : Keys()) Print(key.name, key.type, key.fallback, key.about);
//   if (const Key* key = FindKey("compaction.soft_tokens")) Use(*key);
//
// Thread-safety: constant data and pure functions.

#ifndef DOSSIER_CONFIG_KEYS_H_
#define DOSSIER_CONFIG_KEYS_H_

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "config/expand.h"
#include "config/value.h"

namespace dossier::config {

// A value to be read into the Config.
struct Setting {
  std::string_view key;  // dotted
  const Value& value;
  std::string folder;  // base of relative paths
  std::string home;

  // Returns kConfig, "PLACE: KEY is VALUE; it must be WANTED".
  tl::unexpected<Error> Wrong(std::string_view wanted) const;
};

enum class Shape {
  kScalar,   // one word or text
  kOpenMap,  // the user chooses the names: params.top_p
  kYaml,     // a list, a map or either
  kSection,  // a map that another module parses; no DOSSIER_KEY variable
};

// The power that a key gives to the file that contains it.
enum class Power {
  kNone,
  kAlways,  // run code, redirect data, change what a model is told
  kModel,   // if the value names a provider, an address or a program
  kParams,  // entries that are no numbers: only those can do no more than shape the reply
  kAgents,  // entries that start programs or leave the repository
};

struct Key {
  std::string_view name;  // dotted: "compaction.mode"
  Shape shape;
  std::string_view type;      // for people: "number from 0 to 2"
  std::string_view fallback;  // the default as a user would write it; "": none
  Power power;
  std::string_view about;  // one line
  Status (*read)(const Setting& setting, Config* config);
};

std::span<const Key> Keys();

// Returns the key itself, or the open map that contains it: "params.top_p" finds `params`.
const Key* FindKey(std::string_view name);

// Returns the end of a message, "; did you mean dynamic_commands.allow?"; "" if no key is near.
std::string NearestKey(std::string_view name);

// Returns the key's variable, such as "DOSSIER_COMPACTION_SOFT_TOKENS".
std::string VariableOf(const Key& key);

// Returns the keys that `variables` set, as a layer.
Result<Value> ReadVariables(const Variables& variables);

// Returns true for names refused in `params` of untrusted files: endpoint, key, header.
bool IsAccessName(std::string_view name);

// Returns true if the key's value must not be shown: `extra_headers`, and params that hold keys.
bool IsSecret(std::string_view name);

// Reads `config->expanded` into the typed fields; adds warnings for unknown keys.
// Errors: kConfig with FILE:LINE:COL and the key.
Status ReadKeys(const std::string& working_folder, Config* config);

// Readers of single values, shared by the rows of the key table. Only for .cc files in this module.
//
//   Into<ReadText, &Config::model>      // a row of the table reads into a member (yaml_fields.h)
//
// All of them return kConfig through Setting::Wrong. Thread-safety: pure functions.

Status ReadText(const Setting& setting, std::string* out);
Status ReadPath(const Setting& setting, std::string* out);
// Like ReadPath, but leaves a URL unchanged.
Status ReadPathOrUrl(const Setting& setting, std::string* out);
// Accepts true, yes, on and their opposites, in any letter case.
Status ReadFlag(const Setting& setting, bool* out);
Status ReadWhole(const Setting& setting, std::int64_t least, std::int64_t* out);
Status ReadNumber(const Setting& setting, double low, double high, double* out);
// Reads "500ms" or "2m"; a bare number means seconds. The time must be above 0.
Status ReadTime(const Setting& setting, Millis* out);
Status ReadSize(const Setting& setting, std::uint64_t* out);
Status ReadTexts(const Setting& setting, std::vector<std::string>* out);
// Reads a program and its arguments: a list, or a text split at blanks, since no shell is used.
Status ReadArgv(const Setting& setting, std::vector<std::string>* out);
Status ReadHeaders(const Setting& setting, std::map<std::string, std::string>* out);
Status ReadSection(const Setting& setting, ConfigSection* out);

template <typename T>
Status ReadChoice(const Setting& setting,
                  std::initializer_list<std::pair<std::string_view, T>> words, T* out) {
  std::string known;
  for (const auto& [word, value] : words) {
    if (!setting.value.is_map() && setting.value.node.scalar == word) {
      *out = value;
      return {};
    }
    known += (known.empty() ? "" : " or ") + std::string(word);
  }
  return setting.Wrong(known);
}

}  // namespace dossier::config

#endif  // DOSSIER_CONFIG_KEYS_H_
