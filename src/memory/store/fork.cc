#include "memory/store/fork.h"

#include "memory/search/branches.h"
#include "memory/search/rows.h"

namespace dossier::memory {

Result<Branch> ForkBranch(Connection& connection, const ForkRequest& request) {
  DOSSIER_RETURN_IF_ERROR(CheckBranchName(request.name));
  DOSSIER_ASSIGN_OR_RETURN(const Branch parent, FindBranch(connection, request.parent));
  if (request.name == kRootBranch) {
    return MakeError(ErrorCode::kInvalidArgument, "chain_mismatch: root is no fork");
  }
  DOSSIER_ASSIGN_OR_RETURN(std::optional<Branch> known, LookUpBranch(connection, request.name));
  if (known) {
    if (known->parent == parent.name) return *std::move(known);
    return MakeError(ErrorCode::kInvalidArgument,
                     "chain_mismatch: branch \"{}\" is a fork of \"{}\", not of \"{}\"",
                     request.name, known->parent, parent.name);
  }
  if (request.at) {  // that it is there to be seen
    DOSSIER_RETURN_IF_ERROR(
        LoadChain(connection, {.branch = request.parent, .at = request.at, .now = request.now}));
  }
  DOSSIER_ASSIGN_OR_RETURN(const Seq newest, NewestSeqOf(connection, parent));
  DOSSIER_ASSIGN_OR_RETURN(RowWriter rows, RowWriter::Make(connection));
  Branch branch{.name = std::string(request.name),
                .parent = parent.name,
                .fork_seq = request.at.value_or(newest),
                .node = std::string(request.node),
                .created_at = request.now,
                .seq = rows.next_seq()};
  DOSSIER_RETURN_IF_ERROR(Run(connection, "INSERT INTO branches VALUES(NULL, ?, ?, ?, ?, ?, ?)",
                              branch.name, parent.id, branch.fork_seq, branch.node,
                              branch.created_at, branch.seq));
  branch.id = connection.db().last_insert_id();
  DOSSIER_RETURN_IF_ERROR(
      rows.AddOp({.at = request.now,
                  .branch_id = branch.id,
                  .op = "fork",
                  .actor = ActorName(Actor::kSystem),
                  .node_id = request.node,
                  .details = {{"parent", parent.name}, {"fork_seq", branch.fork_seq}}}));
  return branch;
}

}  // namespace dossier::memory
