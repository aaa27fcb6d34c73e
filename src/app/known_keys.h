// The keys of providers that are at hand: no context command may see one.
//
//   DOSSIER_ASSIGN_OR_RETURN(options.known_keys, KnownKeys(config));
//
// Looks at variables and key files. A key that only a program gives (key_cmd, the desktop's secret
// service) is in no environment, and is not asked for.
// Thread-safety: reads the environment and files.

#ifndef DOSSIER_APP_KNOWN_KEYS_H_
#define DOSSIER_APP_KNOWN_KEYS_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"

namespace dossier::app {

// Errors: kConfig (the model data).
Result<std::vector<std::string>> KnownKeys(const config::Config& config);

}  // namespace dossier::app

#endif  // DOSSIER_APP_KNOWN_KEYS_H_
