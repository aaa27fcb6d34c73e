// The parts of `dossier config` that only read: show, get, path, and `dossier paths`.
//
// Thread-safety: pure but for the streams.

#ifndef DOSSIER_CLI_SYSTEM_CONFIG_SHOW_H_
#define DOSSIER_CLI_SYSTEM_CONFIG_SHOW_H_

#include <ostream>

#include "base/result.h"
#include "cli/system/config_command.h"
#include "config/config.h"

namespace dossier::cli {

// `${NAME}` as written, keys as `***`.
void ShowConfig(const config::Config& config, const ConfigArguments& arguments, std::ostream& out);
// Errors: kUsage (unknown key, with the nearest), kNotFound (not set, no default).
Status GetKey(const config::Config& config, const ConfigArguments& arguments, std::ostream& out);
void ShowPaths(const config::Config& config, const PathsArguments& arguments, std::ostream& out);

// kUsage for a key that the table does not know.
Status CheckKey(const std::string& key);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_SYSTEM_CONFIG_SHOW_H_
