// memory: stores what was learned for the next prompt. Its commands are in memory_entry_commands,
// memory_search_command, memory_prompt_commands, memory_branch_commands and
// memory_transfer_commands.

#include "cli/commands.h"
#include "cli/memory/memory_call.h"
#include "cli/tree/command.h"
#include "cli/wiring/value_kinds.h"

namespace dossier::cli {
namespace {

// Maps an error of the store: a full disk does not mean a damaged store, and a store of another
// version is not a configuration error.
Error AsMemoryError(Error error) {
  if (error.code == ErrorCode::kIo) error.code = ErrorCode::kFailed;
  if (error.code == ErrorCode::kConfig) error.code = ErrorCode::kDamaged;
  return error;
}

}  // namespace

Binding BindMemory(void (*declare)(Flags& flags, MemoryArguments& to),
                   Result<int> (*run)(const MemoryCall& call)) {
  return [declare, run](Flags& flags) -> Runner {
    const auto given = std::make_shared<MemoryArguments>();
    declare(flags, *given);
    return [given, run](Context& context) -> Result<int> {
      DOSSIER_ASSIGN_OR_RETURN(const config::Config config,
                               LoadConfig(context.flags, {}, context.err));
      DOSSIER_ASSIGN_OR_RETURN(const MemoryCall call, MemoryCall::Make(*given, config, context));
      Result<int> code = run(call);
      if (!code) return tl::unexpected(AsMemoryError(std::move(code).error()));
      return code;
    };
  };
}

void AddStoreFlags(Flags& flags, StoreFlags which, MemoryArguments* to) {
  if (which != StoreFlags::kNone) {
    flags.Add("--branch", &to->branch, "line of memory").Kind(kMemoryBranch).ShowDefault();
  }
  if (which == StoreFlags::kView) {
    flags.Add("--at", &to->at, "the state after this write (seq)").NotNegative();
  }
  flags.Add("--json", &to->json, "one object");
  Flags store = flags.In("Store");
  store
      .Add("--store", &to->store,
           "the store ($DOSSIER_MEMORY, the project's, or the one in your data folder)")
      .Kind(kPath);
  store.Add("--now", &to->now, "the time to go by: 2026-11-21T23:36:43Z").Kind(kTime);
}

Command MemoryCommand() {
  Command memory{.name = "memory",
                 .summary = "keep what was learned for later prompts: facts, events, search",
                 .examples =
                     "dossier memory init\n"
                     "    makes the store\n"
                     "dossier memory set compiler \"icpx, in /opt/intel\" --importance 5\n"
                     "    a fact that every prompt shows\n"
                     "dossier memory search \"why did the linker fail\"\n"
                     "    what was kept about it, best first"};
  for (const auto family : {MemoryEntryCommands, MemorySearchCommands, MemoryPromptCommands,
                            MemoryBranchCommands, MemoryTransferCommands}) {
    for (Command& command : family()) memory.commands.push_back(std::move(command));
  }
  return memory;
}

}  // namespace dossier::cli
