#include "cli/memory/memory_command.h"

#include "cli/memory/memory_call.h"
#include "cli/tree/exit_codes.h"
#include "cli/tree/failure.h"

namespace dossier::cli {
namespace {

// In the order of the help.
std::vector<const MemoryCommand*> AllCommands() {
  std::vector<const MemoryCommand*> commands;
  for (const auto& family : {MemoryEntryCommands(), MemorySearchCommands(), MemoryPromptCommands(),
                             MemoryBranchCommands(), MemoryTransferCommands()}) {
    for (const MemoryCommand& command : family) commands.push_back(&command);
  }
  return commands;
}

Result<int> RunCommand(const MemoryCall& call) {
  for (const MemoryCommand* command : AllCommands()) {
    if (call.arguments().action == command->name) return command->run(call);
  }
  return MakeError(ErrorCode::kInternal, "memory {} is no command", call.arguments().action);
}

// What stands for an error of the store: a full disk is no damage of the store, and a store of
// another version is no matter of configuration.
Error AsMemoryError(Error error) {
  if (error.code == ErrorCode::kIo) error.code = ErrorCode::kFailed;
  if (error.code == ErrorCode::kConfig) error.code = ErrorCode::kDamaged;
  return error;
}

}  // namespace

void AddStoreFlags(CLI::App& command, StoreFlags flags, MemoryArguments* arguments) {
  const std::string group = "Store";
  if (flags != StoreFlags::kNone) {
    command.add_option("--branch", arguments->branch, "line of memory")
        ->type_name("MEMORY_BRANCH")
        ->capture_default_str();
  }
  if (flags == StoreFlags::kView) {
    command.add_option("--at", arguments->at, "the state after this write (seq)")
        ->check(CLI::NonNegativeNumber);
  }
  command.add_flag("--json", arguments->json, "one object");
  command
      .add_option("--store", arguments->store,
                  "the store ($DOSSIER_MEMORY, the project's, or the one in your data folder)")
      ->type_name("PATH")
      ->group(group);
  command.add_option("--now", arguments->now, "the time to go by: 2026-11-21T23:36:43Z")
      ->type_name("TIME")
      ->group(group);
}

void AddMemoryCommand(CLI::App& group, MemoryArguments* arguments) {
  group.require_subcommand(1);
  for (const MemoryCommand* row : AllCommands()) {
    CLI::App& command = *group.add_subcommand(row->name, row->about);
    row->add_flags(command, arguments);
    command.callback([arguments, row] { arguments->action = row->name; });
  }
}

int RunMemory(const MemoryArguments& arguments, const GlobalFlags& global,
              const CancelToken& cancel, std::ostream& out, std::ostream& err) {
  const FailureForm form = FormOf(arguments.json);
  const auto config = LoadConfig(global, {}, err);
  if (!config) return Fail(config.error(), form, out, err);
  const auto call = MemoryCall::Make(arguments, global, *config, cancel, out, err);
  if (!call) return Fail(call.error(), form, out, err);
  const Result<int> code = RunCommand(*call);
  out << std::flush;
  if (!code) return Fail(AsMemoryError(code.error()), form, out, err);
  return out.good() ? *code : kExitClosedStdout;
}

}  // namespace dossier::cli
