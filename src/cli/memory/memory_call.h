// What every command of `dossier memory` works with: its flags, the store they mean, the clock.
//
//   Result<int> RunGet(const MemoryCall& call) {
//     DOSSIER_ASSIGN_OR_RETURN(const auto store, call.Open());
//     DOSSIER_ASSIGN_OR_RETURN(const memory::View view, call.Look(*store));
//     …
//     call.Log("core_get", "core", {{"key", key}});
//     return 0;
//   }
//
// Thread-safety: one owner; the streams are the caller's.

#ifndef DOSSIER_CLI_MEMORY_MEMORY_CALL_H_
#define DOSSIER_CLI_MEMORY_MEMORY_CALL_H_

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/memory_config.h"
#include "cli/memory/memory_command.h"
#include "memory/blocks/apply.h"
#include "memory/consolidate/notice.h"
#include "memory/store/store.h"
#include "memory/transfer/call_log.h"

namespace dossier::cli {

class MemoryCall {
 public:
  // Errors: kConfig (what section `memory` says), kUsage (--now).
  static Result<MemoryCall> Make(const MemoryArguments& arguments, const GlobalFlags& global,
                                 const config::Config& config, const CancelToken& cancel,
                                 std::ostream& out, std::ostream& err);

  const MemoryArguments& arguments() const { return arguments_; }
  const GlobalFlags& global() const { return global_; }
  const config::Config& config() const { return config_; }
  const CancelToken& cancel() const { return cancel_; }
  const app::MemoryConfig& settings() const { return settings_; }
  const memory::StoreLimits& limits() const { return settings_.limits; }
  std::shared_ptr<const Clock> clock() const { return clock_; }
  memory::Micros now() const;
  std::ostream& out() const { return out_; }
  std::ostream& err() const { return err_; }

  // Warnings of the store go to stderr.
  Result<std::unique_ptr<memory::Store>> Open(
      memory::OpenMode mode = memory::OpenMode::kExisting) const;
  // The branch of --branch, at --at.
  Result<memory::View> Look(const memory::Store& store) const;
  // A write by a person. A branch that is not there is an error, never made.
  Status Write(memory::Store& store, const memory::Store::Work& work) const;

  // What --json prints: {"schema": "dossier.memory.COMMAND/1", …members}.
  void PrintJson(JsonObject members) const;
  // What a write prints that gives nothing but its number.
  void PrintSeq(memory::Seq seq) const;
  void Warn(const std::vector<memory::Notice>& notices) const;
  void WarnOfSecrets(std::int64_t redacted) const;
  // Appends to memory_calls.jsonl; that it cannot is a warning.
  void Log(std::string_view op, std::string_view memory_type, JsonObject details) const;
  // Those of a block that was applied.
  void LogOperations(const memory::UpdateResult& result) const;

  // A file, or stdin for "-". Errors: kNotFound, kIo with the path.
  Result<std::string> ReadInput(const std::string& name) const;
  // What stands for the flag's text: itself, or stdin for "-" without its last line end.
  Result<std::string> ReadText(const std::string& text) const;

 private:
  MemoryCall(const MemoryArguments& arguments, const GlobalFlags& global,
             const config::Config& config, const CancelToken& cancel, std::ostream& out,
             std::ostream& err)
      : arguments_(arguments),
        global_(global),
        config_(config),
        cancel_(cancel),
        out_(out),
        err_(err) {}

  // What `append` adds to the log, unless there is none.
  void AppendWith(const std::function<Status(const memory::CallLog& log, memory::LoggedCall call)>&
                      append) const;

  const MemoryArguments& arguments_;
  const GlobalFlags& global_;
  const config::Config& config_;
  const CancelToken& cancel_;
  std::ostream& out_;
  std::ostream& err_;
  app::MemoryConfig settings_;
  std::shared_ptr<const Clock> clock_;
};

// One command: a row of the tree.
struct MemoryCommand {
  const char* name;
  const char* about;
  void (*add_flags)(CLI::App& command, MemoryArguments* arguments);
  Result<int> (*run)(const MemoryCall& call);
};
enum class StoreFlags : std::uint8_t { kBranch, kView, kNone };  // kView: --branch and --at
void AddStoreFlags(CLI::App& command, StoreFlags flags, MemoryArguments* arguments);

std::span<const MemoryCommand> MemoryEntryCommands();
std::span<const MemoryCommand> MemorySearchCommands();
std::span<const MemoryCommand> MemoryBranchCommands();
std::span<const MemoryCommand> MemoryTransferCommands();
std::span<const MemoryCommand> MemoryPromptCommands();

}  // namespace dossier::cli

#endif  // DOSSIER_CLI_MEMORY_MEMORY_CALL_H_
