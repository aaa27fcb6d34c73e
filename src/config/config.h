// The typed result of all configuration files, variables and flags.
//
//   DOSSIER_ASSIGN_OR_RETURN(const Config config, LoadConfig(request, reader, decide));
//   config.model.value_or("local");
//   if (config.context_commands) ReadContextCommands(config.context_commands->node,
//                                                    config.context_commands->file);
//   config.OriginOf("model").ToText();        // "/repo/dossier.yml:1"
//
// Paths are absolute: resolved from the file that names them, or from the working folder.
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

// Where conversations live, and how paths in configuration are meant.
//
//   DOSSIER_ASSIGN_OR_RETURN(const UserFolders user, UserFoldersOf(variables));
//   const Located found = ConversationFolder({.config = path, .user = user}, is_folder);
//   found.path;     // "/home/ada/.local/share/dossier/conversations"
//
// Thread-safety: plain data; ConversationFolder asks `exists`, the rest is pure.

using dossier::UserFolders;

// Errors: as UserFolders::From.
Result<UserFolders> UserFoldersOf(const Variables& variables);

// `path` seen from `folder`: absolute, "~/" is `home`, without "." and "..".
std::string ResolvePath(const std::string& path, const std::string& folder,
                        const std::string& home);

// What the choice of the conversation folder rests on, high to low; "" is "not given".
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

// Which configuration files there may be, low to high.
//
//   for (const Candidate& file : FindCandidates(search)) TryToRead(file.path);
//
// Pure: nothing is looked at; a candidate need not exist.

enum class Mode { kDefault, kCompat };

struct Search {
  std::string folder;      // working folder, absolute, without links
  std::string root;        // of the repository; "" outside one
  std::string config_dir;  // --config-dir or $DOSSIER_CONFIG_DIR; replaces the search
  // Whose the files of `config_dir` are: who names a folder on the command line means what is in
  // it.
  enum class ConfigDir { kNamed, kFromVariable } config_dir_from = ConfigDir::kFromVariable;
  std::string cllm_path;  // $CLLM_PATH; counts with kCompat only
  std::string name;       // --config
  Mode mode = Mode::kDefault;
  UserFolders user;
};

struct Candidate {
  enum class Owner { kUser, kProject };
  std::string path;
  Owner owner = Owner::kProject;

  bool operator==(const Candidate&) const = default;
};

std::vector<Candidate> FindCandidates(const Search& search);

// The files that `--config NAME` may mean. The nearest group with a file in it counts, and in a
// group the first file that exists; with kCompat every group counts, low to high.
std::vector<std::vector<Candidate>> FindNamedCandidates(const Search& search);

// From the working folder up to the repository's root; the working folder alone outside one.
std::vector<std::string> ProjectFolders(const std::string& folder, const std::string& root);

// A part that another module parses, `${NAME}` expanded. Lines in `node` are lines of `file`: a
// list is always of one file, a map that was merged has the lines of each and the file of its last.
struct ConfigSection {
  YamlNode node;
  std::string file;    // for messages; "$NAME" if a variable held it
  std::string folder;  // relative paths in it start here
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
  // A list that is defined, even empty, replaces the built-in table.
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
  std::string model;          // "": the conversation's own
};

// What all runs of the user may take together within the last `window`.
struct SpendingLimits {
  std::optional<Millis> window;
  std::optional<std::int64_t> calls, tokens;
  std::optional<double> usd;

  bool any() const { return calls || tokens || usd; }
};

// The folder of the runs, in bytes.
struct JournalSpace {
  std::uint64_t limit = 2ull << 30;        // above it the oldest runs go
  std::uint64_t copy_limit = 64ull << 20;  // a larger context is named, not copied
};

// Who answers and with which key; "" is "not given".
struct ProviderAccess {
  std::string api_base, key_env, key_file;
  std::vector<std::string> key_cmd;  // argv
  std::map<std::string, std::string> extra_headers;
};

struct Config {
  std::optional<std::string> model;
  std::optional<double> temperature;       // 0 to 2
  std::optional<std::int64_t> max_tokens;  // of a reply
  std::optional<bool> stream;              // unset: on a terminal
  bool raw_response = false, debug = false, json_logs = false;
  std::string log_file;
  std::string default_system_message;  // "" is absent
  std::string conversations_path;
  JsonObject params;  // sent as is; under --compat also unknown keys, never a known one
  ProviderAccess access;
  std::optional<Json> json_schema;                 // a map, or what its text parses to
  std::string json_schema_file;                    // path or URL
  std::vector<Variable> variables;                 // in order of first appearance
  std::optional<ConfigSection> context_commands;   // for sources::ReadContextCommands
  std::optional<std::int64_t> context_max_tokens;  // unset: a quarter of the window
  DynamicCommands dynamic_commands;
  CompactionSettings compaction;
  JournalSpace store;
  SpendingLimits limits;
  std::map<std::string, ConfigSection> sections;  // ask, header, agents, memory, research
  std::optional<ConfigSection> models, local;     // of the user's own file only

  // How it came about.
  Value raw;                          // merged, as written: for `config show`
  Value expanded;                     // what the fields above were read from
  std::vector<std::string> files;     // that were read, low to high
  std::vector<std::string> warnings;  // unknown keys and the like, for stderr
  Mode mode = Mode::kDefault;
  UserFolders user;
  std::vector<std::string> project_folders;  // from the working folder up
  Located conversations;                     // the folder, and what named it

  // kDefault for what nothing sets.
  Origin OriginOf(std::string_view key) const;
};

}  // namespace dossier::config

#endif  // DOSSIER_CONFIG_CONFIG_H_
