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
#include <vector>

#include "cli/tree/command.h"
#include "cli/wiring/content_flags.h"
#include "cli/wiring/memory_flags.h"
#include "cli/wiring/model_flags.h"
#include "cli/wiring/run_setup.h"
#include "cli/wiring/sandbox_flags.h"

namespace dossier::cli {

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

// What a file is, where `inspect` and `ask` would find out.
void AddContentFlags(Flags flags, ContentFlags* to);
// --memory[=STORE], --memory-branch, --no-memory. STORE stands behind "=", so that a word behind
// --memory is never taken for it.
void AddMemoryFlags(Flags flags, MemoryFlags* to);
// --exec, -D, --context-jobs, --context-timeout.
void AddContextFlags(const Flags& flags, ContextFlags* to);
// Of all commands that run code.
void AddSandboxFlags(const Flags& flags, SandboxFlags* to);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_WIRING_SHARED_FLAGS_H_
