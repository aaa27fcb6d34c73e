// Reads the keys `agents` and `header` of dossier.yml and, with lower precedence, `agentnet.edn`.
//
//   DOSSIER_ASSIGN_OR_RETURN(const auto net, ReadAgentNet(root, config::ReadConfigFile, decide));
//   DOSSIER_ASSIGN_OR_RETURN(const AgentsConfig agents, ReadAgentsConfig(config, net));
//   const AgentEngine* engine = agents.FindEngine(agents.engineer);
//
// Thread-safety: plain data and pure functions.

#ifndef DOSSIER_SOURCES_HEADER_AGENTS_CONFIG_H_
#define DOSSIER_SOURCES_HEADER_AGENTS_CONFIG_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "config/config.h"
#include "config/edit.h"
#include "config/load.h"

namespace dossier::sources {

struct Task;  // task.h
// Returns the ids of those tasks that need no engineer any more; they are left out of backlogs.
using DoneTasks = std::function<std::set<std::string>(std::span<const Task>)>;

// The names that `--with` and `header.with` accept, in display order.
inline constexpr std::string_view kHeaderExtras[] = {"dirty", "upstream", "commits", "date",
                                                     "environment"};

// The placeholders, written in braces, that an engine's argv may contain.
inline constexpr std::string_view kEnginePlaceholders[] = {"prompt", "prompt_file", "worktree",
                                                           "task_id", "role"};

// An engine, which fills a role: a program, or the built-in loop of a model.
struct AgentEngine {
  enum class Output : std::uint8_t { kWorktree, kPatchFile };
  // The way to pass the prompt, besides `{prompt}` and `{prompt_file}` in argv.
  enum class Input : std::uint8_t { kNone, kPrompt };

  // Where a program's output contains its usage and its final text: JSON pointers, see
  // docs/formats/engines.md.
  struct Reply {
    enum class Form : std::uint8_t { kText, kJson, kJsonLines } form = Form::kText;
    enum class Cached : std::uint8_t { kBeside, kPart } cached_counts = Cached::kBeside;
    enum class Counts : std::uint8_t { kLast, kSum } counts = Counts::kLast;
    std::string text, input, cached, written, output, cost;
  };

  std::string name;
  // For a program. Placeholders: kEnginePlaceholders.
  std::vector<std::string> argv;
  Output output = Output::kWorktree;
  Input input = Input::kNone;          // `stdin: true`
  std::vector<std::string> env_allow;  // names of variables
  // Paths; "~/" is the home folder, and relative ones are inside the checkout.
  std::vector<std::string> writable, readable;
  Reply reply;
  Millis retry_wait{10'000};  // delay before a restart after exit code 75
  // For the built-in loop.
  bool builtin = false;
  std::string model = "default";
  std::vector<std::vector<std::string>> commands;  // prefixes of argv that `run` may start
};

struct AgentCheck {
  std::string name;
  std::vector<std::string> argv;
  Millis timeout{300'000};
  bool network = false;
  std::vector<std::string> writable, readable;  // as for engines
};

struct HeaderConfig {
  enum class Placement : std::uint8_t { kVolatile, kFirst };
  Millis window{180'000};
  Millis age_step{60'000};
  Placement placement = Placement::kVolatile;
  bool hotspot_notes = true, hotspot_files = false;
  std::vector<std::string> with;
};

struct AgentsConfig {
  std::vector<std::string> tasks;  // empty: the one tasks file in config/ and tasks/pending/
  std::string policy;              // empty: the default names
  std::string prompts = "config/prompts";
  std::string notes = "agent_notes";
  std::string runs;                          // empty: below the repository's state folder
  std::string engineer, reviewer;            // engine names; empty: not chosen
  std::string reviewer_prompt = "reviewer";  // or cto
  std::vector<AgentCheck> checks;
  std::vector<AgentEngine> engines;  // in the order of the file
  HeaderConfig header;
  std::vector<std::string> warnings;

  // Returns null if there is no engine of that name.
  const AgentEngine* FindEngine(std::string_view name) const;
  std::vector<std::string> EngineNames() const;
};

// Returns the sorted names of the built-in engines that an engine's `preset` may name.
std::vector<std::string> EnginePresetNames();

// A root's `agentnet.edn`, read and trusted; its keys are those of `agents`, and recent_sec.
struct AgentNet {
  Json value;
  std::vector<std::string> warnings;
};

// Returns the keys of an `agentnet.edn` that start programs or redirect data. Errors: kConfig.
Result<std::vector<std::string>> AgentNetPowers(const config::ConfigFile& file);

// Returns nullopt if there is no such file. Calls `decide` if the file starts programs or redirects
// data. Errors: kConfig with FILE:LINE:COL; kRefused (owner, trust).
Result<std::optional<AgentNet>> ReadAgentNet(const std::string& root,
                                             const config::FileReader& read,
                                             const config::Decide& decide);

// Merges the keys of dossier.yml over those of `agentnet`. Unknown keys give warnings. Errors:
// kConfig, naming file and key.
Result<AgentsConfig> ReadAgentsConfig(const config::Config& config,
                                      const std::optional<AgentNet>& agentnet);

// The rules that a change must obey, from config/policy.edn.
//
//   DOSSIER_ASSIGN_OR_RETURN(const ChangePolicy policy, LoadChangePolicy(root, ""));
//   if (policy.max_files && changed > *policy.max_files) Refuse();
//
// This only reads the rules; the module `agents` checks patches. Thread-safety: plain data,
// functions over files that are only read.

struct ChangePolicy {
  std::vector<std::string> allow, deny;  // globs for whole paths; no `allow`: every path
  std::optional<std::uint64_t> max_lines_added, max_lines_deleted, max_files;  // unset: unlimited
  std::uint64_t max_patch_bytes = 8 << 20;
  bool allow_binary = true, allow_symlinks = false, allow_submodules = false;
  bool allow_control_files = false;
  Millis propose_timeout{300'000}, review_timeout{600'000};
  std::string file;    // relative to the root; empty if there is none
  std::string sha256;  // of the file's bytes
  std::vector<std::string> warnings;
};

// `file` is relative to `root`; if empty, the existing one of config/policy.edn, .yaml, .yml, .json
// is used. If there is none, src, scripts, docs and config are allowed, with a warning. Errors:
// kConfig, naming file and key: an unknown key with the nearest one, a value of the wrong type, a
// malformed glob with its column, two default files, a named file that is missing.
Result<ChangePolicy> LoadChangePolicy(const std::string& root, const std::string& file);

// Parses the bytes of `file` without accessing the disk.
Result<ChangePolicy> ParseChangePolicy(std::string text, const std::string& file);

// Limit for one pattern: more than anybody writes, yet cheap to compile.
inline constexpr std::size_t kMaxGlobBytes = 4096;
inline constexpr std::size_t kMaxGlobDepth = 32;  // nesting of braces

// Errors: kConfig, "PATTERN:COLUMN: WHAT" for a malformed pattern: empty, an unclosed `[` or `{`,
// an empty class, a reversed range, `\` at the end, a leading `/`, a `..` component; also for one
// that is too long or too deep.
Status CheckGlob(std::string_view pattern);

}  // namespace dossier::sources

#endif  // DOSSIER_SOURCES_HEADER_AGENTS_CONFIG_H_
