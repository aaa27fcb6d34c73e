// `dossier memory`: what was learned, kept for the next prompt (docs/guide/memory.md).
//
// The tree of its commands; what each does is in memory_entry_commands, memory_search_command,
// memory_prompt_commands, memory_branch_commands and memory_transfer_commands.
// Thread-safety: none needed; one call a process.

#ifndef DOSSIER_CLI_MEMORY_MEMORY_COMMAND_H_
#define DOSSIER_CLI_MEMORY_MEMORY_COMMAND_H_

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/model_flags.h"

namespace dossier::cli {

struct MemoryArguments {
  std::string action;
  // Of all.
  std::string store;  // --store
  std::string branch = "root";
  std::string now;  // --now
  bool json = false;
  std::optional<std::int64_t> at;  // of those that read, and of fork
  // Core.
  std::optional<std::string> key;
  std::string value, importance, ttl;
  bool pin = false;
  // Records: add, load, search.
  std::string text, tier, kind, ref, time;
  std::optional<std::string> thread;
  std::vector<std::string> tags;
  std::optional<std::int64_t> supersedes;
  // search and show.
  std::optional<std::string> query;
  int k = 10;
  std::string since, until, queries_file, hint;
  bool explain = false, no_limit = false, report = false;
  std::optional<std::int64_t> budget, tokens;
  // apply, load, export, import, view.
  std::string file, payload_file, out_file, node, phase;
  std::string format = "jsonl";
  bool all = false;
  // fork, history, revert, prune.
  std::string name, chain;
  std::optional<std::string> parent;
  std::optional<std::int64_t> id;
  std::int64_t limit = 50, to = 0, before = 0;
  // check, consolidate, help-text.
  bool rebuild_index = false, short_form = false;
  std::string level;
  ModelFlags model;
};

void AddMemoryCommand(CLI::App& command, MemoryArguments* arguments);
// Returns the exit code.
int RunMemory(const MemoryArguments& arguments, const GlobalFlags& global,
              const CancelToken& cancel, std::ostream& out, std::ostream& err);

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_MEMORY_MEMORY_COMMAND_H_
