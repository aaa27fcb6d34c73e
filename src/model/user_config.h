// What the user's own dossier.yml says about models. The file's other keys belong to others and are
// left alone here.
//
//   DOSSIER_ASSIGN_OR_RETURN(UserConfig config, LoadUserConfig());
//   config.model;      // "local"
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

#ifndef DOSSIER_MODEL_USER_CONFIG_H_
#define DOSSIER_MODEL_USER_CONFIG_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

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
  std::optional<std::int64_t> local_context;   // tokens
};

// Errors: kConfig with FILE:LINE:COL; kRefused for a file that others may write (CON-13).
Result<UserConfig> ReadUserConfig(const std::string& path);
// $XDG_CONFIG_HOME/dossier/dossier.yml; all defaults if there is none.
Result<UserConfig> LoadUserConfig();

}  // namespace dossier::model

#endif  // DOSSIER_MODEL_USER_CONFIG_H_
