// The environment as a value, so that nothing below reads the process's own.
//
//   const Variables variables = ProcessVariables();
//   if (const auto home = Lookup(variables, "HOME")) Use(*home);
//
// Thread-safety: plain data; ProcessVariables reads `environ` once and must not run beside setenv.

#ifndef DOSSIER_CONFIG_VARIABLES_H_
#define DOSSIER_CONFIG_VARIABLES_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace dossier::config {

using Variables = std::map<std::string, std::string, std::less<>>;

Variables ProcessVariables();

// Unset and empty are the same: both are how people switch a variable off.
std::optional<std::string> Lookup(const Variables& variables, std::string_view name);

}  // namespace dossier::config

#endif  // DOSSIER_CONFIG_VARIABLES_H_
