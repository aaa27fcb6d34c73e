// Finds, reads, checks and merges all layers of configuration.
//
//   LoadRequest request{.folder = cwd, .variables = ProcessVariables()};
//   DOSSIER_ASSIGN_OR_RETURN(const Config config, LoadConfig(request, ReadConfigFile, decide));
//
// Precedence, low to high: built-in defaults, files, DOSSIER_KEY variables, flags. A project file
// with power keys is used only if `decide` accepts it.
// Thread-safety: a function of its arguments.

#ifndef DOSSIER_CONFIG_LOAD_H_
#define DOSSIER_CONFIG_LOAD_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "config/config.h"
#include "config/edit.h"
#include "config/expand.h"
#include "config/value.h"

namespace dossier::config {

// A flag that sets a key: {"model", "gpt-5", "--model"}.
struct Override {
  std::string key, value, flag;
};

struct LoadRequest {
  std::string folder;  // working folder, absolute
  std::string root;    // root of its repository; "" outside one
  Variables variables;
  std::string name;                // --config
  std::string config_dir;          // --config-dir
  std::string conversations_path;  // --conversations-path
  CompatMode mode = CompatMode::kDefault;
  std::vector<Override> flags;
};

// Asks about a project file that can run code or redirect data.
struct Question {
  const ConfigFile& file;
  std::vector<std::string> powers;
};
// Success means: use the file. An error ends the load.
using Decide = std::function<Status(const Question&)>;

// Errors: kConfig (wrong types; unknown --config, with the places searched; a --config-dir that is
// not a folder), kRefused (owner, trust).
Result<Config> LoadConfig(const LoadRequest& request, const FileReader& read, const Decide& decide);

// Loads only the user's own file at `path`, for what does not depend on a project: models, keys.
Result<Config> LoadUserFile(const std::string& path, const UserFolders& user,
                            const Variables& variables, const FileReader& read);

// Lists what a configuration file could do to the user who runs it.
//
//   FindPowers(values)   // {"context_commands (line 3)", "${HOME} in params.user (line 9)"}
//
// Thread-safety: pure function.

// Empty: the file may be used unseen. `values` is one file, not expanded. By default as --compat
// reads it, which sends unknown keys to the provider.
std::vector<std::string> FindPowers(const Value& values, CompatMode mode = CompatMode::kCompat);

// Returns true if an entry of `agents` starts programs (engines, checks), redirects output (runs),
// or names a path outside the repository.
bool IsAgentPower(std::string_view key, const Json& value);

// Returns what a person sees before approving a file: all lines except blank ones, numbered. An
// excerpt would not do, since YAML allows a value to be elsewhere: on a later line that is not
// indented, or behind an anchor.
std::string NumberedLines(std::string_view text);

}  // namespace dossier::config

#endif  // DOSSIER_CONFIG_LOAD_H_
