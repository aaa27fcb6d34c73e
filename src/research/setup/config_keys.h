// The table of a run's configuration keys: name, field, bounds, and whether a resume may change it.
// Reading, writing and comparing use it. Only for config.cc and its test.
//
//   for (const ConfigKey& key : Keys()) Show(key.name);      // "exec.timeout", …
//
// Thread-safety: constant data.

#ifndef DOSSIER_RESEARCH_SETUP_CONFIG_KEYS_H_
#define DOSSIER_RESEARCH_SETUP_CONFIG_KEYS_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json/json.h"
#include "research/setup/config.h"

namespace dossier::research {

// The field that holds a value; its type defines how it is read and written.
using Target =
    std::variant<bool*, int*, std::int64_t*, double*, std::string*, std::vector<std::string>*,
                 std::optional<int>*, std::optional<std::int64_t>*, std::optional<double>*,
                 std::map<std::string, std::string>*, PhaseMode*, NetworkPolicy*,
                 RunConfig::CopyData*>;

struct ConfigKey {
  std::string name;  // dotted
  std::function<Target(RunConfig&)> at;
  double low = 0, high = std::numeric_limits<double>::infinity();  // bounds of numbers
  std::vector<std::string_view> words = {};                        // the only ones, if not empty
  // kPath: relative to the file that contains it; kSize: "4G"; kMount: a folder in the sandbox;
  // kName: a file name.
  enum class Form : std::uint8_t { kPlain, kPath, kSize, kMount, kName } form = Form::kPlain;
  enum class Resume : std::uint8_t { kFrozen, kMayChange } resume = Resume::kFrozen;
};

std::span<const ConfigKey> Keys();
const ConfigKey* FindKey(std::string_view name);

// Returns digests of the values that a resume may not change, as {"exec.timeout": "HASH"}. The
// journal keeps them, and the run folder's files are compared with them.
JsonObject FrozenDigests(const RunConfig& config);
// Returns the keys in which `now` differs from them.
std::vector<std::string> FrozenDifferences(const JsonObject& before, const RunConfig& now);

// Returns "code", "feedback", …: the closed list of roles that may ask a model.
std::span<const std::string_view> Roles();

// Returns true if section `memory` may have this key: a limit of the store or a call site's
// NAME_budget_chars.
bool IsMemoryKey(std::string_view name);
// Returns true for a key that any memory has: driver::ReadMemorySection reads it.
bool IsStoreKey(const std::string& name);
std::span<const std::string> MemoryKeys();

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_SETUP_CONFIG_KEYS_H_
