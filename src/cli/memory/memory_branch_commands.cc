// branches, fork, history, revert, check, prune: lines of memory, and what was written.

#include "base/text/text.h"
#include "cli/memory/memory_call.h"
#include "cli/memory/memory_view.h"
#include "cli/tree/exit_codes.h"

namespace dossier::cli {
namespace {

using memory::Seq;
using memory::Store;

void AddBranches(CLI::App& command, MemoryArguments* arguments) {
  AddStoreFlags(command, StoreFlags::kNone, arguments);
}

Result<int> RunBranches(const MemoryCall& call) {
  DOSSIER_ASSIGN_OR_RETURN(const auto store, call.Open());
  DOSSIER_ASSIGN_OR_RETURN(const auto branches, store->Branches());
  if (call.arguments().json) {
    call.PrintJson({{"branches", BranchesJson(branches)}});
  } else {
    PrintBranches(branches, call.out());
  }
  return 0;
}

void AddFork(CLI::App& command, MemoryArguments* arguments) {
  command.add_option("name", arguments->name, "of the new branch: A-Z a-z 0-9 _ . : -")->required();
  CLI::Option* from = command.add_option("--from", arguments->parent, "its parent (root)")
                          ->type_name("MEMORY_BRANCH");
  command
      .add_option("--chain", arguments->chain,
                  "its ancestors below root, A,B: those that are missing are made")
      ->type_name("LIST")
      ->excludes(from);
  command.add_option("--at", arguments->at, "what the parent knew after this write (its newest)")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--node", arguments->node, "id of the node of a search tree it stands for");
  AddStoreFlags(command, StoreFlags::kNone, arguments);
}

Result<memory::Branch> Fork(const MemoryArguments& arguments, Store& store) {
  const memory::ForkOptions options{.at = arguments.at, .node = arguments.node};
  if (arguments.chain.empty()) {
    return store.Fork(arguments.parent.value_or(std::string(memory::kRootBranch)), arguments.name,
                      options);
  }
  std::vector<std::string> chain;
  for (const std::string_view name : Split(arguments.chain, ',')) {
    chain.emplace_back(TrimSpace(name));
  }
  return store.ForkChain(chain, arguments.name, options);
}

Result<int> RunFork(const MemoryCall& call) {
  DOSSIER_ASSIGN_OR_RETURN(const auto store, call.Open());
  auto branch = Fork(call.arguments(), *store);
  if (!branch) {
    Error error = std::move(branch).error();
    // A branch that is named and cannot be is exit 4, as one that is not there.
    if (error.code == ErrorCode::kInvalidArgument) error.code = ErrorCode::kNotFound;
    return tl::unexpected(std::move(error));
  }
  call.Log("fork", "branch", {{"name", branch->name}, {"parent", branch->parent}});
  if (call.arguments().json) {
    call.PrintJson(std::move(BranchesJson({*branch}).front().as_object()));
  } else {
    call.out() << branch->name << "\n";
  }
  return 0;
}

void AddHistory(CLI::App& command, MemoryArguments* arguments) {
  CLI::Option* key = command.add_option("--key", arguments->key, "only writes of this core fact")
                         ->type_name("MEMORY_KEY");
  command.add_option("--id", arguments->id, "only writes of this record")->excludes(key);
  command.add_option("--limit", arguments->limit, "how many")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  AddStoreFlags(command, StoreFlags::kBranch, arguments);
}

Result<int> RunHistory(const MemoryCall& call) {
  const MemoryArguments& arguments = call.arguments();
  DOSSIER_ASSIGN_OR_RETURN(const auto store, call.Open());
  DOSSIER_ASSIGN_OR_RETURN(
      const auto changes,
      store->History(arguments.branch,
                     {.key = arguments.key, .record = arguments.id, .limit = arguments.limit}));
  call.Log("history", "store", {{"writes", changes.size()}});
  if (arguments.json) {
    call.PrintJson({{"branch", arguments.branch}, {"writes", HistoryJson(changes)}});
  } else {
    PrintHistory(changes, call.out());
  }
  return 0;
}

void AddRevert(CLI::App& command, MemoryArguments* arguments) {
  command.add_option("--to", arguments->to, "the state after this write (seq)")
      ->required()
      ->check(CLI::NonNegativeNumber);
  command.add_option("--key", arguments->key, "only this core fact")->type_name("MEMORY_KEY");
  AddStoreFlags(command, StoreFlags::kBranch, arguments);
}

Result<int> RunRevert(const MemoryCall& call) {
  const MemoryArguments& arguments = call.arguments();
  DOSSIER_ASSIGN_OR_RETURN(const auto store, call.Open());
  DOSSIER_ASSIGN_OR_RETURN(const Seq seq,
                           store->Revert(arguments.branch, arguments.to, arguments.key, {}));
  call.Log("revert", "branch", {{"to", arguments.to}});
  call.PrintSeq(seq);
  return 0;
}

void AddCheck(CLI::App& command, MemoryArguments* arguments) {
  command.add_flag("--rebuild-index", arguments->rebuild_index, "make the index of searches anew");
  AddStoreFlags(command, StoreFlags::kNone, arguments);
}

Result<int> RunCheck(const MemoryCall& call) {
  DOSSIER_ASSIGN_OR_RETURN(const auto store, call.Open());
  const auto mode =
      call.arguments().rebuild_index ? memory::CheckMode::kRebuildIndex : memory::CheckMode::kLook;
  DOSSIER_ASSIGN_OR_RETURN(const auto findings, store->Check(mode));
  if (call.arguments().json) {
    call.PrintJson({{"store", store->path()}, {"findings", TextsJson(findings)}});
  } else {
    for (const std::string& finding : findings) call.out() << finding << "\n";
    if (findings.empty()) call.out() << store->path() << " is sound\n";
  }
  return findings.empty() ? 0 : kExitDifferences;
}

void AddPrune(CLI::App& command, MemoryArguments* arguments) {
  command.add_option("--before", arguments->before, "rows of writes before this one (seq)")
      ->required()
      ->check(CLI::NonNegativeNumber);
  AddStoreFlags(command, StoreFlags::kNone, arguments);
}

std::string CountsText(const memory::PruneCounts& counts) {
  return fmt::format("core {}, records {}, hidden {}, tags {}, vectors {}", counts.core,
                     counts.records, counts.hidden, counts.tags, counts.vectors);
}

Result<bool> MayPrune(const MemoryCall& call, Store& store) {
  if (call.global().yes) return true;
  DOSSIER_ASSIGN_OR_RETURN(const auto counts,
                           store.Prune(call.arguments().before, memory::PruneMode::kCount));
  if (MayAsk(call.global())) {
    return Confirm(call.global(), fmt::format("remove for good: {}?", CountsText(counts)), "-y",
                   call.err());
  }
  if (!call.arguments().json) call.out() << CountsText(counts) << "\n";
  return MakeError(ErrorCode::kUsage,
                   "nothing is removed: it would be for good ({}); give -y to do it",
                   CountsText(counts));
}

Result<int> RunPrune(const MemoryCall& call) {
  DOSSIER_ASSIGN_OR_RETURN(const auto store, call.Open());
  DOSSIER_ASSIGN_OR_RETURN(const bool agreed, MayPrune(call, *store));
  memory::PruneCounts counts;
  if (agreed) {
    DOSSIER_ASSIGN_OR_RETURN(counts,
                             store->Prune(call.arguments().before, memory::PruneMode::kRemove));
    call.Log("prune", "store", {{"before", call.arguments().before}});
  }
  if (call.arguments().json) {
    call.PrintJson({{"core", counts.core},
                    {"records", counts.records},
                    {"hidden", counts.hidden},
                    {"tags", counts.tags},
                    {"vectors", counts.vectors}});
  } else {
    call.out() << CountsText(counts) << "\n";
  }
  return 0;
}

constexpr MemoryCommand kCommands[] = {
    {"branches", "the tree of branches", AddBranches, RunBranches},
    {"fork", "a branch that sees what its parent knows now, and nothing later", AddFork, RunFork},
    {"history", "what was written, newest first, with before and after", AddHistory, RunHistory},
    {"revert", "back to what stood after a write; itself a write, so it can be undone", AddRevert,
     RunRevert},
    {"check", "looks for damage; repairs only the index", AddCheck, RunCheck},
    {"prune", "removes rows for good that nothing can reach", AddPrune, RunPrune},
};

}  // namespace

std::span<const MemoryCommand> MemoryBranchCommands() { return kCommands; }

}  // namespace dossier::cli
