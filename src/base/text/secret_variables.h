// Environment variables that no program of others gets unless the user names them.
//
//   IsSecretVariable("DB_PASSWD", "x")                              // true, by its name
//   IsSecretVariable("DATABASE_URL", "postgres://ann:pw@host/db")   // true, by its value
//   IsSecretVariable("PATH", "/usr/bin:/bin")                       // false
//
// Thread-safety: pure functions.

#ifndef DOSSIER_BASE_TEXT_SECRET_VARIABLES_H_
#define DOSSIER_BASE_TEXT_SECRET_VARIABLES_H_

#include <string_view>

namespace dossier {

// Whether a variable of this name holds a secret by the habits of naming: one with KEY, TOKEN,
// SECRET, PASS, CREDENTIAL or JWT in it, or with a word PAT, PWD, CREDS or AUTH at its end. Not
// PWD, OLDPWD and what ends in ASKPASS, which is a program.
bool IsSecretVariableName(std::string_view name);

// Whether the value is a secret whatever the variable is called: it holds a URL with a password,
// or what the redactor takes for a secret.
bool HoldsSecretValue(std::string_view value);

// Either of them.
bool IsSecretVariable(std::string_view name, std::string_view value);

}  // namespace dossier

#endif  // DOSSIER_BASE_TEXT_SECRET_VARIABLES_H_
