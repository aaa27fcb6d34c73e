// Expands `${NAME}` in the strings of configuration files.
//
//   ExpandText("${HOME}/notes", variables)         // "/home/ada/notes"
//   ExpandText("${PORT:-8080}", variables)         // "8080" if PORT is unset or empty
//   ExpandText("$${HOME} ${NO_SUCH}", variables)   // "${HOME} ${NO_SUCH}"
//
// It makes one pass: the value of a variable is never expanded again. A plain scalar stays plain,
// so `seed: ${SEED}` is a number if SEED contains one; a quoted scalar stays text.
// Thread-safety: pure functions.

#ifndef DOSSIER_CONFIG_EXPAND_H_
#define DOSSIER_CONFIG_EXPAND_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "config/value.h"

namespace dossier::config {

// The environment as a value, so that the code that uses it does not read the process's own.
//
//   const Variables variables = ProcessVariables();
//   if (const auto home = Lookup(variables, "HOME")) Use(*home);
//
// Thread-safety: plain data; ProcessVariables reads `environ` once and must not run during setenv.

using Variables = std::map<std::string, std::string, std::less<>>;

Variables ProcessVariables();

// Returns nullopt for both unset and empty: people use either to switch a variable off.
std::optional<std::string> Lookup(const Variables& variables, std::string_view name);

std::string ExpandText(std::string_view text, const Variables& variables);

// Returns true if `text` refers to a variable, which makes the value's key a power key.
bool HasVariable(std::string_view text);

// Expands every string that came from a file; map keys, variables and flags stay unchanged.
void Expand(const Variables& variables, Value* value);

}  // namespace dossier::config

#endif  // DOSSIER_CONFIG_EXPAND_H_
