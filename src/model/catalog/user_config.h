// The configuration of models: `model`, provider access, and the sections `models` and `local` of
// the user's own dossier.yml. The module config finds, merges and checks the files.
//
//   DOSSIER_ASSIGN_OR_RETURN(UserConfig config, UserConfigOf(all_layers));   // config::Config
//   // The user's file alone:
//   DOSSIER_ASSIGN_OR_RETURN(UserConfig own, LoadUserConfig());
//   own.model;  // "local"
//
//   model: gpt-5-mini
//   key_cmd: [pass, show, openai]           # of the provider that is used; or for each:
//   models:
//     data: [models.yaml]                    # files like data/models.yaml, beside this one
//     aliases: {fast: openai/gpt-5-mini}
//     providers: {openai: {key_cmd: [pass, show, openai]}}
//   local: {server: /opt/llama/llama-server, idle: 30m, context: 8192}
//
// Thread-safety: functions over files.

#ifndef DOSSIER_MODEL_CATALOG_USER_CONFIG_H_
#define DOSSIER_MODEL_CATALOG_USER_CONFIG_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "config/config.h"

namespace dossier::model {

// Sources of a key besides the environment.
struct KeyAccess {
  std::vector<std::string> command;  // argv; its first line of output is the key
  std::string file;                  // mode 0600
};

struct UserConfig {
  std::string path;   // of the file, for messages; set even if it does not exist
  std::string model;  // "" if none is set
  std::vector<std::string> data_files;
  std::map<std::string, std::string> aliases;
  KeyAccess access;                            // for any provider
  std::map<std::string, KeyAccess> providers;  // take precedence over `access`
  std::string local_server;                    // program; "" if none is set
  std::optional<Millis> local_idle;
  std::optional<std::int64_t> local_context;  // tokens
};

// Errors: kConfig with FILE:LINE:COL.
Result<UserConfig> UserConfigOf(const config::Config& config);
// As config::LoadUserFile. Errors: also kRefused for a file that others can write.
Result<UserConfig> ReadUserConfig(const std::string& path);
// Reads $XDG_CONFIG_HOME/dossier/dossier.yml; all defaults if there is none.
Result<UserConfig> LoadUserConfig();

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_CATALOG_USER_CONFIG_H_
