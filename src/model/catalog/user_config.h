// What configuration says about models: `model`, provider access, and of the user's own dossier.yml
// the sections `models` and `local`. Finding, merging and checking files is the module config's.
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

// Where a key comes from beside the environment.
struct KeyAccess {
  std::vector<std::string> command;  // argv; its first line of output is the key
  std::string file;                  // mode 0600
};

struct UserConfig {
  std::string path;   // of the file, for messages; also if it does not exist
  std::string model;  // "" if it names none
  std::vector<std::string> data_files;
  std::map<std::string, std::string> aliases;
  KeyAccess access;                            // of any provider
  std::map<std::string, KeyAccess> providers;  // before `access`
  std::string local_server;                    // program; "" if it names none
  std::optional<Millis> local_idle;
  std::optional<std::int64_t> local_context;  // tokens
};

// Errors: kConfig with FILE:LINE:COL.
Result<UserConfig> UserConfigOf(const config::Config& config);
// As config::LoadUserFile. Errors: also kRefused for a file that others may write.
Result<UserConfig> ReadUserConfig(const std::string& path);
// $XDG_CONFIG_HOME/dossier/dossier.yml; all defaults if there is none.
Result<UserConfig> LoadUserConfig();

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_CATALOG_USER_CONFIG_H_
