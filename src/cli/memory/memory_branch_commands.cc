// branches, fork, history, revert, check, prune: branches of memory and the log of writes.

#include "base/text/text.h"
#include "cli/memory/memory_call.h"
#include "cli/memory/memory_view.h"
#include "cli/wiring/value_kinds.h"

namespace dossier::cli {
namespace {

using memory::Seq;
using memory::Store;

void DeclareBranches(Flags& flags, MemoryArguments& to) {
  AddStoreFlags(flags, StoreFlags::kNone, &to);
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

void DeclareFork(Flags& flags, MemoryArguments& to) {
  flags.Add("name", &to.name, "of the new branch: A-Z a-z 0-9 _ . : -").Required();
  flags.Add("--from", &to.parent, "its parent (root)").Kind(kMemoryBranch);
  flags.Add("--chain", &to.chain, "its ancestors below root, A,B: those that are missing are made")
      .Kind(kList)
      .Excludes("--from");
  flags.Add("--at", &to.at, "what the parent knew after this write (its newest)").NotNegative();
  flags.Add("--node", &to.node, "id of the node of a search tree it stands for");
  AddStoreFlags(flags, StoreFlags::kNone, &to);
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
    // An impossible branch name exits with 4, like a missing branch.
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

void DeclareHistory(Flags& flags, MemoryArguments& to) {
  flags.Add("--key", &to.key, "only writes of this core fact").Kind(kMemoryKey);
  flags.Add("--id", &to.id, "only writes of this record").Excludes("--key");
  flags.Add("--limit", &to.limit, "how many").Positive().ShowDefault();
  AddStoreFlags(flags, StoreFlags::kBranch, &to);
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

void DeclareRevert(Flags& flags, MemoryArguments& to) {
  flags.Add("--to", &to.to, "the state after this write (seq)").Required().NotNegative();
  flags.Add("--key", &to.key, "only this core fact").Kind(kMemoryKey);
  AddStoreFlags(flags, StoreFlags::kBranch, &to);
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

void DeclareCheck(Flags& flags, MemoryArguments& to) {
  flags.Add("--rebuild-index", &to.rebuild_index, "make the index of searches anew");
  AddStoreFlags(flags, StoreFlags::kNone, &to);
}

Result<int> RunCheck(const MemoryCall& call) {
  DOSSIER_ASSIGN_OR_RETURN(const auto store, call.Open());
  const auto mode =
      call.arguments().rebuild_index ? memory::CheckMode::kRebuildIndex : memory::CheckMode::kLook;
  DOSSIER_ASSIGN_OR_RETURN(const auto findings, store->Check(mode));
  if (call.arguments().json) {
    call.PrintJson({{"store", store->path()}, {"findings", TextArray(findings)}});
  } else {
    for (const std::string& finding : findings) call.out() << finding << "\n";
    if (findings.empty()) call.out() << store->path() << " is sound\n";
  }
  return findings.empty() ? 0 : kExitDifferences;
}

void DeclarePrune(Flags& flags, MemoryArguments& to) {
  flags.Add("--before", &to.before, "rows of writes before this one (seq)")
      .Required()
      .NotNegative();
  AddStoreFlags(flags, StoreFlags::kNone, &to);
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

}  // namespace

std::vector<Command> MemoryBranchCommands() {
  return {
      {.name = "branches",
       .summary = "the tree of branches",
       .binding = BindMemory(DeclareBranches, RunBranches)},
      {.name = "fork",
       .summary = "a branch that sees what its parent knows now, and nothing later",
       .examples = "dossier memory fork n1 --from root\n"
                   "    sees what root knows now, and nothing that is written there later",
       .binding = BindMemory(DeclareFork, RunFork)},
      {.name = "history",
       .summary = "what was written, newest first, with before and after",
       .examples = "dossier memory history --key compiler\n"
                   "    what the fact was, and who changed it",
       .binding = BindMemory(DeclareHistory, RunHistory)},
      {.name = "revert",
       .summary = "back to what stood after a write; itself a write, so it can be undone",
       .examples = "dossier memory revert --to 12\n"
                   "    back to what stood after write 12; `revert` again undoes it",
       .binding = BindMemory(DeclareRevert, RunRevert)},
      {.name = "check",
       .summary = "looks for damage; repairs only the index",
       .binding = BindMemory(DeclareCheck, RunCheck)},
      {.name = "prune",
       .summary = "removes rows for good that nothing can reach",
       .examples = "dossier memory prune --before 5000 -y\n"
                   "    what was replaced before write 5000 and is seen by no branch",
       .binding = BindMemory(DeclarePrune, RunPrune)},
  };
}

}  // namespace dossier::cli
