// The state that every command of `dossier memory` needs: its flags, their store, and the clock.
//
//   Result<int> RunGet(const MemoryCall& call) {
//     DOSSIER_ASSIGN_OR_RETURN(const auto store, call.Open());
//     DOSSIER_ASSIGN_OR_RETURN(const memory::View view, call.Look(*store));
//     …
//     call.Log("core_get", "core", {{"key", key}});
//     return 0;
//   }
//
// Thread-safety: one owner; the caller owns the streams.

#ifndef DOSSIER_CLI_MEMORY_MEMORY_CALL_H_
#define DOSSIER_CLI_MEMORY_MEMORY_CALL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "app/memory_setup.h"
#include "cli/tree/command.h"
#include "cli/wiring/global_flags.h"
#include "cli/wiring/model_flags.h"
#include "memory/blocks/apply.h"
#include "memory/consolidate/summarizer.h"
#include "memory/store/store.h"
#include "memory/transfer/call_log.h"

namespace dossier::cli {

struct MemoryArguments {
  // For all commands.
  std::string store;  // --store
  std::string branch = "root";
  std::string now;  // --now
  bool json = false;
  std::optional<std::int64_t> at;  // for commands that read, and fork
  // For core facts.
  std::optional<std::string> key;
  std::string value, importance, ttl;
  bool pin = false;
  // For records: add, load, search.
  std::string text, tier, kind, ref, time;
  std::optional<std::string> thread;
  std::vector<std::string> tags;
  std::optional<std::int64_t> supersedes;
  // For search and show.
  std::optional<std::string> query;
  int k = 10;
  std::string since, until, queries_file, hint;
  bool explain = false, no_limit = false, report = false;
  std::optional<std::int64_t> budget, tokens;
  // For apply, load, export, import, view.
  std::string file, payload_file, out_file, node, phase;
  std::string format = "jsonl";
  bool all = false;
  // For fork, history, revert, prune.
  std::string name, chain;
  std::optional<std::string> parent;
  std::optional<std::int64_t> id;
  std::int64_t limit = 50, to = 0, before = 0;
  // For check, consolidate, help-text.
  bool rebuild_index = false, short_form = false;
  std::string level;
  ModelFlags model;
};

class MemoryCall {
 public:
  // Errors: kConfig (section `memory`), kUsage (--now).
  static Result<MemoryCall> Make(const MemoryArguments& arguments, const config::Config& config,
                                 const Context& context);

  const MemoryArguments& arguments() const { return arguments_; }
  const GlobalFlags& global() const { return context_.flags; }
  const config::Config& config() const { return config_; }
  const CancelToken& cancel() const { return context_.cancel; }
  const app::MemoryConfig& settings() const { return settings_; }
  const memory::StoreLimits& limits() const { return settings_.limits; }
  std::shared_ptr<const Clock> clock() const { return clock_; }
  memory::Micros now() const;
  std::ostream& out() const { return context_.out; }
  std::ostream& err() const { return context_.err; }

  // Warnings of the store are written to stderr.
  Result<std::unique_ptr<memory::Store>> Open(
      memory::OpenMode mode = memory::OpenMode::kExisting) const;
  // Returns the branch of --branch as of --at.
  Result<memory::View> Look(const memory::Store& store) const;
  // Writes on behalf of a person. A missing branch is an error; it is never created.
  Status Write(memory::Store& store, const memory::Store::Work& work) const;

  // Prints the --json output: {"schema": "dossier.memory.COMMAND/1", …members}.
  void PrintJson(JsonObject members) const;
  // Prints the result of a write that returns only its number.
  void PrintSeq(memory::Seq seq) const;
  void Warn(const std::vector<memory::Notice>& notices) const;
  void WarnOfSecrets(std::int64_t redacted) const;
  // Appends to memory_calls.jsonl; if that fails it only warns.
  void Log(std::string_view op, std::string_view memory_type, JsonObject details) const;
  // Logs the operations of an applied block.
  void LogOperations(const memory::UpdateResult& result) const;

  // Reads a file, or stdin for "-". Errors: kNotFound, kIo with the path.
  Result<std::string> ReadInput(const std::string& name) const;
  // Returns the text of a flag: `text` itself, or for "-" stdin without its last newline.
  Result<std::string> ReadText(const std::string& text) const;

 private:
  MemoryCall(const MemoryArguments& arguments, const config::Config& config, const Context& context)
      : arguments_(arguments), config_(config), context_(context) {}

  // Calls `append` with the log, if there is one.
  void AppendWith(const std::function<Status(const memory::MemoryCallLog& log,
                                             memory::LoggedCall call)>& append) const;

  const MemoryArguments& arguments_;
  const config::Config& config_;
  const Context& context_;
  app::MemoryConfig settings_;
  std::shared_ptr<const Clock> clock_;
};

// Makes a command of `memory`: `run` gets the call made from its flags and the configuration.
Binding BindMemory(void (*declare)(Flags& flags, MemoryArguments& to),
                   Result<int> (*run)(const MemoryCall& call));
enum class StoreFlags : std::uint8_t { kBranch, kView, kNone };  // kView: --branch and --at
void AddStoreFlags(Flags& flags, StoreFlags which, MemoryArguments* to);

// In the order of the help.
std::vector<Command> MemoryEntryCommands();
std::vector<Command> MemorySearchCommands();
std::vector<Command> MemoryPromptCommands();
std::vector<Command> MemoryBranchCommands();
std::vector<Command> MemoryTransferCommands();

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_MEMORY_MEMORY_CALL_H_
