// What a configuration file could do to the person who runs it.
//
//   FindPowers(values)   // {"context_commands (line 3)", "${HOME} in params.user (line 9)"}
//
// Thread-safety: pure function.

#ifndef DOSSIER_CONFIG_POWER_H_
#define DOSSIER_CONFIG_POWER_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "config/value.h"

namespace dossier::config {

// Empty: the file may be used unseen. `values` is one file, not expanded.
std::vector<std::string> FindPowers(const Value& values);

// Whether an entry of `agents` starts programs (engines, checks), redirects what is written (runs),
// or names a path outside the repository.
bool IsAgentPower(std::string_view key, const Json& value);

// What a person is shown before a file is approved: all its lines but blank ones, with their
// numbers. A part would not do, since YAML lets a value stand elsewhere: on a later line that is
// not indented, or behind an anchor.
std::string NumberedLines(std::string_view text);

}  // namespace dossier::config

#endif  // DOSSIER_CONFIG_POWER_H_
