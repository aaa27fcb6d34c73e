// Flags that several commands share: each is declared once.
//
//   AddModelFlags(flags, &to.model);
//   AddContentFlags(flags.In("Contexts"), &to.content);
//
// Thread-safety: none needed.

#ifndef DOSSIER_CLI_WIRING_SHARED_FLAGS_H_
#define DOSSIER_CLI_WIRING_SHARED_FLAGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cli/tree/command.h"
#include "cli/wiring/memory_flags.h"
#include "cli/wiring/model_flags.h"
#include "cli/wiring/run_setup.h"
#include "inspect/description/options.h"
#include "sandbox/session/session.h"

namespace dossier::cli {

inline constexpr ValueKind kShellCommand{"CMD"};
// Flags that describe a file, overriding what `inspect` and `ask` would detect.
//
//   DOSSIER_RETURN_IF_ERROR(ApplyContentFlags(arguments.content, &options));
//
// Errors: kUsage, naming the flag and its values. Thread-safety: none needed.

// Values as typed; empty: detect it.
struct ContentFlags {
  std::string format;            // --format
  std::string encoding;          // --encoding
  std::string delimiter;         // --delimiter: one byte, or \t
  std::string header = "auto";   // --header: yes, no, auto
  std::string comment = "auto";  // --comment: a mark, none, auto
};

Status ApplyContentFlags(const ContentFlags& flags, inspect::Options* options);

// The flags of every command that runs code.

struct SandboxFlags {
  std::string mode = "strict";
  std::string cell_time;  // empty: 60s of idleness, else wall time
  std::string cell_cpu = "120s";
  std::string cell_memory = "1G", cell_output = "10M", context_string_max = "2G";
  std::vector<std::string> read_folders;
};

struct SandboxChoice {
  sandbox::PoolOptions pool;
  sandbox::Limits limits;
  std::uint64_t context_string_max = 2ull << 30;  // bytes
};

// Errors: kUsage naming the flag and its value.
Result<SandboxChoice> ParseSandboxFlags(const SandboxFlags& flags);

// Flags whose value is a time or a size: parses their text and names the flag in errors.
//
//   DOSSIER_ASSIGN_OR_RETURN(options.deadline, ReadTimeFlag("--timeout", flags.timeout));
//
// Errors: kUsage with flag and text. Thread-safety: pure functions.

// Decides if 0 is a valid value, or an error because such a limit lets nothing through.
enum class Zero { kRefused, kTaken };

Result<Millis> ReadTimeFlag(std::string_view flag, const std::string& text,
                            Zero zero = Zero::kRefused);
Result<std::uint64_t> ReadSizeFlag(std::string_view flag, const std::string& text,
                                   Zero zero = Zero::kRefused);

// The limits of a whole run, for `agents run` and `research run`. Unset: no limit.
struct LimitFlags {
  std::optional<double> max_cost;  // USD
  std::optional<std::int64_t> max_tokens, max_seconds;
  std::vector<std::string> prices;  // like ModelFlags::prices
};
void AddLimitFlags(const Flags& flags, LimitFlags* limits);

void AddModelFlags(const Flags& flags, ModelFlags* to);
// Adds only the flags about reaching a model: address, key, retries, recordings.
void AddConnectionFlags(const Flags& flags, ModelFlags* to);
// Adds `--price`, for every command with a cost limit.
void AddPriceFlag(Flags flags, std::vector<std::string>* prices);
// Adds only `--base-url` and `--key-env`, for one model.
void AddEndpointFlags(Flags flags, std::string* base_url, std::string* key_env);
// Adds only `--script`, for commands whose models are named elsewhere.
void AddScriptFlag(Flags flags, std::string* script);

// Returns these flags as words for another command that has them: only those that differ from their
// defaults, with absolute paths, so that the line works in any folder.
std::vector<std::string> WordsOf(const ModelFlags& model, const SandboxFlags& sandbox);
// Returns server::WorkspaceOptions::ask_line for a server with these flags.
std::vector<std::string> AskLineOf(ModelFlags model, const SandboxFlags& sandbox);

// Adds `--store`, the shared store of several machines.
Flag& AddStoreFlag(Flags flags, std::string* store);
// Errors: kUsage if `store` is not a shared store or contains a password.
Status CheckStoreFlag(const std::string& store);

// Adds the flags that describe a file, overriding what `inspect` and `ask` would detect.
void AddContentFlags(Flags flags, ContentFlags* to);
// Adds --memory[=STORE], --memory-branch, --no-memory. STORE follows "=", so that a word after
// --memory is never taken for it.
void AddMemoryFlags(Flags flags, MemoryFlags* to);
// Adds --exec, --context-jobs, --context-timeout.
void AddExecFlags(Flags flags, std::string help, ContextFlags* to);
// Adds the same, and -D.
void AddContextFlags(const Flags& flags, ContextFlags* to);
// Adds the flags of every command that runs code.
void AddSandboxFlags(const Flags& flags, SandboxFlags* to);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_SHARED_FLAGS_H_
