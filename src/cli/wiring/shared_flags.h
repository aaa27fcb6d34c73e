// Flags that several commands take: one declaration each.
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
// The flags that say what a file is, where `inspect` and `ask` would find out: one declaration.
//
//   DOSSIER_RETURN_IF_ERROR(ApplyContentFlags(arguments.content, &options));
//
// Errors: kUsage, each naming the flag and its values. Thread-safety: none needed.

// Values as a person typed them; empty: found out.
struct ContentFlags {
  std::string format;            // --format
  std::string encoding;          // --encoding
  std::string delimiter;         // --delimiter: one byte, or \t
  std::string header = "auto";   // --header: yes, no, auto
  std::string comment = "auto";  // --comment: a mark, none, auto
};

Status ApplyContentFlags(const ContentFlags& flags, inspect::Options* options);

// The flags of all commands that run code.

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

// Flags that are a time or a size: their texts, read with the flag's name in front of what is
// wrong.
//
//   DOSSIER_ASSIGN_OR_RETURN(options.deadline, ReadTimeFlag("--timeout", flags.timeout));
//
// Errors: kUsage with flag and text. Thread-safety: pure functions.

// Whether 0 is a value like any other, or nonsense: a limit that lets nothing through.
enum class Zero { kRefused, kTaken };

Result<Millis> ReadTimeFlag(std::string_view flag, const std::string& text,
                            Zero zero = Zero::kRefused);
Result<std::uint64_t> ReadSizeFlag(std::string_view flag, const std::string& text,
                                   Zero zero = Zero::kRefused);

// The limits of a whole run, as `agents run` and `research run` take them. Unset: none.
struct LimitFlags {
  std::optional<double> max_cost;  // USD
  std::optional<std::int64_t> max_tokens, max_seconds;
  std::vector<std::string> prices;  // as ModelFlags::prices
};
void AddLimitFlags(const Flags& flags, LimitFlags* limits);

void AddModelFlags(const Flags& flags, ModelFlags* to);
// Those of them that say how to reach a model: address, key, retries, recordings.
void AddConnectionFlags(const Flags& flags, ModelFlags* to);
// `--price`, for every command with a limit of cost.
void AddPriceFlag(Flags flags, std::vector<std::string>* prices);
// `--base-url` and `--key-env` alone, for one model.
void AddEndpointFlags(Flags flags, std::string* base_url, std::string* key_env);
// `--script` alone, of commands whose models are named elsewhere.
void AddScriptFlag(Flags flags, std::string* script);

// How these flags are typed for another command that has them, too: only those that differ from
// their defaults, paths absolute, so that the line means the same in any folder.
std::vector<std::string> WordsOf(const ModelFlags& model, const SandboxFlags& sandbox);
// server::WorkspaceOptions::ask_line of a server with these flags.
std::vector<std::string> AskLineOf(ModelFlags model, const SandboxFlags& sandbox);

// `--store`, the shared store of several machines.
Flag& AddStoreFlag(Flags flags, std::string* store);
// Errors: kUsage where `store` names no shared store, or holds a password.
Status CheckStoreFlag(const std::string& store);

// What a file is, where `inspect` and `ask` would find out.
void AddContentFlags(Flags flags, ContentFlags* to);
// --memory[=STORE], --memory-branch, --no-memory. STORE stands behind "=", so that a word behind
// --memory is never taken for it.
void AddMemoryFlags(Flags flags, MemoryFlags* to);
// --exec, --context-jobs, --context-timeout.
void AddExecFlags(Flags flags, std::string help, ContextFlags* to);
// The same, and -D.
void AddContextFlags(const Flags& flags, ContextFlags* to);
// Of all commands that run code.
void AddSandboxFlags(const Flags& flags, SandboxFlags* to);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_SHARED_FLAGS_H_
