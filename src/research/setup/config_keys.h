// The keys of a run's configuration, as a table: name, place, bounds, and whether a resume may
// change them. Reading, writing and comparing go through it. Only for config.cc and its test.
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

// Where a value is kept; its type says how it is read and written.
using Target =
    std::variant<bool*, int*, std::int64_t*, double*, std::string*, std::vector<std::string>*,
                 std::optional<int>*, std::optional<std::int64_t>*, std::optional<double>*,
                 std::map<std::string, std::string>*, PhaseMode*, NetworkPolicy*,
                 RunConfig::CopyData*>;

struct ConfigKey {
  std::string name;  // dotted
  std::function<Target(RunConfig&)> at;
  double low = 0, high = std::numeric_limits<double>::infinity();  // of numbers
  std::vector<std::string_view> words = {};                        // the only ones, if not empty
  // kPath: relative to the file that says it; kSize: "4G"; kMount: a folder of the sandbox; kName:
  // of a file.
  enum class Form : std::uint8_t { kPlain, kPath, kSize, kMount, kName } form = Form::kPlain;
  enum class Resume : std::uint8_t { kFrozen, kMayChange } resume = Resume::kFrozen;
};

std::span<const ConfigKey> Keys();
const ConfigKey* FindKey(std::string_view name);

// What a resume may not change, as {"exec.timeout": "HASH"}: for the journal, which the run
// folder's files are compared with.
JsonObject FrozenDigests(const RunConfig& config);
std::vector<std::string> FrozenDifferences(const JsonObject& before, const RunConfig& now);

// "code", "feedback", …: the closed list of who may ask a model.
std::span<const std::string_view> Roles();

// Whether section `memory` may have this key, for others to read: a limit of the store or
// a call site's NAME_budget_chars.
bool IsMemoryKey(std::string_view name);
std::span<const std::string> MemoryKeys();

}  // namespace dossier::research

#endif  // DOSSIER_RESEARCH_SETUP_CONFIG_KEYS_H_
