#include "memory/store/branch_transaction.h"

#include <limits>

#include "memory/store/branch_transaction_impl.h"

namespace dossier::memory {

Result<Lease> SessionConnections::Borrow() {
  const std::lock_guard lock(mutex_);
  return writer_ ? Lease(writer_) : readers_->Borrow();
}

void SessionConnections::End() {
  const std::lock_guard lock(mutex_);
  writer_ = nullptr;
}

std::string_view AddOpName(Tier tier) {
  switch (tier) {
    case Tier::kRecall:
      return "recall_append";
    case Tier::kArchival:
      return "archival_write";
    case Tier::kSummary:
      return "summary_write";
  }
  return "";
}

SessionImpl::SessionImpl(Connection& connection, const Setup& setup, View::State state,
                         RowWriter rows)
    : connection_(connection),
      setup_(setup),
      state_(std::move(state)),
      rows_(rows),
      connections_(std::make_shared<SessionConnections>(connection, setup.readers)) {}

Result<std::unique_ptr<SessionImpl>> SessionImpl::Begin(Connection& connection,
                                                        const Setup& setup) {
  DOSSIER_ASSIGN_OR_RETURN(
      View::State state,
      LoadChain(connection, {.branch = setup.branch, .now = setup.now, .index = setup.index}));
  state.chain.front().last = std::numeric_limits<Seq>::max();  // its own writes are seen too
  state.chain_json = ChainJson(state.chain);
  DOSSIER_ASSIGN_OR_RETURN(
      const RowWriter rows,
      RowWriter::Make(connection, setup.options.embedder.get(), setup.options.numbering));
  return std::make_unique<SessionImpl>(connection, setup, std::move(state), rows);
}

Result<View> SessionImpl::Snapshot() {
  return LoadView(connections_, connection_,
                  {.branch = branch(),
                   .now = setup_.now,
                   .index = setup_.index,
                   .embedder = setup_.options.embedder});
}

Result<Seq> SessionImpl::AddOp(std::string_view op, JsonObject details) {
  return rows_.AddOp({.at = setup_.now,
                      .branch_id = branch_id(),
                      .op = op,
                      .actor = ActorName(setup_.context.actor),
                      .block_id = setup_.context.block_id,
                      .node_id = setup_.context.node_id,
                      .phase = setup_.context.phase,
                      .details = std::move(details)});
}

}  // namespace dossier::memory
