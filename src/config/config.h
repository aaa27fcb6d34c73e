// The typed configuration, merged from all configuration files, variables and flags.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Config config, LoadConfig(request, reader, decide));
//   config.model.value_or("local");
//   if (config.context_commands) ReadContextCommands(config.context_commands->node,
//                                                    config.context_commands->file);
//   config.OriginOf("model").ToText();        // "/repo/dossier.yml:1"
//
// Paths are absolute, resolved from the file that names them or from the working folder.
// Thread-safety: plain data; immutable once loaded.

#ifndef DOSSIER_CONFIG_CONFIG_H_
#define DOSSIER_CONFIG_CONFIG_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/files/locations.h"
#include "base/json/json.h"
#include "base/result.h"
#include "config/expand.h"
#include "config/value.h"

namespace dossier::config {

// The folder of conversations, and how paths in configuration are resolved.
//
//   DOSSIER_ASSIGN_OR_RETURN(const UserFolders user, UserFoldersOf(variables));
//   const Located found = ConversationFolder({.config = path, .user = user}, is_folder);
//   found.path;     // "/home/ada/.local/share/dossier/conversations"
//
// Thread-safety: plain data; ConversationFolder calls `is_folder`, the rest is pure.

using dossier::UserFolders;

// Errors: as UserFolders::From.
Result<UserFolders> UserFoldersOf(const Variables& variables);

// Returns `path` made absolute from `folder`: "~/" becomes `home`; "." and ".." are removed.
std::string ResolvePath(const std::string& path, const std::string& folder,
                        const std::string& home);

// The inputs that select the conversation folder, in descending precedence; "" means "not given".
struct ConversationPlaces {
  std::string flag;                             // --conversations-path
  std::string dossier_variable, cllm_variable;  // …_CONVERSATIONS_PATH
  std::string config;                           // conversations_path, resolved
  std::string config_dir;                       // --config-dir
  std::string dossier_config_dir, cllm_path;    // variables
  std::vector<std::string> project_folders;     // from the working folder up to the root
  UserFolders user;
};

struct Located {
  std::string path;
  std::string why;  // "--conversations-path", "$CLLM_PATH", "/repo/.dossier is there"
  // Whose the files in it are: nobody named a folder that was found in a project.
  enum class Owner { kUser, kProject } owner = Owner::kUser;
};
Located ConversationFolder(const ConversationPlaces& places,
                           const std::function<bool(const std::string&)>& is_folder);

// Lists the configuration files that may exist, in ascending precedence.
//
//   for (const Candidate& file : FindCandidates(search)) TryToRead(file.path);
//
// Pure: it does not access the disk; a candidate need not exist.

enum class CompatMode { kDefault, kCompat };

struct Search {
  std::string folder;      // working folder, absolute, links resolved
  std::string root;        // root of the repository; "" outside one
  std::string config_dir;  // --config-dir or $DOSSIER_CONFIG_DIR; replaces the search
  // The origin of `config_dir`. A user who names a folder on the command line is taken to mean what
  // it contains.
  enum class ConfigDir { kNamed, kFromVariable } config_dir_from = ConfigDir::kFromVariable;
  std::string cllm_path;  // $CLLM_PATH; used with kCompat only
  std::string name;       // --config
  CompatMode mode = CompatMode::kDefault;
  UserFolders user;
};

struct Candidate {
  enum class Owner { kUser, kProject };
  std::string path;
  Owner owner = Owner::kProject;

  bool operator==(const Candidate&) const = default;
};

std::vector<Candidate> FindCandidates(const Search& search);

// Returns the files that `--config NAME` may mean. The nearest group that contains an existing file
// is used, and in it the first existing file; with kCompat every group is used, low to high.
std::vector<std::vector<Candidate>> FindNamedCandidates(const Search& search);

// Folders from the working folder up to the repository's root; outside one, only the first.
std::vector<std::string> ProjectFolders(const std::string& folder, const std::string& root);

// A part that another module parses, `${NAME}` expanded. Lines in `node` are lines of `file`. A
// list always comes from one file; a merged map has lines of all its files and names the last one.
struct ConfigSection {
  YamlNode node;
  std::string file;    // for messages; "$NAME" if it comes from a variable
  std::string folder;  // base of relative paths in it
};

struct Variable {
  std::string name;
  std::optional<Json> value;  // unset: required, no default
};

// Agent mode: `allow_dynamic_commands` and `dynamic_commands`.
struct DynamicCommands {
  struct Available {
    std::string command, description;
  };
  enum class History { kAnswer, kFull };
  bool allowed = false;              // allow_dynamic_commands
  std::vector<Available> available;  // available_commands
  // A list that is given, even an empty one, replaces the built-in table.
  std::optional<std::vector<std::string>> allow, deny;
  bool require_confirmation = false, write = false, network = false;
  Millis timeout{30'000};
  std::int64_t max_commands = 10, max_refusals = 5;
  std::int64_t max_output = 16'384;  // bytes
  History history = History::kAnswer;
};

struct CompactionSettings {
  enum class Mode { kAuto, kOff };
  Mode mode = Mode::kAuto;
  std::int64_t soft_tokens = 32'000, hard_tokens = 96'000, keep_turns = 2, summary_tokens = 1'500;
  std::int64_t horizon = 10;  // turns
  double min_gain = 0.25;     // share of the history
  std::string model;          // "": the conversation's own model
};

// Limits on what all runs of the user together may use within the last `window`.
struct SpendingLimits {
  std::optional<Millis> window;
  std::optional<std::int64_t> calls, tokens;
  std::optional<double> usd;

  bool any() const { return calls || tokens || usd; }
};

// Space for the folder of runs, in bytes.
struct JournalSpace {
  std::uint64_t limit = 2ull << 30;        // above this the oldest runs are deleted
  std::uint64_t copy_limit = 64ull << 20;  // a larger context is recorded by name, not copied
};

// The provider's address and key; "" means "not given".
struct ProviderAccess {
  std::string api_base, key_env, key_file;
  std::vector<std::string> key_cmd;  // argv
  std::map<std::string, std::string> extra_headers;
};

struct Config {
  std::optional<std::string> model;
  std::optional<double> temperature;       // 0 to 2
  std::optional<std::int64_t> max_tokens;  // limit for a reply
  std::optional<bool> stream;              // unset: stream only on a terminal
  bool raw_response = false, debug = false, json_logs = false;
  std::string log_file;
  std::string default_system_message;  // "" means none
  std::string conversations_path;
  JsonObject params;  // sent unchanged; with --compat also unknown keys, never known ones
  ProviderAccess access;
  std::optional<Json> json_schema;                 // a map, or the result of parsing its text
  std::string json_schema_file;                    // path or URL
  std::vector<Variable> variables;                 // in order of first appearance
  std::optional<ConfigSection> context_commands;   // for sources::ReadContextCommands
  std::optional<std::int64_t> context_max_tokens;  // unset: a quarter of the window
  DynamicCommands dynamic_commands;
  CompactionSettings compaction;
  JournalSpace store;
  SpendingLimits limits;
  std::map<std::string, ConfigSection> sections;  // ask, header, agents, memory, research
  std::optional<ConfigSection> models, local;     // read from the user's own file only

  // How the configuration was put together.
  Value raw;                          // merged, as written; for `config show`
  Value expanded;                     // what the fields above were read from
  std::vector<std::string> files;     // files that were read, low to high
  std::vector<std::string> warnings;  // unknown keys and similar, for stderr
  CompatMode mode = CompatMode::kDefault;
  UserFolders user;
  std::vector<std::string> project_folders;  // from the working folder upwards
  Located conversations;                     // the folder, and the reason for it

  // Returns kDefault for a key that nothing sets.
  Origin OriginOf(std::string_view key) const;
};

}  // namespace dossier::config

#endif  // DOSSIER_CONFIG_CONFIG_H_
